"""Write verdicts as a benchmark, with its dataset card and Croissant metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from random import Random
from typing import Any

from assay.judge.accounts import accounts, costs_as_json
from assay.terms import same_words
from assay.values import Chunk, Judgment, Query

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
        "splits": {split: _split_figures(made, split) for split in SPLITS},
        "shared_codes": _shared(made),
        "matches_a_query": figures["matches_a_query"],
        "queries_a_code": figures["queries_a_code"],
        "judges": sorted({each.judge for each in made.judgments}),
    }


def _split_figures(made: Benchmark, split: str) -> dict[str, Any]:
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


SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True)
class DatasetDetails:
    """What figures do not say of a benchmark."""

    name: str
    layout: str
    """As `own` or `beir`."""
    license: str = ""
    """As SPDX names it; empty where nobody said."""
    languages: Sequence[str] = ()
    """Of the code."""


def dataset_card(about: DatasetDetails, figures: Mapping[str, Any], table: str) -> str:
    """Return the card; `table` is what the figures say in Markdown."""
    head = "\n".join(_head(about, figures))
    return f"---\n{head}\n---\n\n# {about.name}\n\n{_words(about, figures)}\n\n{table}"


def _head(about: DatasetDetails, figures: Mapping[str, Any]) -> Iterator[str]:
    values = {
        "pretty_name": about.name,
        "license": about.license or "unknown",
        "language": ["en", "code"],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "tags": ["code-search", *about.languages],
        "size_categories": [next((name for most, name in SIZES if figures["pairs"] < most), "1M<n<10M")],
        "annotations_creators": ["machine-generated"],
    }
    yield from (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    yield "configs:"
    for name, files in _configurations(about).items():
        yield f"- config_name: {name}"
        if name == "pairs":
            yield "  default: true"
        yield "  data_files:"
        for split, file in files.items():
            yield f"  - split: {split}"
            yield f"    path: {file}"


def _configurations(about: DatasetDetails) -> Mapping[str, Mapping[str, str]]:
    """Return the files of each configuration, by split; all are JSON lines, for the hub reads one form a dataset."""
    pairs = {"pairs": "pairs.jsonl"}
    if about.layout != "beir":
        return {"pairs": pairs}
    return {"pairs": pairs, "corpus": {"corpus": "corpus.jsonl"}, "queries": {"queries": "queries.jsonl"}}


def summary_of(figures: Mapping[str, Any]) -> str:
    """Return what a benchmark is in a sentence."""
    return (
        f"Queries of code search with code snippets that were judged one by one: {figures['pairs']:,} pairs of "
        f"{figures['queries']:,} queries, among {figures['codes']:,} code snippets."
    )


def _words(about: DatasetDetails, figures: Mapping[str, Any]) -> str:
    """Return what it is in a few sentences."""
    return (
        f"{summary_of(figures)} `pairs.jsonl` holds each label (1 "
        "if the code answers the query, else 0) with both texts, who judged, why, and the split; `statistics.json` "
        f"the figures; `croissant.json` the metadata of the files. The other files have the layout `{about.layout}` of "
        "`assay judge export`. Labels are those of the judges named below, not of people, unless a judge is a person; "
        "code comes from where the queries were asked, under the licenses of its sources."
    )


NAME = "croissant.json"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs column dataBiases dataCollection extract field fileObject fileProperty fileSet format "
            "includes isLiveDataset jsonPath key md5 parentField path personalSensitiveInformation recordSet "
            "references regex repeated replace separator source subField transform"
        ).split()
    },
}
"""The vocabulary of Croissant, as its specification writes it."""
PAIR_FIELDS = {
    "query_id": ("sc:Text", "The id of the query."),
    "query": ("sc:Text", "What is asked."),
    "code_id": ("sc:Text", "The id of the code snippet."),
    "code": ("sc:Text", "The code snippet."),
    "language": ("sc:Text", "Its programming language."),
    "label": ("sc:Integer", "1 if the code answers the query, 0 if not."),
    "judge": ("sc:Text", "Who judged."),
    "reason": ("sc:Text", "Why."),
    "split": ("sc:Text", "train, valid or test; a query is in one of them with all of its pairs."),
}
"""The fields of pairs.jsonl: type and meaning."""
_TYPES = {".jsonl": "application/jsonlines", ".json": "application/json", ".tsv": "text/tab-separated-values"}


def croissant(about: DatasetDetails, folder: Path, description: str) -> dict[str, Any]:
    """Return the metadata of the files that a folder holds."""
    described: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": about.name,
        "description": description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "keywords": ["code search", *about.languages],
    }
    if about.license:
        described["license"] = f"https://spdx.org/licenses/{about.license}.html"
    return {**described, "distribution": list(_distribution(folder)), "recordSet": [_pairs()]}


def _distribution(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        name = file.relative_to(folder).as_posix()
        if name.partition("/")[0] == "corpus":
            continue  # snippets of code as files: pairs.jsonl has their texts
        with file.open("rb") as opened:
            digest = file_digest(opened, "sha256").hexdigest()
        yield {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": name,
            "contentSize": f"{file.stat().st_size} B",
            "encodingFormat": _TYPES.get(file.suffix, "text/plain"),
            "sha256": digest,
        }


def _pairs() -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"pairs/{name}",
            "name": f"pairs/{name}",
            "description": meaning,
            "dataType": kind,
            "source": {"fileObject": {"@id": "pairs.jsonl"}, "extract": {"column": name}},
        }
        for name, (kind, meaning) in PAIR_FIELDS.items()
    ]
    about = "Each label with both texts."
    return {"@type": "cr:RecordSet", "@id": "pairs", "name": "pairs", "description": about, "field": fields}
