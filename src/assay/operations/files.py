"""Read one file or folder: its lines, where a text occurs in it, what a folder holds.

Files are read as they are now. What can be opened is what an index holds, and what it leaves out by size or kind; what
an ignore file names, the folders of tools and symbolic links are not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from assay.corpus.blocks import lines_of
from assay.corpus.encodings import decoded
from assay.corpus.languages import language_of
from assay.corpus.left_out_names import is_openable
from assay.corpus.line_history import head_lines
from assay.corpus.outline import outline
from assay.corpus.remotes import HostLinks, host_links
from assay.corpus.walk import MAX_FILE_BYTES, folder_level
from assay.corpus.walked_files import from_utf8
from assay.errors import InputError
from assay.operations.hits import answer_type, cursor, offset_of
from assay.operations.requests import FileLines, Find, Names, Tree
from assay.operations.roots import NotServed, Place, Roots
from assay.search.part_names import NameFinder, finder_of
from assay.store.snapshot import Snapshot

MAX_SHOWN_BYTES = 10_000_000
"""Bytes of a file that are shown and searched; the raw file has the rest."""
_MAX_LINE_CHARS = 4000
_MAX_CHARS = 1_000_000
_MAX_OUTLINE_UNITS = 3000
_MAX_FOUND_LINES = 1000
_known_files: WeakKeyDictionary[Snapshot, tuple[list[str], NameFinder]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class DeclaredName:
    """A declaration or heading of a file."""

    line: int
    end_line: int
    depth: int
    """How many others enclose it."""
    kind: str
    name: str


@answer_type
class FileLinks:
    """Where a code host shows a file of a commit; empty if it does not."""

    host: str = ""
    """GitHub, GitLab, Gitea or Bitbucket."""
    file: str = ""
    """The permanent address of the file at a commit."""
    line: str = ""
    """The suffix for a line, with `{start}`."""
    lines: str = ""
    """The suffix for several lines, with `{start}` and `{end}`."""
    commits: str = ""
    """The address of a commit, without its id."""


@answer_type
class FileText:
    """Lines of a file."""

    root: str
    path: str
    """Relative to the root."""
    language: str
    size: int
    """Bytes."""
    lines: int
    """Lines of the file, or of its shown part if `truncated`."""
    start_line: int
    """The first line of `text`."""
    text: str
    """Whole lines, except for long ones, which are cut; empty if `styled` lines are requested or the file is binary."""
    complete: bool
    """Whether these are all lines of the file."""
    truncated: bool = False
    """True: the file is too large, and only its first part can be shown."""
    binary: bool = False
    cut: dict[int, int] = field(default_factory=dict)
    """How many characters are cut, by line."""
    outline: list[DeclaredName] = field(default_factory=list)
    """What the whole file declares, in order; empty if `start` is not 1."""
    links: FileLinks = field(default_factory=FileLinks)
    modified: bool = False
    """Whether it differs from HEAD, where its lines may have other numbers."""
    reason: str = ""
    """Why no index holds it; usually empty."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a folder."""

    name: str
    size: int
    """Its size in bytes; -1 if unknown."""
    reason: str = ""
    """Why no index holds it; usually empty."""


@answer_type
class FolderList:
    """The content of a folder: its folders, then its files, in order of names."""

    root: str
    path: str
    """Relative to the root; empty for the root itself."""
    folders: list[str]
    files: list[ListedFile]
    cursor: str = ""
    """For the next page; empty at the end."""


@answer_type
class NamesFound:
    """Files and declared names, the best matches first."""

    files: list[str]
    """As root/path."""
    names: list[str]


@answer_type
class FoundLines:
    """Where a text occurs in a file."""

    root: str
    path: str
    lines: list[int]
    """The first lines that contain it."""
    total: int
    """How many lines contain it."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that may be opened, in its present state."""

    place: Place
    size: int
    text: str | None
    """None for a binary file."""
    truncated: bool
    reason: str

    @property
    def root(self) -> Path:
        """The folder that its path is relative to."""
        return self.place.reader.root


class OpenableFile(NamedTuple):
    """A file that may be opened, its place, and why no index holds it, or an empty text."""

    file: Path
    place: Place
    reason: str


