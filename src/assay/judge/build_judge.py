"""The settings of a campaign to its judge, and records to a judge that asks nobody.

The same settings make both, so that telling a campaign again goes through the same parts in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from assay.errors import InputError
from assay.judge.algorithm import Agents, Parts, configured
from assay.judge.campaign import CampaignSettings
from assay.judge.fix import Fixer
from assay.judge.installs import Installs
from assay.judge.pair_verdict import Judge
from assay.judge.question_author import QuestionAuthor
from assay.judge.run_tests import Executor, RunnerOf
from assay.judge.screen import Screening
from assay.judge.steps import PairSession
from assay.judge.votes import MajorityJudge, ThirdDecides
from assay.protocols import Chat, Encoder
from assay.runs.record import Steps

_MOST_CHATS = 3
PYTHON = "python"


def build_judge(  # noqa: PLR0913, PLR0917  # each is one thing
    settings: CampaignSettings,
    chats: Sequence[Chat],
    steps: Steps,
    runner_of: RunnerOf | None = None,
    installs: Installs | None = None,
    prompts: Path | None = None,
    encoder: Encoder | None = None,
) -> Judge:
    """Return the judge of these settings, with what its parts need; `encoder` is for `signals`."""
    if settings.judge == "signals":
        return _signals(settings, steps, runner_of, encoder)
    if settings.judge == "author":
        checker = chats[1] if len(chats) > 1 else None
        return QuestionAuthor(chats[0], checker, steps, settings.max_tries, prompts)
    if settings.judge != "agents":
        raise InputError(f"unknown judge '{settings.judge}'; known: agents, signals, author")
    if not 1 <= len(chats) <= _MOST_CHATS:
        raise InputError(f"{len(chats)} models; wanted one, two that have to agree, or a third that decides")
    parts = _parts(settings, runner_of, installs, encoder)
    judges = [_one(settings, chat, parts, steps, prompts) for chat in chats]
    return judges[0] if len(judges) == 1 else ThirdDecides(*judges)


def _signals(settings: CampaignSettings, steps: Steps, runner_of: RunnerOf | None, encoder: Encoder | None) -> Judge:
    """Return the judge without a model; one whose settings name a sandbox runs what queries show."""
    from assay.judge.signals import SignalsJudge

    if not settings.sandbox:
        return SignalsJudge(settings.weights, prior=settings.prior, encoder=encoder)
    from assay.judge.trials import Trials

    if runner_of is None:
        raise InputError(f"the judge 'signals' with the sandbox '{settings.sandbox}' needs what runs programs")
    trials = Trials(runner_of, steps)
    return SignalsJudge(settings.weights, prior=settings.prior, trials=trials, encoder=encoder)


def _one(settings: CampaignSettings, chat: Chat, parts: Parts, steps: Steps, prompts: Path | None) -> Judge:
    first = Agents(chat, parts, steps, settings.max_tries, prompts=prompts)
    if settings.votes == 1:
        return first
    return MajorityJudge([replace(first, opinion=number) for number in range(1, settings.votes + 1)])


def _parts(
    settings: CampaignSettings, runner_of: RunnerOf | None, installs: Installs | None, encoder: Encoder | None
) -> Parts:
    execute = Executor(runner_of, installs) if runner_of and installs else None
    parts = configured(settings.config, execute, Fixer(installs) if installs else None)
    parts = replace(parts, python_only=settings.tests_for == PYTHON)
    if not settings.screener:
        return parts
    if settings.screener != "signals" or parts.screen is None:
        raise InputError(f"the screener '{settings.screener}' cannot be had in '{settings.config}'; known: signals")
    return replace(parts, screen=screened_by_signals(settings, encoder))


def screened_by_signals(settings: CampaignSettings, encoder: Encoder | None) -> Callable[[PairSession], Screening]:
    """Return the screener that asks no model: what the evidence shows clearly is clear."""
    from assay.judge.signals import SignalsJudge

    judge = SignalsJudge(settings.weights, prior=settings.prior, encoder=encoder)

    def screen(session: PairSession) -> Screening:
        opinion = judge.opinions([(session.pair.query, session.pair.code)])[0]
        calls = {"match": "match", "no match": "non-match", "unclear": "unclear"}
        return Screening(calls[opinion.call], opinion.reason)  # type: ignore[arg-type]  # the three that there are

    return screen
