"""`assay judge export`: records in, a benchmark out that `assay bench` reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.command import argument, command, option, verbose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.judge.export import Benchmark, DatasetDetails
    from assay.truth.ground_truth import Truth
    from assay.values import Chunk

FORMS = {"own": "jsonl", "beir": "beir", "trec": "trec", "cosqa+": "cosqaplus"}
_EXTENSIONS = {"python": ".py", "": ".txt"}


@dataclass(frozen=True, slots=True)
class JudgeExportOptions:
    """Options of `assay judge export`."""

    records: Path = argument()
    folder: Path = option(
        "--to DIR", "The folder to write to.", type=click.Path(path_type=Path, file_okay=False), required=True
    )
    layout: str = option("--format", "The format of the benchmark.", type=click.Choice([*FORMS]), default="own")
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
    hold the figures. README.md is a dataset card that the Hugging Face hub reads; croissant.json describes the files.

    DIR is written whole or not at all; if it is there, files of the same names are replaced.

    CORPUS is any that assay candidates reads: code that was never a candidate is then searched too.
    """
    from assay.errors import InputError
    from assay.io.files import replacing_folder
    from assay.io.terminal import say
    from assay.judge import export as made
    from assay.judge.export import DatasetDetails
    from assay.judge.records import verdicts

    if not given.records.is_file():
        raise InputError(f"no such file: '{given.records}'; `assay judge run` writes some")
    whole = made.benchmark(verdicts(given.records), seed=given.seed, more=_more(given.corpus))
    if not whole.judgments:
        raise InputError(f"no label in {given.records}: `assay judge run` writes some")
    figures = made.statistics(whole, verdicts(given.records))
    name = given.folder.resolve().name
    languages = tuple(sorted({code.language or "python" for code in whole.codes}))
    about = DatasetDetails(name, given.layout, given.license, languages)
    with replacing_folder(given.folder) as beside:
        losses = dict.fromkeys(_write(whole, beside, name, given.layout))
        _beside(whole, beside, about, figures)
    for loss in losses:
        say(f"{given.layout} does not hold {loss}")
    click.echo(made.table(figures), nl=False)
    say(f"written to {given.folder}")


def _more(corpus: Path | None) -> list[Chunk]:
    from assay.io.terminal import say
    from assay.judge.candidates import codes_of

    if corpus is None:
        return []
    problems: list = []  # type: ignore[type-arg]
    codes = codes_of(corpus, problems)
    if problems:
        say(f"{len(problems):,} codes of {corpus} are no use; the first: {problems[0]}")
    return codes


def _write(whole: Benchmark, folder: Path, called: str, layout: str) -> Iterator[str]:
    """Write the ground truth in a layout and yield what it cannot hold."""
    from assay.judge.export import SPLITS
    from assay.truth.truth_formats import write

    whole = _as_files(whole, folder / "corpus") if layout == "trec" else _as_documents(whole)
    if layout == "beir":
        truth = _truth(called, whole, documents=True)
        yield from write(truth, folder, "beir", lossy=True)
        return
    ending = {"own": ".jsonl", "trec": ".qrels", "cosqa+": ""}[layout]
    parts = {"all": whole, **{split: whole.part(split) for split in SPLITS}}
    for name, part in parts.items():
        if part.queries:
            truth = _truth(f"{called}-{name}", part, documents=layout != "trec")
            lost = write(truth, folder / f"{name}{ending}", FORMS[layout], lossy=True)
            yield from lost if name == "all" else ()


def _truth(name: str, part: Benchmark, *, documents: bool) -> Truth:
    from assay.truth.ground_truth import Truth

    return Truth(name, part.queries, part.judgments, part.codes if documents else ())


def _as_files(whole: Benchmark, folder: Path) -> Benchmark:
    """Write each code to a file, and return the benchmark with the files' names where the codes' ids stood."""
    from dataclasses import replace

    from assay.io import files

    names = {code.id: name for code, name in zip(whole.codes, _names(whole.codes), strict=True)}
    for code in whole.codes:
        files.write(folder / names[code.id], code.text, errors="strict", durable=False)
    judgments = tuple(replace(each, target=names[each.target]) for each in whole.judgments)
    return replace(whole, judgments=judgments)


def _as_documents(whole: Benchmark) -> Benchmark:
    """Return the benchmark with `a.py#1-9` for `a.py:1-9`: what reads as a place in a checkout names no document."""
    from dataclasses import replace

    from assay.truth.formats.shared import fault_of_id

    taken = {code.id for code in whole.codes}
    names: dict[str, str] = {}
    for number, code in enumerate(whole.codes):
        name = code.id
        if fault_of_id(name):
            name = name.replace(":", "#")
            name = f"{name}~{number}" if name in taken else name
            taken.add(name)
        names[code.id] = name
    return replace(
        whole,
        codes=tuple(replace(code, id=names[code.id], path=names[code.id]) for code in whole.codes),
        judgments=tuple(replace(each, target=names[each.target]) for each in whole.judgments),
    )


def _names(codes: tuple[Chunk, ...]) -> Iterator[str]:
    """Yield a name of a file for each code: its id where a file may be called so, else that with a number."""
    import re

    taken: set[str] = set()
    for number, code in enumerate(codes):
        plain = re.sub(r"[^\w+-]", "_", code.id, flags=re.ASCII)[:80]
        ending = _EXTENSIONS.get(code.language, ".txt")
        name = plain if plain == code.id and plain.casefold() not in taken else f"{plain}~{number}"
        taken.add(name.casefold())
        yield f"{name}{ending}"


def _beside(whole: Benchmark, folder: Path, about: DatasetDetails, figures: Mapping[str, Any]) -> None:
    """Write the pairs with all that is known of them, the figures, and what tools want to know of the files."""
    from assay.io import files
    from assay.judge.export import NAME, croissant, dataset_card, summary_of, table

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
    files.write_json(folder / "statistics.json", figures)
    files.write(folder / "README.md", dataset_card(about, figures, table(figures)))
    files.write_json(folder / NAME, croissant(about, folder, summary_of(figures)))
