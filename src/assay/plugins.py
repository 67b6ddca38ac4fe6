"""Find the part that a spec string names: `static:default` is the built-in `static`, given `default`.

Built-in parts stand in a table of dotted names; parts of other packages are found as installed
entry points of the group `assay.KIND`. Nothing is imported before a spec names it, and an extra
has the name of the part that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from assay.errors import InputError, MissingExtra, nearest

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "chat": {
        "deepseek": "assay.llm.openai:deepseek",
        "ollama": "assay.llm.openai:ollama",
        "openai": "assay.llm.openai:openai",
        "openrouter": "assay.llm.openai:openrouter",
        "scripted": "assay.llm.scripted:ScriptedChat",
        "vllm": "assay.llm.openai:vllm",
    },
    "cluster": {"ray": "assay.runs.ray_backend:RayBackend"},
    "encoder": {
        "api": "assay.encode.http_models:ApiEncoder",
        "hash": "assay.encode.vectors:HashedEncoder",
        "hf": "assay.encode.openers:open_hf",
        "onnx": "assay.encode.onnx:OnnxEncoder",
        "static": "assay.encode.static:load_static",
    },
    "ranker": {
        "agreement": "assay.rank.running_rankers:AgreementRanker",
        "consensus": "assay.rank.consensus_ranker:ConsensusRanker",
        "centrality": "assay.rank.consensus_ranker:CentralityRanker",
        "examples": "assay.rank.running_rankers:ExamplesRanker",
        "gate": "assay.rank.consensus_ranker:GateRanker",
        "logprob": "assay.rank.rankers:LogprobRanker",
        "neural": "assay.rank.neural_ranker:NeuralRanker",
    },
    "scorer": {
        "cross": "assay.encode.openers:open_cross",
        "rerank": "assay.encode.http_models:RerankEndpoint",
    },
    "system": {
        "assay": "assay.bench.systems.assay_system:AssaySystem",
        "bm25": "assay.bench.systems.baseline_systems:Bm25System",
        "bow": "assay.bench.systems.baseline_systems:BagOfWordsSystem",
        "cmd": "assay.bench.systems.tool_systems:CommandSystem",
        "dense": "assay.bench.systems.baseline_systems:DenseSystem",
        "http": "assay.bench.systems.http_system:HttpSystem",
        "mcp": "assay.bench.systems.mcp_system:McpSystem",
        "py": "assay.bench.systems.tool_systems:PythonSystem",
        "run": "assay.bench.systems.tool_systems:SavedSystem",
    },
}
"""Kind to name to `module:attribute`; the attribute is called with what follows the spec's colon, if it has one."""

EXTRAS: Mapping[str, str] = {
    **dict.fromkeys(("http", "rerank"), "api"),
    **dict.fromkeys(("deepseek", "ollama", "openai", "openrouter", "vllm"), "api"),
    **dict.fromkeys(("cross", "neural"), "hf"),
}
"""The extra of a part, if the extra has another name."""


def make(kind: str, spec: str) -> Any:
    """Return the part that a spec names, built with the rest of the spec."""
    name, colon, argument = spec.partition(":")
    maker = find(kind, name)
    return maker(argument) if colon else maker()


def find(kind: str, name: str) -> Any:
    """Return the factory of the parts of a name: a built-in one, else an installed entry point."""
    module, _, attribute = place(kind, name).partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name is None or module.startswith(error.name):
            raise
        raise MissingExtra(f"{kind} '{name}'", error.name, EXTRAS.get(name, name)) from error


def place(kind: str, name: str) -> str:
    """Return the location of a part, as `module:attribute`; nothing is imported."""
    target = BUILT_IN[kind].get(name) or _installed(kind).get(name)
    if target is None:
        raise InputError(f"unknown {kind} '{name}'; {nearest(name, names(kind))}")
    return target


def names(kind: str) -> list[str]:
    """Return the name of every available part of a kind."""
    return sorted({*BUILT_IN[kind], *_installed(kind)})


def missing(name: str) -> list[str]:
    """Return the libraries of an extra that are not installed; a part without an extra needs none."""
    from importlib.metadata import PackageNotFoundError, distribution

    from assay.extras import DISTRIBUTION

    requirement = re.compile(rf"([\w.-]+).*extra == ['\"]{re.escape(name)}['\"]")
    absent = []
    for library in filter(None, map(requirement.match, distribution(DISTRIBUTION).requires or ())):
        try:
            distribution(library[1])
        except PackageNotFoundError:
            absent.append(library[1])
    return absent


def _installed(kind: str) -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=f"assay.{kind}")}
