"""Find targets in a checkout at one commit, check that they exist, and follow them to another commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from assay.corpus import git_history, pinned
from assay.corpus.blocks import lines_of
from assay.corpus.chunk import parse
from assay.corpus.outline import declarations
from assay.corpus.patches import FileChange, Hunk
from assay.corpus.pinned import LINKS, commit_of, contents, is_repository, tree
from assay.corpus.walk import walk
from assay.corpus.walked_files import as_utf8, decoded, from_utf8
from assay.errors import InputError, nearest
from assay.measure.line_spans import Entry, Span, Unit, span_of
from assay.truth.ground_truth import Qrels, Truth, TruthFile
from assay.values import Judgment, Problem


class Places:
    """The files of a checkout at a commit, and where in them targets are."""

    def __init__(self, root: Path, commit: str) -> None:
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
        self._declared: dict[str, list[tuple[int, int, str]]] = {}

    def load(self, paths: Iterable[str]) -> None:
        """Read several files at once, where that saves asking git for each."""
        unread = {path: self._blobs[path] for path in paths if path in self._blobs and path not in self._texts}
        wanted = {path: blob for path, blob in unread.items() if blob.mode not in LINKS}
        for path, data in contents(self.root, self.commit, wanted):
            self._texts[path] = decoded(data)

    def text(self, path: str) -> str:
        """Return the text of a file, or say why there is none."""
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
        """Return the lines that a target names, or say why there are none; a whole file has no lines."""
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

    def _symbol(self, path: str, symbol: str) -> Span:
        if path not in self._declared:
            self._declared[path] = declared(path, self.text(path))
        span = lines_of_symbol(path, symbol, self._declared[path])
        if span is None:
            names = sorted({name for _, _, name in self._declared[path]})
            hint = f"; {nearest(symbol, names)}" if 0 < len(names) <= 20 else ""
            raise InputError(f"no such symbol {self.when}{hint}")
        return span


def resolved(reading: TruthFile, root: Path) -> TruthFile:
    """Return a ground truth of lines alone: symbols looked up at its commit; what is not there is a problem more.

    A hunk inside a function that the same query names as an answer is that answer, not another one.
    """
    truth = reading.truth
    if truth.documents or not any("::" in each.target for each in truth.judgments):
        return reading
    places = Places(root, truth.commit)
    places.load(each.target.partition("::")[0] for each in truth.judgments)
    functions: dict[str, list[Span]] = {}
    problems: list[Problem] = []
    kept: dict[tuple[str, str, str], tuple[int, Judgment]] = {}
    for at, each in sorted(enumerate(truth.judgments), key=lambda one: "::" not in one[1].target):
        target = each.target
        if "::" in target:
            try:
                span = places.span(target)
            except InputError as error:
                problems.append(Problem(reading.where(at), f"{target}: {error}"))
                continue
            functions.setdefault(each.query_id, []).append(span)
            target = str(span)
        elif each.grade and any(_within(span_of(target), span) for span in functions.get(each.query_id, ())):
            continue
        kept.setdefault((each.query_id, target, each.judge), (at, replace(each, target=target)))
    rows = tuple(reading.rows[at] for at, _ in kept.values()) if reading.rows else ()
    lines = replace(truth, judgments=tuple(each for _, each in kept.values()))
    return replace(reading, truth=lines, problems=(*reading.problems, *problems), rows=rows)


def placed_in(right: Qrels, root: Path) -> Qrels:
    """Return what is right with its paths below a folder, found as semble's script does: one path ends in the other.

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


def declared(path: str, text: str) -> list[tuple[int, int, str]]:
    """Return first line, last line and full name of all that a file declares; of prose, of its sections."""
    found = [(first, last, name.replace("::", ".")) for first, last, name, _ in declarations(path, text)]
    sections = (chunk for chunk in parse(path, text).chunks if chunk.symbol) if not found else ()
    return found or [(chunk.start_line, chunk.end_line, chunk.symbol) for chunk in sections]


