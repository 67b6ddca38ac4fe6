"""Mine queries from the newest commits of a history, about the code before these commits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from assay.corpus import git_history
from assay.corpus.git_history import Commit
from assay.corpus.patches import FileChange, Hunk, LineMap
from assay.protocols import Progress
from assay.terms import WORD
from assay.truth.minable import (
    TELLING,
    Files,
    MinedQueries,
    at_most,
    is_aside,
    is_prose,
    is_test,
    kind_of,
    target_of,
    telling,
)
from assay.truth.mine_units import doc_lines
from assay.values import Chunk, Judgment, Mode, Query

_MAX_BODY_WORDS = 120
_MIN_BODY_WORDS = 15
"""Words of a body that says something."""

_BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|pre-commit-ci|greenkeeper|snyk|github-actions?|bors|weblate|transifex|crowdin"
    r"|mergify|allcontributors|semantic-release|pyup|imgbot|kodiak\w*|travis|jenkins|copybara|rust-timer|homu)\b"
    r"|-bot\b|\bbot@|\bautomation\b",
    re.IGNORECASE,
)
_MERGE = re.compile(r"^(?:merge[ds]?\b|auto-?merge|automatic merge|\[?merge\]?:)", re.IGNORECASE)
_PULL = re.compile(r"^merge (?:pull request|pr|mr) ", re.IGNORECASE)
_REVERT = re.compile(
    r"^(?:revert|reapply|back ?out|roll ?back|undo)\b|^This reverts commit", re.IGNORECASE | re.MULTILINE
)
_RELEASE = re.compile(
    r"^(?:\W*v?\d+(?:\.\d+)+\S*\W*$|(?:[\w/-]+[ -])?v?\d+\.\d+(?:\.\d+)*\S*$)"
    r"|\b(?:bump|releas(?:e|ed|ing)|preparing?|next (?:development )?version|version bump|start)\b.{0,40}?\bv?\d+\.\d"
    r"|\b(?:bump|upgrade|pin|unpin|update|switch|downgrade)s?d?\b.{0,60}\b(?:from\b.*\bto\b|to v?\d|dependenc|deps"
    r"|version|crate|submodule|action|lock)|\[maven-release|\b(?:changelog|release notes?|new cycle|snapshot)\b"
    r"|\bversion number\b"
    r"|^(?:bump|upgrade|release|prepare)\b",
    re.IGNORECASE,
)
_TYPE = re.compile(r"^(\w+)(?:\([^()]*\))?!?:\s+")
_TYPES = frozenset("feat feature fix bugfix perf refactor revert hotfix improvement enhancement security".split())
_TRIVIAL_TYPES = frozenset(
    "style chore ci build release deps test tests lint fmt typo wip bench benchmark msrv".split()
)
_DOCS_TYPES = frozenset("doc docs documentation".split())
_TRIVIAL = re.compile(
    r"\b(?:typos?|mis-?spell\w*|spelling|grammar|grammatical|wording"
    r"|(?:broken|dead|outdated)\S* links?|lint|linter|linting|lints|fmt|rustfmt|gofmt|clippy|prettier"
    r"|eslint|biome|flake8|pylint|rubocop|checkstyle|spotbugs|spotless|pmd|sonar\w*|pre-commit|codeql|wip|nits?|copyright"
    r"|licen[cs]e headers?|javadocs?|jsdoc|docstrings?|rustdocs?|doc comments?|polish(?:ing)?|tidy(?:ing)?"
    r"|clean(?:ing|ed|s)?[ -]?ups?|re-?format(?:ting)?|code style|review comments|sort members|flak[ye]\w*|workflows?"
    r"|ci|travis|appveyor|sponsors?|github actions?|code coverage|dead code"
    r"|compil(?:e|er|ation) (?:errors?|warnings?))\b",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"\b(?:\w*tests?|tested|testing|test suite|benchmarks?|fuzz\w*|asserts?|assertions?|specs)\b", re.IGNORECASE
)
_FORM = re.compile(
    r"\b(?:markup|re?st|myst|markdown|sphinx|rewrit\w*|rewrote|reword\w*|rephras\w*|re?structur\w*|links?|urls?|anchors?"
    r"|toc|badges?|chapters?|headings?|format\w*|syntax|logos?|sponsors?|admonitions?|edits?|consisten\w+|style)\b",
    re.IGNORECASE,
)
_NOISE = (
    re.compile(r"^(?::\w+:|[^\w\s`'\"(\[{<*@#$-])+\s*"),  # gitmoji
    re.compile(r"\s*\((?:#|gh-|GH-)\d+(?:,\s*(?:#|gh-)?\d+)*\)"),
    re.compile(r"^(?:\[[^\]]*\]\s*|[A-Z][A-Z0-9]+-\d+\b\s*[:;,-]?\s*|(?:MINOR|HOTFIX|TRIVIAL|BUGFIX)\s*:\s*)+"),
    re.compile(r"^(?:gh-|#|issue #?|bpo-)\d+\s*[:;,-]?\s*", re.IGNORECASE),
    re.compile(
        r"[\s,;:(-]*\b(?:closes|closed|fix(?:es|ed)?|resolves|refs?|see|for|issue|pr|bug)?:?\s*"
        r"(?:https?://\S+|(?:#|gh-)\d+)\s*\)?\.?\s*$",
        re.IGNORECASE,
    ),
)
_TRAILER = re.compile(
    r"^\s*(?:[A-Z][\w]*(?:-[\w]+)+|Reviewers?|Author|Fix(?:es)?|Closes?d?|Refs?|Resolves|See(?: also)?|Issue|PR"
    r"|Change|Backport|Related|Cc|Link|Bug|Part of|Follow[- ]?up|Relates to)(?:\s*:|\s+(?:#|gh-|https?:|[A-Z]+-\d))"
    r"|^\s*\(?cherry picked",
    re.IGNORECASE,
)
_NO_PROSE = re.compile(
    r"^\s*(?:[*+-]|\d+[.)])\s|^\s*(?:-{3,}|={3,}|\*{3,})\s*$|^\s*#{1,6}\s|^\s*(?:[<>|]|!\[)|^(?: {4}|\t)"
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)


def title(commit: Commit) -> str:
    """Return the title of a commit: its subject, or the title of a merged pull request; empty for other merges."""
    if len(commit.parents) > 1 and _MERGE.match(commit.subject):
        return commit.body.partition("\n")[0].strip() if _PULL.match(commit.subject) else ""
    return commit.subject


def why_not(commit: Commit) -> str:
    """Say why a commit yields no query; empty if it does."""
    said = title(commit)
    if not said:
        return "a merge without a title"
    if _BOT.search(commit.author) or ("noreply@github.com" not in commit.committer and _BOT.search(commit.committer)):
        return "a bot"
    if _REVERT.search(said) or _REVERT.search(commit.body):
        return "a revert"
    kind = _type(said)
    text = cleaned(said)
    if kind in _TRIVIAL_TYPES or _TRIVIAL.search(text) or _MERGE.match(text):
        return "a trivial subject"
    if _RELEASE.search(text):
        return "a release or a new version of something"
    return "" if len(telling(text)) >= TELLING else "a subject of too few telling words"


def is_about_tests(commit: Commit, tests: Iterable[str]) -> bool:
    """Say whether a subject is about tests, or about a test file that the commit changed."""
    said = title(commit)
    names = {PurePosixPath(path).stem for path in tests}
    return bool(names) and (_TESTS.search(said) is not None or not names.isdisjoint(WORD.findall(said)))


def is_about_form(commit: Commit) -> bool:
    """Say whether a subject is about the form of a document, not its content."""
    return _FORM.search(title(commit)) is not None


def is_about_docs(commit: Commit) -> bool:
    """Say whether a subject states that only documentation changed."""
    return _type(title(commit)) in _DOCS_TYPES


def cleaned(subject: str) -> str:
    """Return a subject without the marks of conventions: types, ticket and pull request numbers, emoji."""
    text = " ".join(subject.split())
    before = ""
    while before != text:
        before = text
        for noise in _NOISE:
            text = noise.sub("", text)
        if _type(text):
            text = _TYPE.sub("", text)
    return text.strip().rstrip(".")


def described(commit: Commit) -> str:
    """Return the prose of a body in one line, without trailers, lists, code and headings; empty if it is short."""
    body = commit.body
    if len(commit.parents) > 1 and _PULL.match(commit.subject):
        body = body.partition("\n")[2]
    paragraphs = (_prose(part) for part in re.split(r"\n\s*\n", _FENCED.sub("\n\n", body)))
    words = " ".join(part for part in paragraphs if part).split()
    if len(words) < _MIN_BODY_WORDS:
        return ""
    text = " ".join(words[:_MAX_BODY_WORDS]).removeprefix(title(commit)).lstrip(" .:-")
    return text if len(words) <= _MAX_BODY_WORDS else text.rpartition(". ")[0] + "." if ". " in text else text


def _prose(paragraph: str) -> str:
    lines = [line for line in paragraph.split("\n") if not _TRAILER.search(line)]
    if any(_NO_PROSE.search(line) for line in lines):
        return ""
    return " ".join(" ".join(lines).split())


def _type(subject: str) -> str:
    found = _TYPE.match(subject)
    kind = found[1].lower() if found else ""
    return kind if kind in _TYPES | _TRIVIAL_TYPES | _DOCS_TYPES else ""


MAX_COMMITS = 5_000
"""Commits that are looked at, however few of them are of use."""
_SPARE = 2.5
"""Plausible commits that are read for each one wanted: many turn out to change nothing that was there."""
_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
_COMMITS_PER_QUERY = 1.5
"""Commits that change what was there for each query wanted: some of them turn out to change no unit, or too many."""
_LOOK = 20
"""Lines of a hunk that are looked at to see whether it changes what was there."""
MAX_UNITS = 8
MAX_FILES = 6
_NEW = 3
"""A commit with so many times more lines of new units than of old ones is not about the old ones."""
_PRIMARY = 0.5
"""A unit with this share of the changes of the most changed one is what the commit is about."""


@dataclass(frozen=True, slots=True)
class PinnedCommit:
    """A commit, the later commits (newest first), and a note on the choice."""

    commit: str
    newer: tuple[Commit, ...] = ()
    first: tuple[FileChange, ...] = ()
    """What lies between the pin and the commit on which the oldest newer one stands, where that is another."""
    notes: tuple[str, ...] = ()


def pin(root: Path, at: str, limit: int, progress: Progress | None = None) -> PinnedCommit:
    """Choose the commit to search: `at`, or else one in the newer half with enough usable commits after it."""
    notes = ("the clone is shallow: older commits are not there",) if git_history.is_shallow(root) else ()
    head = git_history.head(root)
    most = MAX_COMMITS if at else min(MAX_COMMITS, git_history.length(root) // 2)
    newer: list[Commit] = []
    usable = 0
    for commit in git_history.commits(root, since=at) if most else ():
        if commit.parents:
            newer.append(commit)
            usable += not why_not(commit) and _is_plausible(commit)
        if progress:
            progress("history", min(len(newer), most), most)
        if len(newer) >= most or (not at and usable >= limit * _SPARE):
            break
    if not at:
        newer = newer[: _best(newer, limit)]
    if not newer:
        return PinnedCommit(
            at or head, (), (), (*notes, "the history has no commit after the pin: nothing to ask from it")
        )
    base = newer[-1].parents[0]
    between = git_history.between(root, at, base) if at and at != base else ()
    return PinnedCommit(at or base, tuple(newer), between, notes)


def _best(newer: Sequence[Commit], limit: int) -> int:
    """Return how many of the newest commits to use: the fewest that give enough queries, or else the most queries.

    The further back the pin, the more was rewritten since; how much, the patches alone tell.
    """
    counts = sorted({max(1, round(len(newer) * share)) for share in _SHARES}) if newer else [0]
    alive = {count: min(_alive(newer[:count]), limit * _COMMITS_PER_QUERY) for count in counts}
    return max(counts, key=lambda count: (alive[count], -count))


def _alive(newer: Sequence[Commit]) -> int:
    """Return how many commits change a line that is older than all of them."""
    tracker = Tracker()
    found = 0
    for commit in reversed(newer):
        asks = not why_not(commit) and _is_plausible(commit)
        found += asks and any(map(tracker.was_there, commit.changes))
        tracker.apply(commit.changes)
    return found


def _is_plausible(commit: Commit) -> bool:
    files = [change for change in commit.changes if change.hunks and _may_answer(change.before)]
    return 0 < len(files) <= MAX_FILES


def _may_answer(path: str) -> bool:
    return bool(path) and not is_test(path) and not is_aside(path)


@dataclass(slots=True)
class Touched:
    """How many changed lines of a commit are in each unit of the pinned repository, and in none."""

    units: Counter[Chunk] = field(default_factory=Counter)
    new: int = 0
    """Lines of code that belong to no unit of the pin."""
    files: set[str] = field(default_factory=set)


class Tracker:
    """A map of the lines of all files to the pinned commit, updated commit by commit."""

    def __init__(self) -> None:
        self._now: dict[str, tuple[str, LineMap]] = {}

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Apply the changes of a commit to all files."""
        then = {change.before: self._of(change.before) for change in changes if change.before}
        for change in changes:
            if change.before and change.before != change.after:
                self._now[change.before] = ("", LineMap(new=True))
        for change in changes:
            if change.after:
                path, lines = then.get(change.before, ("", LineMap(new=True)))
                lines.apply(change.hunks)
                self._now[change.after] = (path, lines)

    def was_there(self, change: FileChange) -> bool:
        """Say whether a change concerns a line that existed at the pin."""
        _, lines = self._of(change.before)
        looked = ((hunk.start + at) for hunk in change.hunks for at in range(min(hunk.size, _LOOK)))
        return _may_answer(change.before) and any(map(lines.before, looked))

    def touched(self, files: Files, changes: Sequence[FileChange]) -> Touched:
        """Return the units of the pin that a commit changes; `files` are those of the pin. Call it before `apply`."""
        found = Touched()
        for change in changes:
            path, lines = self._of(change.before) if change.before else ("", LineMap(new=True))
            if not _may_answer(change.before or change.after):
                continue
            for hunk in change.hunks:
                if hunk.removed and sorted(hunk.removed) == sorted(hunk.new):
                    continue
                units = (_replaced if hunk.size else _inserted)(files, path, lines, hunk)
                if units:
                    found.units.update(units)
                    found.files.add(path)
                elif not is_prose(path):
                    found.new += hunk.added
        return found

    def _of(self, path: str) -> tuple[str, LineMap]:
        return self._now.get(path) or (path, LineMap())


