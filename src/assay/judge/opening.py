"""What was asked for to a judge that is ready: models, their budget, sandboxes, and what may be installed.

Everything here is made when it is asked for and ends with its block; what is heavy is loaded no earlier.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from assay.errors import InputError
from assay.judge.algorithm import CONFIGURATIONS, MAX_TRIES, RUNNING
from assay.judge.campaign import Settings, settings_of
from assay.judge.execute import Broken
from assay.judge.making import Replayed, made, versions
from assay.judge.steps import Steps
from assay.judge.verdict import Judge
from assay.protocols import Say

if TYPE_CHECKING:
    from assay.judge.execute import Runs
    from assay.judge.installs import Installs
    from assay.judge.replay import Replay
    from assay.llm.budget import Budget
    from assay.protocols import Chat
    from assay.sandbox.limits import Limits
    from assay.sandbox.pool import Sandbox

_AMOUNT = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*(k|M)?\s*(usd|req|tok)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which judge is wanted."""

    kind: str = "agents"
    """Or `signals`."""
    chats: tuple[str, ...] = ()
    config: str = "all"
    screener: str = ""
    votes: int = 1
    max_tries: int = MAX_TRIES
    budget: str = ""
    """As `5usd` or `2Mtok`; empty is none."""
    rate: str = ""
    """A minute and a model, as `500req` or `200ktok`; empty is none."""
    sandbox: str = ""
    timeout: float | None = None
    """Processor time of a test case, in seconds."""
    install: bool = False
    allow: Path | None = None
    """A file with more of what may be installed."""
    prompts: Path | None = None
    allowed: bool = False
    """Whether `signals` may run the code on the examples that its query shows."""
    no_cache: bool = False
    """Whether what was asked in another campaign is asked again."""


@dataclass(frozen=True, slots=True)
class Made:
    """A judge to be, which wants to know where steps are kept, and the settings that make it again."""

    judge_of: Callable[[Steps], Judge]
    settings: Settings


@contextmanager
def opened(asked: Asked, out: Path, say: Say = lambda _: None) -> Iterator[Made]:
    """Give the judge that was asked for, of a campaign with records at `out`; its sandboxes end with the block."""
    _check(asked)
    with ExitStack() as stack:
        if asked.kind == "signals":
            yield _signals(asked, stack, say)
            return
        chats = _chats(asked, out, stack)
        settings = Settings(
            "agents",
            tuple(chat.name for chat in chats),
            asked.config,
            asked.screener,
            asked.max_tries,
            asked.votes,
            versions(asked.prompts),
        )
        runs, installs = None, None
        if asked.config in RUNNING:
            runs, installs, settings = _room(asked, settings, stack, say)
        yield Made(lambda steps: made(settings, chats, steps, runs, installs, asked.prompts), settings)


def _signals(asked: Asked, stack: ExitStack, say: Say) -> Made:
    """Return the judge without a model, with a sandbox where it may run code."""
    settings, runs = Settings("signals", config=""), None
    if asked.allowed:
        runs, _, settings = _room(asked, settings, stack, say)
    return Made(lambda steps: made(settings, (), steps, runs), settings)


def replayed(records: Path, prompts: Path | None) -> Iterator[Replay]:
    """Yield the verdicts of records, told again; nothing is run and nobody is asked."""
    from assay.judge.installs import Installs
    from assay.judge.replay import replay
    from assay.sandbox.distributions import known

    settings = settings_of(records)
    if settings.judge == "agents" and settings.prompts != versions(prompts):
        raise InputError(f"{records} was made with other prompts: give their folder with --prompts")
    chats = [Replayed(name) for name in settings.chats]
    installs = Installs(known(), None)
    return replay(records, lambda steps: made(settings, chats, steps, _no_run, installs, prompts))


def budget_of(text: str) -> tuple[float, float]:
    """Return how many US dollars and how many tokens a text allows, without end where it does not say."""
    said = _amounts(text, "budget", "usd", "5usd, 200ktok or 2Mtok")
    return said.get("usd", math.inf), said.get("tok", math.inf)


def rate_of(text: str) -> tuple[float, float]:
    """Return how many requests and how many tokens a minute a text allows, without end where it does not say."""
    said = _amounts(text, "rate", "req", "500req, 200ktok or 2Mtok")
    return said.get("req", math.inf), said.get("tok", math.inf)


