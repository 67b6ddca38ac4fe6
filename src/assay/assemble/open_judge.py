"""Options to a judge that is ready: models, their budget, sandboxes, and what may be installed.

Everything here is opened when it is needed and ends with its block; what is heavy is loaded no earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from assay import plugins
from assay.assemble.open_chat import BATCH, budget_of, open_batch_chat, open_chat, remembered
from assay.errors import InputError
from assay.judge.algorithm import CONFIGURATIONS, MAX_TRIES, RUNNING
from assay.judge.build_judge import PYTHON, build_judge
from assay.judge.campaign import CampaignSettings, settings_of
from assay.judge.pair_verdict import Judge
from assay.judge.prompts import versions
from assay.judge.question_author import question_versions
from assay.judge.run_tests import SandboxFailed
from assay.protocols import Say
from assay.runs.journal import Steps

if TYPE_CHECKING:
    from assay.cage.cage_pool import CagePool
    from assay.cage.limits import Limits
    from assay.judge.installs import Installs
    from assay.judge.replay import Replay
    from assay.judge.run_tests import RunnerOf
    from assay.judge.waves import LaterChat
    from assay.protocols import Chat, Encoder
    from assay.settings import ClusterSettings

EVEN = 0.5
"""The fraction of matches that `signals` expects where nothing else is said."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Which judge is wanted."""

    kind: str = "agents"
    """Or `signals`, or `signals:FOLDER` with other weights."""
    chats: tuple[str, ...] = ()
    config: str = "all"
    screener: str = ""
    """`signals` or `signals:FOLDER` where no model screens."""
    encoder: str = ""
    """The spec of an encoder whose cosines are evidence for `signals`."""
    prior: float = EVEN
    """The fraction of matches that `signals` expects."""
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
    """Whether the models are asked again what another campaign asked them."""
    cluster: ClusterSettings | None = None
    """Where code runs, if not on this machine."""


@dataclass(frozen=True, slots=True)
class JudgeFactory:
    """A judge to be, which wants to know where steps are kept, and the settings that make it again."""

    judge_of: Callable[[Steps], Judge]
    settings: CampaignSettings
    later: tuple[LaterChat, ...] = ()
    """The models that answer in batches."""


@contextmanager
def open_judge(options: JudgeOptions, out: Path | None = None, say: Say = lambda _: None) -> Iterator[JudgeFactory]:
    """Give the judge that the options ask for, of a campaign with records at `out`; sandboxes end with the block."""
    _check(options)
    with ExitStack() as stack:
        if _kind(options) == "signals":
            yield _signals(options, stack, say)
            return
        chats, later = open_chats(options, out, stack)
        settings = CampaignSettings(
            "agents",
            tuple(chat.name for chat in chats),
            options.config,
            max_tries=options.max_tries,
            votes=options.votes,
            prompts=versions(options.prompts),
            tests_for=PYTHON,
        )
        settings, encoder = _with_signals(options, settings)
        runner_of, installs = None, None
        if options.config in RUNNING:
            runner_of, installs, settings = _open_cages(options, settings, stack, say)
        yield JudgeFactory(
            lambda steps: build_judge(settings, chats, steps, runner_of, installs, options.prompts, encoder),
            settings,
            later,
        )


def _signals(options: JudgeOptions, stack: ExitStack, say: Say) -> JudgeFactory:
    """Return the judge without a model, with a sandbox where it may run code."""
    settings, encoder = _with_signals(options, CampaignSettings("signals", config=""))
    runner_of = None
    if options.allowed:
        runner_of, _, settings = _open_cages(options, settings, stack, say)
    return JudgeFactory(lambda steps: build_judge(settings, (), steps, runner_of, encoder=encoder), settings)


def _kind(options: JudgeOptions) -> str:
    return options.kind.partition(":")[0]


def _with_signals(options: JudgeOptions, settings: CampaignSettings) -> tuple[CampaignSettings, Encoder | None]:
    """Return the settings that say which weights `signals` has, as judge or screener, and its encoder."""
    screener, _, of_screener = options.screener.partition(":")
    settings = replace(settings, screener=screener)
    if "signals" not in {settings.judge, screener}:
        return settings, None
    from assay.judge.signals import weights_file, weights_version

    weights = options.kind.partition(":")[2] if settings.judge == "signals" else of_screener
    encoder = encoder_of(options.encoder)
    version = weights_version(weights_file(weights, encoder=encoder is not None))
    return replace(
        settings, weights=weights, weights_version=version, encoder=options.encoder, prior=options.prior
    ), encoder


def encoder_of(spec: str) -> Encoder | None:
    """Return the encoder of a spec, None of an empty one."""
    return plugins.make("encoder", spec) if spec else None


def replay_records(records: Path, prompts: Path | None) -> Iterator[Replay]:
    """Yield the verdicts of records, made again; nothing is run and nobody is asked."""
    from assay.judge.installs import Installs
    from assay.judge.replay import replay
    from assay.llm.recorded import ReplayedChat
    from assay.programs.modules.distributions import known

    settings = settings_of(records)
    if settings.judge == "agents" and settings.prompts != versions(prompts):
        raise InputError(f"{records} was made with other prompts: give their folder with --prompts")
    if settings.judge == "author" and settings.prompts != question_versions(prompts):
        raise InputError(f"{records} was made with other prompts: give their folder with --prompts")
    chats = [ReplayedChat(name) for name in settings.chats]
    installs, encoder = Installs(known(), None), encoder_of(settings.encoder)
    return replay(records, lambda steps: build_judge(settings, chats, steps, _no_run, installs, prompts, encoder))


