"""`assay judge run`: pairs in, a verdict a pair out, with what it took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.judge.pairs import Pair
    from assay.judge.tally import Tally
    from assay.types import Problem


@click.command(short_help="Label pairs; go on where a run was cut off.")
@click.argument("pairs", type=click.Path(path_type=Path))
@click.option("--queries", type=click.Path(path_type=Path), metavar="FILE", help="The texts of PAIRS' query ids.")
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FILE", help="The texts of PAIRS' code ids.")
@click.option(
    "--judge",
    "kind",
    type=click.Choice(["agents", "signals"]),
    default="agents",
    show_default=True,
    help="Who judges: agents with a model, or evidence without.",
)
@click.option(
    "--chat", "chats", multiple=True, metavar="SPEC", help="The model; a second has to agree, a third decides."
)
@click.option(
    "--config",
    default="all",
    show_default=True,
    metavar="NAME",
    help="Which agents: all, single, ps+fa, ps+tpg+fa, ps+tpg+te+fa, ps+tpg+sim+fa.",
)
@click.option("--screener", default="", metavar="NAME", help="signals: screen by evidence, and save those calls.")
@click.option("--votes", type=click.IntRange(min=1), default=1, show_default=True, help="Opinions a pair; most win.")
@click.option("--max-tries", type=click.IntRange(min=0), default=3, show_default=True, help="Repairs of a program.")
@click.option("--budget", default="", metavar="AMOUNT", help="Stop before more is spent: 5usd, 2Mtok, or both.")
@click.option("--rate", default="", metavar="AMOUNT", help="Ask each model no faster, a minute: 500req, 200ktok.")
@click.option(
    "--allow-execution", "allowed", is_flag=True, help="Let signals run code on the examples of its query, sandboxed."
)
@click.option("--workers", type=click.IntRange(min=1), default=8, show_default=True, help="Pairs at a time.")
@click.option("--sandbox", default="", metavar="KIND", help="A sandbox by name.  [default: the strongest]")
@click.option("--timeout", type=click.FloatRange(min=0.1), metavar="S", help="Processor time of a case.  [default: 5]")
@click.option("--install", is_flag=True, help="Install missing modules, as far as their distributions are allowed.")
@click.option("--allow", type=click.Path(path_type=Path), metavar="FILE", help="More distributions for --install.")
@click.option("--no-cache", is_flag=True, help="Ask what was asked in another campaign again, and pay again.")
@click.option("--prompts", type=click.Path(path_type=Path), metavar="FOLDER", help="Prompt files of your own.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("records.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where records go; a run that was interrupted goes on there.",
)
@click.option("--retry", is_flag=True, help="Judge undecided pairs again.")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name every problem; show the traceback of an error.")
@click.pass_context
def run(
    context: click.Context,
    /,
    pairs: Path,
    queries: Path | None,
    corpus: Path | None,
    workers: int,
    out: Path,
    retry: bool,
    form: str,
    verbose: bool,
    **asked: Any,
) -> None:
    """Label each of PAIRS with 1 where the code answers the query and 0 where not, and write down why.

    PAIRS is JSON lines with query_id, query, code_id and code; JSON lines of ids with --queries and --corpus; or the
    JSON list of CoSQA. FILE gets what was asked and answered as it comes, and a verdict a pair.

    Leaves with 0 when done, 1 when it stopped before the end or nothing could be decided, 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.workspaces import say
    from assay.judge import campaign
    from assay.judge.opening import Asked, opened
    from assay.judge.pairs import count, read
    from assay.judge.past import cut

    rows = read(pairs, queries=queries, corpus=corpus)
    total = count(pairs)
    if cut(out):
        say(f"the last line of {out} was cut: what it said is done again")
    teller = _Teller(total, verbose=verbose)
    with opened(Asked(**asked), out, say) as made:
        tally = campaign.run(
            teller.noted(rows),
            made.judge_of,
            out,
            settings=made.settings,
            workers=workers,
            retry=retry,
            report=teller.heard,
            told=teller.problem,
        )
    teller.close()
    click.echo(dumps({**_told(tally), "out": str(out)}) if form == "json" else "\n".join(_text(tally, total)))
    say(f"written to {out}")
    context.exit(1 if tally.stopped or (tally.judged and tally.judged == tally.undecided) else 0)


class _Teller:
    """Says where a campaign stands now and then, and what is odd about its pairs."""

    def __init__(self, total: int, *, verbose: bool) -> None:
        import sys

        self._total, self._most = total, 10**9 if verbose else 10
        self._said = self._every = 0.0
        self._problems = 0
        self._every = 5.0 if sys.stderr.isatty() else 30.0

    def noted(self, pairs: Iterator[Pair | Problem]) -> Iterator[Pair | Problem]:
        """Pass pairs on, and name what is odd about them."""
        from assay.judge.pairs import Pair, notes

        for pair in pairs:
            for note in notes(pair) if isinstance(pair, Pair) else ():
                self.problem(note)
            yield pair

    def problem(self, problem: Problem) -> None:
        """Name a problem, unless there were many."""
        from assay.cli.workspaces import say

        self._problems += 1
        if self._problems <= self._most:
            say(str(problem))

    def heard(self, tally: Tally) -> None:
        """Say where it stands, if that was long ago."""
        import time

        from assay.cli.workspaces import say

        now = time.monotonic()
        if now - max(self._said, tally.began) >= self._every:
            self._said = now
            say(tally.line(self._total))

    def close(self) -> None:
        """Count what was not named."""
        from assay.cli.workspaces import say

        if self._problems > self._most:
            say(f"{self._problems - self._most:,} more problems; -v names them")


def _told(tally: Tally) -> dict[str, object]:
    return {
        "judged": tally.judged,
        "before": tally.before,
        "problems": tally.problems,
        "match": tally.grades[1],
        "non_match": tally.grades[0],
        "undecided": tally.undecided,
        "paths": dict(tally.paths),
        "cost": round(tally.cost, 6),
        "unpriced": tally.unpriced,
        "stopped": tally.stopped,
    }


def _text(tally: Tally, total: int) -> Iterator[str]:
    from assay.judge.tally import lasting

    yield f"{tally.grades[1]:,} match, {tally.grades[0]:,} do not, {tally.undecided:,} undecided"
    yield f"by {', '.join(f'{name} {count:,}' for name, count in tally.paths.most_common()) or 'nobody'}"
    if tally.before:
        yield f"{tally.before:,} had a verdict before"
    if tally.problems:
        yield f"{tally.problems:,} cannot be judged"
    cost = "cost unknown" if tally.unpriced == tally.judged else f"${tally.cost:.4f}"
    if tally.judged:
        yield f"{cost}, {lasting(tally.judged / tally.rate)}, {tally.rate:.1f} pairs a second"
    if tally.undecided:
        yield "--retry judges undecided pairs again"
    if tally.stopped:
        left = total - tally.before - tally.judged - tally.problems
        yield f"stopped: {tally.stopped}; {left:,} pairs are left, and the same command goes on with them"
