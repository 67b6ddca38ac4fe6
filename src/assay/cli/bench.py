"""`assay bench`: measure systems on ground truth, on what agents searched, and how soon they see a change."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.bench.requests import AgentRequest, BenchRequest, FreshnessRequest, UnseenOptions
from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError
from assay.io.fields import as_json
from assay.io.files import dumps
from assay.io.terminal import say, say_problems
from assay.report.plain_text import as_text, shown_line

if TYPE_CHECKING:
    from assay.bench.query_sets import Pairs, Unseen, UnseenLabels
    from assay.bench.results import MeasuredCell, MeasuredSet, Results
    from assay.judge.campaign import Tally
    from assay.protocols import Progress


@command(BenchRequest, example="assay bench run matrix.toml --fail-under Hit@5=0.70")
def run(request: BenchRequest) -> int:
    """Measure how well code search answers, with intervals, tests, latency and memory.

    WHAT is a repository, whose own history then is the ground truth (the default: the current folder), a file of
    ground truth, or a matrix file (.toml) that names query sets, systems and variants. Without --system it
    asks Assay itself and BM25; other tools are asked by command:

    \b
        assay bench queries.csv --corpus . --system assay \\
            --system 'rg=cmd:rg --sort path -n -i -w -e {regex} {corpus}' \\
            --set rg.merge=10 --set rg.order=count

    --baseline with a commit measures that commit, too, and compares: with --fail-if-worse it fails on a change of the
    files that makes answers worse, if the questions follow the files (assay truth mine --follow).

    With --judge-unseen a judge also labels unjudged answers; figures with its labels are shown beside the others.

    Exits 0 if all gates hold, 1 if one does not, 2 if nothing could be measured.
    """  # noqa: D301  what click reads
    from assay.bench import experiment, gates
    from assay.bench.matrix import plan_of
    from assay.bench.results_file import as_text as as_json_text

    gate = gates.gates_of(request.gating)
    plan = plan_of(request, [each.measure for each in gate.floors]).only(request.only)
    with progress() as watch:
        setting = experiment.Setting(
            request.out, say, watch, f"assay {shlex.join(sys.argv[1:])}", _unseen_of(request.judging), gate
        )
        if gate.commit:
            gate = replace(gate, baseline=experiment.measured_at(plan, setting, gate.commit))
            setting = replace(setting, gates=gate)
        held = experiment.run(plan, setting, fresh=request.fresh)
    is_json = request.form == "json"
    click.echo(as_json_text(held) if is_json else _results_text(held, questions=request.verbose), nl=is_json)
    for line in gates.never_right(held):
        say(line)
    failed = gates.failures(held, gate, say)
    if request.form == "github":
        for line in gates.github_annotations(held, failed, {each.name: each.corpus for each in plan.sets}):
            click.echo(line)
    say(experiment.written_to(request.out))
    return 1 if failed else 0


def _results_text(results: Results, *, questions: bool = False) -> str:
    """Return all results as plain text, with each question and the rank of its answer if requested."""
    from assay.bench.bench_report import summary_of
    from assay.report.plain_text import shown_line

    lines = [as_text(summary_of(results))]
    for name, of in results.sets.items() if questions else ():
        if cells := [cell for cell in results.cells if cell.set == name]:
            lines += [f"\n{shown_line(name)}\n", *(f"{shown_line(line)}\n" for line in _questions(of, cells))]
    return "".join(lines)


def _questions(of: MeasuredSet, cells: Sequence[MeasuredCell]) -> Iterator[str]:
    """Yield each question, and for each system the rank of its first right answer and what comes before it."""
    from assay.bench.results import rank_of

    width = max(len(cell.system) for cell in cells)
    for place, query in enumerate(of.queries):
        right = [target for target, grade in query.expected if grade > 0]
        yield f"  {query.id}: {' '.join(query.text.split())}"
        yield f"      wanted {_first(right) or 'nothing: it has no right answer'}"
        for cell in cells:
            answers, error = cell.answers[place], cell.errors.get(query.id, "")
            rank = rank_of(answers, right)
            instead = _first(answers[: rank - 1 if rank else None])
            failed = f"; {error}" if error else "" if answers else "; no result"
            found = f"rank {rank}" if rank else "MISS"
            yield f"      {cell.system:<{width}}  {found}{instead and f'; instead {instead}'}{failed}"


def _first(items: Sequence[str], most: int = 3) -> str:
    """Return the first targets, and the number of the others."""
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def _unseen_of(request: UnseenOptions) -> Unseen | None:
    """Return the options of the judge of a spec: `signals`, `signals:FOLDER`, or a configuration of agents, a model."""
    if not request.spec:
        if request.budget or request.install:
            raise InputError("--judge-budget and --judge-install are for --judge-unseen: give both")
        return None
    from assay.bench.query_sets import Unseen, UnseenLabels
    from assay.judge.requests import EVEN
    from assay.operations.judge import judge_options_of, judge_pairs

    judging = judge_options_of(request.spec, request.budget, option="--judge-budget")
    is_signals = judging.kind.partition(":")[0] == "signals"
    if request.install and is_signals:
        raise InputError("the judge 'signals' installs nothing: leave --judge-install out")
    if not is_signals and (request.encoder or request.prior != EVEN):
        raise InputError("--judge-encoder and --judge-prior are for signals: --judge-unseen signals")
    judging = replace(
        judging, install=request.install, encoder=request.encoder, prior=request.prior, workers=request.workers
    )

    def labels(pairs: Pairs, file: Path, watch: Progress | None) -> UnseenLabels:
        def on_verdict(tally: Tally) -> None:
            if watch:
                watch("judging", tally.done, len(pairs))

        judgments, tally = judge_pairs(judging, pairs, file, say, on_verdict)
        return UnseenLabels(judgments, tally.stopped)

    return Unseen(request.spec, labels, request.depth)


@command(AgentRequest, example="assay bench agent ~/.claude/projects/-home-me-app --repo .")
def agent(request: AgentRequest) -> int:
    """Return whether another search would have helped a coding agent, by its own transcripts.

    TRANSCRIPTS are files of Claude Code or Codex, or folders of them: ~/.claude/projects, ~/.codex/sessions. For each
    session it counts the searches, calls and tokens before a file was edited. Then it asks every system what the agent
    searched, and what it was asked to do, and counts how often a file that was edited afterwards is among the answers.
    Each repository is searched as it was committed when the session began. Nothing is sent anywhere, except to systems
    that you name.

    Exits 0, or 1 if no question can be asked.
    """
    from assay.bench import agent_bench, experiment
    from assay.bench.matrix import load_systems
    from assay.bench.transcripts import read_transcripts

    systems = load_systems(request.matrix)
    with progress() as watch:
        read = read_transcripts(request.transcripts, watch)
        say_problems(read.problems, every=request.verbose)
        if not (sessions := read.sessions()):
            raise InputError("no session of Claude Code or Codex in TRANSCRIPTS")
        planned, left_out = agent_bench.plan_replay(sessions, request.repository)
        figures = {"transcripts": agent_bench.session_figures(sessions), "left_out": left_out, "skipped": read.skipped}
        if planned and not request.no_replay:
            setting = experiment.Setting(request.out, say, watch, f"assay {shlex.join(sys.argv[1:])}")
            results = agent_bench.replay(planned, systems, setting, fresh=request.fresh)
            questions = {key: each for every in planned.values() for key, each in every.items()}
            figures["replay"] = agent_bench.replay_figures(questions, results, request.difference)
    is_json = request.form == "json"
    click.echo(dumps(as_json(figures)) if is_json else "\n".join(map(shown_line, agent_bench.lines_of(figures))))
    return 0 if planned else 1


@command(FreshnessRequest, example="assay bench freshness --system 'assay=mcp:assay mcp {corpus}'")
def freshness(request: FreshnessRequest) -> int:
    """Measure for how long a search server gives old answers after files change.

    Each system is started on a small repository in a temporary folder. After each change (a new file, an edit, a
    revert, a rename, a deletion, a switch to another branch and back, a second worktree) it is asked for a generated
    word until the first answer is right.

    Systems are those of assay bench: mcp:COMMAND, cmd:TEMPLATE, or http:URL whose option serve is the command that
    starts the server.

    Exits 0 if every change was seen, 1 if one was not, 2 if nothing could be measured.
    """
    from assay.bench import freshness as measured
    from assay.bench.matrix import systems_of

    if not (request.matrix or request.systems.specs):
        raise InputError("no system to measure; name one with --system, or a matrix file with --systems")
    systems = systems_of(request.systems, request.matrix)
    with progress() as watch:
        figures = measured.measure(systems, request.limit_s, watch)
    report = measured.report_of(figures, request.limit_s)
    click.echo(dumps(as_json(figures)) if request.form == "json" else as_text(report), nl=request.form == "json")
    return 1 if any(each.seconds is None for each in figures) else 0
