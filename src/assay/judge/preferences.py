"""Let people choose between two sets of code, and test what they prefer (CoSQA+, V-A).

One code a query and set, drawn among those that differ. It is blind, and each set stands left in half of a person's
queries. A query is one unit however many people saw it: who wins it is what more of them say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from threading import Lock
from typing import Any

from assay.errors import InputError
from assay.judge.export import labels_of
from assay.judge.label_ballots import PersonFile, file_of, files_of_people, now, progress, seconds_of
from assay.judge.pairs import Pair
from assay.measure.agreement import Estimate, alpha, majority
from assay.measure.compare import sign_test, wilson
from assay.protocols import Say
from assay.runs.options import SampleDraw
from assay.runs.record import append_lines, begin, hash_of, read_lines
from assay.runs.seeded_sample import draw
from assay.values import Chunk, Problem, Query

SIDES = ("left", "right", "neither")
PREFERENCE = "preference"
"""What judges, in the settings of such a file."""


@dataclass(frozen=True, slots=True)
class Item:
    """A query with a code of each set."""

    query: Query
    a: Chunk
    b: Chunk

    @property
    def id(self) -> str:
        """A hash of its texts."""
        return hash_of(repr((self.query.id, self.query.text, self.a.id, self.a.text, self.b.id, self.b.text)))


@dataclass(slots=True)
class PreferenceItems:
    """What is asked, and what is not."""

    items: list[Item] = field(default_factory=list)
    only_a: int = 0
    only_b: int = 0
    same: int = 0
    """Queries that both sets answer with the same text alone."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def left_out(self) -> list[str]:
        """Why queries are not asked, with how many they are."""
        counts = {"only in A": self.only_a, "only in B": self.only_b, "with the same code in both": self.same}
        return [f"{count:,} {what}" for what, count in counts.items() if count]


@dataclass(frozen=True, slots=True)
class PreferenceSettings:
    """What decides about the choices of a person, as the manifest says it."""

    judge: str = PREFERENCE
    person: str = ""
    codes: str = ""
    """A hash of all items."""
    sample: str = ""


def paired(a: Path, b: Path, sample: SampleDraw, say: Say) -> PreferenceItems:
    """Choose one code of each set for each query that both answer, or for some of those, drawn.

    A set is records of `assay judge run`, or ground truth with its code; what is labelled 0 in it answers nothing.
    """
    found, ours, theirs = PreferenceItems(), _answers(a, say), _answers(b, say)
    found.only_a, found.only_b = len(ours.keys() - theirs.keys()), len(theirs.keys() - ours.keys())
    for query in sorted(ours.keys() & theirs.keys()):
        if len({pair.query.text.strip() for pair in (*ours[query], *theirs[query])}) > 1:
            found.problems.append(Problem(query, "the query has another text in the other file"))
        elif item := _drawn(ours[query], theirs[query], Random(f"{sample.seed}:{query}")):  # noqa: S311  # no secret
            found.items.append(item)
        else:
            found.same += 1
    if not found.items:
        why = ", ".join(found.left_out) or "no query in both"
        raise InputError(f"nothing to choose between: {why}; wanted the same query ids in both files, with other codes")
    drawn = draw((item.query.id for item in found.items), sample.size, sample.seed)
    found.items = [item for item in found.items if item.query.id in drawn]
    return found


def _answers(file: Path, say: Say) -> dict[str, list[Pair]]:
    by: dict[str, list[Pair]] = {}
    for row in labels_of(file, say)[0]():
        if row["grade"]:
            code = Chunk(row["code_id"], row["code"], row.get("language", ""))
            by.setdefault(row["query_id"], []).append(Pair(Query(row["query_id"], row["query"]), code))
    return {query: sorted(several, key=lambda pair: (pair.code.id, pair.code.text)) for query, several in by.items()}


def _drawn(ours: list[Pair], theirs: list[Pair], draws: Random) -> Item | None:
    """Return a code of each side that differ, or None where there are none."""
    for one in draws.sample(ours, len(ours)):
        if others := [other for other in theirs if other.code.text.strip() != one.code.text.strip()]:
            return Item(one.query, one.code, draws.choice(others).code)
    return None


