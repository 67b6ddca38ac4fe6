"""The command `assay judge agreement`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import COUNT, FILE, argument, command, form, option, shared, verbose
from assay.cli.options import GateOptions, PairSampleOptions
from assay.io.rows import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.bench.results import Results
    from assay.judge.accounts import CampaignCosts
    from assay.judge.labels import Annotator, Key, LabelAgreement
    from assay.values import Problem


@dataclass(frozen=True, slots=True)
class JudgeAgreementOptions:
    """Options of `assay judge agreement`."""

    labels: tuple[str, ...] = argument("LABELS...", required=True)
    gold: tuple[str, ...] = option(
        "--gold FILE", "The true labels. Repeatable: the majority of several annotators is the truth."
    )
    match: int = option("--match GRADE", "The lowest grade that counts as a match.", type=COUNT, default=1)
    sampling: PairSampleOptions = shared(PairSampleOptions)
    show: int = option("--show N", "Print at most N disagreements.", type=click.IntRange(min=0), default=10)
    out: Path | None = option("--out FILE.html", "Also write the disagreements as a page.", type=FILE)
    results: Path | None = option(
        "--results FOLDER",
        "Write results.json, RESULTS.md and report.html there; needs --gold.",
        type=click.Path(path_type=Path, file_okay=False),
    )
    gating: GateOptions = shared(GateOptions)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(JudgeAgreementOptions, example="assay judge agreement anna=a.jsonl ben=b.jsonl --gold gold.jsonl")
def agreement(given: JudgeAgreementOptions) -> int:
    """Compare the LABELS of several annotators: records of `assay judge run`, JSON, CSV, TSV or TREC's qrels.

    NAME=FILE gives an annotator a name. Prints accuracy, precision, recall, F1 and Cohen's kappa against the truth,
    kappa of every two annotators, Krippendorff's nominal alpha of all, and pairs with two labels: who gave which
    label and why; of records also calls, tokens, cost and time. Brackets hold 95% bootstrap intervals over queries;
    those of fractions are at least as wide as Wilson's. Pairs that somebody left undecided are counted.

    With --gold, --fail-under takes of_all, accuracy, precision, recall, f1 or kappa, of the first annotator or as
    NAME:kappa=0.6; --baseline compares which of all pairs are right, query by query, with an earlier results.json.

    Exits 0 if all gates hold, 1 if one does not, 2 on an error, such as labels of other pairs.
    """
    from assay.bench import gates
    from assay.bench.labelling import MEASURES, results_of
    from assay.cli.judge_agreement_report import as_dict, as_text
    from assay.io.terminal import dumps, say
    from assay.judge.accounts import costs_as_json
    from assay.judge.labels import compare, labels_of, sample_labels

    gate = gates.gates_of(
        given.gating.floors, given.gating.baseline, fail_if_worse=given.gating.fail_if_worse, names=MEASURES
    )
    texts: dict[Key, tuple[str, str]] = {}
    problems: list[Problem] = []
    truth = [annotator for spec in given.gold for annotator in _read(spec, texts, problems)]
    annotators = [annotator for spec in given.labels for annotator in _read(spec, texts, problems)]
    for problem in problems if given.verbose else problems[:10]:
        say(str(problem))
    if len(problems) > 10 and not given.verbose:
        say(f"{len(problems) - 10:,} more rows could not be used; -v names them")
    sample = given.sampling.draw()
    annotators, truth = sample_labels(annotators, truth, sample)
    found = compare(annotators, truth, match=given.match, texts=texts)
    reasons = {each.name: each.reasons for each in (*truth, *annotators)}
    costs = dict(_costs(given.labels, found))
    if given.form == "json":
        told = {**as_dict(found, reasons, texts), "costs": {name: costs_as_json(each) for name, each in costs.items()}}
        click.echo(dumps({**told, "problems": [str(problem) for problem in problems]}))
    else:
        click.echo("\n".join(as_text(found, reasons, texts, costs, show=given.show, problems=len(problems))))
    if given.out:
        from assay.cli.judge_agreement_report import write

        write(found, reasons, texts, costs, given.out)
        say(f"written to {given.out}")
    if given.results or given.gating.floors or given.gating.baseline:
        labels = labels_of(annotators, truth, match=given.match, texts=texts)
        measured = _measured(results_of(found, labels, f"assay {shlex.join(sys.argv[1:])}", str(sample)), given.results)
        return 1 if gates.failures(measured, gate, say) else 0
    return 0


def _measured(held: Results, out: Path | None) -> Results:
    """Return results, written to a folder where one is wanted."""
    from assay.bench import experiment
    from assay.io.terminal import say

    if out:
        experiment.write(held, out, say, experiment.earlier_in(out / experiment.RESULTS))
        say(f"written to {out}")
    return held


def _costs(labels: tuple[str, ...], found: LabelAgreement) -> Iterator[tuple[str, CampaignCosts]]:
    """Yield what those annotators took that are records of a campaign."""
    from assay.judge.accounts import accounts
    from assay.judge.records import is_records, verdicts

    for spec in labels:
        file, name = _named(spec)
        if is_records(file) and name in found.counts:
            yield name, accounts(verdicts(file))


def _named(spec: str) -> tuple[Path, str]:
    """Return the file of FILE or NAME=FILE, and what its only annotator is called."""
    name, equals, file = spec.partition("=")
    if equals and not Path(spec).exists():
        return Path(file), name
    return Path(spec), plain(Path(spec)).stem


def _read(spec: str, texts: dict[Key, tuple[str, str]], problems: list[Problem]) -> list[Annotator]:
    """Read a file given as FILE or NAME=FILE."""
    from assay.judge.labels import read_labels

    file, name = _named(spec)
    found = read_labels(file, name if file != Path(spec) else "")
    for key, two in found.texts.items():
        texts.setdefault(key, two)
    problems += found.problems
    return found.annotators
