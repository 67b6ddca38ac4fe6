"""Files as a text names them in, the files of a corpus that are meant out: paths, links, frames of traces.

What stands before the corpus's own folders (another machine's, a host, a package's place) is passed over: the ends of
two paths are compared. Their files come from the postings of the last name, so no list of files is walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.corpus.languages import BY_EXTENSION
from assay.search.features import PATH
from assay.store.snapshot import Snapshot
from assay.terms import terms

_MOST = 40  # places that are looked up
_ALIKE = 3
"""Files that one place may mean; a name that more have says too little."""
_COMMON = frozenset(("__init__", "conftest", "index", "lib", "main", "mod", "setup", "utils"))
"""Names of files that say too little with one folder."""
_PLACE = re.compile(
    r'File "(?P<python>[^"\n]{1,300})", line (?P<at>\d{1,7})'
    r"|\bat (?P<unit>[\w.$]{3,300})\([\w$]+(?P<ending>\.\w{1,6}):(?P<row>\d{1,7})\)"
    r"|(?P<path>[\w./\\~@+-]{3,300})(?:(?P<mark>:|#L)(?P<line>\d{1,7}))?"
)


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A file as somebody names it, with folders that may be those of another machine."""

    path: str
    line: int = 0
    """0 where no line is named."""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]

    @property
    def term(self) -> str:
        """What its file is looked up by."""
        return (terms(self.name.rpartition(".")[0]) or [""])[-1]


def places_of(text: str) -> tuple[NamedPlace, ...]:
    """Return the files that a text names, the most telling first.

    Those are paths and links in their order, which are there on purpose, and frames from the innermost, which Python
    prints last.
    """
    places, python = list[NamedPlace](), list[NamedPlace]()
    for found in _PLACE.finditer(text):
        place = _place(found)
        if _is_telling(place):
            (python if place.path.endswith(".py") and place.line and found["mark"] != "#L" else places).append(place)
    return tuple(dict.fromkeys((*places, *reversed(python))))[:_MOST]


def _place(found: re.Match[str]) -> NamedPlace:
    line = int(found["at"] or found["row"] or found["line"] or 0)
    if found["unit"]:
        return NamedPlace(found["unit"].rpartition(".")[0].partition("$")[0].replace(".", "/") + found["ending"], line)
    return NamedPlace((found["python"] or found["path"]).replace("\\", "/"), line)


def _is_telling(place: NamedPlace) -> bool:
    """Say whether it has the ending of a language, and folders or a line: a bare name is rarely where a fix goes."""
    stem, _, extension = place.name.rpartition(".")
    return bool(stem) and extension in BY_EXTENSION and (place.line > 0 or "/" in place.path)


def named_files(snapshot: Snapshot, places: Sequence[NamedPlace]) -> Iterator[str]:
    """Yield the files that places mean, in their order; each is likely one, and few or none of a place."""
    for place in places:
        chunks, counts = snapshot.postings(place.term)
        files = np.unique(snapshot.files(chunks[counts[:, PATH] > 0])).tolist()
        shared = {path: _shared_end(place.path, path) for path in map(snapshot.path_of, files)}
        longest = max(shared.values(), default=0)
        meant = sorted(path for path, length in shared.items() if length == longest > 0)
        yield from meant if len(meant) <= _ALIKE else ()


def _shared_end(theirs: str, ours: str) -> int:
    """Return how many of the last parts of two paths are the same, 0 where that is too few to tell."""
    their, our = theirs.split("/"), ours.split("/")
    same = 0
    while same < min(len(their), len(our)) and their[-1 - same] == our[-1 - same]:
        same += 1
    enough = 1 if len(their) == 1 else 3 if our[-1].partition(".")[0] in _COMMON else 2
    return same if same >= min(enough, len(our)) else 0
