"""`assay rank mutate`: right programs in, these and wrong ones made of them out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.rank_parts import labelled, tell, verbose_option

if TYPE_CHECKING:
    from assay.types import Program


@click.command(short_help="Make wrong programs from right ones.")
@click.argument("tasks", type=click.Path(path_type=Path))
@click.argument("samples", type=click.Path(path_type=Path), required=False)
@click.argument("outcomes", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("mutants.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where programs go.",
)
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="Mutants of a program.")
@click.option("--operator", "operators", multiple=True, metavar="NAME", help="Only such edits. Repeatable.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which edits are drawn.")
@verbose_option
@click.pass_context
def mutate(
    context: click.Context,
    tasks: Path,
    samples: Path | None,
    outcomes: Path | None,
    out: Path,
    count: int,
    operators: tuple[str, ...],
    seed: int,
    verbose: bool,
) -> None:
    """Make wrong programs from right ones, by small edits of their trees: bounds, names, returns, loops, arguments.

    The references of TASKS are taken, or those of SAMPLES that are correct by the OUTCOMES that assay exec wrote.
    Originals are written out again as mutants are, so that their layout tells nothing. Which mutants are wrong, and
    how, is for 'assay exec TASKS FILE' or 'assay rank data TASKS FILE' to find out: some are as right as before.

    Leaves with 0 when there is a mutant, 1 when there is none, 2 on an error.
    """
    from assay.cli.workspaces import counted, say
    from assay.errors import InputError
    from assay.faults import Fault
    from assay.rank.making.mutate import checked
    from assay.rank.making.mutate import mutate as mutated
    from assay.sandbox.samples import references
    from assay.sandbox.tasks.files import read
    from assay.types import Problem

    if (samples is None) != (outcomes is None):
        raise InputError("SAMPLES and OUTCOMES go together: only programs that are right are worth an edit")
    checked(operators)
    known = read(tasks).tasks
    if samples and outcomes:
        data, _ = labelled(samples, outcomes, known, "")
        originals = [each.program for each in data.examples if each.fault is Fault.CORRECT]
        problems = list(data.problems)
    else:
        held = references(known)
        originals, problems = list(held.programs), list(held.problems)
    kinds, unread, lines = Counter[str](), 0, list[str]()
    for program in originals:
        made = mutated(program, count, seed=seed, operators=operators)
        if made is None:
            unread += 1
            problems.append(Problem(program.id, "it does not parse: nothing is made of it"))
            continue
        lines += map(_line, (made.original, *made.mutants))
        kinds.update(each.tags["config"] for each in made.mutants)
    tell(problems, verbose=verbose)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(lines), "utf-8", "backslashreplace")
    click.echo(f"{counted(kinds.total(), 'mutant')} of {counted(len(originals) - unread, 'program')}")
    for name, number in kinds.most_common():
        click.echo(f"  {name:<20} {number:>8,}")
    say(f"written to {out}")
    context.exit(0 if kinds else 1)


def _line(program: Program) -> str:
    record = {"task_id": program.task_id, "id": program.id, "code": program.source, **program.tags}
    return json.dumps(record, ensure_ascii=False) + "\n"
