"""`assay judge export`: records in, a benchmark out that `assay bench` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.bench.truth import Truth
    from assay.judge.export import Benchmark
    from assay.types import Chunk

FORMS = {"own": "jsonl", "beir": "beir", "trec": "trec", "cosqa+": "cosqaplus"}
_EXTENSIONS = {"python": ".py", "": ".txt"}


@click.command(short_help="Make a benchmark of records.")
@click.argument("records", type=click.Path(path_type=Path))
@click.option(
    "--to", "folder", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR", help="A folder."
)
@click.option(
    "--format", "layout", type=click.Choice([*FORMS]), default="own", show_default=True, help="How to lay it out."
)
@click.option("--corpus", type=click.Path(path_type=Path), metavar="CORPUS", help="More codes that are searched.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What draws the splits.")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def export(records: Path, folder: Path, layout: str, corpus: Path | None, seed: int) -> None:
    """Make a benchmark of the verdicts in RECORDS: labels, splits 8:1:1 by query, statistics.

    own: all.jsonl and one file a split. beir: one folder with a table a split. trec: qrels and topics a split, and the
    codes as files in corpus/, named by the targets. cosqa+: a folder of JSON lists a split. pairs.jsonl holds the
    labels with their texts, judge and reason, statistics.json and README.md the figures.

    CORPUS is any that assay candidates reads: what was never a candidate is searched, too.
    """
    from assay.cli.answer import dumps
    from assay.cli.workspaces import say
    from assay.errors import InputError
    from assay.judge import export as made
    from assay.judge.past import verdicts

    if not records.is_file():
        raise InputError(f"no such file: '{records}'; `assay judge run` writes some")
    whole = made.benchmark(verdicts(records), seed=seed, more=_more(corpus))
    if not whole.judgments:
        raise InputError(f"no label in {records}: `assay judge run` writes some")
    figures = made.statistics(whole, verdicts(records))
    for loss in dict.fromkeys(_write(whole, folder, layout)):
        say(f"{layout} does not hold {loss}")
    _beside(whole, folder, dumps(figures), made.table(figures))
    click.echo(made.table(figures), nl=False)
    say(f"written to {folder}")


def _more(corpus: Path | None) -> list[Chunk]:
    from assay.cli.candidates_read import codes_of
    from assay.cli.workspaces import say

    if corpus is None:
        return []
    problems: list = []  # type: ignore[type-arg]
    codes = codes_of(corpus, problems)
    if problems:
        say(f"{len(problems):,} codes of {corpus} are no use; the first: {problems[0]}")
    return codes


def _write(whole: Benchmark, folder: Path, layout: str) -> Iterator[str]:
    """Write the ground truth in a layout and yield what it cannot hold."""
    from assay.bench.files import write
    from assay.judge.export import SPLITS

    whole = _as_files(whole, folder / "corpus") if layout == "trec" else _as_documents(whole)
    truth = _truth(folder.name, whole, documents=layout != "trec")
    if layout == "beir":
        yield from write(truth, folder, "beir", lossy=True)
        return
    ending = {"own": ".jsonl", "trec": ".qrels", "cosqa+": ""}[layout]
    parts = {"all": whole, **{split: whole.part(split) for split in SPLITS}}
    for name, part in parts.items():
        if part.queries:
            truth = _truth(f"{folder.name}-{name}", part, documents=layout != "trec")
            lost = write(truth, folder / f"{name}{ending}", FORMS[layout], lossy=True)
            yield from lost if name == "all" else ()


def _truth(name: str, part: Benchmark, *, documents: bool) -> Truth:
    from assay.bench.truth import Truth

    return Truth(name, part.queries, part.judgments, part.codes if documents else ())


def _as_files(whole: Benchmark, folder: Path) -> Benchmark:
    """Write each code to a file, and return the benchmark with the files' names where the codes' ids stood."""
    from dataclasses import replace

    from assay.bench.formats.writing import write_lines

    names = {code.id: name for code, name in zip(whole.codes, _names(whole.codes), strict=True)}
    for code in whole.codes:
        write_lines(folder / names[code.id], [code.text])
    judgments = tuple(replace(each, target=names[each.target]) for each in whole.judgments)
    return replace(whole, judgments=judgments)


def _as_documents(whole: Benchmark) -> Benchmark:
    """Return the benchmark with `a.py#1-9` for `a.py:1-9`: what reads as a place in a checkout names no document."""
    from dataclasses import replace

    from assay.bench.formats.gather import fault_of_id

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


def _beside(whole: Benchmark, folder: Path, figures: str, table: str) -> None:
    """Write the pairs with all that is known of them, and the figures."""
    from assay.bench.formats.writing import write_lines, write_records

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
    write_records(folder / "pairs.jsonl", rows)
    write_lines(folder / "statistics.json", [figures, "\n"])
    write_lines(folder / "README.md", [f"# {folder.name}\n\n", table])
