"""The figures of an exported benchmark in, its dataset card out: Markdown under a head that the Hugging Face hub reads.

The head is YAML: what the data is, how large, and which files load as which configuration
(https://huggingface.co/docs/hub/datasets-cards). Values are JSON, which is YAML, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
