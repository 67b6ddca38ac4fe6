"""Open the judge that options name, with its models, budget and sandboxes, and judge pairs with it.

Everything is opened when it is needed and ends with its block; what is heavy is loaded no earlier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError, counted, nearest
from assay.judge.campaign import CampaignReporter, CampaignSettings, JudgeFactory, Tally, run
from assay.judge.pairs import MAX_TEXT_CHARS, Judge, MajorityJudge, Pair, Together, Verdict, notes, read_sample
from assay.judge.records import NAMES as PROMPTS
from assay.judge.records import SCREEN, Past, cut, past, verdicts, versions
from assay.judge.requests import CONFIGURATIONS, EVEN, RUNNING, CandidatesRequest, JudgeOptions, JudgeRequest
from assay.judge.screeners import SIGNALS, THREE_WAY, Screener, screener_spec
from assay.llm.yes_no import PAIR, read_spec
from assay.operations.open_chat import budget_of, open_chat, remembered
from assay.protocols import Chat, Encoder, Progress, Say
from assay.runs.options import ModelOptions, SampleDraw
from assay.runs.record import NoSteps, Steps, read_lines, start_fresh
from assay.runs.seeded_sample import draw
from assay.values import Chunk, Judgment, Problem, Query

if TYPE_CHECKING:
    from assay.judge.candidates import CandidateCounts, Depths
    from assay.judge.signals import SignalsJudge
    from assay.judge.written_tests import Installs, RunnerOf

_MAX_CHATS = 3
ScreenerOf = Callable[[Chat, Steps], Screener]
FirstPairs = Callable[[int], Sequence[Pair]]
QUICK = ("signals", "asks", "signals+asks", "grades")
"""Judges without agents."""
_OF_AGENTS = ("config", "votes", "max_tries", "prompts")
"""Options that only agents use."""


def build_judge(  # noqa: PLR0913, PLR0917  # each is one thing
    settings: CampaignSettings,
    chats: Sequence[Chat],
    steps: Steps,
    runner_of: RunnerOf | None = None,
    installs: Installs | None = None,
    prompts: Path | None = None,
    encoder: Encoder | None = None,
    screener_of: ScreenerOf | None = None,
) -> Judge:
    """Build the judge of settings from its parts; `encoder` is for `signals`.

    `screener_of` makes the screener of a model, where the settings name one.
    """
    if settings.judge in QUICK:
        return _quick_judge(settings, chats, steps, runner_of, encoder)
    from assay.judge.agents import Agents, Fixer, configured
    from assay.judge.written_tests import Executor

    if settings.judge != "agents":
        raise InputError(f"unknown judge '{settings.judge}'; known: agents, {', '.join(QUICK)}")
    if not 1 <= len(chats) <= _MAX_CHATS:
        raise InputError(f"{len(chats)} models; give one, two that have to agree, or three, of which the third decides")
    execute = Executor(runner_of, installs) if runner_of and installs else None
    parts = configured(settings.config, execute, Fixer(installs) if installs else None)
    if settings.screener and parts.screen is None:
        raise InputError(f"configuration '{settings.config}' has no screener: leave --screener and --unclear out")
    judges: list[Judge] = []
    for chat in chats:
        screen = screener_of(chat, steps) if screener_of else parts.screen
        one = Agents(chat, replace(parts, screen=screen), steps, settings.max_tries, prompts=prompts)
        several = [replace(one, opinion=number) for number in range(1, settings.votes + 1)]
        judges.append(one if settings.votes == 1 else MajorityJudge(several))
    return judges[0] if len(judges) == 1 else MajorityJudge(judges)


def _quick_judge(
    settings: CampaignSettings, chats: Sequence[Chat], steps: Steps, runner_of: RunnerOf | None, encoder: Encoder | None
) -> Judge:
    """Return the judge `grades`, `signals`, `asks` or the last two; the prior counts once."""
    if settings.judge == "grades":
        from assay.judge.asks import GradesJudge

        return GradesJudge(chats[0], steps)
    beside = replace(settings, prior=EVEN) if chats else settings
    runs = steps if settings.sandbox else None
    signals = None if settings.judge == "asks" else _signals_judge(beside, encoder, runs, runner_of)
    if signals and not chats:
        return signals
    from assay.judge.asks import AsksJudge

    return AsksJudge(chats[0], steps, settings.asks, settings.prior, signals)


def _signals_judge(
    settings: CampaignSettings, encoder: Encoder | None, steps: Steps | None = None, runner_of: RunnerOf | None = None
) -> SignalsJudge:
    """Return the judge without a model; with steps it runs code on the examples of its query."""
    from assay.judge.signals import SignalsJudge

    trials = None
    if steps is not None:
        from assay.judge.trials import Trials

        if runner_of is None:
            raise InputError(f"the judge 'signals' with the sandbox '{settings.sandbox}' needs a runner of programs")
        trials = Trials(runner_of, steps)
    return SignalsJudge(settings.weights, prior=settings.prior, trials=trials, encoder=encoder)


def _screener_of(settings: CampaignSettings, encoder: Encoder | None, first: FirstPairs, say: Say) -> ScreenerOf:
    """Return a function that opens the screener of a model, and finds missing bounds on the first pairs."""
    from assay.judge import screeners

    def screener(chat: Chat, steps: Steps) -> Screener:
        if settings.screener == screeners.SIGNALS:
            return screeners.by_judge(_signals_judge(settings, encoder))
        if settings.screener == screeners.THREE_WAY:
            return screeners.three_way
        asks = screeners.LikelihoodScreener(screeners.screener_options(settings.screener))
        if "unclear" not in asks.options:
            return asks

        def asked_first() -> Sequence[Pair]:
            pairs = first(screeners.FIRST)
            say(f"asking {chat.name} about {counted(len(pairs), 'pair')} to find the bounds of its screener")
            return pairs

        asks = screeners.with_bounds(asks, asked_first, chat, steps, settings.prior)
        say("screener of {}: a match from {:.2f} likely, a non-match up to {:.2f}".format(chat.name, *asks.bounds))
        return asks

    return screener


@contextmanager
def open_judge(
    options: JudgeOptions, out: Path | None = None, say: Say = lambda _: None, first: FirstPairs = lambda _: []
) -> Iterator[JudgeFactory]:
    """Open the judge of options, for a campaign with records at `out`; its sandboxes end with the block.

    `first` gives so many of the pairs, drawn, by which a screener finds its bounds.
    """
    kind, weights, asks = _parts_of_kind(options.kind or ("agents" if options.chats else "signals"))
    runs = options.config in RUNNING if kind == "agents" else options.allowed
    _check(options, kind)
    with ExitStack() as stack:
        spec = screener_spec(options.screener, options.unclear)
        screener, _, of_screener = spec.partition(":")
        specs, settings = options.chats, CampaignSettings(kind, config="", screener=screener, prior=options.prior)
        if kind == "agents":
            settings = replace(settings, config=options.config, max_tries=options.max_tries, votes=options.votes)
            asked = (SCREEN, *PROMPTS[1:]) if screener == THREE_WAY else PROMPTS
            settings = replace(settings, prompts=versions(options.prompts, asked))
        elif kind != "signals":
            chat_spec, spec_options = (asks, {}) if kind == "grades" else read_spec(asks)
            prompts = versions(names=("grade" if kind == "grades" else PAIR,))
            specs, settings = (chat_spec,), replace(settings, asks=spec_options, prompts=prompts)
        chats = open_chats(specs, options, out, stack)
        settings, encoder = replace(settings, chats=tuple(chat.name for chat in chats)), encoder_of(options.encoder)
        if "signals" in {*kind.split("+"), screener}:
            from assay.judge.signals import weights_file, weights_version

            weights = of_screener if kind == "agents" else weights
            version = weights_version(weights_file(weights, encoder=encoder is not None))
            settings = replace(settings, weights=weights, weights_version=version, encoder=options.encoder)
        runner_of, installs = None, None
        if runs:
            runner_of, installs, settings = _open_cages(options, settings, stack, say)
        screener_of = _screener_of(settings, encoder, first, say) if screener else None
        yield JudgeFactory(
            lambda steps: build_judge(
                settings, chats, steps, runner_of, installs, options.prompts, encoder, screener_of
            ),
            settings,
        )


def encoder_of(spec: str) -> Encoder | None:
    """Return the encoder of a spec, None for an empty one."""
    return plugins.make("encoder", spec) if spec else None


def _check(options: JudgeOptions, kind: str) -> None:
    """Refuse unknown values, and options that have no effect beside others."""
    if options.config not in CONFIGURATIONS:
        raise InputError(f"unknown configuration '{options.config}'; {nearest(options.config, list(CONFIGURATIONS))}")
    _check_kind(options, kind)
    if options.allow and not options.install:
        raise InputError("--allow FILE says what --install may install: give both")


def _parts_of_kind(text: str) -> tuple[str, str, str]:
    """Return the kind of judge, the folder of weights of `signals`, and the spec that follows `asks:`."""
    signals, plus, asks = text.partition("+asks:")
    name, _, argument = (signals if plus else text).partition(":")
    if name == "signals":
        return ("signals+asks" if plus else name), argument, asks
    if not plus and (name == "asks" or (name == "grades" and argument) or text == "agents"):
        return name, "", argument
    raise InputError(
        f"no judge '{text}'; wanted agents, signals, signals:FOLDER, asks:PROVIDER:MODEL, signals+asks:PROVIDER:MODEL "
        "or grades:PROVIDER:MODEL"
    )


def _check_kind(options: JudgeOptions, kind: str) -> None:
    if kind == "agents":
        by_signals = options.screener.partition(":")[0] == SIGNALS
        if not by_signals and (options.encoder or (options.prior != EVEN and options.unclear is None)):
            raise InputError("--encoder and --prior are for signals: --judge signals, or --screener signals")
        if not options.chats:
            raise InputError("agents need a model: --chat openai:MODEL, ollama:MODEL, …; --judge signals needs none")
        if options.allowed:
            raise InputError("--allow-execution is for --judge signals; --config says whether agents run their tests")
    elif name := next((name for name in _OF_AGENTS if getattr(options, name) != getattr(JudgeOptions(), name)), ""):
        raise InputError(f"--{name.replace('_', '-')} is for agents: give them a model with --chat PROVIDER:MODEL")
    elif options.install:
        raise InputError(f"--judge {kind} installs nothing: leave --install out; what lacks a module is not run")
    elif options.chats or options.screener or options.unclear is not None:
        raise InputError(f"--chat, --screener and --unclear are for agents: leave them out with --judge {kind}")
    elif kind == "signals" and (options.budget or options.rate):
        raise InputError("--judge signals asks no model: leave --budget and --rate out")
    elif kind in {"asks", "grades"} and (options.encoder or options.allowed):
        raise InputError("--encoder and --allow-execution are for signals: --judge signals+asks:PROVIDER:MODEL")


def open_chats(
    specs: Sequence[str], options: JudgeOptions | ModelOptions, out: Path | None, stack: ExitStack
) -> list[Chat]:
    """Return the models, which share one budget; what was spent before, by the records at `out`, counts."""
    before = past(out) if out and options.budget else Past()
    budget = budget_of(options.budget, before.tokens, before.cost) if options.budget else None
    chats = (open_chat(spec, stack, budget=budget, rate=options.rate) for spec in specs)
    return [chat if options.no_cache else remembered(chat, stack) for chat in chats]


def _open_cages(
    options: JudgeOptions, settings: CampaignSettings, stack: ExitStack, say: Say
) -> tuple[RunnerOf, Installs, CampaignSettings]:
    """Return the functions that give judging threads their runners and installers, and the settings for these."""
    from assay.cage.limits import Limits
    from assay.cage.open_cage import open_sandbox
    from assay.judge.written_tests import Installs
    from assay.programs.modules.imports import importable, read_distributions
    from assay.programs.modules.install import Uv, overlay
    from assay.runs.local import SharedRunner
    from assay.runs.record import digest

    limits = Limits() if options.timeout is None else Limits().with_cpu(options.timeout)
    if options.install:
        Uv()  # where there is none, that is said before anything is paid for
    with open_sandbox(options.sandbox, limits, 1) as first:
        name, guarantees = first.name, first.guarantees
        found = importable(first)
    say(f"sandbox {name}: {'; '.join(guarantees)}")
    cores = os.cpu_count() or 1
    runner = SharedRunner(lambda paths: open_sandbox(name, limits, 1, paths=paths), cores, name, guarantees)
    stack.callback(runner.close)
    allowed = read_distributions(options.allow)
    stamp = digest((*allowed.allowed, *allowed.of_module.items())) if options.install else ""
    settings = replace(settings, sandbox=name, limits=asdict(limits), install=stamp, importable=found)
    return runner.importing, Installs(allowed, overlay if options.install else None), settings


def judge_options_of(spec: str, budget: str, *, option: str) -> JudgeOptions:
    """Return the judge that a spec names: `signals`, `asks`, `grades`, or a configuration of agents and a model."""
    if spec.partition(":")[0] in QUICK:
        if budget and not _parts_of_kind(spec)[2]:
            raise InputError(f"the judge 'signals' asks no model and costs nothing: leave {option} out")
        return JudgeOptions(kind=spec, budget=budget)
    config, _, chat = spec.partition(":")
    if config not in CONFIGURATIONS or not chat:
        examples = "signals, asks:openai:MODEL, grades:openai:MODEL, all:openai:MODEL (agents)"
        raise InputError(f"no judge '{spec}'; wanted {examples}; configurations: {', '.join(CONFIGURATIONS)}")
    return JudgeOptions(chats=(chat,), config=config, budget=budget)


def judge_file(request: JudgeRequest, say: Say, reporter: CampaignReporter) -> Tally:
    """Judge the pairs of a file as a campaign that goes on in its records."""
    read = partial(read_sample, request.pairs, request.sampling, queries=request.queries, corpus=request.corpus)

    def pairs() -> Iterator[Pair | Problem]:
        for pair in read().pairs:
            for note in notes(pair) if isinstance(pair, Pair) else ():
                reporter.on_problem(note)
            yield pair

    total = read().total
    if request.fresh:
        start_fresh(request.out)
    if cut(request.out):
        say(f"the last line of {request.out} was truncated: its pair is judged again")

    def draw_pairs(size: int) -> list[Pair]:
        readable = (each for each in read().pairs if isinstance(each, Pair))
        return nsmallest(size, readable, key=lambda pair: pair.digest)  # a hash: as good as drawn

    with open_judge(request.judge, request.out, say, first=draw_pairs) as factory:
        reporter.on_start(total)
        return run(
            pairs(),
            factory.judge_of,
            request.out,
            settings=replace(factory.settings, sample=str(request.sampling)),
            total=total,
            workers=request.judge.workers,
            retry=request.retry,
            on_verdict=reporter.on_verdict,
            on_problem=reporter.on_problem,
        )


def judge_pairs(
    options: JudgeOptions,
    pairs: Collection[tuple[Query, Chunk]],
    file: Path,
    say: Say,
    on_verdict: Callable[[Tally], None] | None = None,
) -> tuple[list[Judgment], Tally]:
    """Judge pairs as a campaign that resumes from its file; return its verdicts on them, and its progress."""
    digests = {pair.digest for pair in _all(pairs) if isinstance(pair, Pair)}
    with open_judge(options, file, say) as factory:
        tally = run(
            _all(pairs),
            factory.judge_of,
            file,
            settings=factory.settings,
            total=len(pairs),
            workers=options.workers,
            on_verdict=on_verdict,
            on_problem=lambda problem: say(str(problem)),
        )
    judgments = [
        Judgment(each["query_id"], each["code_id"], each["grade"], each["judge"], each["reason"])
        for each in (verdicts(file) if file.exists() else ())
        if each["pair"] in digests and each["grade"] is not None
    ]
    return judgments, tally


def _all(pairs: Collection[tuple[Query, Chunk]]) -> Iterator[Pair | Problem]:
    for query, code in pairs:
        if len(code.text) > MAX_TEXT_CHARS:
            too_long = f"{code.id} has {len(code.text):,} characters; at most {MAX_TEXT_CHARS:,} are judged"
            yield Problem(query.id, too_long)
        else:
            yield Pair(query, code)


def judge(
    pairs: Iterable[Pair | tuple[str | Query, str | Chunk]],
    *,
    chat: str | Sequence[str] = (),
    config: str = "all",
    budget: str = "",
    allow_execution: bool = False,
) -> list[Verdict]:
    r"""Judge for each pair whether the code answers the query; a pair may be two texts.

    Without a model the evidence of both texts decides, and with `allow_execution` what the code does on the examples
    that its query shows, in a sandbox. With `chat` (`openai:MODEL`, `ollama:MODEL`, …) agents decide; a second model
    has to agree, a third decides. A verdict without a grade is undecided, and says why. For campaigns that resume,
    with records of every step, use `assay judge run`.

    >>> import assay
    >>> code = "def send_mail(server, message):\n    '''Send a mail.'''\n    server.deliver(message)\n"
    >>> right, wrong = assay.judge([("send a mail", code), ("parse a date", code)])
    >>> right.probability > wrong.probability
    True
    """
    chats = (chat,) if isinstance(chat, str) else tuple(chat)
    kind = "agents" if chats else "signals"
    options = JudgeOptions(kind=kind, chats=chats, config=config, budget=budget, allowed=allow_execution)
    wanted = [_pair(str(number), pair) for number, pair in enumerate(pairs, 1)]
    with open_judge(options, Path()) as factory:
        judging = factory.judge_of(NoSteps())
        if isinstance(judging, Together):
            return judging.judge_all(wanted)
        return [judging.judge(pair) for pair in wanted]


def _pair(number: str, pair: Pair | tuple[str | Query, str | Chunk]) -> Pair:
    if isinstance(pair, Pair):
        return pair
    query, code = pair
    return Pair(
        Query(number, query) if isinstance(query, str) else query,
        Chunk(number, code, "python") if isinstance(code, str) else code,
    )


@dataclass(frozen=True, slots=True)
class PairChoice:
    """What was chosen, and from what."""

    queries: int
    asked: int
    """Queries that were drawn, or all of them."""
    codes: int
    twins: int
    """Code snippets with the text of another one."""
    counts: CandidateCounts
    kinds: Mapping[str, int] | None = None
    """How many snippets are testable, and how many are not, by reason; None if that was not requested."""
    depths: Depths | None = None


def choose_pairs(
    request: CandidatesRequest, on_problems: Callable[[Sequence[Problem]], None], progress: Progress | None = None
) -> PairChoice:
    """Write the snippets nearest to each query, by the mean cosine of some encoders; unusable rows are reported."""
    from assay.judge import candidates
    from assay.operations.indexes import encoder_of as index_encoder
    from assay.search.retrievers import exhaustive
    from assay.settings import EncoderSettings, Settings

    if request.figure and (not request.labels or request.figure.suffix not in {".svg", ".png"}):
        raise InputError(f"--figure {request.figure}: give a name that ends in .svg or .png, and --labels FILE")
    problems: list[Problem] = []
    every_query = candidates.queries_of(request.queries, problems)
    codes = candidates.codes_of(request.corpus, problems)
    sample = SampleDraw(size=request.sample, seed=request.seed)
    drawn = draw((query.id for query in every_query), sample.size, sample.seed)
    queries = [query for query in every_query if query.id in drawn]
    every, twins = len(codes), len(codes) - len({code.text for code in codes})
    codes, kinds = candidates.filter_testable(codes) if request.testable else (codes, None)
    on_problems(problems)
    specs = request.specs or (EncoderSettings().spec,)
    encoders = {spec: index_encoder(Settings(encoder=EncoderSettings(spec=spec))) for spec in specs}
    sources = candidates.Sources(queries, codes, encoders, request.k, exhaustive)
    counts = candidates.candidates(sources, request.out, progress)
    ranks = None
    if request.labels:
        labels, known = candidates.labels_of(request.labels), {code.id for code in codes}
        ranks = candidates.depths(read_lines(request.out), labels, known)
    if request.figure and ranks:
        from assay.report.web_page import write_picture

        write_picture(ranks.figure(), request.figure)
    return PairChoice(len(every_query), len(queries), every, twins, counts, kinds, ranks)
