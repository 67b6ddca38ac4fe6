"""`assay truth correct`: add the right answers that systems found and ground truth lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import lines_of
from assay.errors import InputError, counted
from assay.io import files
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, flag, form, option, verbose
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.truth.ground_truth import TruthFile
    from assay.truth.judging_pool import Correction, Pool
    from assay.values import Chunk, Judgment, Problem, Query


class TruthCorrectOptions(Options):
    """Options of `assay truth correct`."""

    runs: tuple[Path, ...] = argument("[RUN]...")
    truth: Path = option("--truth FILE", "The ground truth to correct.", required=True)
    depth: int = option("--depth K", "Use the first K results of each run.", least=1, default=10)
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    judge: str = option(
        "--judge SPEC", "Who judges: signals, or CONFIG:CHAT as in all:openai:MODEL.  [default: people; see PAIRS]"
    )
    budget: str = options.budget("to")
    records: Path | None = option(
        "--records FILE",
        "Where records of the judge go; an interrupted run continues there.  [default: NAME.found.jsonl]",
        kind="file",
    )
    labels: tuple[Path, ...] = option("--labels FILE", "Read labels of people or a judge. Repeatable.", kind="file")
    pairs: Path | None = option(
        "--pairs PAIRS", "Without a judge, where pairs to label go.  [default: NAME.pairs.jsonl]", kind="file"
    )
    keep_wrong: bool = flag("--keep-wrong", "Also write what was judged wrong, so that it is not asked again.")
    write: bool = flag("--write", "Change FILE. Without it, FILE stays as it is.")
    fresh: bool = options.fresh()
    seed: int = option("--seed N", "The random seed of the order.", default=0)
    source: str = options.source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


@command(TruthCorrectOptions, example="assay truth correct runs/queries/*.jsonl --truth queries.csv --judge signals")
def correct(given: TruthCorrectOptions) -> int:
    """Find right answers that the ground truth in FILE does not know among the first K results of each RUN.

    RUN is a TREC run, a file of answers that `assay bench` wrote, or a folder of them. What FILE does not judge goes
    to --judge; without one it is written to PAIRS, which `assay judge label` reads, and its labels come back with
    --labels. Labels may also be about answers in FILE, which are overturned where a label says so.

    Prints the change of FILE as a diff, which --write makes.

    Exits 0 if there is a change, or pairs were written, 1 if there is none, 2 on an error.
    """
    from assay.bench.query_sets import pool_runs
    from assay.truth.judging_pool import as_pairs
    from assay.truth.truth_formats import read

    _check(given)
    reading = read(given.truth, given.source)
    if not given.runs:
        return _propose(reading, None, _labels(given.labels, problems := [*reading.problems]), problems, given)
    pooled = pool_runs(reading, given.runs, given.corpus, depth=given.depth, seed=given.seed)
    problems = [*reading.problems, *pooled.problems]
    if given.labels:
        return _propose(reading, pooled, _labels(given.labels, problems), problems, given)
    languages = {each.path or each.id: each.language for each in reading.truth.documents}
    pairs = as_pairs(pooled, reading.truth.queries, languages)
    if not given.judge:
        return _write_pairs(pairs, given)
    return _propose(reading, pooled, _judged(pairs, given), problems, given)


def _check(given: TruthCorrectOptions) -> None:
    if not given.runs and not given.labels:
        raise InputError("give RUN files with what systems found, or --labels FILE with labels of answers in the truth")
    if given.judge and given.labels:
        raise InputError("--judge has the results judged, --labels brings labels along: give one of them")
    if (given.budget or given.records or given.fresh) and not given.judge:
        raise InputError("--budget, --records and --fresh are for --judge SPEC: give that, too")
    if given.pairs and (given.judge or given.labels):
        raise InputError("--pairs is where people find what to label: leave --judge and --labels out")


def _judged(pairs: list[tuple[Query, Chunk]], given: TruthCorrectOptions) -> Sequence[Judgment]:
    """Return the labels of a judge, and say why there are no more."""
    from assay.judge.campaign import Tally
    from assay.operations.open_judge import judge_options_of, judge_pairs

    records = given.records or given.truth.with_name(f"{given.truth.stem}.found.jsonl")
    tallies = list[Tally]()
    judge_options = judge_options_of(given.judge, given.budget, option="--budget")
    if given.fresh:
        start_fresh(records, "--records")
    with lines_of(lambda: tallies[-1].line(len(pairs)) if tallies else f"judging {len(pairs):,} pairs"):
        labels, tally = judge_pairs(judge_options, pairs, records, say, tallies.append)
    say(f"records of the judge are in {records}")
    if tally.stopped:
        say(f"stopped: {tally.stopped}; the same command goes on")
    return labels


def _labels(files: tuple[Path, ...], problems: list[Problem]) -> list[Judgment]:
    """Return the labels of files: those of people, of records, or of any form that `assay judge agreement` reads."""
    from assay.judge.labels import read_labels
    from assay.values import Judgment

    held = [read_labels(file) for file in files]
    problems += [problem for each in held for problem in each.problems]
    return [
        Judgment(*key, grade, who.name, who.reasons.get(key, ""))
        for each in held
        for who in each.annotators
        for key, grade in who.grades.items()
        if grade is not None
    ]


def _write_pairs(pairs: list[tuple[Query, Chunk]], given: TruthCorrectOptions) -> int:
    from assay.judge.pairs import Pair, write

    out = given.pairs or given.truth.with_name(f"{given.truth.stem}.pairs.jsonl")
    write(out, (Pair(query, code) for query, code in pairs))
    click.echo(f"{counted(len(pairs), 'pair')} without a judgment written to {out}")
    say(f"label them: assay judge label {out} --person NAME; then give --labels labels.jsonl here")
    return 0 if pairs else 1


def _propose(
    reading: TruthFile,
    pooled: Pool | None,
    labels: Sequence[Judgment],
    problems: list[Problem],
    given: TruthCorrectOptions,
) -> int:
    """Print what labels change, and change it on demand."""
    from assay.truth.judging_pool import corrected_text, correction_of, difference

    found = correction_of(reading.truth, labels)
    before, after, dropped = corrected_text(reading, given.truth, found, keep_wrong=given.keep_wrong)
    change = difference(before, after, given.truth.name)
    say_problems((*problems, *found.problems), every=given.verbose)
    if dropped:
        say(f"{given.truth.name} cannot hold {', '.join(dropped)}: dropped")
    counts = _counts(found, pooled)
    if given.form == "json":
        click.echo(dumps({**counts, "diff": change, "problems": [*map(str, (*problems, *found.problems))]}))
    else:
        click.echo("\n".join([*_text(counts), change.rstrip("\n")]).rstrip())
    if change and given.write:
        files.write(given.truth, [after])
        say(f"{given.truth} is changed")
    elif change:
        say(f"{given.truth} stays as it is; --write changes it")
    return 0 if change else 1


def _counts(found: Correction, pooled: Pool | None) -> dict[str, Any]:
    counts: dict[str, Any] = {name: len(getattr(found, name)) for name in ("right", "wrong", "overturned")}
    counts["same"] = found.same
    if not pooled:
        return counts
    undecided = len(pooled.pairs) - counts["right"] - counts["wrong"]
    right = {(each.query_id, each.target) for each in found.right}
    finds = {(each.system, each.query_id, each.target) for each in pooled.sources}
    of_system = Counter(system for system, *pair in finds if tuple(pair) in right)
    fractions = {name: round(part, 4) for name, part in pooled.shares.items()}
    systems = {name: {"judged_share": part, "right": of_system[name]} for name, part in fractions.items()}
    counts |= {"found": pooled.found, "judged": pooled.judged, "unjudged": len(pooled.pairs)}
    return {**counts, "undecided": undecided, "systems": systems}


def _text(counts: dict[str, Any]) -> Iterator[str]:
    if "found" in counts:
        results = counted(counts["found"], "result")
        yield f"{results}: {counts['judged']:,} judged before, {counts['unjudged']:,} to judge"
        yield f"of these {counts['right']:,} right, {counts['wrong']:,} wrong, {counts['undecided']:,} undecided"
        for name, one in counts["systems"].items():
            before = f"{one['judged_share']:.3f} of its results judged before"
            yield f"  {name}: {counted(one['right'], 'new right answer')}, {before}"
    else:
        yield f"{counted(counts['right'], 'new right answer')}, {counts['wrong']:,} judged wrong"
    if counts["overturned"] or counts["same"]:
        yield f"{counts['overturned']:,} overturned, {counts['same']:,} as before"
