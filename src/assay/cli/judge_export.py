"""The command `assay judge export`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.errors import InputError
from assay.io import files
from assay.io.terminal import say
from assay.parameters import Options, argument, option, verbose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.judge.export import Benchmark
    from assay.values import Chunk, Problem

FORMS = {"own": ("jsonl", ".jsonl"), "beir": ("beir", ""), "trec": ("trec", ".qrels"), "cosqa+": ("cosqaplus", "")}
"""The ground-truth format of each layout, and how its files end."""


class JudgeExportOptions(Options):
    """Options of `assay judge export`."""

    records: Path = argument()
    folder: Path = option("--to DIR", "The folder to write to.", kind="folder", required=True)
    layout: str = option("--format", "The format of the benchmark.", choices=tuple(FORMS), default="own")
    corpus: Path | None = option("--corpus CORPUS", "More code to search, beside the candidates.")
    seed: int = option("--seed N", "The random seed of the splits.", default=0)
    license: str = option(
        "--license ID", "The license of the data, as SPDX names it, for its card.  [default: unknown]"
    )
    verbose: bool = verbose("Show the traceback of an error.")


@command(JudgeExportOptions, example="assay judge export records.jsonl --to benchmark")
def export(given: JudgeExportOptions) -> None:
    """Write the verdicts in RECORDS as a benchmark: labels, splits 8:1:1 by query, statistics.

    own: all.jsonl and one file for each split. beir: one folder with a table for each split. trec: qrels and topics
    for each split, and the code snippets as files in corpus/, named by the targets. cosqa+: a folder of JSON lists
    for each split. pairs.jsonl holds the labels with their texts, judge and reason; statistics.json and README.md
    hold the figures. README.md is a dataset card that the Hugging Face hub reads.

    DIR is written whole or not at all; if it is there, files of the same names are replaced.

    CORPUS is any that assay candidates reads: code that was never a candidate is then searched too.
    """
    from assay.judge import export as made
    from assay.judge.candidates import codes_of
    from assay.judge.records import verdicts

    if not given.records.is_file():
        raise InputError(f"no such file: '{given.records}'; `assay judge run` writes some")
    problems: list[Problem] = []
    more = codes_of(given.corpus, problems) if given.corpus else []
    if problems:
        say(f"{len(problems):,} codes of {given.corpus} are no use; the first: {problems[0]}")
    whole = made.benchmark(verdicts(given.records), seed=given.seed, more=more)
    if not whole.judgments:
        raise InputError(f"no label in {given.records}: `assay judge run` writes some")
    figures = made.statistics(whole, verdicts(given.records))
    name = given.folder.resolve().name
    languages = tuple(sorted({code.language or "python" for code in whole.codes}))
    card = made.dataset_card(name, given.layout, figures, license_id=given.license, languages=languages)
    with files.replacing_folder(given.folder) as beside:
        losses = dict.fromkeys(_write(whole, beside, name, given.layout))
        _write_pairs(whole, beside)
        files.write_json(beside / "statistics.json", figures)
        files.write(beside / "README.md", card)
    for loss in losses:
        say(f"{given.layout} does not hold {loss}")
    click.echo(made.table(figures), nl=False)
    say(f"written to {given.folder}")


def _write(whole: Benchmark, folder: Path, name: str, layout: str) -> Iterator[str]:
    """Write the ground truth in a layout and yield what it cannot hold."""
    from assay.judge.export import SPLITS
    from assay.truth.ground_truth import Truth
    from assay.truth.truth_formats import write

    whole = _as_files(whole, folder / "corpus") if layout == "trec" else _as_documents(whole)
    if layout == "beir":
        yield from write(Truth(name, whole.queries, whole.judgments, whole.codes), folder, "beir", lossy=True)
        return
    for split in ("all", *SPLITS):
        part = whole if split == "all" else whole.part(split)
        if part.queries:
            documents = () if layout == "trec" else part.codes
            truth = Truth(f"{name}-{split}", part.queries, part.judgments, documents)
            form, ending = FORMS[layout]
            lost = write(truth, folder / f"{split}{ending}", form, lossy=True)
            yield from lost if split == "all" else ()


def _as_files(whole: Benchmark, folder: Path) -> Benchmark:
    """Write each code to a file, and return the benchmark with the files' names where the codes' ids stood."""
    names = {code.id: name for code, name in zip(whole.codes, _names(whole.codes), strict=True)}
    for code in whole.codes:
        files.write(folder / names[code.id], code.text, errors="strict", durable=False)
    return replace(whole, judgments=tuple(replace(each, target=names[each.target]) for each in whole.judgments))


def _as_documents(whole: Benchmark) -> Benchmark:
    """Return the benchmark with `a.py#1-9` for `a.py:1-9`: what reads as a place in a checkout names no document."""
    from assay.truth.formats.shared import fault_of_id

    names = {code.id: code.id for code in whole.codes}
    taken = set(names)
    for number, known in enumerate(names):
        if fault_of_id(known):
            name = known.replace(":", "#")
            names[known] = f"{name}~{number}" if name in taken else name
            taken.add(names[known])
    return replace(
        whole,
        codes=tuple(replace(code, id=names[code.id], path=names[code.id]) for code in whole.codes),
        judgments=tuple(replace(each, target=names[each.target]) for each in whole.judgments),
    )


def _names(codes: tuple[Chunk, ...]) -> Iterator[str]:
    """Yield a name of a file for each code: its id where a file may be called so, else that with a number."""
    taken: set[str] = set()
    for number, code in enumerate(codes):
        plain = re.sub(r"[^\w+-]", "_", code.id, flags=re.ASCII)[:80]
        name = plain if plain == code.id and plain.casefold() not in taken else f"{plain}~{number}"
        taken.add(name.casefold())
        yield f"{name}{'.py' if code.language == 'python' else '.txt'}"


def _write_pairs(whole: Benchmark, folder: Path) -> None:
    """Write the pairs with all that is known of them."""
    queries = {query.id: query for query in whole.queries}
    codes = {code.id: code for code in whole.codes}
    rows = (
        {
            "query_id": each.query_id,
            "query": queries[each.query_id].text,
            "code_id": each.target,
            "code": codes[each.target].text,
            "language": codes[each.target].language,
            "label": each.grade,
            "judge": each.judge,
            "reason": each.reason,
            "split": queries[each.query_id].tags["split"],
        }
        for each in whole.judgments
    )
    files.write_rows(folder / "pairs.jsonl", rows)