def whole_file(roots: Roots, path: str) -> OpenableFile:
    """Return a file that may be opened, or raise NotServed."""
    place = roots.place(path)
    root = place.reader.root
    folder, _, name = place.inside.rpartition("/")
    if (root / place.inside).is_dir():
        raise NotServed(f"'{path}' is a folder: give a file in it")
    level = folder_level(root, folder, name, open_ignored=place.reader.settings.index.open_ignored)
    reasons = {each.path: each.reason for each in level.skipped} if level else {}
    listed = {each.path for each in level.files} if level else set()
    reason = reasons.get(place.inside, "")
    if place.inside not in listed and not is_openable(reason):
        raise NotServed(f"'{path}' cannot be opened here: {reason or 'it is in a folder that is left out'}")
    return OpenableFile(root / place.inside, place, reason)


def read_file(roots: Roots, path: str) -> ReadFile:
    """Return a file that may be opened with its text; only the first part of a large one."""
    file, place, reason = whole_file(roots, path)
    with file.open("rb") as opened:
        data = opened.read(MAX_SHOWN_BYTES + 1)
    size = file.stat().st_size
    truncated = len(data) > MAX_SHOWN_BYTES
    if truncated:
        data = data[:MAX_SHOWN_BYTES]
        data = data[: data.rfind(b"\n") + 1] or data
    if not reason and size > MAX_FILE_BYTES:
        reason = f"{size / 1e6:.1f} MB, larger than {MAX_FILE_BYTES / 1e6:.1f} MB"
    return ReadFile(place, size, decoded(data, place.reader.settings.index.encoding), truncated, reason)


def file_text(request: FileLines, roots: Roots) -> FileText:
    """Return lines of a file from one on; with the first come its declarations and its addresses at a code host."""
    path, line, count = request.path, request.line, request.count
    read = read_file(roots, path)
    inside, every = read.place.inside, lines_of(read.text or "")
    if line > max(len(every), 1):
        raise NotServed(f"'{path}' has {len(every)} lines; there is no line {line}")
    shown, cut = _window(every[line - 1 : line - 1 + count], line)
    first = line == 1
    declared = outline(inside, read.text or "")[:_MAX_OUTLINE_UNITS] if first and read.size <= MAX_FILE_BYTES else []
    modified = first and read.text is not None and head_lines(read.root, inside, read.text).is_modified
    return FileText(
        root=read.place.reader.name,
        path=inside,
        language=language_of(inside, read.text or ""),
        size=read.size,
        lines=len(every),
        start_line=line,
        text="".join(shown),
        complete=len(shown) == len(every),
        truncated=read.truncated,
        binary=read.text is None,
        cut=cut,
        outline=[DeclaredName(one.line, one.end_line, one.depth, one.kind, one.name[:200]) for one in declared],
        links=links_to(host_links(read.root), inside),
        modified=modified,
        reason=read.reason,
    )


def found_lines(request: Find, roots: Roots) -> FoundLines:
    """Return the lines of a file that contain a text; capitals count only if it has one."""
    read, text = read_file(roots, request.path), request.text
    folded = text == text.lower()
    every = lines_of((read.text or "").lower() if folded else read.text or "")
    lines = [number for number, line in enumerate(every, 1) if text in line]
    return FoundLines(read.place.reader.name, read.place.inside, lines[:_MAX_FOUND_LINES], len(lines))


def folder_list(request: Tree, roots: Roots) -> FolderList:
    """Return a page of what a folder holds."""
    path, limit = request.path, request.limit
    place = roots.place(path)
    if not (place.reader.root / place.inside).is_dir():
        raise NotServed(f"'{path}' is a file: give the folder that holds it")
    level = folder_level(place.reader.root, place.inside, open_ignored=place.reader.settings.index.open_ignored)
    if level is None:
        raise NotServed(f"'{path}' is not served: no index would include it")
    files = [(each.path, each.size, "") for each in level.files]
    files += [(each.path, _size(place, each.path), each.reason) for each in level.skipped if is_openable(each.reason)]
    entries: list[tuple[str, ListedFile | None]] = [(_name(folder), None) for folder in level.folders]
    entries += [(_name(path), ListedFile(_name(path), size, reason)) for path, size, reason in sorted(files)]
    question, version = ("tree", path, limit), repr([name for name, _ in entries])
    start = offset_of(request.cursor, question, version)
    page = entries[start : start + limit]
    after = cursor(start + limit, question, version) if start + limit < len(entries) else ""
    folders = [name for name, file in page if file is None]
    return FolderList(place.reader.name, place.inside, folders, [file for _, file in page if file], after)