def lines_of_symbol(path: str, symbol: str, names: Iterable[tuple[int, int, str]]) -> Span | None:
    """Return the lines of all that is declared under a full name, None where nothing is."""
    plain = symbol.replace("::", ".")
    found = [(first, last) for first, last, name in names if f"{name}.".startswith(f"{plain}.")]
    return Span(path, min(first for first, _ in found), max(last for _, last in found)) if found else None


def _within(inner: Span, outer: Span) -> bool:
    return inner.path == outer.path and bool(inner.start) and outer.start <= inner.start <= inner.end <= outer.end


MOVED, CHANGED, GONE = "moved", "changed", "gone"


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of a target since the pinned commit."""

    where: str
    target: str
    state: str
    """`moved`, `changed` or `gone`."""
    to: str = ""
    """The target now; of changed lines, where what became of them lies."""

    def __str__(self) -> str:
        """Return one line for people."""
        to = {MOVED: f" to {self.to}", CHANGED: f", now {self.to}", GONE: ""}[self.state]
        return f"{self.where}: {self.target}: {self.state}{to}"


def fault_of(places: Places, target: str) -> str:
    """Say why a target is not there, or nothing."""
    try:
        places.span(target)
    except InputError as error:
        return str(error)
    return ""


def path_of(target: str) -> str:
    """Return the file of a target."""
    path, colons, _ = target.partition("::")
    return path if colons else span_of(target).path


def drift_of(places: Places, head: str, targets: Mapping[str, Iterable[str]]) -> Iterator[Drift]:
    """Yield what became of each target that is no longer where it was."""
    changes = {
        change.before: change for change in git_history.between(places.root, places.commit, head) if change.before
    }
    touched = [target for target in targets if path_of(target) in changes]
    if not touched:
        return
    now = Places(places.root, head)
    now.load(filter(None, (changes[path_of(target)].after for target in touched)))
    lines = cache(lambda path: lines_of(now.text(path)))
    for target in touched:
        change = changes[path_of(target)]
        state, to = (
            (GONE, "") if not change.after else _symbol(now, change, target) or _moved(places, lines, change, target)
        )
        if state:
            for where in targets[target]:
                yield Drift(where, target, state, to)


def _symbol(now: Places, change: FileChange, target: str) -> tuple[str, str] | None:
    """Return what became of a symbol or a whole file, None for lines."""
    path, colons, symbol = target.partition("::")
    to = f"{change.after}::{symbol}" if colons else change.after
    if not colons and span_of(target).start:
        return None
    if fault_of(now, to):
        return GONE, ""
    return (MOVED, to) if change.after != path else ("", "")


def _moved(places: Places, lines: Callable[[str], Sequence[str]], change: FileChange, target: str) -> tuple[str, str]:
    """Return what became of some lines; those that were rewritten are looked for elsewhere in their file."""
    span = span_of(target)
    if change.binary:
        return GONE, ""
    start, end, kept = follow(span, change.hunks)
    to = str(Span(change.after, start, end)) if end >= start else ""
    if kept == span.end - span.start + 1 and end - start == span.end - span.start:
        return ("", "") if to == target else (MOVED, to)
    old = lines_of(places.text(span.path))[span.start - 1 : span.end]
    if (at := _find_place(old, lines(change.after))) is not None:
        return MOVED, str(Span(change.after, at + 1, at + len(old)))
    return (CHANGED, to) if to else (GONE, "")


def follow(span: Span, hunks: Sequence[Hunk]) -> tuple[int, int, int]:
    """Return the first and last line that a span has after some changes, and how many of its lines are untouched.

    The end lies before the start where nothing is left.
    """
    start, end, kept, shift = span.start, span.end, span.end - span.start + 1, 0
    new_start, new_end = start, end
    for hunk in hunks:
        first = hunk.start if hunk.size else hunk.start + 1
        last = hunk.start + hunk.size - 1 if hunk.size else hunk.start
        if first > end:
            break
        grown = hunk.added - hunk.size
        kept -= max(0, min(last, end) - max(first, start) + 1)
        if last < start:
            new_start += grown
        elif first < start:
            new_start = first + shift
        new_end = first + shift + hunk.added - 1 if last > end else new_end + grown
        shift += grown
    return new_start, new_end, kept


def _find_place(old: Sequence[str], new: Sequence[str]) -> int | None:
    """Return the only place where some lines stand, None where there is none or several."""
    wanted, size = [line.strip() for line in old], len(old)
    if not any(wanted):
        return None
    stripped = [line.strip() for line in new]
    places = [
        at for at in range(len(new) - size + 1) if stripped[at] == wanted[0] and stripped[at : at + size] == wanted
    ]
    return places[0] if len(places) == 1 else None


@dataclass(frozen=True, slots=True)
class TruthCheck:
    """What a check found."""

    targets: int
    looked: bool = False
    """Whether they were looked up in a checkout."""
    commit: str = ""
    """The pinned commit; empty where the files were taken as they are."""
    head: str = ""
    """The commit that drift was looked for at; empty where it was not."""
    problems: tuple[Problem, ...] = ()
    drift: tuple[Drift, ...] = ()
    broken: frozenset[str] = frozenset()
    """The targets that are not there at the pinned commit."""
    uncommitted: tuple[str, ...] = ()
    """Files with targets whose work tree is not what was committed."""


def check(reading: TruthFile, root: Path | None) -> TruthCheck:
    """Look every target up; without a folder only what was read is told, for documents there is nothing else."""
    truth = reading.truth
    targets = _targets(reading)
    if truth.documents or root is None:
        return TruthCheck(len(targets), problems=reading.problems)
    _one_checkout(truth)
    places = Places(root, truth.commit)
    places.load(path_of(target) for target in targets)
    faults = {target: fault for target in targets if (fault := fault_of(places, target))}
    problems = [Problem(where, f"{each}: {faults[each]}") for each in faults for where in targets[each]]
    problems = sorted({*reading.problems, *problems}, key=_order)
    head = git_history.head(root) if is_repository(root) else ""
    checked = TruthCheck(len(targets), True, places.commit, head, tuple(problems), broken=frozenset(faults))
    if not head or not places.commit:
        return checked
    sound = {target: wheres for target, wheres in targets.items() if target not in faults}
    drift = tuple(drift_of(places, head, sound)) if head != places.commit else ()
    changed = pinned.changed(root, head, set(map(path_of, sound)))
    return replace(checked, drift=drift, uncommitted=tuple(sorted(changed)))


def repinned(truth: Truth, checked: TruthCheck) -> Truth:
    """Return a ground truth at HEAD: lines that moved or changed followed, what is gone or was broken left out.

    A query that loses all its answers is left out with them.
    """
    if not checked.head or not checked.commit:
        raise InputError(
            "there is nothing to pin again: it takes a git checkout, and a ground truth that names a commit"
        )
    now = {each.target: each.to for each in checked.drift}
    now |= dict.fromkeys(checked.broken, "")
    judgments = [replace(each, target=now.get(each.target, each.target)) for each in truth.judgments]
    had = {each.query_id for each in truth.judgments}
    have = {each.query_id for each in judgments if each.target}
    return replace(
        truth,
        queries=tuple(query for query in truth.queries if query.id in have or query.id not in had),
        judgments=tuple(each for each in judgments if each.target and each.query_id in have),
        hidden=tuple(filter(None, (now.get(target, target) for target in truth.hidden))),
        commit=checked.head,
    )


def _targets(reading: TruthFile) -> dict[str, list[str]]:
    """Return every target with the places that name it."""
    targets: dict[str, list[str]] = {}
    for at, judgment in enumerate(reading.truth.judgments):
        targets.setdefault(judgment.target, []).append(reading.where(at))
    for target in reading.truth.hidden:
        targets.setdefault(target, []).append(f"{reading.file} (hidden)")
    return targets


def _one_checkout(truth: Truth) -> None:
    """Refuse a ground truth of several repositories or commits: one checkout cannot say whether it is right."""
    found = {(query.tags.get("repository", ""), query.tags.get("commit", "")) for query in truth.queries}
    if len(found) > 1 and not truth.commit:
        raise InputError(f"it speaks of {len(found)} checkouts: split it with assay truth convert --split, check each")


def _order(problem: Problem) -> tuple[str, int, str]:
    file, _, row = problem.where.rpartition(":")
    return (file, int(row), problem.what) if row.isdecimal() else (problem.where, 0, problem.what)