def _inserted(files: Files, path: str, lines: LineMap, hunk: Hunk) -> dict[Chunk, int]:
    """Return the unit that new lines were inserted into: it has the line before and the line after."""
    before = lines.before(hunk.start) if hunk.start else 0
    after = lines.before(hunk.start + 1)
    unit = _unit_at(files, path, before) if before and after else None
    return {} if unit is None or unit.end_line < after or _only_comments(hunk.new) else {unit: hunk.added}


def _replaced(files: Files, path: str, lines: LineMap, hunk: Hunk) -> dict[Chunk, int]:
    counted: Counter[Chunk] = Counter()
    for at, text in enumerate(hunk.removed):
        before = lines.before(hunk.start + at)
        if not before or not text or _squeezed(files.line(path, before)) != _squeezed(text):
            continue
        unit = _unit_at(files, path, before)
        if unit is not None and (is_prose(path) or not _is_said(unit, before, text)):
            counted[unit] += 1
    if counted and hunk.added > hunk.size:
        counted[max(counted, key=lambda unit: counted[unit])] += min(hunk.added - hunk.size, 2 * hunk.size)
    return dict(counted)


def _unit_at(files: Files, path: str, line: int) -> Chunk | None:
    return next((unit for unit in files.units(path) if unit.start_line <= line <= unit.end_line), None)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _only_comments(lines: Sequence[str]) -> bool:
    return bool(lines) and all(
        line.startswith(("#", "//", "*", "/*", "--", ";", "%", "<!--")) or not line for line in lines
    )