def _check(options: JudgeOptions) -> None:
    from assay.errors import nearest

    kind = _kind(options)
    _check_signals(options, kind)
    if options.config not in CONFIGURATIONS:
        raise InputError(f"unknown configuration '{options.config}'; {nearest(options.config, CONFIGURATIONS)}")
    if kind == "agents" and not options.chats:
        raise InputError("agents need a model: --chat openai:MODEL, ollama:MODEL, …; --judge signals needs none")
    if kind == "signals" and (options.chats or options.screener or options.budget or options.rate):
        raise InputError("--judge signals asks no model: leave --chat, --screener, --budget and --rate out")
    if kind == "signals" and options.install:
        raise InputError("--judge signals installs nothing: leave --install out; what lacks a module is not run")
    if kind == "agents" and options.allowed:
        raise InputError("--allow-execution is for --judge signals; --config says whether agents run what they write")
    runs = options.allowed if kind == "signals" else options.config in RUNNING
    if options.cluster and not runs:
        raise InputError("--on is for code that a judge runs, and this one runs none: see --allow-execution, --config")
    if options.cluster and options.install:
        raise InputError("--install does not reach the machines of a cluster: install there what programs import")
    if options.allow and not options.install:
        raise InputError("--allow FILE says what --install may install: give both")


def _check_signals(options: JudgeOptions, kind: str) -> None:
    if kind not in {"agents", "signals"} or options.kind.startswith("agents:"):
        raise InputError(f"no judge '{options.kind}'; wanted agents, signals or signals:FOLDER")
    if kind == "agents" and not options.screener and (options.encoder or options.prior != EVEN):
        raise InputError("--encoder and --prior are for signals: --judge signals, or --screener signals")


def open_chats(options: JudgeOptions, out: Path | None, stack: ExitStack) -> tuple[list[Chat], tuple[LaterChat, ...]]:
    """Return the models, which share one budget, and those that answer later; what was spent before counts."""
    from assay.judge.past_records import Past, past
    from assay.runs.record import batches_of, sole_writer

    waits = not any(spec.startswith(BATCH) for spec in options.chats)
    if out and not waits:
        stack.enter_context(sole_writer(batches_of(out)))  # until the last wave, not for one alone
    before = past(out) if out and options.budget else Past()
    budget = budget_of(options.budget, before.tokens, before.cost) if options.budget else None
    chats: list[Chat] = []
    later: list[LaterChat] = []
    for number, spec in enumerate(options.chats, 1):
        if spec.startswith(BATCH):
            if out is None:
                raise InputError(f"'{spec}' answers in batches, which are kept beside records: use `assay judge run`")
            folder = batches_of(out) / str(number)
            batched = open_batch_chat(spec, folder, stack, budget=budget, paid=before.batch_cost, rate=options.rate)
            later.append(batched)
            chats.append(batched if options.no_cache else remembered(batched, stack))
            continue
        chat = open_chat(spec, stack, budget=budget, rate=options.rate, waits=waits)
        chats.append(chat if options.no_cache else remembered(chat, stack))
    return chats, tuple(later)


def _open_cages(
    options: JudgeOptions, settings: CampaignSettings, stack: ExitStack, say: Say
) -> tuple[RunnerOf, Installs, CampaignSettings]:
    """Return what runs tests and what installs for them, and the settings that say so."""
    from assay.cage.limits import Limits
    from assay.cage.open_cage import open_sandbox
    from assay.cage.sandbox_kinds import KINDS
    from assay.judge.installs import Installs
    from assay.programs.modules.distributions import known
    from assay.programs.modules.importable import importable
    from assay.programs.modules.overlay import overlay
    from assay.runs.run_manifest import digest

    limits = Limits() if options.timeout is None else Limits().with_cpu(options.timeout)
    with open_sandbox(options.sandbox, limits, 1) as first:
        name, guarantees, in_container = first.name, first.guarantees, KINDS[first.name].container
        found = importable(first)
    if options.install and in_container:
        raise InputError("the sandbox 'container' has the modules of its image: --install cannot add to them")
    say(f"sandbox {name}: {'; '.join(guarantees)}")
    allowed = known(options.allow)
    runner_of = _runner_of(options.cluster, name, guarantees, limits, stack, say)
    settings = replace(
        settings,
        sandbox=name,
        limits=asdict(limits),
        install=digest((*allowed.allowed, *allowed.of_module.items())) if options.install else "",
        importable=found,
    )
    return runner_of, Installs(allowed, overlay if options.install else None), settings


def _runner_of(  # noqa: PLR0913, PLR0917  each is one thing
    cluster: ClusterSettings | None,
    name: str,
    guarantees: tuple[str, ...],
    limits: Limits,
    stack: ExitStack,
    say: Say,
) -> RunnerOf:
    """Return what gives runners to the threads that judge, of this machine or of a cluster."""
    if cluster:
        from assay.assemble.open_crew import open_shared_program_crew

        crew = open_shared_program_crew(cluster, say, name, limits)
        stack.callback(crew.close)
        return lambda _: crew
    import os

    from assay.runs.local import SharedRunner

    runner = SharedRunner(partial(_open_sandbox, name, limits), os.cpu_count() or 1, name, guarantees)
    stack.callback(runner.close)
    return runner.importing


def _open_sandbox(kind: str, limits: Limits, paths: Sequence[str]) -> CagePool:
    from assay.cage.open_cage import open_sandbox

    return open_sandbox(kind, limits, 1, paths=paths)


def _no_run(*_: object) -> NoReturn:
    raise SandboxFailed("a run is not recorded: the test program, or how it is run, differs")
