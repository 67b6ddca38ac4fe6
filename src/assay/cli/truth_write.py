"""`assay truth write`: have a language model write ground truth, and a second one grade it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import lines_of
from assay.errors import InputError, counted
from assay.io.terminal import say
from assay.parameters import Options, argument, flag, option, verbose
from assay.runs.record import start_fresh
from assay.truth.choices import KINDS, SORTS, QuestionKind, UnitSort

if TYPE_CHECKING:
    from assay.judge.campaign import Tally
    from assay.operations.write_questions import WrittenReport


class TruthWriteOptions(Options):
    """Options of `assay truth write`."""

    repository: str = argument("REPO")
    chat: str = option("--chat SPEC", "The model that writes questions, PROVIDER:MODEL.", required=True)
    checker: str = option(
        "--check-chat SPEC", "The model that grades whether the unit answers.  [default: nobody; people can, see PAIRS]"
    )
    out: Path | None = option("--out FILE", "Where the ground truth goes: .jsonl or .csv.  [default: NAME.jsonl]")
    sorts: tuple[UnitSort, ...] = option(
        "--unit", "A sort of units to ask about. Repeatable.  [default: all]", choices=SORTS
    )
    kinds: tuple[QuestionKind, ...] = option("--kind", "A kind of question. Repeatable.  [default: all]", choices=KINDS)
    limit: int = option("--limit N", "Units to ask about at most.", least=1, default=100)
    at: str = option("--at COMMIT", "Ask about the code at COMMIT.  [default: the newest]")
    seed: int = option("--seed N", "The random seed that draws units.", default=0)
    max_tries: int = option(
        "--max-tries N",
        "How often another question is requested in place of one that cannot be used.",
        least=0,
        default=2,
    )
    budget: str = options.budget("to")
    rate: str = options.rate("asked of a model")
    workers: int = option("--workers N", "Units at a time.", least=1, default=8)
    records: Path | None = option(
        "--records FILE",
        "Where records go; an interrupted run continues there.  [default: OUT with .records.jsonl]",
        kind="file",
    )
    no_cache: bool = flag("--no-cache", "Do not use replies of other campaigns: ask, and pay, again.")
    retry: bool = flag("--retry", "Ask again about units that no model answered for.")
    fresh: bool = options.fresh()
    lossy: bool = flag("--lossy", "Drop what the format of FILE cannot hold.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(TruthWriteOptions, example="assay truth write . --chat openai:MODEL --check-chat deepseek:MODEL --limit 60")
def write(given: TruthWriteOptions) -> int:
    """Have a language model write questions about units of a repository: functions, types, constants, documentation.

    A third of the questions each are standard, hard (no word of the unit's path, names or signature) and like an
    issue. This is checked, and what fails is requested again with the reason, then dropped. The lines of an answer are
    those of the index, whatever a model says. --check-chat drops questions that the unit does not answer, and grades
    the others: 2 answers, 1 helps. PAIRS, OUT with .pairs.jsonl, has them for people: assay judge label PAIRS --graded,
    then assay truth correct --truth OUT --labels labels.jsonl.

    Exits 0 if there is a question, 1 if there is none or it stopped before the end, 2 on an error.
    """
    from assay.corpus.addresses import is_url
    from assay.judge.pairs import write as write_pairs
    from assay.operations.write_questions import AuthorOptions, write_questions
    from assay.truth import truth_formats
    from assay.truth.ground_truth import Truth

    if is_url(given.repository):
        raise InputError(f"'{given.repository}' is a URL: clone it, then give the folder")
    root = Path(given.repository).resolve()
    out = given.out or Path(f"{root.name or 'root'}.jsonl")
    written_as = truth_formats.form_to(out, Truth(out.stem, (), ()))  # before the work, not after it
    records = given.records or out.with_name(f"{out.stem}.records.jsonl")
    if given.fresh:
        start_fresh(records, "--records")
    author = AuthorOptions(**{name: getattr(given, name) for name in AuthorOptions.__slots__})
    tallies: list[Tally] = []
    with lines_of(lambda: tallies[-1].line(given.limit) if tallies else "no question yet"):
        made = write_questions(root, author, records, say, tallies.append)
    if made.written.truth.queries:
        pairs = out.with_name(f"{out.stem}.pairs.jsonl")
        write_pairs(pairs, made.pairs)
        if dropped := truth_formats.write(made.written.truth, out, written_as, lossy=given.lossy):
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {out}")
        say(f"for people to check: assay judge label {pairs} --graded --person NAME")
    click.echo("\n".join(_summary(made)))
    return 0 if made.written.truth.queries and not made.tally.stopped else 1


def _summary(made: WrittenReport) -> Iterator[str]:
    from assay.errors import lasting

    truth, tally = made.written.truth, made.tally
    at = f" at {truth.commit[:12]}" if truth.commit else ""
    yield f"{counted(len(truth.queries), 'question')} about {made.orders:,} units{at}"
    for name in ("unit", "kind"):
        if counts := Counter(query.tags[name] for query in truth.queries).most_common():
            yield f"{name}: " + ", ".join(f"{count:,} {each}" for each, count in counts)
    if grades := Counter(judgment.grade for judgment in truth.judgments):
        yield "grade: " + ", ".join(f"{count:,} of {grade}" for grade, count in sorted(grades.items(), reverse=True))
    for why, count in made.written.left_out.most_common():
        yield f"  {count:>6,} left out: {why}"
    if tally.judged:
        cost = "cost unknown" if tally.unpriced == tally.judged else f"${tally.cost:.4f}"
        yield f"{cost}, {lasting(tally.judged / tally.rate)}"
    else:
        yield f"{tally.before:,} were there before; no model was asked"
    if tally.stopped:
        yield f"stopped: {tally.stopped}; the same command goes on"
