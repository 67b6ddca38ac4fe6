"""Verdicts in, a benchmark out: queries, codes, labels, splits by query, and the figures of table II of CoSQA+.

A query goes to one split with all its pairs, and queries of the same words go together; a pair without a label, and a
query that has none, is counted and left out. How files are laid out is for somebody else to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from assay.judge.accounts import accounts, costs_as_json
from assay.terms import same_words
from assay.types import Chunk, Judgment, Query

SPLITS = ("train", "valid", "test")
SHARES = (8, 1, 1)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What is asked, what is searched and what is right; each query's split is its tag."""

    queries: tuple[Query, ...]
    codes: tuple[Chunk, ...]
    judgments: tuple[Judgment, ...]

    def part(self, split: str) -> Benchmark:
        """Return the queries of one split with their labels; all codes are searched."""
        queries = tuple(query for query in self.queries if query.tags["split"] == split)
        asked = {query.id for query in queries}
        return replace(
            self, queries=queries, judgments=tuple(each for each in self.judgments if each.query_id in asked)
        )


@dataclass(slots=True)
class _Gathered:
    """What verdicts speak of, each once."""

    queries: dict[str, Query] = field(default_factory=dict)
    codes: dict[str, Chunk] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)

    def add(self, record: Mapping[str, Any]) -> None:
        code, query = record["code_id"], record["query_id"]
        self.codes.setdefault(code, Chunk(code, record["code"], record["language"] or "python", path=code))
        if record["grade"] is not None:
            self.queries.setdefault(query, Query(query, record["query"]))
            self.judgments.append(Judgment(query, code, record["grade"], record["judge"], record["reason"]))


def benchmark(verdicts: Iterable[Mapping[str, Any]], *, seed: int = 0, more: Sequence[Chunk] = ()) -> Benchmark:
    """Return the benchmark of some verdicts; `more` are codes that nobody judged and that are searched all the same."""
    found = _Gathered()
    for record in verdicts:
        found.add(record)
    for code in more:
        found.codes.setdefault(code.id, replace(code, path=code.id))
    splits = split_of(list(found.queries.values()), seed=seed)
    queries = tuple(replace(each, tags={**each.tags, "split": splits[each.id]}) for each in found.queries.values())
    return Benchmark(queries, tuple(found.codes.values()), tuple(found.judgments))


def split_of(queries: Sequence[Query], *, seed: int = 0) -> dict[str, str]:
    """Return the split of each query, 8:1:1 as near as whole queries come; those of the same words share one."""
    alike: dict[str, list[str]] = {}
    for query in queries:
        alike.setdefault(same_words(query.text), []).append(query.id)
    groups = [alike[words] for words in sorted(alike)]
    Random(seed).shuffle(groups)  # noqa: S311  # a draw, not a secret
    wanted = {name: share * len(queries) / sum(SHARES) for name, share in zip(SPLITS, SHARES, strict=True)}
    held = dict.fromkeys(SPLITS, 0)
    splits: dict[str, str] = {}
    for group in groups:
        name = max(SPLITS, key=lambda name: wanted[name] - held[name])
        held[name] += len(group)
        splits.update(dict.fromkeys(group, name))
    return splits


def statistics(made: Benchmark, verdicts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of table II, of each split, and of how labels spread (figures 3 and 7)."""
    figures = costs_as_json(accounts(verdicts))
    length = sum(len(code.text) for code in made.codes) / max(len(made.codes), 1)
    return {
        "pairs": len(made.judgments),
        "queries": len(made.queries),
        "codes": len(made.codes),
        "code_length": round(length, 3),
        "cases_a_program": figures["cases_a_program"] if figures["programs"] else None,
        "executable_share": figures["executable_share"] if figures["programs"] else None,
        "undecided": figures["pairs"] - len(made.judgments),
        "splits": {split: _split(made, split) for split in SPLITS},
        "shared_codes": _shared(made),
        "matches_a_query": figures["matches_a_query"],
        "queries_a_code": figures["queries_a_code"],
        "judges": sorted({each.judge for each in made.judgments}),
    }


def _split(made: Benchmark, split: str) -> dict[str, Any]:
    part = made.part(split)
    right = sum(each.grade > 0 for each in part.judgments)
    answered = {each.query_id for each in part.judgments if each.grade > 0}
    return {
        "queries": len(part.queries),
        "pairs": len(part.judgments),
        "matches": right,
        "unanswered": len(part.queries) - len(answered),
    }


def _shared(made: Benchmark) -> int:
    """Return how many codes are right both in training and in the test: no split by query keeps those apart."""
    right = {
        split: {each.target for each in made.part(split).judgments if each.grade > 0} for split in ("train", "test")
    }
    return len(right["train"] & right["test"])


def table(figures: Mapping[str, Any]) -> str:
    """Return table II in Markdown, with the splits below it."""
    cases, share = figures["cases_a_program"], figures["executable_share"]
    tested = ("none run" if cases is None else f"{cases:.2f}", "none run" if share is None else f"{share:.2%}")
    counts = (f"{figures['pairs']:,}", f"{figures['codes']:,}", f"{figures['code_length']:.3f}")
    rows = [
        "| # of pairs | # of code | Code avg. len. | Avg. test cases | Exec. rate |",
        "|---|---|---|---|---|",
        f"| {' | '.join((*counts, *tested))} |",
        "",
        "| split | queries | pairs | matches | queries without a match |",
        "|---|---|---|---|---|",
    ]
    rows += [
        f"| {name} | {each['queries']:,} | {each['pairs']:,} | {each['matches']:,} | {each['unanswered']:,} |"
        for name, each in figures["splits"].items()
    ]
    spread = ", ".join(f"{often:,} with {count}" for count, often in figures["matches_a_query"].items())
    rows += [
        "",
        f"Labelled by {', '.join(figures['judges'])}; undecided pairs, left out: {figures['undecided']:,}.",
        f"Queries by matching codes: {spread}.",
        f"Codes that are right in train and in test: {figures['shared_codes']:,}.",
    ]
    return "\n".join(rows) + "\n"
