"""`assay judge prefer`: two sets of codes in, blind votes on which answers better out, and what they sum up to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.judge.prefer import Ballot, Study
    from assay.judge.preference import Preference


@click.command(short_help="Vote blindly between two sets of codes.")
@click.argument("a", type=click.Path(path_type=Path), metavar="A")
@click.argument("b", type=click.Path(path_type=Path), metavar="B")
@click.option(
    "--votes",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Where votes go; a study that was interrupted goes on there.",
)
@click.option("--voter", default="", metavar="NAME", help="Who votes, where several do.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which codes are drawn, and where they stand.")
@click.option("--queries", type=click.Path(path_type=Path), metavar="FILE", help="The texts of query ids.")
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FILE", help="The texts of code ids.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the page.  [default: any that is free]")
@click.option("--summary", is_flag=True, help="Sum the votes up; nobody votes.")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name every problem; show the traceback of an error.")
def prefer(
    a: Path,
    b: Path,
    votes: Path,
    voter: str,
    seed: int,
    queries: Path | None,
    corpus: Path | None,
    port: int,
    summary: bool,
    form: str,
    verbose: bool,
) -> None:
    """Ask which code answers a query better, one of file A or one of file B, on a page on this machine.

    A and B are pairs, pairs with labels, of which the matches are taken, or records of `assay judge run`. Which side a
    code stands on is drawn anew for each voter and item. Keys: 1 left, 2 right, 0 neither, Backspace goes back.

    Prints the share that A wins with its 95% Wilson interval, and the exact sign test. Leaves with 0, or 1 while there
    is no vote, or 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.judge_agreement_text import nulled
    from assay.cli.workspaces import say
    from assay.judge.prefer import Ballot, codes_of, paired, read_votes
    from assay.judge.preference import preference

    study = paired(codes_of(a, queries=queries, corpus=corpus), codes_of(b, queries=queries, corpus=corpus), seed=seed)
    _tell(study, verbose=verbose)
    ballot = Ballot(study, votes, voter=voter, seed=seed)
    if not summary:
        _vote(ballot, port)
    given = read_votes(votes)[1] if votes.exists() else []
    found = preference(given)
    if form == "json":
        from dataclasses import asdict

        click.echo(dumps({**nulled(asdict(found)), "asked": len(study.items), "out": str(votes)}))
    else:
        click.echo("\n".join(_text(found, len(study.items), a.name, b.name)))
    if not given:
        say(f"no vote in {votes}")
        click.get_current_context().exit(1)


def _tell(study: Study, *, verbose: bool) -> None:
    """Say what is not asked."""
    from assay.cli.workspaces import say

    for problem in study.problems if verbose else study.problems[:10]:
        say(str(problem))
    if len(study.problems) > 10 and not verbose:
        say(f"{len(study.problems) - 10:,} more problems; -v names them")
    left_out = {"only in A": study.only_a, "only in B": study.only_b, "with the same code in both": study.same}
    told = [f"{count:,} {what}" for what, count in left_out.items() if count]
    if told:
        say(f"queries that are not asked: {', '.join(told)}")


def _vote(ballot: Ballot, port: int) -> None:
    """Serve the page until it is finished, or until Ctrl+C."""
    from threading import Thread

    from assay.cli.workspaces import say
    from assay.serve.prefer import PreferServer

    with PreferServer(ballot, port) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        say(f"{len(ballot) - ballot.voted:,} of {len(ballot):,} to vote on; Ctrl+C to go on another day")
        say(f"open {server.address}")
        try:
            server.finished.wait()
        except KeyboardInterrupt:
            say("stopped; the same command goes on")
        server.shutdown()


def _text(found: Preference, asked: int, a: str, b: str) -> Iterator[str]:
    from assay.cli.judge_agreement_text import figure
    from assay.errors import printable

    voters = "1 voter" if found.voters == 1 else f"{found.voters:,} voters"
    yield f"{found.votes:,} votes of {voters} on {found.items:,} of {asked:,} queries"
    yield f"A  {printable(a)}  wins {found.a:,}"
    yield f"B  {printable(b)}  wins {found.b:,}"
    yield f"neither  {found.draws:,}"
    yield f"share of A {figure(found.rate)}, sign test p {found.p:.4g}"
    yield f"chosen on the left {figure(found.left)}, {found.seconds:.1f} s a vote"
    if found.alpha:
        yield f"alpha of the voters {figure(found.alpha)}"
