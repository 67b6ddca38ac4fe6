"""What a reader has found so far, and what is said beside a file about the corpus it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import rows
from assay.io.rows import plain
from assay.truth.formats.truth_rows import fault_of_id, place_of
from assay.truth.ground_truth import Truth, TruthFile
from assay.types import Chunk, Judgment, Problem, Query


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What a file begins with, by which its format is told; of a folder there is only the path."""

    path: Path
    rows: Sequence[Mapping[str, Any]] = ()
    """Its first objects, where it holds such."""
    head: str = ""
    problems: Sequence[Problem] = ()
    """What was wrong with those that are left out."""

    @property
    def keys(self) -> frozenset[str]:
        """The fields of its first objects."""
        return frozenset(name for row in self.rows for name in row)


class Gathered:
    """What a reader has found so far in one file or folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.queries: dict[str, Query] = {}
        self.documents: dict[str, Chunk] = {}
        self.judgments: list[Judgment] = []
        self.rows: list[int] = []
        self.problems: list[Problem] = []

    def problem(self, row: int, what: str, *, file: Path | None = None) -> None:
        """Note what is wrong in a row."""
        self.problems.append(Problem(rows.place(file or self.path, row), what))

    def query(self, row: int, query: Query, *, file: Path | None = None) -> bool:
        """Take a query in, unless it is empty or its id is taken."""
        if not query.text.strip():
            self.problem(row, "the query is empty", file=file)
        elif query.id in self.queries:
            self.problem(row, f"query '{query.id}' is there twice: the first counts", file=file)
        else:
            self.queries[query.id] = query
            return True
        return False

    def document(self, row: int, document: Chunk, *, file: Path | None = None) -> None:
        """Take a document in, unless its id is taken or would be read as lines of a file."""
        fault = "its id is taken: the first counts" if document.id in self.documents else fault_of_id(document.id)
        if fault:
            self.problem(row, f"document '{document.id}': {fault}", file=file)
        else:
            self.documents[document.id] = document

    def judgment(self, row: int, judgment: Judgment) -> None:
        """Take a judgment in."""
        self.judgments.append(judgment)
        self.rows.append(row)

    def reading(self, *, name: str = "", about: Mapping[str, Any] | None = None) -> TruthFile:
        """Return what was found; `about` is what is known of the corpus."""
        about = about if about is not None else about_of(self.path, self.problems)
        truth = Truth(
            name or name_of(self.path),
            tuple(self.queries.values()),
            tuple(self.judgments),
            tuple(self.documents.values()),
            about.get("repo", ""),
            about.get("commit", ""),
            tuple(self._hidden(about.get("hidden", ()))),
        )
        return TruthFile(truth, tuple(self.problems), tuple(self.rows), self.path.name)

    def _hidden(self, targets: Iterable[str]) -> Iterator[str]:
        """Yield the hidden targets that are lines of a file below the corpus: they are written to when it is made."""
        for target in targets:
            place = place_of(target)
            if isinstance(place, str):
                self.problem(1, f"hidden: {place}")
            else:
                yield target


_ABOUT = ("repo", "commit", "hidden")


def name_of(path: Path) -> str:
    """Return what a file or folder of ground truth is called, without its endings."""
    if path.is_dir():
        return path.resolve().name
    stem = plain(path.resolve()).stem
    return stem.removesuffix(".qrels") or stem


def about_of(path: Path, problems: list[Problem]) -> dict[str, Any]:
    """Return what the file beside a ground truth says about its corpus: `repo`, `commit`, `hidden`."""
    beside = about_file(path)
    if not beside.is_file():
        return {}
    try:
        about = rows.value_of(beside)
    except InputError as error:
        problems.append(Problem(rows.place(beside, 1), str(error)))
        return {}
    found = {key: about.get(key, "") for key in ("repo", "commit")} if isinstance(about, dict) else {"repo": None}
    hidden = about.get("hidden", []) if isinstance(about, dict) else []
    if not isinstance(hidden, list) or not all(isinstance(value, str) for value in (*found.values(), *hidden)):
        problems.append(Problem(rows.place(beside, 1), 'wanted {"repo": "owner/name", "commit": "..."}'))
        return {}
    near = {key: nearest(key, _ABOUT) for key in about if key not in _ABOUT}
    misspelt = [f"unknown key '{key}'; {hint}" for key, hint in near.items() if hint.startswith("did you mean")]
    problems.extend(Problem(rows.place(beside, 1), what) for what in misspelt)
    return {**found, "hidden": hidden}


def about_file(path: Path) -> Path:
    """Return the file that says what a ground truth speaks of: `NAME.meta.json` beside it, `meta.json` in a folder."""
    return path / "meta.json" if path.is_dir() else path.with_name(f"{name_of(path)}.meta.json")
