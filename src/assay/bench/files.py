"""A file of ground truth to its values and back, in any of the formats of one table.

A format is a module with `fits(path, head)`, `read(path)`, `losses(truth)` and `write(truth, path)`; a new one is a
line of the table. It is told by what a file holds, not by its ending alone. What a format cannot hold is never
dropped unsaid.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from assay.bench.formats.gather import bytes_of
from assay.bench.truth import Reading, Truth
from assay.errors import InputError, nearest

FORMATS = {
    "jsonl": ("assay.bench.formats.jsonl", "our own JSON lines, which hold everything"),
    "octocode": ("assay.bench.formats.octocode", "CSV of query,result1..n with path:start-end:grade"),
    "csn": ("assay.bench.formats.csn", "CodeSearchNet's annotations"),
    "swebench": ("assay.bench.formats.swebench", "instances of SWE-bench or Loc-Bench (read only)"),
    "cosqaplus": ("assay.bench.formats.cosqaplus", "CoSQA+'s folder of JSON files"),
    "cosqa": ("assay.bench.formats.cosqa", "CoSQA's JSON, as CoCLR has it"),
    "beir": ("assay.bench.formats.beir", "a folder as BEIR or CoIR lay it out"),
    "trec": ("assay.bench.formats.trec", "TREC qrels, with topics beside them"),
}
"""Name to module and what it is, in the order in which they are tried."""
_ENDINGS = {".jsonl": "jsonl", ".csv": "octocode", ".qrels": "trec"}
_HEAD_BYTES = 262_144
"""Long enough for the keys of one instance of SWE-bench, whose patch stands before its issue."""


def read(path: Path, form: str = "") -> Reading:
    """Read ground truth; without a format it is found out. Nothing usable at all is an error."""
    reading = read_part(path, form)
    if not reading.truth.queries:
        first = f": {reading.problems[0]}" if reading.problems else ""
        more = f" (and {len(reading.problems) - 1:,} more)" if len(reading.problems) > 1 else ""
        raise InputError(f"'{path}' holds no query that can be used{first}{more}")
    return reading


def read_part(path: Path, form: str = "") -> Reading:
    """Read what may be no more than a corpus, or queries that nobody judged."""
    reading: Reading = _module(form or form_of(path)).read(path)
    return reading


def write(truth: Truth, path: Path, form: str = "", *, lossy: bool = False) -> list[str]:
    """Write ground truth and return what was dropped; without `lossy` that is an error, and nothing is written."""
    name = form or form_to(path, truth)
    module = _module(name)
    dropped = list(module.losses(truth))
    if dropped and not lossy:
        hint = "drop them with --lossy, or write jsonl, which holds everything"
        raise InputError(f"{name} cannot hold {', '.join(dropped)}: {hint}")
    module.write(truth, path)
    return dropped


def form_of(path: Path) -> str:
    """Return the format of a file or folder by what it holds."""
    if not path.exists():
        raise InputError(f"no such file: '{path}'")
    head = _head(path)
    found = _told(path, head)
    if not found:
        run = " (it looks like a TREC run, which holds answers, not ground truth)" if _is_run(head) else ""
        if path.suffix == ".csv" and not run:
            return _ENDINGS[path.suffix]  # whose reader says what is wrong with it
        raise InputError(f"cannot tell the format of '{path}'{run}; name it with --from: {', '.join(FORMATS)}")
    return found


def form_to(path: Path, truth: Truth) -> str:
    """Return the format that the name of a file to be written asks for; documents without an ending make a folder."""
    if path.suffix in _ENDINGS:
        return _ENDINGS[path.suffix]
    if truth.documents and not path.suffix:
        return "beir"
    endings = ", ".join(f"{ending} ({name})" for ending, name in _ENDINGS.items())
    raise InputError(f"'{path}' does not say what format to write: end it in {endings}, or name the format")


def ending_of(form: str) -> str:
    """Return the ending of files of a format; those that are folders have none."""
    return next((ending for ending, name in _ENDINGS.items() if name == form), ".json" if form == "cosqa" else "")


def _told(path: Path, head: str) -> str:
    return next((name for name in FORMATS if _module(name).fits(path, head)), "")


def _module(name: str) -> Any:
    if name not in FORMATS:
        raise InputError(f"unknown format '{name}'; {nearest(name, list(FORMATS))}")
    return import_module(FORMATS[name][0])


def _head(path: Path) -> str:
    return "" if path.is_dir() else bytes_of(path, _HEAD_BYTES).decode("utf-8", "replace")


def _is_run(head: str) -> bool:
    return bool(import_module("assay.bench.formats.trec").is_run(head))
