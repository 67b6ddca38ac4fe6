"""What `assay bench` says about who judges what nobody judged, to that judge, as `assay judge run` makes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.assemble.judge_pairs import judge_options_of, judge_pairs
from assay.assemble.open_judge import EVEN, JudgeOptions
from assay.bench.query_sets import Pairs, Unseen, UnseenLabels
from assay.cli.options import UnseenOptions
from assay.errors import InputError
from assay.io.terminal import say
from assay.judge.tally import Tally
from assay.protocols import Progress


def unseen_of(wanted: UnseenOptions) -> Unseen:
    """Return who judges; a spec is `signals`, `signals:FOLDER`, or a configuration of agents and a model."""
    if not wanted.spec:
        raise InputError("--judge-budget and --judge-install are for --judge-unseen: give both")
    asked = judge_options_of(wanted.spec, wanted.budget, option="--judge-budget")
    signals = asked.kind.partition(":")[0] == "signals"
    if wanted.install and signals:
        raise InputError("the judge 'signals' installs nothing: leave --judge-install out")
    if not signals and (wanted.encoder or wanted.prior != EVEN):
        raise InputError("--judge-encoder and --judge-prior are for signals: --judge-unseen signals")
    asked = replace(asked, install=wanted.install, encoder=wanted.encoder, prior=wanted.prior)
    return Unseen(wanted.spec, lambda *given: _labels(asked, wanted.workers, *given), wanted.depth)


def _labels(asked: JudgeOptions, workers: int, pairs: Pairs, file: Path, watch: Progress | None) -> UnseenLabels:
    def report(tally: Tally) -> None:
        if watch:
            watch("judging", tally.before + tally.judged + tally.problems, len(pairs))

    said, tally = judge_pairs(asked, pairs, file, say, report, workers=workers)
    return UnseenLabels(said, tally.stopped)
