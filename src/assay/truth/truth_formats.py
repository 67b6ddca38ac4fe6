"""Read and write ground truth in any of the formats of one table.

A format is a module with `fits(glimpse)` and `read(path)`; one that is written has `write(truth, path)` too, and
`losses(truth)` unless it holds everything. A new one is a line of the table. It is told by what a file holds, not by
its ending alone. What a format cannot hold is never dropped unsaid.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import files, rows
from assay.truth.formats.shared import Glimpse, about_file
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Problem

FORMATS = {
    "jsonl": ("assay.truth.formats.jsonl_truth", "our own JSON lines, which hold everything"),
    "octocode": ("assay.truth.formats.octocode", "CSV of query,result1..n with path:start-end:grade"),
    "csn": ("assay.truth.formats.csn", "CodeSearchNet's annotations (read only)"),
    "csncorpus": ("assay.truth.formats.csn_corpus", "CodeSearchNet's corpus files, which hold no queries (read only)"),
    "swebench": ("assay.truth.formats.swebench", "instances of SWE-bench or Loc-Bench (read only)"),
    "semble": ("assay.truth.formats.semble", "semble's questions with relevant and secondary files (read only)"),
    "cosqaplus": ("assay.truth.formats.cosqaplus", "CoSQA+'s folder of JSON files"),
    "cosqa": ("assay.truth.formats.cosqa", "rows of query and code, as CoSQA, CoNaLa and StaQC have them (read only)"),
    "beir": ("assay.truth.formats.beir", "a folder as BEIR or CoIR lay it out"),
    "trec": ("assay.truth.formats.trec", "TREC qrels, with topics beside them"),
}
"""Name to module and what it is, in the order in which they are tried."""
_WITH_ABOUT = frozenset(("octocode", "trec", "beir"))
"""Formats that say what they speak of in a file beside."""
_ENDINGS = {".jsonl": "jsonl", ".csv": "octocode", ".qrels": "trec"}


class UnknownFormat(InputError):
    """A file is in no known format of ground truth."""


def read(path: Path, form: str = "") -> TruthFile:
    """Read ground truth, by default in the format of its contents; raise InputError if no query is usable."""
    reading = read_part(path, form)
    if not reading.truth.queries:
        first = f": {reading.problems[0]}" if reading.problems else ""
        more = f" (and {len(reading.problems) - 1:,} more)" if len(reading.problems) > 1 else ""
        raise InputError(f"'{path}' has no usable query{first}{more}")
    return reading


def read_part(path: Path, form: str = "") -> TruthFile:
    """Read ground truth that may be only a corpus, or unjudged queries."""
    try:
        name = form or form_of(path)
    except UnknownFormat:
        if rows.suffix(path) != ".csv":
            raise
        name = _ENDINGS[".csv"]  # whose reader says what is wrong with it
    reading: TruthFile = _module(name).read(path)
    return reading


def write(truth: Truth, path: Path, form: str = "", *, lossy: bool = False) -> list[str]:
    """Write ground truth and return what was dropped; without `lossy`, refuse to drop anything."""
    name = form or form_to(path, truth)
    module = _module(name)
    if not hasattr(module, "write"):
        raise InputError(f"'{truth.name}' cannot be written as {name}, which is read only; write jsonl")
    dropped = list(module.losses(truth)) if hasattr(module, "losses") else []
    if dropped and not lossy:
        symbols = any("::" in judgment.target for judgment in truth.judgments) and "symbols" in " ".join(dropped)
        lines = "make symbols lines with --corpus FOLDER, " if symbols else ""
        hint = f"{lines}drop them with --lossy, or write jsonl, which holds everything"
        raise InputError(f"{name} cannot hold {', '.join(dropped)}: {hint}")
    with files.replacing_folder(path.parent) as beside:
        module.write(truth, beside / path.name)
        stale = name in _WITH_ABOUT and not about_file(beside / path.name).exists()
    if stale:
        about_file(path).unlink(missing_ok=True)
    return dropped


def form_of(path: Path) -> str:
    """Return the format of a file or folder by its contents."""
    seen = _glimpse(path)
    found = next((name for name in FORMATS if _module(name).fits(seen)), "")
    if not found:
        is_run = import_module("assay.truth.formats.trec").is_run(seen.head)
        run = " (it looks like a TREC run, which holds answers, not ground truth)" if is_run else ""
        why = run or (f" ({seen.problems[0]})" if seen.problems and not seen.rows else "")
        raise UnknownFormat(f"cannot tell the format of '{path}'{why}; name it with --from: {', '.join(FORMATS)}")
    return found


def form_to(path: Path, truth: Truth) -> str:
    """Return the format for the name of an output file; documents without a suffix make a folder."""
    if path.suffix in _ENDINGS:
        return _ENDINGS[path.suffix]
    if truth.documents and not path.suffix:
        return "beir"
    endings = ", ".join(f"{ending} ({name})" for ending, name in _ENDINGS.items())
    raise InputError(f"'{path}' does not say what format to write: end it in {endings}, or name the format")


def ending_of(form: str) -> str:
    """Return the suffix of files of a format; empty for folders."""
    return {name: each for each, name in _ENDINGS.items()}.get(form, "")


def _module(name: str) -> Any:
    if name not in FORMATS:
        raise InputError(f"unknown format '{name}'; {nearest(name, list(FORMATS))}")
    return import_module(FORMATS[name][0])


def _glimpse(path: Path) -> Glimpse:
    if path.is_dir():
        return Glimpse(path)
    problems: list[Problem] = []
    found = rows.sample(path, problems)
    return Glimpse(path, found, rows.first_bytes(path).decode("utf-8", "replace"), tuple(problems))
