"""Find the lines of targets in a checkout, at a commit or in its files now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from assay.corpus.blocks import lines_of
from assay.corpus.chunk import parse
from assay.corpus.encodings import decoded
from assay.corpus.outline import declarations
from assay.corpus.pinned import LINKS, commit_of, contents, is_repository, tree
from assay.corpus.walk import walk
from assay.corpus.walked_files import as_utf8, from_utf8
from assay.errors import InputError, nearest
from assay.measure.line_spans import Entry, Span, Unit, span_of
from assay.truth.ground_truth import Qrels, TruthFile
from assay.values import Judgment, NamedSpan, Problem


class Places:
    """The files of a checkout at a commit, with the lines of targets in them.

    A ground truth that names no commit follows its files: a symbol that is no longer in its file is looked for in all.
    """

    def __init__(self, root: Path, commit: str, *, follow: bool = False) -> None:
        if not root.is_dir():
            raise InputError(f"'{root}' is not a folder; give the checkout with --corpus FOLDER")
        if commit and not is_repository(root):
            raise InputError(f"'{root}' is not a git repository, and the ground truth names commit {commit[:12]}")
        self.root = root
        self.commit = commit_of(root, commit) if commit else ""
        self.when = f"at {self.commit[:12]}" if commit else "in the folder"
        self._blobs = {as_utf8(path): blob for path, blob in tree(root, self.commit).items()} if commit else {}
        self._paths = list(self._blobs) if commit else [file.path for file in walk(root).files]
        self._texts: dict[str, str | None] = {}
        self._declared: dict[str, list[NamedSpan]] = {}
        self._follow = follow
        self.moved: dict[str, str] = {}
        """Symbols that were found in another file, with that file."""

    def load(self, paths: Iterable[str]) -> None:
        """Read several files at once, if that saves a call of git for each."""
        unread = {path: self._blobs[path] for path in paths if path in self._blobs and path not in self._texts}
        wanted = {path: blob for path, blob in unread.items() if blob.mode not in LINKS}
        for path, data in contents(self.root, self.commit, wanted):
            self._texts[path] = decoded(data)

    def text(self, path: str) -> str:
        """Return the text of a file; raise InputError if there is none."""
        if path not in self._texts:
            if self.commit:
                blob = self._blobs.get(path)
                if blob is None or blob.mode in LINKS:
                    raise InputError(LINKS[blob.mode] if blob else f"no such file {self.when}{self._like(path)}")
                self.load([path])
            else:
                self._texts[path] = self._of_folder(path)
        text = self._texts[path]
        if text is None:
            raise InputError("the file is binary")
        return text

    def span(self, target: str) -> Span:
        """Return the lines of a target; raise InputError if they do not exist; a whole file has no lines."""
        path, colons, symbol = target.partition("::")
        if colons:
            return self._symbol(path, symbol)
        span = span_of(target)
        size = len(lines_of(self.text(span.path)))
        if span.end > size:
            raise InputError(f"the file ends at line {size:,} {self.when}")
        return span

    def _of_folder(self, path: str) -> str | None:
        file = from_utf8(self.root, path)
        if not file.is_file():
            raise InputError(f"no such file {self.when}{self._like(path)}")
        return decoded(file.read_bytes())

    def _like(self, path: str) -> str:
        name = path.rpartition("/")[2]
        same = [each for each in self._paths if each.rpartition("/")[2] == name]
        return f"; did you mean '{same[0]}'?" if len(same) == 1 else ""

    def declared(self, path: str) -> list[NamedSpan]:
        """Return the declarations of a file."""
        if path not in self._declared:
            self._declared[path] = declared(path, self.text(path))
        return self._declared[path]

    def _symbol(self, path: str, symbol: str) -> Span:
        is_there = path in self._paths or not self._follow
        if is_there and (span := lines_of_symbol(path, symbol, self.declared(path))):
            return span
        if self._follow and (moved := self._elsewhere(path, symbol)):
            self.moved[f"{path}::{symbol}"] = moved.path
            return moved
        names = sorted({each.name for each in self.declared(path)})
        hint = f"; {nearest(symbol, names)}" if 0 < len(names) <= 20 else ""
        raise InputError(f"no such symbol {self.when}{hint}")

    def _elsewhere(self, path: str, symbol: str) -> Span | None:
        """Return the only place of a full name in other files; of several, the one in a file of the same name."""
        own, last = PurePosixPath(path).name, re.split(r"\.|::", symbol)[-1]
        found = [span for each in self._paths if each != path and (span := self._declared_in(each, symbol, last))]
        same = [span for span in found if PurePosixPath(span.path).name == own]
        best = same or found
        return best[0] if len(best) == 1 else None

    def _declared_in(self, path: str, symbol: str, last: str) -> Span | None:
        with suppress(InputError, OSError):
            return lines_of_symbol(path, symbol, self.declared(path)) if last in self.text(path) else None
        return None


def resolved(reading: TruthFile, root: Path, *, follow: bool = False) -> TruthFile:
    """Return a ground truth with lines for symbols, looked up at its commit; missing targets are added problems.

    A hunk inside a function that the same query names as an answer is that answer, not another one.
    """
    truth = reading.truth
    if truth.documents or not any("::" in each.target for each in truth.judgments):
        return reading
    places = Places(root, truth.commit, follow=follow)
    places.load(each.target.partition("::")[0] for each in truth.judgments)
    texts = {query.id: " ".join(query.text.split()) for query in truth.queries}
    functions: dict[str, list[Span]] = {}
    problems: list[Problem] = []
    kept: dict[tuple[str, str, str], tuple[int, Judgment]] = {}
    for at, each in sorted(enumerate(truth.judgments), key=lambda one: "::" not in one[1].target):
        target = each.target
        if "::" in target:
            try:
                span = places.span(target)
            except InputError as error:
                asks = f"; it answers '{texts[each.query_id]}'" if follow and each.query_id in texts else ""
                problems.append(Problem(reading.where(at), f"{target}: {error}{asks}"))
                continue
            functions.setdefault(each.query_id, []).append(span)
            target = str(span)
        elif each.grade and any(_within(span_of(target), span) for span in functions.get(each.query_id, ())):
            continue
        kept.setdefault((each.query_id, target, each.judge), (at, replace(each, target=target)))
    rows = tuple(reading.rows[at] for at, _ in kept.values()) if reading.rows else ()
    lines = replace(truth, judgments=tuple(each for _, each in kept.values()))
    return replace(reading, truth=lines, problems=(*reading.problems, *problems), rows=rows, moved=places.moved)


def placed_in(right: Qrels, root: Path) -> Qrels:
    """Return qrels with paths below a folder, matched like semble's script: one path ends in the other.

    So the folder may be a part of the repository. The file with the longest common path is the answer's, and others
    count `also` in the unit `line published`, which comes first. A query with an answer in no file is left out.
    """
    files = [each.relative_to(root).as_posix() for each in root.rglob("*") if each.is_file()]
    known = cache(lambda path: _ends_alike(path, files))
    lost = {name: e.span.path for name, entries in right.entries.items() for e in entries if not known(e.span.path)}
    told = [Problem(f"query {name}", f"no file ends in '{path}': it is left out") for name, path in lost.items()]
    queries = tuple(query for query in right.queries if query.id not in lost)
    found = {each.id: [_placed(e, known(e.span.path)) for e in right.entries[each.id]] for each in queries}
    units: tuple[Unit, ...] = ("line published", *(unit for unit in right.units if unit != "line published"))
    return Qrels(queries, found, units, (*right.problems, *told))


def _placed(entry: Entry, files: Sequence[str]) -> Entry:
    return replace(entry, span=replace(entry.span, path=files[0]), also=tuple(files[1:]))


def _ends_alike(path: str, files: Sequence[str]) -> list[str]:
    found = [file for file in files if f"/{file}".endswith(f"/{path}") or f"/{path}".endswith(f"/{file}")]
    return sorted(found, key=lambda file: (-min(len(file), len(path)), len(file), file))


def declared(path: str, text: str) -> list[NamedSpan]:
    """Return the declarations of a file of code, or the sections of prose."""
    if found := [each._replace(name=each.name.replace("::", ".")) for each in declarations(path, text)]:
        return found
    chunks = parse(path, text).chunks
    return [NamedSpan(chunk.start_line, chunk.end_line, chunk.symbol) for chunk in chunks if chunk.symbol]


def lines_of_symbol(path: str, symbol: str, declarations: Iterable[NamedSpan]) -> Span | None:
    """Return the lines of all declarations with a full name; None without any."""
    plain = symbol.replace("::", ".")
    found = [each for each in declarations if f"{each.name}.".startswith(f"{plain}.")]
    return Span(path, min(each.first_line for each in found), max(each.last_line for each in found)) if found else None


def _within(inner: Span, outer: Span) -> bool:
    return inner.path == outer.path and bool(inner.start) and outer.start <= inner.start <= inner.end <= outer.end


def fault_of(places: Places, target: str) -> str:
    """Say why a target does not exist; empty if it does."""
    try:
        places.span(target)
    except InputError as error:
        return str(error)
    return ""


def path_of(target: str) -> str:
    """Return the file of a target."""
    path, colons, _ = target.partition("::")
    return path if colons else span_of(target).path
