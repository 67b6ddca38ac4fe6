"""`assay judge agreement`: files of labels in, how far they agree with the truth and with one another out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options

if TYPE_CHECKING:
    from assay.judge.labels import Annotator, Key
    from assay.types import Problem


@click.command(short_help="How far labels agree with the truth and one another.")
@click.argument("labels", nargs=-1, required=True, metavar="LABELS...")
@click.option(
    "--gold", multiple=True, metavar="FILE", help="The truth; several are several annotators whose majority it is."
)
@click.option(
    "--match",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The least of the graded labels that is a match.",
)
@click.option("--show", type=click.IntRange(min=0), default=10, show_default=True, help="Disagreements in the text.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.html", help="Disagreements as a page."
)
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name every problem; show the traceback of an error.")
def agreement(
    labels: tuple[str, ...],
    gold: tuple[str, ...],
    match: int,
    show: int,
    out: Path | None,
    form: str,
    verbose: bool,
) -> None:
    """Compare the LABELS of several annotators: records of `assay judge run`, JSON, CSV, TSV or TREC's qrels.

    NAME=FILE gives an annotator a name. Printed are accuracy, precision, recall, F1 and Cohen's kappa against the
    truth, kappa of each two, Krippendorff's nominal alpha of all, and pairs labelled in two ways with who said what
    and why. Brackets are 95% bootstrap intervals over queries, of shares at least as wide as Wilson's. Pairs that
    somebody left undecided are counted.

    Leaves with 0, or 2 on an error, such as labels of other pairs.
    """
    from assay.cli.answer import dumps
    from assay.cli.judge_agreement_text import as_dict, as_text
    from assay.cli.workspaces import say
    from assay.judge.agreement import compare

    texts: dict[Key, tuple[str, str]] = {}
    problems: list[Problem] = []
    truth = [annotator for spec in gold for annotator in _read(spec, texts, problems)]
    annotators = [annotator for spec in labels for annotator in _read(spec, texts, problems)]
    for problem in problems if verbose else problems[:10]:
        say(str(problem))
    if len(problems) > 10 and not verbose:
        say(f"{len(problems) - 10:,} more rows could not be used; -v names them")
    found = compare(annotators, truth, match=match)
    reasons = {each.name: each.reasons for each in (*truth, *annotators)}
    if form == "json":
        click.echo(dumps({**as_dict(found, reasons, texts), "problems": [str(problem) for problem in problems]}))
    else:
        click.echo("\n".join(as_text(found, reasons, texts, show=show, problems=len(problems))))
    if out:
        from assay.cli.judge_agreement_page import write

        write(found, reasons, texts, out)
        say(f"written to {out}")


def _read(spec: str, texts: dict[Key, tuple[str, str]], problems: list[Problem]) -> list[Annotator]:
    """Read a file given as FILE or NAME=FILE."""
    from assay.judge.labels import read

    name, equals, file = spec.partition("=")
    found = read(Path(file), name) if equals and not Path(spec).exists() else read(Path(spec))
    for key, two in found.texts.items():
        texts.setdefault(key, two)
    problems += found.problems
    return found.annotators
