"""The command `assay judge label`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.command import FILE, argument, command, flag, form, option, verbose

if TYPE_CHECKING:
    from assay.judge.label_ballots import LabelBallot, LabelStudy
    from assay.judge.pairs import Pair


@dataclass(frozen=True, slots=True)
class JudgeLabelOptions:
    """Options of `assay judge label`."""

    pairs: Path = argument("PAIRS")
    person: str = option("--person NAME", "Who labels: the name of a file in FOLDER.")
    out: Path = option(
        "--out FOLDER",
        "Where labels go, a file for each person; an interrupted session continues there.",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("labels"),
    )
    fresh: bool = options.fresh()
    disputed: bool = flag("--disputed", "Ask only about pairs that others in FOLDER label differently.")
    graded: bool = flag("--graded", "Ask for grades: 2 answers the query, 1 helps, 0 does not.")
    tests: Path | None = option(
        "--tests RECORDS",
        "Ask only about pairs that agents wrote tests for in RECORDS, and show these with their results.",
        type=FILE,
    )
    show_tests: bool = option(
        "--show-tests/--hide-tests",
        "With --tests, show the tests, or hide them to compare labels without.  [default: show]",
        is_flag=True,
        default=True,
    )
    gold: Path | None = option("--gold FILE", "True labels, to measure the accuracy of people.")
    queries: Path | None = options.query_texts()
    corpus: Path | None = options.code_texts()
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

    Prints how the labels spread, how far people agree, with --gold also their accuracy, and pairs with two labels.
    After a session these are of the pairs that the person finished, with --summary of all.

    Exits 0 if there are labels, 1 if there are none yet, 2 on an error.
    """
    from assay.errors import InputError
    from assay.io.terminal import say
    from assay.judge.label_ballots import decided_file, file_of, finished_pairs, read_study, write_decided

    if not given.summary and not given.person:
        raise InputError("--person NAME says who labels; --summary only prints the result so far")
    decided_file(given.out, (given.pairs, given.gold, given.queries, given.corpus, given.tests))
    if not given.summary and not _label(given):
        return 0  # whoever goes on tomorrow is not told what others said
    study = read_study(given.out)
    out = write_decided(given.out, study) if any(study.labels.values()) else None
    _tell(given, study if given.summary else study.of_pairs(finished_pairs(file_of(given.out, given.person))))
    say(f"what is decided is in {out}" if out else f"no label in {given.out}")
    return 0 if out else 1


def _label(given: JudgeLabelOptions) -> bool:
    """Serve the page to one person until it is finished, which is returned, or until Ctrl+C."""
    from assay.cli.ballot_session import serve_ballot
    from assay.io.terminal import say
    from assay.judge.label_ballots import (
        LabelBallot,
        LabelSettings,
        check_gold,
        file_of,
        finished_pairs,
        read_study,
        refuse_other_ways,
        results,
        shown_tests,
    )
    from assay.runs.record import start_fresh

    file = file_of(given.out, given.person)
    pairs = _pairs(given)
    tests: dict[str, dict[str, Any]] = {}
    if given.tests:
        tests = shown_tests(given.tests, {pair.digest for pair in pairs})
        pairs = _only(
            pairs, tests.__contains__, "without tests", f"no pair of {given.pairs} has tests in {given.tests}"
        )
    if given.disputed:
        at_odds = read_study(given.out).disputed(given.person)
        why = f"nobody is at odds in {given.out}: there is nothing to settle yet"
        pairs = _only(pairs, at_odds.__contains__, "that nobody disputes", why)
    if given.gold:
        check_gold(given.gold, pairs, given.person)
    if given.fresh:
        start_fresh(file)
    state = ("shown" if given.show_tests else "hidden") if tests else ""
    settings = LabelSettings(person=given.person, graded=given.graded, tests=state)
    refuse_other_ways(given.out, settings)
    tell_results = lambda: results(read_study(given.out).of_pairs(finished_pairs(file)), given.gold)  # noqa: E731  at the end
    with LabelBallot(pairs, given.out, settings, tests=tests, seed=given.seed, results=tell_results) as ballot:
        say(f"{_standing(ballot)}; Ctrl+C to go on another day")
        serve_ballot(ballot, "label", given.port)
        if not ballot.finished:
            click.echo(_standing(ballot))
        return ballot.finished


def _pairs(given: JudgeLabelOptions) -> list[Pair]:
    """Return the pairs of a file, or of the records of a judge; say what cannot be labelled."""
    from assay.errors import InputError
    from assay.io.terminal import say
    from assay.judge.campaign import pair_of
    from assay.judge.pairs import Pair, read
    from assay.judge.records import is_records, verdicts

    if is_records(given.pairs):
        return [pair_of(record) for record in verdicts(given.pairs)]
    read_rows = list(read(given.pairs, queries=given.queries, corpus=given.corpus))
    pairs = [each for each in read_rows if isinstance(each, Pair)]
    problems = [each for each in read_rows if not isinstance(each, Pair)]
    for problem in problems if given.verbose else problems[:10]:
        say(str(problem))
    if len(problems) > 10 and not given.verbose:
        say(f"{len(problems) - 10:,} more problems; -v names them")
    if not pairs:
        raise InputError(f"'{given.pairs}' holds no pair{f': {problems[0]}' if problems else ''}")
    return pairs


def _only(pairs: list[Pair], keep: Callable[[str], bool], what: str, why: str) -> list[Pair]:
    """Return the pairs that are asked about, and say how many are not."""
    from assay.errors import InputError, counted
    from assay.io.terminal import say

    kept = [pair for pair in pairs if keep(pair.digest)]
    if not kept:
        raise InputError(why)
    if len(kept) < len(pairs):
        say(f"{counted(len(pairs) - len(kept), 'pair')} {what}: not asked about")
    return kept


def _standing(ballot: LabelBallot) -> str:
    return f"{ballot.left:,} of {len(ballot):,} to label"


def _tell(given: JudgeLabelOptions, study: LabelStudy) -> None:
    from assay.cli.judge_agreement_report import as_dict, nulled
    from assay.io.terminal import dumps
    from assay.judge.label_ballots import compare_people, results

    if given.form == "json":
        found = compare_people(study, given.gold)
        agreement = as_dict(found, study.reasons(), study.texts()) if found else None
        click.echo(dumps({**nulled(results(study, given.gold)), "agreement": agreement, "out": str(given.out)}))
    else:
        click.echo("\n".join(_text(given, study)))


def _text(given: JudgeLabelOptions, study: LabelStudy) -> Iterator[str]:
    from assay.cli.judge_agreement_report import as_text
    from assay.errors import counted, printable
    from assay.judge.label_ballots import compare_people, seconds_a_label

    for name, said in study.labels.items():
        yield f"{printable(name)}  {counted(len(said), 'label')}, {seconds_a_label(said.values()):.0f} s a label"
    found = compare_people(study, given.gold)
    if found:
        yield ""
        yield from as_text(found, study.reasons(), study.texts(), show=10, problems=0)
    if disputed := study.disputed():
        yield f"{counted(len(disputed), 'pair')} disputed: a third person settles them with --disputed --person NAME"