def names(request: Names, roots: Roots) -> NamesFound:
    """Return the files whose paths contain all parts of a text or whose names resemble it, and such declared names."""
    if not request.path and roots.are_several:
        snapshots = roots.everything.view().snapshots()
    else:
        reader = roots.place(request.path).reader
        snapshots = {reader.name: reader.view().workspace.snapshot}
    text, files, named = request.query.strip(), list[str](), list[str]()
    for root, snapshot in snapshots.items():
        files += (f"{root}/{path}" for path in _files_like(snapshot, text, request.limit))
        like = finder_of(snapshot).like(text, request.limit) if text else None
        named += like.names if like else finder_of(snapshot).names * (not text)
    kept = list(dict.fromkeys(named))
    if len(snapshots) > 1 or not text:
        files, kept = (sorted(each, key=lambda one: (len(one), one)) for each in (files, kept))
    return NamesFound(files[: request.limit], kept[: request.limit])


def _files_like(snapshot: Snapshot, text: str, most: int) -> list[str]:
    """Return the paths that contain all parts of a text, the shortest first, then those whose names resemble it."""
    if snapshot not in _known_files:
        paths = list(_paths(snapshot))
        _known_files[snapshot] = paths, NameFinder(_name(path) for path in paths)
    paths, finder = _known_files[snapshot]
    folded = text.lower().split()
    found = sorted(
        (path for path in paths if all(part in path.lower() for part in folded)), key=lambda path: (len(path), path)
    )
    like = finder.like(text, most) if len(found) < most and len(folded) == 1 else None
    by_name = {_name(path): path for path in reversed(paths)} if like else {}
    return list(dict.fromkeys([*found, *(by_name[name] for name in (like.names if like else ()))]))[:most]


def _paths(snapshot: Snapshot) -> Iterator[str]:
    """Yield the paths of the living chunks of a snapshot."""
    for segment, live in snapshot.parts:
        rows = np.flatnonzero(np.ones(len(segment), dtype=bool) if live is None else live)
        yield from segment.paths.some(np.unique(segment.file[rows]).tolist())


def links_to(links: HostLinks | None, path: str) -> FileLinks:
    """Return where a code host shows a file; empty links if no host is known."""
    if links is None:
        return FileLinks()
    return FileLinks(links.host, links.of_file(path), links.line, links.lines, links.commits)


def check_file_line(file: ReadFile, path: str, line: int) -> None:
    """Refuse a line beyond the end of a file, and any line of a binary file."""
    if file.text is None:
        raise InputError(f"'{path}' is a binary file: it has no lines")
    if line > len(lines_of(file.text)):
        raise NotServed(f"'{path}' has no line {line}")


def _window(lines: Sequence[str], first: int) -> tuple[list[str], dict[int, int]]:
    """Return as many lines as an answer holds, long ones cut, and how many characters are cut."""
    shown, cut, left = list[str](), dict[int, int](), _MAX_CHARS
    for number, line in enumerate(lines, first):
        if len(line) > _MAX_LINE_CHARS:
            cut[number] = len(line) - _MAX_LINE_CHARS - line.endswith("\n")
            line = line[:_MAX_LINE_CHARS] + ("\n" if line.endswith("\n") else "")  # noqa: PLW2901
        left -= len(line)
        if left < 0 and shown:
            break
        shown.append(line)
    return shown, {number: missing for number, missing in cut.items() if missing and number < first + len(shown)}


def _size(place: Place, path: str) -> int:
    try:
        return from_utf8(place.reader.root, path).lstat().st_size
    except OSError:
        return -1


def _name(path: str) -> str:
    return path.rpartition("/")[2]
