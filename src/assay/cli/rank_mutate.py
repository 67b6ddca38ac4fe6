"""`assay rank mutate`: right programs in, these and wrong ones made of them out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import COUNT, FILE, PATH, argument, command, option, verbose
from assay.cli.rank_parts import labelled, tell
from assay.io import files

if TYPE_CHECKING:
    from assay.types import Program


@dataclass(frozen=True, slots=True)
class MutateOptions:
    """What is edited, how, and where the programs go."""

    tasks: Path = argument(type=PATH)
    samples: Path | None = argument(type=PATH, required=False)
    outcomes: Path | None = argument(type=PATH, required=False)
    out: Path = option("--out", type=FILE, default=Path("mutants.jsonl"), metavar="FILE", help="Where mutants go.")
    count: int = option("--count", type=COUNT, default=10, metavar="N", help="Mutants per program.")
    operators: tuple[str, ...] = option(
        "--operator", multiple=True, metavar="NAME", help="Use only this kind of edit. Repeatable.  [default: all]"
    )
    seed: int = option("--seed", default=0, metavar="N", help="The random seed that draws the edits.")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(MutateOptions, example="assay rank mutate HumanEval.jsonl --count 5")
def mutate(given: MutateOptions) -> int:
    """Make wrong programs from right ones, by small edits of their trees: bounds, names, returns, loops, arguments.

    The references of TASKS are taken, or those of SAMPLES that are correct by the OUTCOMES that assay exec wrote.
    Originals are written out again as mutants are, so that their layout tells nothing. Which mutants are wrong, and
    how, is for 'assay exec TASKS FILE' or 'assay rank data TASKS FILE' to find out: some are as right as before.

    Exits 0 if there is a mutant, 1 if there is none, 2 on an error.
    """
    from assay.errors import InputError, counted
    from assay.faults import Fault
    from assay.io.terminal import say
    from assay.programs.samples import references
    from assay.programs.tasks.task_formats import read
    from assay.rank.mutation.mutate import checked
    from assay.rank.mutation.mutate import mutate as mutated
    from assay.types import Problem

    tasks, samples, outcomes = given.tasks, given.samples, given.outcomes
    if (samples is None) != (outcomes is None):
        raise InputError("SAMPLES and OUTCOMES go together: only programs that are right are worth an edit")
    checked(given.operators)
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
        made = mutated(program, given.count, seed=given.seed, operators=given.operators)
        if made is None:
            unread += 1
            problems.append(Problem(program.id, "it does not parse: nothing is made of it"))
            continue
        lines += map(_line, (made.original, *made.mutants))
        kinds.update(each.tags["config"] for each in made.mutants)
    tell(problems, verbose=given.verbose)
    files.write(given.out, lines)
    click.echo(f"{counted(kinds.total(), 'mutant')} of {counted(len(originals) - unread, 'program')}")
    for name, number in kinds.most_common():
        click.echo(f"  {name:<20} {number:>8,}")
    say(f"written to {given.out}")
    return 0 if kinds else 1


def _line(program: Program) -> str:
    record = {"task_id": program.task_id, "id": program.id, "code": program.source, **program.tags}
    return json.dumps(record, ensure_ascii=False) + "\n"
