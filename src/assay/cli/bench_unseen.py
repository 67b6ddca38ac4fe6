"""What `assay bench` says about who judges what nobody judged, to that judge, as `assay judge run` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.assemble.open_judge import JudgeOptions, open_judge
from assay.bench.unseen import Pairs, Unseen, UnseenLabels
from assay.cli.options import UnseenOptions
from assay.cli.workspaces import say
from assay.errors import InputError
from assay.judge.algorithm import CONFIGURATIONS
from assay.judge.pairs import LONGEST, Pair
from assay.judge.past_records import verdicts
from assay.judge.tally import Tally
from assay.judge.waves import run_in_waves
from assay.protocols import Progress
from assay.types import Judgment, Problem

_EXAMPLES = "signals, all:openai:MODEL (test-driven agents), single:ollama:MODEL"


def unseen_of(wanted: UnseenOptions) -> Unseen:
    """Return who judges; a spec is `signals`, or a configuration of agents and a model."""
    if not wanted.spec:
        raise InputError("--judge-budget and --judge-install are for --judge-unseen: give both")
    asked = _judge_options(wanted)
    return Unseen(wanted.spec, lambda *given: _labels(asked, wanted.workers, *given), wanted.depth)


def _judge_options(wanted: UnseenOptions) -> JudgeOptions:
    if wanted.spec == "signals":
        if wanted.budget:
            raise InputError("the judge 'signals' asks no model and costs nothing: leave --judge-budget out")
        if wanted.install:
            raise InputError("the judge 'signals' installs nothing: leave --judge-install out")
        return JudgeOptions("signals")
    config, _, chat = wanted.spec.partition(":")
    if config not in CONFIGURATIONS or not chat:
        raise InputError(f"no judge '{wanted.spec}'; wanted {_EXAMPLES}; configurations: {', '.join(CONFIGURATIONS)}")
    return JudgeOptions(chats=(chat,), config=config, budget=wanted.budget, install=wanted.install)


def _labels(asked: JudgeOptions, workers: int, pairs: Pairs, file: Path, watch: Progress | None) -> UnseenLabels:
    """Judge pairs as a campaign that goes on in its file, and return what it holds about them."""
    wanted = {pair.digest for pair in _all(pairs) if isinstance(pair, Pair)}

    def report(tally: Tally) -> None:
        if watch:
            watch("judging", tally.before + tally.judged + tally.problems, len(pairs))

    with open_judge(asked, file, say) as made:
        tally = run_in_waves(
            lambda: _all(pairs),
            made.judge_of,
            file,
            later=made.later,
            say=say,
            workers=workers,
            settings=made.settings,
            report=report,
            told=lambda problem: say(str(problem)),
        )
    said = [
        Judgment(each["query_id"], each["code_id"], each["grade"], each["judge"], each["reason"])
        for each in verdicts(file)
        if each["pair"] in wanted and each["grade"] is not None
    ]
    return UnseenLabels(said, tally.stopped)


def _all(pairs: Pairs) -> Iterator[Pair | Problem]:
    for query, code in pairs:
        if len(code.text) > LONGEST:
            yield Problem(query.id, f"{code.id} has {len(code.text):,} characters; at most {LONGEST:,} are judged")
        else:
            yield Pair(query, code)