def _is_said(unit: Chunk, line: int, text: str) -> bool:
    """Say whether a line of code is documentation or a comment."""
    if _only_comments([text]) and not text.startswith(("#[", "#include", "#define", "#if", "*p", "--")):
        return True
    said = doc_lines(unit)
    return said is not None and said[0] <= line <= said[1]


def ask(pinned: PinnedCommit, files: Files, limit: int) -> MinedQueries:
    """Return the newest queries of the commits after the pin, in order of time; the older half is for tuning."""
    told = MinedQueries()
    tracker = Tracker()
    tracker.apply(pinned.first)
    found: list[tuple[Commit, dict[Chunk, int]]] = []
    for commit in reversed(pinned.newer):
        reason = why_not(commit)
        if not reason:
            touched = tracker.touched(files, commit.changes)
            reason = next((why for wrong, why in _reasons(commit, touched) if wrong), "")
        if reason:
            told.left_out[reason] += 1
        else:
            found.append((commit, _graded(touched)))
        tracker.apply(commit.changes)
    asked = Counter(cleaned(title(commit)).casefold() for commit, _ in found)
    unique = [one for one in reversed(found) if asked[cleaned(title(one[0])).casefold()] == 1]
    if len(unique) < len(found):  # nobody can tell which commit is meant
        told.left_out["the same subject as another commit"] += len(found) - len(unique)
    chosen = at_most(unique, limit, told.left_out)[::-1]
    for at, (commit, graded) in enumerate(chosen):
        query = _query(commit, tuple(graded), "test" if 2 * at >= len(chosen) else "dev")
        told.queries.append(query)
        for unit, grade in graded.items():
            told.judgments.append(Judgment(query.id, target_of(unit), grade, "history", commit.id))
    return told


