"""The command `assay judge label`."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.judge_agreement import as_dict, as_text
from assay.cli.tables import nulled
from assay.errors import InputError, counted, printable
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, flag, form, option, verbose
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from assay.judge.label_ballots import LabelStudy
    from assay.judge.labels import Key, LabelAgreement
    from assay.judge.pairs import Pair


class JudgeLabelOptions(Options):
    """Options of `assay judge label`."""

    pairs: Path = argument("PAIRS")
    person: str = option("--person NAME", "Who labels: the name of a file in FOLDER.")
    out: Path = option(
        "--out FOLDER",
        "Where labels go, a file for each person; an interrupted session continues there.",
        kind="folder",
        default="labels",
    )
    fresh: bool = options.fresh()
    disputed: bool = flag("--disputed", "Ask only about pairs that others in FOLDER label differently.")
    graded: bool = flag("--graded", "Ask for grades: 2 answers the query, 1 helps, 0 does not.")
    tests: Path | None = option(
        "--tests RECORDS",
        "Ask only about pairs that agents wrote tests for in RECORDS, and show these with their results.",
        kind="file",
    )
    show_tests: bool = option(
        "--show-tests/--hide-tests",
        "With --tests, show the tests, or hide them to compare labels without.  [default: show]",
        is_flag=True,
        default=True,
    )
    queries: Path | None = option("--queries FILE", "The texts of the query ids in PAIRS.")
    corpus: Path | None = option("--corpus FILE", "The texts of the code ids in PAIRS.")
    seed: int = option("--seed N", "The random seed of the order.", default=0)
    port: int = options.page_port()
    summary: bool = flag("--summary", "Only print the result so far.")
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(JudgeLabelOptions, example="assay judge label pairs.jsonl --person ann --out labels")
def label(given: JudgeLabelOptions) -> int:
    """Let a person label PAIRS on a page on this machine: match or not, and why.

    PAIRS is what `assay judge run` takes, or its records. FOLDER/NAME.jsonl holds the labels of a person, as records
    of a judge; nobody is shown those of others before their own are finished. Keys: 1 match, 0 no match, u unsure,
    r writes a reason, Backspace goes back. Where two people differ, a third settles it with --disputed. What the
    majority says is written to FOLDER.jsonl, as records.

    Prints how the labels spread, how far people agree, and pairs with two labels: after a session of the pairs that
    the person finished, with --summary of all. `assay judge agreement FOLDER/*.jsonl` compares labels with true ones.

    Exits 0 if there are labels, 1 if there are none yet, 2 on an error.
    """
    from assay.judge import label_ballots as ballots

    if not given.summary and not given.person:
        raise InputError("--person NAME says who labels; --summary only prints the result so far")
    ballots.decided_file(given.out, (given.pairs, given.queries, given.corpus, given.tests))
    if not given.summary and not _label(given):
        return 0  # whoever goes on tomorrow does not see what others said
    study = ballots.read_study(given.out)
    out = ballots.write_decided(given.out, study) if any(study.labels.values()) else None
    if not given.summary:
        study = study.of_pairs(ballots.finished_pairs(ballots.file_of(given.out, given.person)))
    found = ballots.compare_people(study)
    if given.form == "json":
        agreement = as_dict(found, _reasons(study), study.texts()) if found else None
        figures = nulled(ballots.results(study))
        click.echo(dumps({**figures, "agreement": agreement, "out": str(given.out)}))
    else:
        click.echo("\n".join(_text(study, found)))
    say(f"what is decided is in {out}" if out else f"no label in {given.out}")
    return 0 if out else 1


def _label(given: JudgeLabelOptions) -> bool:
    """Serve the page to one person until it is finished, which is returned, or until Ctrl+C."""
    from assay.cli.ballot_session import serve_ballot
    from assay.io.terminal import say
    from assay.judge import label_ballots as ballots

    file, pairs = ballots.file_of(given.out, given.person), _pairs(given)
    tests: dict[str, dict[str, Any]] = {}
    if given.tests:
        tests = ballots.shown_tests(given.tests, {pair.digest for pair in pairs})
        pairs = _only(pairs, tests, "without tests", f"no pair of {given.pairs} has tests in {given.tests}")
    if given.disputed:
        why = f"nobody is at odds in {given.out}: there is nothing to settle yet"
        pairs = _only(pairs, ballots.read_study(given.out).disputed(given.person), "that nobody disputes", why)
    if given.fresh:
        start_fresh(file)
    state = ("shown" if given.show_tests else "hidden") if tests else ""
    settings = ballots.LabelSettings(person=given.person, graded=given.graded, tests=state)
    ballots.refuse_other_ways(given.out, settings)

    def results() -> dict[str, Any]:
        return ballots.results(ballots.read_study(given.out).of_pairs(ballots.finished_pairs(file)))

    with ballots.LabelBallot(pairs, given.out, settings, tests=tests, seed=given.seed, results=results) as ballot:
        say(f"{ballot.left:,} of {len(ballot):,} to label; Ctrl+C to go on another day")
        serve_ballot(ballot, "label", given.port)
        if not ballot.finished:
            click.echo(f"{ballot.left:,} of {len(ballot):,} to label")
        return ballot.finished


def _pairs(given: JudgeLabelOptions) -> list[Pair]:
    """Return the pairs of a file, or of the records of a judge; say what cannot be labelled."""
    from assay.judge.campaign import pair_of
    from assay.judge.pairs import Pair, read
    from assay.judge.records import is_records, verdicts

    if is_records(given.pairs):
        return [pair_of(record) for record in verdicts(given.pairs)]
    rows = list(read(given.pairs, queries=given.queries, corpus=given.corpus))
    pairs = [each for each in rows if isinstance(each, Pair)]
    problems = [each for each in rows if not isinstance(each, Pair)]
    say_problems(problems, every=given.verbose)
    if not pairs:
        raise InputError(f"'{given.pairs}' holds no pair{f': {problems[0]}' if problems else ''}")
    return pairs


def _only(pairs: list[Pair], kept: Container[str], what: str, why: str) -> list[Pair]:
    """Return the pairs whose digest is among those kept, and say how many are not."""
    chosen = [pair for pair in pairs if pair.digest in kept]
    if not chosen:
        raise InputError(why)
    if len(chosen) < len(pairs):
        say(f"{counted(len(pairs) - len(chosen), 'pair')} {what}: not asked about")
    return chosen


def _text(study: LabelStudy, found: LabelAgreement | None) -> Iterator[str]:
    from assay.judge.label_ballots import seconds_a_label

    for name, labels in study.labels.items():
        yield f"{printable(name)}  {counted(len(labels), 'label')}, {seconds_a_label(labels):.0f} s a label"
    if found:
        yield ""
        yield from as_text(found, _reasons(study), study.texts(), show=10, problems=0)
    if disputed := study.disputed():
        yield f"{counted(len(disputed), 'pair')} disputed: a third person settles them with --disputed --person NAME"


def _reasons(study: LabelStudy) -> dict[str, dict[Key, str]]:
    return {each.name: each.reasons for each in study.annotators()}
