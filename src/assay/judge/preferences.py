"""Let people choose between two sets of code, and test what they prefer (CoSQA+, V-A).

One code a query and side, at random among those that differ; which side stands left is drawn for each voter. An item is
one unit however many voters saw it, and draws are left out of the win rate and of the sign test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from random import Random
from statistics import median
from threading import Lock
from typing import Any, Literal

from assay.errors import InputError, StorageError
from assay.judge import labels, records
from assay.judge.label_ballots import now, progress, seconds_of
from assay.judge.pairs import Pair
from assay.judge.pairs import read as read_pairs
from assay.measure.agreement import Estimate, alpha, majority
from assay.measure.compare import sign_test, wilson
from assay.runs.options import EVERYTHING, SampleDraw, draw
from assay.runs.record import among_writers, append_lines, differing, is_begun, read_lines, refuse
from assay.values import Chunk, Problem, Query

Side = Literal["left", "right", "neither"]
SIDES: tuple[Side, ...] = ("left", "right", "neither")
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Item:
    """One query with a code of each set."""

    query: Query
    a: Chunk
    b: Chunk

    @property
    def id(self) -> str:
        """A hash of its texts: a vote on others does not count for it."""
        return _hash(self.query.id, self.query.text, self.a.id, self.a.text, self.b.id, self.b.text)


@dataclass(slots=True)
class PreferenceStudy:
    """What is asked, and what is not."""

    items: list[Item] = field(default_factory=list)
    only_a: int = 0
    only_b: int = 0
    same: int = 0
    """Queries that both sets answer with the same text alone."""
    problems: list[Problem] = field(default_factory=list)
    sample: str = ""
    """How the queries were drawn; empty where all are asked."""


def codes_of(file: Path, *, queries: Path | None = None, corpus: Path | None = None) -> Iterator[Pair | Problem]:
    """Yield the pairs of a file that are matches, or may be: those labelled otherwise, or left undecided, are not."""
    if records.is_records(file):
        for record in records.verdicts(file):
            if record["grade"]:
                code = Chunk(record["code_id"], record["code"], record.get("language", ""))
                yield Pair(Query(record["query_id"], record["query"]), code)
        return
    wrong: set[labels.Key] | None = None
    for pair in read_pairs(file, queries=queries, corpus=corpus):
        wrong = labels.not_matches(file) if wrong is None else wrong
        if isinstance(pair, Problem) or (pair.query.id, pair.code.id) not in wrong:
            yield pair


def paired(
    a: Iterable[Pair | Problem], b: Iterable[Pair | Problem], sample: SampleDraw = EVERYTHING
) -> PreferenceStudy:
    """Choose one code of each set for each query that both answer, or for some of those, drawn."""
    found = PreferenceStudy(sample=str(sample))
    left, right = _by_query(a, found), _by_query(b, found)
    found.only_a, found.only_b = len(left.keys() - right.keys()), len(right.keys() - left.keys())
    for query_id in left.keys() & right.keys():
        ours, theirs = left[query_id], right[query_id]
        if len({pair.query.text.strip() for pair in (*ours, *theirs)}) > 1:
            found.problems.append(Problem(query_id, "the query has another text in the other file"))
        elif item := _drawn(ours, theirs, Random(f"{sample.seed}:{query_id}")):  # noqa: S311  # to be drawn again, not to be secret
            found.items.append(item)
        else:
            found.same += 1
    drawn = draw((item.query.id for item in found.items), sample.size, sample.seed) if found.items else frozenset()
    found.items = sorted((item for item in found.items if item.query.id in drawn), key=lambda item: item.query.id)
    if not found.items:
        raise InputError(
            f"nothing to choose between: {found.only_a:,} queries only in the first file, {found.only_b:,} only in "
            f"the second, {found.same:,} with the same code; wanted the same query ids in both, with other codes"
        )
    return found


class Ballot:
    """The items in the order of one voter, and their votes; several threads may ask."""

    def __init__(self, study: PreferenceStudy, file: Path, *, voter: str = "", seed: int = 0) -> None:
        self._file, self._voter = file, voter
        self._of = study_of(study, seed)
        items = {item.id: item for item in study.items}
        self._order = sorted(items.values(), key=lambda item: _hash(str(seed), voter, item.id))
        self._left = {item.id: "ab"[Random(f"{seed}:{voter}:{item.id}").random() < 0.5] for item in self._order}  # noqa: S311  # the same
        self._lock = Lock()
        votes = self._past() if is_begun(file) else ()
        self._voted = {vote["item"] for vote in votes if vote["voter"] == voter} & items.keys()

    def __len__(self) -> int:
        return len(self._order)

    @property
    def voted(self) -> int:
        """How many items this voter has decided."""
        return len(self._voted)

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return what the page shows: the item at a place, or the first without a vote; nothing says whose it is."""
        with self._lock:
            page = progress([item.id for item in self._order], self._voted, at)
            if page["at"] < len(self._order):
                item = self._order[page["at"]]
                left, right = (item.a, item.b) if self._left[item.id] == "a" else (item.b, item.a)
                page["item"] = {"id": item.id, "query": item.query.text, "left": left.text, "right": right.text}
            return page

    finished = True
    """It may end at any time."""

    def finish(self) -> dict[str, Any]:
        """Return what may be shown at the end: nothing that others voted."""
        return {}

    def take(self, given: Mapping[str, Any]) -> None:
        """Write a vote of the page down; it is on disk when this returns."""
        item_id, side = str(given.get("item")), str(given.get("side"))
        item = next((item for item in self._order if item.id == item_id), None)
        if item is None or side not in SIDES:
            raise InputError(f"no item {item_id[:20]!r} or no side {side[:20]!r}; wanted {', '.join(SIDES)}")
        left = self._left[item.id]
        choice = {"left": left, "right": "b" if left == "a" else "a"}.get(side, "neither")
        ids = {"item": item.id, "query_id": item.query.id, "a": item.a.id, "b": item.b.id}
        about = {"voter": self._voter, "seconds": round(seconds_of(given), 1), "at": now()}
        vote = {"kind": "vote", **ids, "left": left, "choice": choice, **about}
        with self._lock, among_writers(self._file):  # others may vote into the same file
            append_lines(self._file, [vote] if is_begun(self._file) else [self._of, vote])
            self._voted.add(item.id)

    def _past(self) -> list[dict[str, Any]]:
        """Return the votes that are there, if they are of this study."""
        of, given = read_votes(self._file)
        names = {"hash": "the codes", "items": "", "seed": "seed"}
        differ = filter(None, (names.get(name, name) for name in differing(of, self._of)))
        refuse(self._file, "votes", differ, option="--votes")
        return given


