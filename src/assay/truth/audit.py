"""Find errors in ground truth, and merge duplicates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.terms import STOP_WORDS, WORD, parts, stem
from assay.truth.ground_truth import Truth, TruthFile
from assay.truth.target_places import Places, fault_of, path_of
from assay.values import Chunk, Judgment, Problem, Query

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One kind of problem: its count, and the worst examples."""

    name: str
    count: int
    of: int
    """How many could have it."""
    what: str
    """What is counted, and the rule where there is one: `queries that …`."""
    examples: tuple[str, ...] = ()
    """The worst first; an audit cuts them to as many as are wanted."""
    hint: bool = False
    """Whether it rests on a rule of thumb, or is common and only worth knowing."""


@dataclass(frozen=True, slots=True)
class Audit:
    """All findings in one ground truth."""

    facts: Mapping[str, Any]
    findings: tuple[AuditFinding, ...]

    def __iter__(self) -> Iterator[AuditFinding]:
        """Yield the problems, without the hints."""
        return (finding for finding in self.findings if not finding.hint)

    @property
    def hints(self) -> tuple[AuditFinding, ...]:
        """Return the findings that rest on rules of thumb."""
        return tuple(finding for finding in self.findings if finding.hint)


def _short(text: str, longest: int = 50) -> str:
    """Return a text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


Grades = Mapping[str, Mapping[Hashable, int]]
"""By query and what was judged, twins being one, the highest grade."""


def query_findings(queries: Sequence[Query], grades: Grades) -> Iterator[AuditFinding]:
    """Yield problems of queries; none if no query has a text."""
    if any(query.text for query in queries):
        yield from _repeated(queries, grades)
        wordless = [f"{query.id} '{_short(query.text)}'" for query in queries if not WORD.search(query.text)]
        yield _finding("no word", wordless, len(queries), "queries without a letter or digit")


def _finding(  # noqa: PLR0913  what a finding is
    name: str, examples: Iterable[str], of: int, what: str, *, count: int | None = None, hint: bool = False
) -> AuditFinding:
    """Return a finding; its count is that of the examples unless `count` is given."""
    told = tuple(examples)
    return AuditFinding(name, len(told) if count is None else count, of, what, told, hint)


def asks(text: str) -> tuple[str, ...]:
    """Return the distinct stems of a text without stop words, sorted; of all words if there are no others."""
    found = [part for word in WORD.findall(text) for part in parts(word)]
    telling = [word for word in found if word not in STOP_WORDS]
    return tuple(sorted({stem(word) for word in telling or found}))


def _repeated(queries: Sequence[Query], grades: Grades) -> Iterator[AuditFinding]:
    equal = _grouped(queries, _text)
    same = _grouped(queries, lambda query: asks(query.text))
    reworded = [list({_text(query): query for query in reversed(group)}.values())[::-1] for group in same]
    apart = (_group_text(group) for group in same if _lacking(group, grades))
    told = (f"{_group_text(group)}: {why}" for group in same if (why := _contradiction(group, grades)))
    for name, what, groups in (
        ("equal queries", "queries with the text of an earlier one", equal),
        ("same queries", "queries with the telling words of an earlier one, in other forms or another order", reworded),
    ):
        count = sum(len(group) - 1 for group in groups)
        yield _finding(name, (_group_text(each) for each in groups if len(each) > 1), len(queries), what, count=count)
    what = "groups of same queries that disagree about one answer"
    yield _finding("same queries, other grades", told, len(same), what)
    what = "groups of same queries where what is right for one was not judged for another, and so counts as wrong there"
    yield _finding("same queries, other answers", apart, len(same), what)


def _grouped(queries: Iterable[Query], key: Callable[[Query], Hashable]) -> list[list[Query]]:
    """Return groups of at least two queries with one key and language, largest first; without words there is none."""
    groups: defaultdict[Hashable, list[Query]] = defaultdict(list)
    for query in queries:
        if WORD.search(query.text):
            kept = query.mode, query.languages, query.paths, query.kinds, query.tags.get("language")
            groups[key(query), kept].append(query)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: -len(group))


def _text(query: Query) -> str:
    return " ".join(query.text.lower().split())


def _group_text(group: Sequence[Query]) -> str:
    shown = [f"{query.id} '{_short(query.text)}'" for query in group[:3]]
    return " = ".join(shown) + (f" … {len(group)} in all" if len(group) > 3 else "")


def _contradiction(group: Sequence[Query], grades: Grades) -> str:
    """Return the first answer that two of the queries grade differently; empty without one."""
    for one, other in combinations(group, 2):
        mine, theirs = grades.get(one.id, {}), grades.get(other.id, {})
        for target in mine.keys() & theirs.keys():
            if mine[target] != theirs[target]:
                return f"{target} is {mine[target]} for {one.id} and {theirs[target]} for {other.id}"
    return ""


def _lacking(group: Sequence[Query], grades: Grades) -> bool:
    judged = [grades.get(query.id, {}) for query in group]
    right = {target for each in judged for target, grade in each.items() if grade}
    return any(right - each.keys() for each in judged)


TextsAt = Callable[[str], Collection[int]]
"""A target to the texts of the corpus that it speaks of, by their place."""

_Pairs = Mapping[tuple[str, str], Sequence[Judgment]]


def facts_of(truth: Truth) -> dict[str, Any]:
    """Return the distributions of grades, answers and judges."""
    pairs = {(each.query_id, each.target) for each in truth.judgments if each.grade > 0}
    right = Counter(query for query, _ in pairs)
    answers = [right[query.id] for query in truth.queries] or [0]
    grades = Counter(judgment.grade for judgment in truth.judgments)
    return {
        "queries": len(truth.queries),
        "judgments": len(truth.judgments),
        "documents": len(truth.documents),
        "grades": dict(sorted(grades.items())),
        "answers": {
            "least": min(answers),
            "median": median(answers),
            "mean": round(mean(answers), 2),
            "most": max(answers),
        },
    }


def judgment_findings(
    truth: Truth, names: Sequence[str], places: TextsAt, twins: Numbers | None, faults: Mapping[str, str]
) -> Iterator[AuditFinding]:
    """Yield problems of judgments; `names` are those of texts, `faults` the reasons why targets do not exist."""
    pairs = _pairs(truth)
    yield from _missing(truth, names, places, faults)
    yield from _contradictory(pairs)
    yield _overlapping(pairs)
    if twins is not None:
        yield from _judged_twins(names, _by_place(pairs, places), twins.tolist())


def _missing(truth: Truth, names: Sequence[str], places: TextsAt, faults: Mapping[str, str]) -> Iterator[AuditFinding]:
    """Yield queries without an answer, and judgments of targets that do not exist or that no search covers."""
    queries, count = [query.id for query in truth.queries], len(truth.judgments)
    judged = {judgment.query_id for judgment in truth.judgments}
    right = {judgment.query_id for judgment in truth.judgments if judgment.grade > 0}
    bare = [query for query in queries if query not in judged]
    yield _finding("queries without judgment", bare, len(queries), "queries without a judged answer")
    wrong = [query for query in queries if query in judged - right]
    yield _finding("unanswered queries", wrong, len(queries), "queries whose every judged answer is wrong")
    lost = Counter(each.query_id for each in truth.judgments if each.query_id not in set(queries))
    yield _finding("unknown queries", lost, count, "judgments of queries that are not there", count=lost.total())
    gone = Counter(each.target for each in truth.judgments if each.target in faults)
    what = "judgments of what is not there: no such file, lines, symbol or document"
    told = (f"{target}: {faults[target]}" for target in gone)
    yield _finding("unknown targets", told, count, what, count=gone.total())
    if names:
        out = Counter(each.target for each in truth.judgments if each.target not in faults and not places(each.target))
        what = "judgments of what is there and in no chunk: ignored or generated files, lines between units"
        yield _finding("targets outside the chunks", out, count, what, count=out.total(), hint=True)


def _pairs(truth: Truth) -> _Pairs:
    pairs: defaultdict[tuple[str, str], list[Judgment]] = defaultdict(list)
    for judgment in truth.judgments:
        pairs[judgment.query_id, judgment.target].append(judgment)
    return pairs


def _contradictory(pairs: _Pairs) -> Iterator[AuditFinding]:
    different = [found for found in pairs.values() if _spread(found)]
    different.sort(key=lambda found: (min(each.grade for each in found) > 0, -_spread(found)))
    several = sum(len(found) > 1 for found in pairs.values())
    right = [found for found in different if min(each.grade for each in found) == 0]
    themselves = [found for found in different if _differs_from_itself(found)]
    for name, what, those in (
        ("contradictory judgments", "answers judged several times, with other grades", different),
        ("right and wrong", "of these, right for one and wrong for another", right),
        (
            "self-contradictory judgments",
            "of these, where one judge differs from itself, or the judge is unknown",
            themselves,
        ),
    ):
        yield _finding(name, map(_finding_text, those), several, what)


def _differs_from_itself(judgments: Sequence[Judgment]) -> bool:
    return any(one.judge == other.judge and one.grade != other.grade for one, other in combinations(judgments, 2))


def _spread(judgments: Sequence[Judgment]) -> int:
    grades = [judgment.grade for judgment in judgments]
    return max(grades) - min(grades)


def _finding_text(judgments: Sequence[Judgment]) -> str:
    said = " ".join(f"{each.judge}={each.grade}" if each.judge else str(each.grade) for each in judgments)
    return f"{judgments[0].query_id} {judgments[0].target}: {said}"


def _overlapping(pairs: _Pairs) -> AuditFinding:
    """Find line ranges of one query that overlap with different grades: one result answers both."""
    ranges: defaultdict[tuple[str, str], list[tuple[Span, int]]] = defaultdict(list)
    for (query, target), judgments in pairs.items():
        span = _span(target)
        if span.start:
            ranges[query, span.path].append((span, max(judgment.grade for judgment in judgments)))
    found = []
    for (query, _), spans in ranges.items():
        for (one, grade), (other, another) in combinations(sorted(spans, key=lambda each: each[0].start), 2):
            if grade != another and one.overlaps(other):
                found.append(f"{query} {one}={grade} {other.start}-{other.end}={another}")
    what = "pairs of overlapping ranges of one query with other grades"
    return _finding("overlapping ranges", found, sum(map(len, ranges.values())), what)


def _span(target: str) -> Span:
    """Return the lines of a target; None if it has no lines or names a symbol."""
    try:
        return span_of(target)
    except InputError:
        return Span(target)


def _by_place(pairs: _Pairs, places: TextsAt) -> dict[str, dict[int, int]]:
    """Return the highest grade of each judged text, by query."""
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for (query, target), judgments in pairs.items():
        grade = max(judgment.grade for judgment in judgments)
        for place in places(target):
            found[query][place] = max(grade, found[query].get(place, 0))
    return found


def _judged_twins(
    names: Sequence[str], judged: Mapping[str, Mapping[int, int]], groups: Sequence[int]
) -> Iterator[AuditFinding]:
    """Yield twins with different grades for one query, and unjudged twins of right answers."""
    sizes = Counter(groups)
    different, unjudged = [], []
    for query, grades in judged.items():
        members: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for place, grade in grades.items():
            members[groups[place]][place] = grade
        for group, held in members.items():
            text = f"{query}: " + " ".join(f"{names[place]}={grade}" for place, grade in sorted(held.items())[:4])
            if len(set(held.values())) > 1:
                different.append(text)
            missing = sizes[group] - len(held)
            if missing and any(held.values()):
                unjudged.append((missing, text))
    what = "equal texts judged differently for one query"
    yield _finding("twins judged differently", different, len(judged), what)
    unjudged.sort(key=lambda each: -each[0])
    told = [f"{text} and {count} more that are not judged" for count, text in unjudged]
    what = "right answers with equal texts that are not judged and count as wrong"
    right = sum(any(grades.values()) for grades in judged.values())
    yield _finding("twins unjudged", told, max(right, len(told)), what)


def twins(texts: Sequence[Hashable]) -> Numbers:
    """Return, for each text, the position of the first equal text."""
    first: dict[Hashable, int] = {}
    return np.fromiter((first.setdefault(text, at) for at, text in enumerate(texts)), np.int64, len(texts))


def clusters(groups: Numbers) -> list[list[int]]:
    """Return the members of every group of at least two, the largest group first."""
    order = np.argsort(groups, kind="stable")
    borders = np.flatnonzero(np.diff(groups[order])) + 1
    found = [part.tolist() for part in np.split(order, borders) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part[0]))


@dataclass(frozen=True, slots=True)
class AuditCorpus:
    """The texts that judgments refer to."""

    texts: Sequence[Chunk] = ()
    """The documents, or the chunks of the checkout."""
    checkout: Places | None = None
    """What finds targets there, the one way that checking and measuring find them."""


def audit(truth: Truth, corpus: AuditCorpus, *, examples: int = 3) -> Audit:
    """Find the problems of a ground truth."""
    texts = corpus.texts
    names = [name_of(text) for text in texts]
    places = texts_at(texts, corpus.checkout)
    same = twins([text.text for text in texts]) if texts else None
    facts = {**facts_of(truth), "texts": len(texts)}
    of_texts = () if same is None else (_equal_texts(texts, same, hint=not truth.documents),)
    found = [
        *of_texts,
        *query_findings(truth.queries, _grades(truth, names, places, same)),
        *judgment_findings(truth, names, places, same, faults_in(truth, places, corpus.checkout)),
    ]
    return Audit(facts, tuple(replace(each, examples=each.examples[:examples]) for each in found if each.count))


def corpus_at(truth: Truth, root: Path | None) -> AuditCorpus:
    """Return the corpus: the documents of a ground truth, or else the files of a folder as they are now."""
    if truth.documents or root is None:
        return AuditCorpus(truth.documents)
    chunks = tuple(
        chunk
        for file in walk(root).files
        if isinstance(text := read(root, file), str)
        for chunk in parse(file.path, text).chunks
    )
    return AuditCorpus(chunks, Places(root, ""))


def name_of(text: Chunk) -> str:
    """Return the target that names a text: its lines if it has any, or else its id."""
    return f"{text.path}:{text.start_line}-{text.end_line}" if text.path and text.start_line else text.path or text.id


def faults_in(truth: Truth, places: TextsAt, checkout: Places | None) -> Mapping[str, str]:
    """Return the targets that cannot be found, with the reason."""
    targets = dict.fromkeys(judgment.target for judgment in truth.judgments)
    if checkout is None:
        return {target: "no such document" for target in targets if not places(target)} if truth.documents else {}
    checkout.load(map(path_of, targets))
    return {target: fault for target in targets if (fault := fault_of(checkout, target))}


def texts_at(texts: Sequence[Chunk], checkout: Places | None = None) -> TextsAt:
    """Return a function that finds the texts of a target.

    Lines speak of the chunks that hold half of them, so that a bracket at their edge is not taken for an answer, or
    else of the chunk that holds most; a file speaks of all its chunks.
    """
    by_path: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        by_path[text.path or text.id].append(place)

    def places(target: str) -> Collection[int]:
        if target in by_path:
            return by_path[target]
        try:
            span = checkout.span(target) if checkout else span_of(target)
        except InputError:
            return ()
        return _holding(span, texts, by_path)

    return places


def _holding(span: Span, texts: Sequence[Chunk], by_path: Mapping[str, Sequence[int]]) -> Collection[int]:
    shared = {
        place: min(texts[place].end_line, span.end) - max(texts[place].start_line, span.start) + 1
        for place in by_path.get(span.path, ())
    }
    most = max(shared.values(), default=0)
    least = min(most, (span.end - span.start + 2) // 2)
    return [place for place, lines in shared.items() if lines >= max(least, 1)]


def _equal_texts(texts: Sequence[Chunk], groups: Numbers, *, hint: bool) -> AuditFinding:
    """Return the groups of equal texts, most repeated text first."""
    different = sorted(clusters(groups), key=lambda group: -(len(group) - 1) * len(texts[group[0]].text))
    told = (_listed([name_of(texts[at]) for at in each]) for each in different)
    count = sum(len(group) - 1 for group in different)
    what = "texts that equal an earlier one"
    return _finding("equal texts", told, len(texts), what, count=count, hint=hint)


def _listed(group: Sequence[str]) -> str:
    more = f" … {len(group)} in all" if len(group) > 4 else ""
    return " = ".join(group[:4]) + more


def _grades(
    truth: Truth, names: Sequence[str], places: TextsAt, twins: Numbers | None
) -> Mapping[str, Mapping[Hashable, int]]:
    """Return the highest grade of each target, by query; equal texts count as one."""
    found: defaultdict[str, dict[Hashable, int]] = defaultdict(dict)
    for judgment in truth.judgments:
        known = tuple(places(judgment.target)) if twins is not None else ()
        target = names[twins[known[0]]] if twins is not None and len(known) == 1 else judgment.target
        grades = found[judgment.query_id]
        grades[target] = max(judgment.grade, grades.get(target, 0))
    return found


def collapsed(truth: Truth, groups: Numbers) -> TruthFile:
    """Merge each group of documents into one; the problems are judgments that contradict a higher one."""
    if not truth.documents:
        raise InputError(f"'{truth.name}' has no documents to merge: twins in a checkout remain two places")
    names = [document.path or document.id for document in truth.documents]
    first = {names[place]: names[group[0]] for group in clusters(groups) for place in group}
    kept = tuple(each for each, name in zip(truth.documents, names, strict=True) if first.get(name, name) == name)
    judgments, problems = _moved(truth.judgments, first)
    hidden = tuple(dict.fromkeys(first.get(target, target) for target in truth.hidden))
    return TruthFile(replace(truth, documents=kept, judgments=judgments, hidden=hidden), problems)


def _moved(judgments: Sequence[Judgment], first: dict[str, str]) -> tuple[tuple[Judgment, ...], tuple[Problem, ...]]:
    best: dict[tuple[str, str, str], Judgment] = {}
    problems = []
    for judgment in judgments:
        moved = replace(judgment, target=first.get(judgment.target, judgment.target))
        key = moved.query_id, moved.target, moved.judge
        other = best.setdefault(key, moved)
        if other.grade != moved.grade:
            high, low = sorted((other, moved), key=lambda each: -each.grade)
            best[key] = high
            problems.append(_problem_of(high, low, judgment))
    return tuple(best.values()), tuple(problems)


def _problem_of(high: Judgment, low: Judgment, judgment: Judgment) -> Problem:
    by = f" by {high.judge}" if high.judge else ""
    where = high.target if judgment.target == high.target else f"{high.target} (its twin {judgment.target})"
    return Problem(high.query_id, f"{where} is judged {high.grade} and {low.grade}{by}; {high.grade} stays")