def _reasons(commit: Commit, touched: Touched) -> Iterator[tuple[bool, str]]:
    """Yield the possible reasons against a commit, in order of importance."""
    changed = [change for change in commit.changes if change.hunks]
    code = {unit: lines for unit, lines in touched.units.items() if unit.kind != "section"}
    tests = [change.after for change in commit.changes if is_test(change.after)]
    yield not changed, "no line changed but in white space"
    answering = any(_may_answer(change.before or change.after) for change in changed)
    yield not answering, "only tests, changelogs, examples or settings"
    yield not touched.units, "no unit of the pin changed"
    many = len(code or touched.units) > MAX_UNITS or len(touched.files) > MAX_FILES
    yield many, "too many places at once"
    yield bool(code) and is_about_docs(commit), "a change of comments"
    yield not code and is_about_form(commit), "a change of form, not of content"
    yield bool(code) and is_about_tests(commit, tests), "about tests"
    yield bool(code) and touched.new > _NEW * sum(code.values()), "mostly new code"
    yield not code and touched.new > 0, "only new code, and prose about it"


def _graded(touched: Touched) -> dict[Chunk, int]:
    """Return the grade of each unit; prose counts less if code changed too."""
    code = {unit: size for unit, size in touched.units.items() if unit.kind != "section"}
    sizes = code or dict(touched.units)
    most = max(sizes.values())
    ordered = sorted(sizes, key=lambda unit: (-sizes[unit], unit.path, unit.start_line))
    return {unit: 2 if sizes[unit] >= _PRIMARY * most else 1 for unit in ordered}


def _query(commit: Commit, answers: Sequence[Chunk], split: str) -> Query:
    subject = cleaned(title(commit))
    body = described(commit)
    prose = all(unit.kind == "section" for unit in answers)
    kind = "docs" if prose else "issue" if body else kind_of(subject, answers)
    text = f"{subject}. {body}" if kind == "issue" else subject
    mode: Mode = "docs" if prose else "code"
    tags = {"kind": kind, "source": "history", "split": split, "date": commit.date, "commit": commit.id[:12]}
    return Query(f"history-{commit.id[:12]}", text, mode, tags=tags)
