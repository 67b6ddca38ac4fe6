"""Read pairs of a query and a code, and say what a judge decided about one."""

from __future__ import annotations

import ast
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from assay.corpus.python_syntax import NO_TREE, python_tree
from assay.errors import InputError
from assay.io import rows
from assay.io.digest import hex_digest
from assay.io.fields import describe_value
from assay.runs.options import BY_PAIR, BY_QUERY, SampleDraw
from assay.runs.seeded_sample import draw_within
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS
from assay.values import Chunk, Problem, Query

MAX_TEXT_CHARS = 100_000
"""Characters of a code or a query that is judged: what is longer fits in no prompt, and is no answer."""
_OWN_IDS = ("id", "_id", "idx")
QUERY_IDS = ("query_id", "query-id", "qid", *_OWN_IDS)
CODE_IDS = ("code_id", "corpus_id", "corpus-id", "target", "doc_id", "retrieval_idx", *_OWN_IDS)


@dataclass(frozen=True, slots=True)
class Pair:
    r"""A query, and a code that may answer it.

    >>> from assay import Chunk, Query
    >>> Pair(Query("1", "send a mail"), Chunk("2", "def send(): ...")).id
    '1\t2'
    """

    query: Query
    code: Chunk

    @property
    def id(self) -> str:
        """What it is called in records."""
        return f"{self.query.id}\t{self.code.id}"

    @property
    def digest(self) -> str:
        """A hash of its ids and its texts: what was found out about another text does not count for it."""
        query, code = self.query, self.code
        whole = repr((query.id, query.text, code.id, code.text, code.language))
        return hex_digest(whole)


def read(file: Path, *, queries: Path | None = None, corpus: Path | None = None) -> Iterator[Pair | Problem]:
    """Yield the pairs of a file in their order, and in their place the problems of those that cannot be judged.

    `queries` and `corpus` are JSON lines with the texts, where the file has ids alone.
    """
    for each in read_with_rows(file, queries=queries, corpus=corpus):
        yield each if isinstance(each, Problem) else each[0]


def read_with_rows(
    file: Path, *, queries: Path | None = None, corpus: Path | None = None
) -> Iterator[tuple[Pair, Mapping[str, Any]] | Problem]:
    """Yield what `read` does, each pair with all fields of its row."""
    asked = _texts(queries, ("text", "query", "doc"), QUERY_IDS) if queries else {}
    codes = _texts(corpus, ("text", "code"), CODE_IDS) if corpus else {}
    seen: set[str] = set()
    broken: list[Problem] = []
    for row, fields in rows.objects(file, broken):
        yield from broken
        broken.clear()
        pair = _pair(fields, asked, codes)
        if isinstance(pair, Pair) and pair.digest in seen:
            pair = f"the pair {pair.query.id}, {pair.code.id} was there before"
        if isinstance(pair, str):
            yield Problem(rows.place(file, row), pair)
            continue
        seen.add(pair.digest)
        yield pair, fields
    yield from broken


def count(file: Path) -> int:
    """Return how many rows a file has; one without any that can be read is an error."""
    broken: list[Problem] = []
    found = sum(1 for _ in rows.objects(file, broken))
    if not found:
        raise InputError(f"'{file}' holds no pair{f': {broken[0]}' if broken else ''}")
    return found + len(broken)


def notes(pair: Pair) -> list[Problem]:
    """Return what is odd about a pair that is judged all the same."""
    why = not_python(pair.code)
    found = [f"judged without being run: {why}"] if why else []
    letters = [letter for letter in pair.query.text if letter.isalpha()]
    foreign = sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if foreign * 2 > len(letters):
        found.append("the query is not in Latin letters: few models judge such queries as well")
    return [Problem(f"{pair.query.id}, {pair.code.id}", each) for each in found]


def not_python(code: Chunk) -> str:
    """Return why a code cannot be run as Python, empty where it can."""
    if code.language not in ("", "python"):
        return f"the code is {code.language}, not Python"
    tree = tree_of(laid_out(code.text))
    return f"the code is not Python 3 ({tree})" if isinstance(tree, str) else ""


def tree_of(text: str) -> ast.Module | str:
    """Return the syntax tree of a Python text, or why it has none."""
    try:
        return python_tree(text)
    except NO_TREE as error:
        return str(error)


