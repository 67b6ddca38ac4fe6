"""What an encoder is trained on: a question-like text, the view of what answers it, and where both came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """Two texts that should be near; the source (a package, a repository) is the unit of every split."""

    query: str
    code: str
    source: str
    kind: str
    """`doc` to code without it, `rest` of a doc, `section` below a heading, or a data set's name."""


def read_pairs(path: Path) -> Iterator[TrainingPair]:
    """Yield the pairs of a JSON Lines file; `query` and `code` are wanted, `source` and `kind` may be missing."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read pairs from {path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _pair(line, f"{path}:{number}", path.stem)


def write_pairs(path: Path, pairs: Iterable[TrainingPair]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(asdict(pair)) + "\n" for pair in pairs), "utf-8")


def _pair(line: str, place: str, source: str) -> TrainingPair:
    try:
        entry = json.loads(line)
        return TrainingPair(
            str(entry["query"]), str(entry["code"]), str(entry.get("source", source)), str(entry.get("kind", "given"))
        )
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f'{place}: not a pair ({error!r}); wanted {{"query": "...", "code": "..."}}') from error