def study_of(study: PreferenceStudy, seed: int) -> dict[str, Any]:
    """Return the record that opens a file of votes."""
    items = _hash(*sorted(item.id for item in study.items))
    drawn = {"sample": study.sample} if study.sample else {}
    return {"kind": "study", "format": FORMAT, "seed": seed, "items": len(study.items), "hash": items, **drawn}


def read_votes(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what a file of votes is about, and the votes that count: the last of each voter on each item."""
    rows = list(read_lines(file))
    if not rows or rows[0].get("kind") != "study" or rows[0].get("format") != FORMAT:
        raise InputError(f"{file} holds no votes of `assay judge prefer` in format {FORMAT}")
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for number, row in enumerate(rows[1:], 2):
        if row.get("choice") not in ("a", "b", "neither") or row.get("left") not in ("a", "b"):
            raise StorageError(f"{file}:{number}: no vote; take the line out to go on")
        last[str(row.get("voter", "")), str(row.get("item"))] = row
    return rows[0], list(last.values())


def _by_query(pairs: Iterable[Pair | Problem], found: PreferenceStudy) -> dict[str, list[Pair]]:
    by: dict[str, list[Pair]] = {}
    for pair in pairs:
        if isinstance(pair, Problem):
            found.problems.append(pair)
        else:
            by.setdefault(pair.query.id, []).append(pair)
    return {query: sorted(several, key=lambda pair: (pair.code.id, pair.code.text)) for query, several in by.items()}


def _drawn(ours: list[Pair], theirs: list[Pair], draws: Random) -> Item | None:
    """Return a code of each side that differ, or None where there are none."""
    for one in draws.sample(ours, len(ours)):
        others = [other for other in theirs if other.code.text.strip() != one.code.text.strip()]
        if others:
            return Item(one.query, one.code, draws.choice(others).code)
    return None


def _hash(*texts: str) -> str:
    return blake2b(repr(texts).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Preference:
    """What votes say."""

    items: int
    votes: int
    voters: int
    a: int
    """Items that the first set wins."""
    b: int
    draws: int
    rate: Estimate
    """The share of a among items that somebody wins, with Wilson's interval; nan where nobody does."""
    p: float
    """Of the two-sided exact sign test."""
    left: Estimate
    """The share of choices that fell on the left: far from a half, the place decided and not the code."""
    alpha: Estimate | None
    """Krippendorff's, where an item has votes of several."""
    seconds: float
    """The median time that a vote took."""


def preference(votes: Iterable[Mapping[str, Any]]) -> Preference:
    """Sum votes up, one a voter and item."""
    by: dict[str, dict[str, str]] = {}
    given = list(votes)
    for vote in given:
        by.setdefault(vote["item"], {})[vote["voter"]] = vote["choice"]
    won = [majority(choice for choice in choices.values() if choice != "neither") for choices in by.values()]
    a, b = won.count("a"), won.count("b")
    taken = [vote["choice"] == vote["left"] for vote in given if vote["choice"] != "neither"]
    voters = sorted({vote["voter"] for vote in given})
    several = any(len(choices) > 1 for choices in by.values())
    return Preference(
        items=len(by),
        votes=len(given),
        voters=len(voters),
        a=a,
        b=b,
        draws=len(by) - a - b,
        rate=_share(a, a + b),
        p=sign_test(a, b),
        left=_share(sum(taken), len(taken)),
        alpha=alpha([[choices.get(voter) for voter in voters] for choices in by.values()]) if several else None,
        seconds=float(median(vote.get("seconds", 0.0) for vote in given)) if given else 0.0,
    )


def _share(part: int, whole: int) -> Estimate:
    return Estimate(part / whole if whole else float("nan"), *wilson(part, whole))