class PreferenceBallot(PersonFile):
    """Items in the order of one person, and their choices; several threads may ask. Use it in a `with`."""

    page = "prefer.html"
    finished = True
    """It may end at any time: the choices of one person are never shown to another."""

    def __init__(self, items: Sequence[Item], folder: Path, person: str, *, sample: SampleDraw) -> None:
        self.file = file_of(folder, person)
        codes = hash_of(repr(sorted(item.id for item in items)))
        self._settings, self._seed = PreferenceSettings(person=person, codes=codes, sample=str(sample)), sample.seed
        of = f"{sample.seed}:{person}"
        self._order = sorted(items, key=lambda item: hash_of(f"{of}:{item.id}"))
        by_lot = sorted(items, key=lambda item: hash_of(f"{of}:{item.id}:side"))
        self._on_left = {item.id: "ab"[at % 2] for at, item in enumerate(by_lot)}
        self._chosen = set[str]()
        self._lock = Lock()

    def _begin(self) -> None:
        begin(self.file, self._settings, "choices", seed=self._seed)
        self._chosen = {record["item"] for record in read_lines(self.file)}

    def __len__(self) -> int:
        return len(self._order)

    @property
    def left(self) -> int:
        """How many items have no choice yet."""
        return sum(item.id not in self._chosen for item in self._order)

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return what the page shows: the item at a place, or the first without a choice; nothing says whose it is."""
        with self._lock:
            page = progress([item.id for item in self._order], self._chosen, at)
            if page["at"] < len(self._order):
                item = self._order[page["at"]]
                codes = (item.a, item.b) if self._on_left[item.id] == "a" else (item.b, item.a)
                shown = [{"code": code.text, "language": code.language} for code in codes]
                page["item"] = {"id": item.id, "query": item.query.text, "codes": shown}
            return page

    def take(self, ballot: Mapping[str, Any]) -> None:
        """Write a choice down; it is on disk when this returns."""
        side = str(ballot.get("side"))
        item = next((item for item in self._order if item.id == ballot.get("item")), None)
        if item is None or side not in SIDES:
            item_id = str(ballot.get("item"))[:20]
            raise InputError(f"unknown item {item_id!r} or side {side[:20]!r}; expected a side of {SIDES}")
        left = self._on_left[item.id]
        choice = {"left": left, "right": "ab".replace(left, "")}.get(side, "neither")
        ids = {"item": item.id, "query_id": item.query.id, "a": item.a.id, "b": item.b.id}
        took = {"seconds": round(seconds_of(ballot), 1), "at": now()}
        with self._lock:
            append_lines(self.file, [{"kind": "choice", **ids, "left": left, "choice": choice, **took}])
            self._chosen.add(item.id)

    def finish(self) -> dict[str, Any]:
        """Return what may be shown at the end: nothing of what others chose."""
        return {}


def read_choices(folder: Path, items: Sequence[Item]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return by person the last choice of each of these items, which are in a folder."""
    ids = {item.id for item in items}
    found = {}
    for file in files_of_people(folder, PREFERENCE):
        choices = {record["item"]: record for record in read_lines(file) if record["item"] in ids}
        if choices:
            found[file.stem] = choices
    return found


@dataclass(frozen=True, slots=True)
class Preference:
    """What people prefer."""

    items: int
    choices: int
    people: int
    a: int
    """Items that the first set wins."""
    b: int
    draws: int
    rate: Estimate
    """The share of A among the items that one set wins, with Wilson's interval; nan where there are none."""
    p: float
    """Of the two-sided exact sign test."""
    left: Estimate
    """The share of choices that fell on the left: far from a half, the place decided and not the code."""
    alpha: Estimate | None
    """Krippendorff's, where several people saw an item."""
    seconds: float
    """The median time of a choice."""


def preference(by_person: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Preference:
    """Sum up what people chose."""
    every = [choice for choices in by_person.values() for choice in choices.values()]
    items = sorted({choice["item"] for choice in every})
    said = [[choices.get(item, {}).get("choice") for choices in by_person.values()] for item in items]
    won = [majority(choice for choice in each if choice != "neither") for each in said]
    taken = [choice["choice"] == choice["left"] for choice in every if choice["choice"] != "neither"]
    a, b = won.count("a"), won.count("b")
    return Preference(
        items=len(items),
        choices=len(every),
        people=len(by_person),
        a=a,
        b=b,
        draws=len(items) - a - b,
        rate=_share(a, a + b),
        p=sign_test(a, b),
        left=_share(sum(taken), len(taken)),
        alpha=alpha(said) if len(every) > len(items) else None,
        seconds=float(median(choice["seconds"] for choice in every)) if every else 0.0,
    )


def _share(part: int, whole: int) -> Estimate:
    return Estimate(part / whole if whole else float("nan"), *wilson(part, whole))
