"""A commit to what its author said in a person's words, or why that asks for nothing.

Left out are commits that no person wrote about code: merges without a title, reverts, robots, releases, formatting,
and subjects with too few telling words to find anything by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from assay.corpus.git_history import Commit
from assay.terms import STOP_WORDS, WORD, terms_of

TELLING = 3
"""Telling words of a subject at least."""
_LONGEST_BODY = 120
_SHORTEST_BODY = 15
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
_EMPTY = frozenset(
    """
    add adds added adding fix fixes fixed fixing update updates updated change changes changed improve improves improved
    improvement improvements make makes made use uses used using remove removes removed removing delete drop support
    supports supported allow allows avoid avoids ensure handle handles enable disable implement implements introduce
    introduces move moved replace switch set better more new small some few bug bugs issue issues problem code stuff
    thing things misc various correct correctly properly instead via only just also no when don doesn all any same first
    one two up out off back through without about after before need needs should work works working way tweak tweaks
    follow gh pr see refactor refactors refactoring rename renames renamed renaming simplify simplifies reorganize
    reorder unused warning warnings deprecation flaky comment comments import imports annotation annotations test tests
    testing benchmark benchmarks minor feedback review modernize style whitespace indentation inline internal doc docs
    documentation example examples readme cleanup
    """.split()
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
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def title(commit: Commit) -> str:
    """Return what a commit is called: its subject, for a merge of a pull request that one's title, else nothing."""
    if len(commit.parents) > 1 and _MERGE.match(commit.subject):
        return commit.body.partition("\n")[0].strip() if _PULL.match(commit.subject) else ""
    return commit.subject


def why_not(commit: Commit) -> str:
    """Say why a commit asks for nothing, or nothing."""
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
    """Say whether a subject speaks of tests, or of one of the files with tests that the commit changed."""
    said = title(commit)
    names = {PurePosixPath(path).stem for path in tests}
    return bool(names) and (_TESTS.search(said) is not None or not names.isdisjoint(WORD.findall(said)))


def is_about_form(commit: Commit) -> bool:
    """Say whether a subject speaks of the form of a document, not of what it says."""
    return _FORM.search(title(commit)) is not None


def is_about_docs(commit: Commit) -> bool:
    """Say whether a subject declares that only documentation changed."""
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


def telling(text: str) -> frozenset[str]:
    """Return the stemmed words of a text that say what it is about."""
    found: set[str] = set()
    for word in WORD.findall(text):
        wide = len(_WIDE.findall(word))
        if wide:
            found.update(word[at : at + 2] for at in range(0, wide, 2))
        elif word.lower() not in _EMPTY | STOP_WORDS and not word.isdigit():
            found.update(term for term in terms_of(word) if len(term) > 1 and not term.startswith("="))
    return frozenset(found)


def described(commit: Commit) -> str:
    """Return the prose of a body in one line, without trailers, lists, code and headings; empty when it is short."""
    body = commit.body
    if len(commit.parents) > 1 and _PULL.match(commit.subject):
        body = body.partition("\n")[2]
    paragraphs = (_prose(part) for part in re.split(r"\n\s*\n", _FENCED.sub("\n\n", body)))
    words = " ".join(part for part in paragraphs if part).split()
    if len(words) < _SHORTEST_BODY:
        return ""
    text = " ".join(words[:_LONGEST_BODY]).removeprefix(title(commit)).lstrip(" .:-")
    return text if len(words) <= _LONGEST_BODY else text.rpartition(". ")[0] + "." if ". " in text else text


def _prose(paragraph: str) -> str:
    lines = [line for line in paragraph.split("\n") if not _TRAILER.search(line)]
    if any(_NO_PROSE.search(line) for line in lines):
        return ""
    return " ".join(" ".join(lines).split())


def _type(subject: str) -> str:
    found = _TYPE.match(subject)
    kind = found[1].lower() if found else ""
    return kind if kind in _TYPES | _TRIVIAL_TYPES | _DOCS_TYPES else ""