def laid_out(code: str) -> str:
    """Return a code as a module can hold it: what is indented as a whole goes below a line of its own."""
    first = next((line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    return f"if True:\n{code}" if first[:1] in (" ", "\t") else code


def _texts(file: Path, names: Iterable[str], ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """Return the rows of queries or codes by id; the first row of an id counts."""
    found: dict[str, Mapping[str, Any]] = {}
    broken: list[Problem] = []
    for row, fields in rows.objects(file, broken):
        name, text = first_of(fields, (*_OWN_IDS, *ids)), next((fields[key] for key in names if key in fields), None)
        if name is None or not isinstance(text, str):
            where = rows.place(file, row)
            raise InputError(f"{where}: wanted an id and a text under one of {', '.join(names)}")
        found.setdefault(str(name), {**fields, "text": text})
    if broken:
        raise InputError(str(broken[0]))
    return found


def _pair(row: Mapping[str, Any], queries: Mapping[str, Any], codes: Mapping[str, Any]) -> Pair | str:
    """Return the pair of a row, or what is wrong with it."""
    query = next((row[name] for name in QUERY_TEXTS if row.get(name) is not None), None)
    code = next((row[name] for name in CODE_TEXTS if row.get(name) is not None), None)
    query_id, code_id = first_of(row, QUERY_IDS) or _hashed("q", query), first_of(row, CODE_IDS) or _hashed("c", code)
    if query_id is None or code_id is None:
        return "wanted query_id and code_id (or the idx of CoSQA), or both texts"
    query_id, code_id = str(query_id), str(code_id)
    known = codes.get(code_id, {}) if code is None else row
    query = queries.get(query_id, {}).get("text") if query is None else query
    code = known.get("text") if code is None else code
    if query is None:
        return f"unknown query id '{query_id[:60]}': no text beside it, and none in the file of queries"
    if code is None:
        return f"unknown code id '{code_id[:60]}': no text beside it, and none in the corpus"
    return _wrong(query_id, query, code_id, code) or Pair(
        Query(query_id, query), Chunk(code_id, code, str(known.get("language") or ""))
    )


def _hashed(letter: str, text: object) -> str | None:
    """Return what a text without an id is called; what is no text has no name."""
    if not isinstance(text, str):
        return None
    return f"{letter}-{hex_digest(text, 6)}"


def _wrong(query_id: str, query: object, code_id: str, code: object) -> str:
    for what, name, text in (("query", query_id, query), ("code", code_id, code)):
        if not isinstance(text, str):
            return f"the {what} of '{name[:60]}' is {describe_value(text)}, wanted text"
        if not text.strip():
            return f"the {what} '{name[:60]}' is empty"
        if len(text) > MAX_TEXT_CHARS:
            return f"the {what} '{name[:60]}' has {len(text):,} characters; at most {MAX_TEXT_CHARS:,} are judged"
        if not name or not name.isprintable():
            return f"the id {name[:60]!r} of a {what} holds what no id may"
    return ""


def first_of(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first field of these names that says something; None where there is none."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


class SampledPairs(NamedTuple):
    """What is to be judged of a file."""

    pairs: Iterator[Pair | Problem]
    total: int
    """Pairs, and rows that are none."""


def read_sample(
    file: Path, sample: SampleDraw, *, queries: Path | None = None, corpus: Path | None = None
) -> SampledPairs:
    """Return the drawn pairs of a file in their order, with the problems of the others; without a size all of them."""
    found = read(file, queries=queries, corpus=corpus)
    if not sample.size:
        return SampledPairs(found, count(file))
    strata: dict[str, str] = {}
    held = Counter[str]()
    for each in read_with_rows(file, queries=queries, corpus=corpus):
        key = "" if isinstance(each, Problem) else _sample_key(each[0], sample)
        held[key] += 1
        if not isinstance(each, Problem):
            strata[key] = _stratum(each[1], sample, file)
    drawn = draw_within(strata, sample.size, sample.seed, BY_QUERY if sample.by == BY_QUERY else BY_PAIR)
    kept = (each for each in found if isinstance(each, Problem) or _sample_key(each, sample) in drawn)
    return SampledPairs(kept, sum(held[key] for key in {*drawn, ""}))


def _stratum(row: Mapping[str, Any], sample: SampleDraw, file: Path) -> str:
    if sample.by in {BY_QUERY, BY_PAIR}:
        return ""
    if sample.by not in row:
        fields = ", ".join(sorted(row))
        raise InputError(f"--sample-by {sample.by}: {file} has no such field; wanted query, pair or one of {fields}")
    return repr(row[sample.by])


def _sample_key(pair: Pair, sample: SampleDraw) -> str:
    return pair.query.id if sample.by == BY_QUERY else pair.digest


@dataclass(frozen=True, slots=True)
class Verdict:
    """A label with its reason; without a grade the pair is undecided.

    >>> Verdict(1, "the code sends a mail", path="single").grade
    1
    """

    grade: int | None
    """1 where the code answers the query exactly, 0 where not; of the judge `grades` 2, 1 where it helps, and 0."""
    reason: str = ""
    path: str = ""
    """How it came about: `screen`, `tests`, `arbiter`, `single`, `signals`, `asks`, `grades`; empty where not."""
    probability: float = math.nan
    """How likely the grade is 1, as far as the judge says."""
    problem: str = ""
    """Why there is no grade: `chat` (no model answers), `reply` (not as asked), `sandbox`, `split` (votes differ)."""
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """More for the record: tests, calls, cost; plain data."""


@runtime_checkable
class Judge(Protocol):
    """Whether a code answers a query."""

    @property
    def name(self) -> str:
        """What it is, for records."""

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict; several threads may ask at once."""


@runtime_checkable
class Together(Judge, Protocol):
    """A judge that many pairs at a time cost less than one by one."""

    def judge_all(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return a verdict a pair, in their order, each as if it were judged alone."""


def undecided(problem: str, reason: str, details: Mapping[str, Any] | None = None) -> Verdict:
    """Return the verdict that there is none."""
    return Verdict(None, reason, problem=problem, details=details or {})


COUNTED = ("tokens_in", "tokens_out", "tokens_cached", "asked_again")
"""Numbers of a verdict that are added up: of the tokens read, `tokens_cached` had been read by the endpoint before;
`asked_again` are answers that fitted no schema."""
_TESTED = ("reading", "executable", "passed", "failed", "error")


@dataclass(frozen=True, slots=True)
class MajorityJudge:
    """The grade that more than half of the judges give: two have to agree, and of three the third decides."""

    judges: Sequence[Judge]

    @property
    def name(self) -> str:
        """Whose majority it is."""
        names = dict.fromkeys(judge.name for judge in self.judges)
        return f"{'+'.join(names)} x{len(self.judges)}"

    def judge(self, pair: Pair) -> Verdict:
        """Ask as many as a majority takes side by side, then one after the other until a grade has it."""
        majority = len(self.judges) // 2 + 1
        first, *beside = self.judges[:majority]
        with ThreadPoolExecutor(len(self.judges), "beside") as threads:  # all have ended when this returns or raises
            others = [threads.submit(judge.judge, pair) for judge in beside]
            given = [first.judge(pair), *(other.result() for other in others)]
        for judge in self.judges[majority:]:
            votes = Counter(verdict.grade for verdict in given if verdict.grade is not None)
            if votes and max(votes.values()) >= majority:
                break
            given.append(judge.judge(pair))
        return _together(given, len(self.judges))


def _together(verdicts: Sequence[Verdict], seats: int) -> Verdict:
    """Return the verdict of the majority, with what all of them took; without one it is undecided."""
    votes = Counter(verdict.grade for verdict in verdicts if verdict.grade is not None)
    details = {**_summed([verdict.details for verdict in verdicts]), "votes": [verdict.grade for verdict in verdicts]}
    if any("readings" in verdict.details for verdict in verdicts):
        details["tested"] = [_tested(verdict) for verdict in verdicts]
    grade, count = max(votes.items(), key=itemgetter(1), default=(0, 0))
    if count * 2 > max(seats, len(verdicts)):
        first = next(verdict for verdict in verdicts if verdict.grade == grade)
        fraction = count / len(verdicts) if grade else 1 - count / len(verdicts)
        return Verdict(grade, first.reason, first.path, fraction, details={**first.details, **details})
    if lacking := next((verdict for verdict in verdicts if verdict.grade is None), None):
        return undecided(lacking.problem, lacking.reason, details)
    return undecided("split", " / ".join(f"{verdict.grade}: {verdict.reason}" for verdict in verdicts), details)


def _tested(verdict: Verdict) -> dict[str, Any]:
    """Return which reading a vote took, and what came of its tests."""
    return {"grade": verdict.grade, **{name: verdict.details[name] for name in _TESTED if name in verdict.details}}


def _summed(details: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up what several judges took."""
    spent = [each for each in details if "calls" in each]
    if not spent:
        return {}
    seconds = {part: round(sum(each["seconds"][part] for each in spent), 3) for part in spent[0]["seconds"]}
    return {
        "calls": dict(sum((Counter(each["calls"]) for each in spent), Counter[str]())),
        "prompts": {name: version for each in spent for name, version in each["prompts"].items()},
        "models": sorted({model for each in spent for model in each["models"]}),
        **{name: sum(each[name] for each in spent) for name in COUNTED},
        "cost": added(each["cost"] for each in spent),
        "saved": added(each.get("saved", 0.0) for each in spent),
        "seconds": seconds,
    }


def added(costs: Iterable[float | None]) -> float | None:
    """Return the sum of some costs; None where one is not known."""
    known = [*costs]
    return None if None in known else round(sum(filter(None, known)), 9)