def _amounts(text: str, what: str, unit: str, examples: str) -> dict[str, float]:
    """Return the amounts of a text by their unit: `tok`, or the other one that there is."""
    said = {}
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        match = _AMOUNT.fullmatch(part)
        found = match[3].lower() if match else ""
        if match is None or found not in (unit, "tok") or (match[2] and found != "tok"):
            raise InputError(f"'{part}' is no {what}; wanted an amount as {examples}, or two with a comma")
        said[found] = float(match[1].replace("_", "")) * _UNITS[(match[2] or "").lower()]
    return said


def _check(asked: Asked) -> None:
    from assay.errors import nearest

    if asked.config not in CONFIGURATIONS:
        raise InputError(f"unknown configuration '{asked.config}'; {nearest(asked.config, CONFIGURATIONS)}")
    if asked.kind == "agents" and not asked.chats:
        raise InputError("agents need a model: --chat openai:MODEL, ollama:MODEL, …; --judge signals needs none")
    if asked.kind == "signals" and (asked.chats or asked.screener or asked.budget or asked.rate):
        raise InputError("--judge signals asks no model: leave --chat, --screener, --budget and --rate out")
    if asked.kind == "signals" and asked.install:
        raise InputError("--judge signals installs nothing: leave --install out; what lacks a module is not run")
    if asked.kind == "agents" and asked.allowed:
        raise InputError("--allow-execution is for --judge signals; --config says whether agents run what they write")
    if asked.allow and not asked.install:
        raise InputError("--allow FILE says what --install may install: give both")


def _chats(asked: Asked, out: Path, stack: ExitStack) -> list[Chat]:
    """Return the models, which share one budget; what a campaign spent before counts."""
    from assay import plugins
    from assay.llm.budget import Budget, BudgetedChat
    from assay.llm.pace import Pace, PacedChat
    from assay.llm.prices import Spend

    budget: Budget | None = None
    if asked.budget:
        from assay.judge.past import past

        usd, tokens = budget_of(asked.budget)
        before = past(out)
        budget = Budget(usd=usd, tokens=tokens, spent=Spend(before.tokens, before.cost))
    chats: list[Chat] = []
    for spec in asked.chats:
        inner = plugins.make("chat", spec)
        if hasattr(inner, "close"):
            stack.callback(inner.close)
        chat: Chat = BudgetedChat(inner, budget) if budget else inner
        if asked.rate:
            requests, per_minute = rate_of(asked.rate)
            chat = PacedChat(chat, Pace(requests=requests, tokens=per_minute))
        chats.append(_remembered(chat, stack) if not asked.no_cache and not spec.startswith("scripted") else chat)
    return chats


def _remembered(chat: Chat, stack: ExitStack) -> Chat:
    """Return a chat that pays once for each prompt, whichever campaign asks."""
    from platformdirs import user_cache_path

    from assay.llm.cached import CachedChat

    cached = CachedChat(chat, user_cache_path("assay") / "replies.sqlite")
    stack.callback(cached.close)
    return cached


def _room(asked: Asked, settings: Settings, stack: ExitStack, say: Say) -> tuple[Runs, Installs, Settings]:
    """Return what runs tests and what installs for them, and the settings that say so."""
    import os

    from assay.judge.installs import Installs
    from assay.judge.runner import Runner
    from assay.records import digest
    from assay.sandbox.distributions import known
    from assay.sandbox.limits import Limits
    from assay.sandbox.opening import open_sandbox
    from assay.sandbox.overlay import overlay

    usual = Limits()
    limits = _limits(asked.timeout, usual)
    with open_sandbox(asked.sandbox, limits, 1) as first:
        name, guarantees = first.name, first.guarantees
    if asked.install and name == "container":
        raise InputError("the sandbox 'container' has the modules of its image: --install cannot add to them")
    say(f"sandbox {name}: {'; '.join(guarantees)}")
    allowed = known(asked.allow)
    runner = Runner(partial(_opened, name, limits), os.cpu_count() or 1)
    stack.callback(runner.close)
    told = replace(
        settings,
        sandbox=name,
        limits=asdict(limits),
        install=digest((*allowed.allowed, *allowed.of_module.items())) if asked.install else "",
    )
    return runner.run, Installs(allowed, overlay if asked.install else None), told


def _opened(kind: str, limits: Limits, paths: Sequence[str]) -> Sandbox:
    from assay.sandbox.opening import open_sandbox

    return open_sandbox(kind, limits, 1, paths=paths)


def _limits(timeout: float | None, usual: Limits) -> Limits:
    """Return the limits; wall time is the backstop and grows with processor time."""
    return usual if timeout is None else replace(usual, cpu_s=timeout, wall_s=timeout * usual.wall_s / usual.cpu_s)


def _no_run(*_: object) -> NoReturn:
    raise Broken("a run is not recorded: the test program, or how it is run, differs")
