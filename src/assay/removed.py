"""Say what became of names that earlier versions had: parts, settings, values, options and commands."""

from __future__ import annotations

from collections.abc import Mapping

_SERVED = "serve the model with llama.cpp, vLLM or Ollama, and give completions:MODEL or chat:MODEL"
_PRINTED = "the figures are printed, and in --format json"
REMOVED: Mapping[str, Mapping[str, str]] = {
    "ranker": {
        "cosine": "it gained nothing over unranked programs; give consensus",
        "prefix": "for programs that are still being written give 'consensus:?unfinished'",
        "signal": "it was one feature of trees that are gone; give gate or centrality",
        "types": "it gained nothing that could be shown; give consensus",
    },
    "sampler": {"hf": _SERVED, "vllm": _SERVED},
    "sandbox": {
        "container": "run assay itself in a container, which gives 'landlock' there (docs/howto/pod.md)",
        "hybrid": "it is called 'namespaces+landlock'",
    },
    "quantisation": {"binary": "its answers were never measured; give int8"},
    "setting": {
        "search.expand": "it changed no figure",
        "index.overlap_lines": "it changed no figure",
        "unread": "the features need no documentation, so nothing is read a second time without it",
        "steps": "the fit takes a fixed number of Newton steps",
    },
    "option": {
        "assay search --deadline": "--no-refresh answers from the indexes as they are",
        "assay pattern --rewrite": "ast-grep's `sg run --rewrite` takes the same patterns",
        "assay pattern --write": "ast-grep's `sg run --rewrite` takes the same patterns",
        "assay rank eval --seen": "give --ranker 'consensus:?unfinished' with programs that are cut",
        "assay judge label --gold": "assay judge agreement --gold compares the same labels",
        "assay judge agreement --sample": "all labels are compared",
        "assay judge agreement --out": f"{_PRINTED}; --results FOLDER writes report.html",
        "assay judge accounts --out": _PRINTED,
        "assay candidates --page": _PRINTED,
        "assay train ranking --ablate": "no figure was ever decided by it",
    },
    "command": {
        "assay rank mutate": "nothing learned from mutants ranked better",
        "assay rank holes": "no difference was certain",
        "assay truth pool": "assay truth correct writes what nobody judged, and reads the labels back",
    },
}
"""Why each went, or what to give instead: by kind, then by name."""


def removal(kind: str, name: str) -> str:
    """Return what to say of a name that is gone, empty for one that never was."""
    reason = REMOVED[kind].get(name)
    return f"the {kind} '{name}' was removed: {reason}" if reason else ""
