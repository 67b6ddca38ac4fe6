"""The command `assay judge prefer`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.tables import estimate, nulled
from assay.errors import counted, printable
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, flag, form, option, verbose
from assay.report.plain_text import cell_text
from assay.runs.draw_sample import SampleDraw
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.judge.preferences import Preference


class JudgePreferOptions(Options):
    """Options of `assay judge prefer`."""

    a: Path = argument("A")
    b: Path = argument("B")
    votes: Path = option(
        "--votes FILE", "Where votes go; an interrupted study continues there.", kind="file", required=True
    )
    fresh: bool = options.fresh()
    voter: str = option("--voter NAME", "The name of the voter, if several people vote.")
    seed: int = option("--seed N", "The random seed: which queries and code are drawn, and the sides.", default=0)
    sample: int | None = options.sample("Ask about N queries, drawn at random.")
    queries: Path | None = option("--queries FILE", "The texts of query ids.")
    corpus: Path | None = option("--corpus FILE", "The texts of code ids.")
    port: int = options.page_port()
    summary: bool = flag("--summary", "Only print the result so far.")
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(JudgePreferOptions, example="assay judge prefer a.jsonl b.jsonl --votes votes.jsonl")
def prefer(given: JudgePreferOptions) -> int:
    """Ask which code answers a query better, one from A or one from B, on a page on this machine.

    A and B are pairs, pairs with labels, of which the matches are taken, or records of `assay judge run`. For each
    voter and item it is drawn at random which code is on which side. Keys: 1 left, 2 right, 0 neither, Backspace
    goes back.

    Prints the fraction of items that A wins with its 95% Wilson interval, and the exact sign test.

    Exits 0 if there are votes, 1 if there are none yet, 2 on an error.
    """
    from assay.cli.ballot_session import serve_ballot
    from assay.judge.preferences import Ballot, codes_of, paired, preference, read_votes

    a, b = (codes_of(file, queries=given.queries, corpus=given.corpus) for file in (given.a, given.b))
    study = paired(a, b, SampleDraw(given.sample or 0, given.seed))
    say_problems(study.problems, every=given.verbose)
    left_out = {"only in A": study.only_a, "only in B": study.only_b, "with the same code in both": study.same}
    if counts := [f"{count:,} {what}" for what, count in left_out.items() if count]:
        say(f"queries that are not asked: {', '.join(counts)}")
    if given.fresh:
        start_fresh(given.votes, "--votes")
    ballot = Ballot(study, given.votes, voter=given.voter, seed=given.seed)
    if not given.summary:
        say(f"{len(ballot) - ballot.voted:,} of {len(ballot):,} to vote on; Ctrl+C to go on another day")
        serve_ballot(ballot, "prefer", given.port)
    votes = read_votes(given.votes)[1] if given.votes.exists() else []
    found = preference(votes)
    if given.form == "json":
        click.echo(dumps({**nulled(asdict(found)), "asked": len(study.items), "out": str(given.votes)}))
    else:
        click.echo("\n".join(_text(found, len(study.items), given.a.name, given.b.name)))
    if not votes:
        say(f"no vote in {given.votes}")
    return 0 if votes else 1


def _text(found: Preference, asked: int, a: str, b: str) -> Iterator[str]:
    yield f"{counted(found.votes, 'vote')} of {counted(found.voters, 'voter')} on {found.items:,} of {asked:,} queries"
    yield f"A  {printable(a)}  wins {found.a:,}"
    yield f"B  {printable(b)}  wins {found.b:,}"
    yield f"neither  {found.draws:,}"
    yield f"share of A {cell_text(estimate(found.rate))}, sign test p {found.p:.4g}"
    yield f"chosen on the left {cell_text(estimate(found.left))}, {found.seconds:.1f} s a vote"
    if found.alpha:
        yield f"alpha of the voters {cell_text(estimate(found.alpha))}"
