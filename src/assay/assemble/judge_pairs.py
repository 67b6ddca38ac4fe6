"""The spec of a judge and pairs in, their labels out, from a campaign that goes on in its file of records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from assay.assemble.open_judge import JudgeOptions, open_judge
from assay.errors import InputError
from assay.judge.algorithm import CONFIGURATIONS
from assay.judge.pairs import LONGEST, Pair
from assay.judge.past_records import verdicts
from assay.judge.tally import Tally
from assay.judge.waves import run_in_waves
from assay.protocols import Say
from assay.types import Chunk, Judgment, Problem, Query

_EXAMPLES = "signals, signals:FOLDER, all:openai:MODEL (test-driven agents), single:ollama:MODEL"


def judge_options_of(spec: str, budget: str, *, option: str) -> JudgeOptions:
    """Return the judge that a spec names: `signals`, `signals:FOLDER`, or a configuration of agents and a model."""
    if spec.partition(":")[0] == "signals":
        if budget:
            raise InputError(f"the judge 'signals' asks no model and costs nothing: leave {option} out")
        return JudgeOptions(spec)
    config, _, chat = spec.partition(":")
    if config not in CONFIGURATIONS or not chat:
        raise InputError(f"no judge '{spec}'; wanted {_EXAMPLES}; configurations: {', '.join(CONFIGURATIONS)}")
    return JudgeOptions(chats=(chat,), config=config, budget=budget)


def judge_pairs(  # noqa: PLR0913  # each is one thing
    asked: JudgeOptions,
    pairs: Collection[tuple[Query, Chunk]],
    file: Path,
    say: Say,
    report: Callable[[Tally], None] | None = None,
    *,
    workers: int = 8,
) -> tuple[list[Judgment], Tally]:
    """Judge pairs as a campaign that goes on in its file; return what it holds about them, and how far it came."""
    wanted = {pair.digest for pair in _all(pairs) if isinstance(pair, Pair)}
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
        for each in (verdicts(file) if file.exists() else ())
        if each["pair"] in wanted and each["grade"] is not None
    ]
    return said, tally


def _all(pairs: Collection[tuple[Query, Chunk]]) -> Iterator[Pair | Problem]:
    for query, code in pairs:
        if len(code.text) > LONGEST:
            yield Problem(query.id, f"{code.id} has {len(code.text):,} characters; at most {LONGEST:,} are judged")
        else:
            yield Pair(query, code)
