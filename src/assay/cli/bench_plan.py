"""Make the plan and the judge that options of `assay bench` name, and print the results."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay import plugins
from assay.bench import matrix
from assay.bench.bench_report import summary_of
from assay.bench.matrix import BenchPlan, SetSpec, SystemSpec, measures_of
from assay.bench.query_sets import Pairs, Unseen, UnseenLabels
from assay.bench.results import MeasuredCell, MeasuredSet, Results, rank_of
from assay.errors import InputError, nearest
from assay.io.terminal import say
from assay.protocols import Progress
from assay.report.plain_text import as_text, shown_line
from assay.truth.truth_formats import form_of

if TYPE_CHECKING:
    from assay.cli.bench import BenchCommandOptions
    from assay.cli.options import UnseenOptions
    from assay.judge.campaign import Tally


def plan_of(what: Path, given: BenchCommandOptions, gated: Sequence[str]) -> BenchPlan:
    """Return the plan; measures that a gate looks at are measured, too."""
    if what.suffix != ".toml":
        plan = BenchPlan((_set(what, given),), (SystemSpec("assay", "assay"), SystemSpec("bm25", "bm25")))
    elif given.corpus or given.form_of:
        raise InputError(
            "--corpus and --from go with a file of ground truth; a matrix names corpus and format of each set"
        )
    else:
        plan = matrix.load(what)
    systems = tuple(map(_system, given.systems)) or plan.systems
    for each in systems:
        plugins.find("system", each.spec.partition(":")[0])
    systems = tuple(_changed(systems, given.changes))
    if given.threshold is not None:
        systems = tuple(replace(each, threshold=given.threshold) for each in systems)
    k, all_pairs = given.k or plan.k, given.all_pairs or plan.all_pairs
    names = given.measures or map(str, measures_of((), k) if given.k else plan.measures)
    plan = replace(plan, systems=systems, k=k, timeout_s=given.timeout_s or plan.timeout_s, all_pairs=all_pairs)
    return replace(plan, measures=measures_of((*names, *gated), k))


def _set(path: Path, given: BenchCommandOptions) -> SetSpec:
    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'; give a repository, a file of ground truth or a matrix")
    name = path.resolve().stem if path.is_file() else path.resolve().name
    try:
        return SetSpec(name, path, given.corpus, form=given.form_of or form_of(path))
    except InputError:
        if path.is_dir() and not given.corpus:
            return SetSpec(name, None, path)
        raise


def _system(text: str) -> SystemSpec:
    """Read `NAME=SPEC` or `SPEC`; a name has no colon, so a spec that holds `=` is not mistaken for one."""
    name, equals, spec = text.partition("=")
    if equals and ":" not in name:
        return SystemSpec(name, spec)
    kind, _, argument = text.partition(":")
    words = argument.split()
    return SystemSpec(Path(words[0]).name if kind == "cmd" and words else text, text)


def _changed(systems: Sequence[SystemSpec], changes: Sequence[str]) -> Iterator[SystemSpec]:
    """Yield the systems with each `NAME.KEY=VALUE` made true."""
    names = [each.name for each in systems]
    made: dict[str, dict[str, Any]] = {name: {} for name in names}
    for change in changes:
        key, equals, text = change.partition("=")
        name = max((name for name in names if key.startswith(f"{name}.")), key=len, default="")
        if not equals or not name:
            raise InputError(f"--set takes NAME.KEY=VALUE, not '{change}'; {nearest(key.partition('.')[0], names)}")
        options: Any = _value(text)
        for part in reversed(key.removeprefix(f"{name}.").split(".")):
            options = {part: options}
        made[name] = matrix.merged(made[name], options)
    for each in systems:
        yield replace(each, options=matrix.merged(each.options, made[each.name]))


def _value(text: str) -> Any:
    """Return a TOML value; what is none is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def text(results: Results, *, questions: bool = False) -> str:
    """Return all of it, plain; with each question, and where its answer stood, if that is wanted."""
    lines = [as_text(summary_of(results))]
    for name, of in results.sets.items() if questions else ():
        if cells := [cell for cell in results.cells if cell.set == name]:
            lines += [f"\n{shown_line(name)}\n", *(f"{shown_line(line)}\n" for line in _questions(of, cells))]
    return "".join(lines)


def _questions(of: MeasuredSet, cells: Sequence[MeasuredCell]) -> Iterator[str]:
    """Yield each question, and for each system where its first right answer stands and what stands before it."""
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
    """Return the first targets, and how many more there are."""
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def unseen_of(given: UnseenOptions) -> Unseen | None:
    """Return who judges; a spec is `signals`, `signals:FOLDER`, or a configuration of agents and a model."""
    if not given.spec:
        if given.budget or given.install:
            raise InputError("--judge-budget and --judge-install are for --judge-unseen: give both")
        return None
    from assay.operations.open_judge import EVEN, judge_options_of, judge_pairs

    judging = judge_options_of(given.spec, given.budget, option="--judge-budget")
    is_signals = judging.kind.partition(":")[0] == "signals"
    if given.install and is_signals:
        raise InputError("the judge 'signals' installs nothing: leave --judge-install out")
    if not is_signals and (given.encoder or given.prior != EVEN):
        raise InputError("--judge-encoder and --judge-prior are for signals: --judge-unseen signals")
    judging = replace(judging, install=given.install, encoder=given.encoder, prior=given.prior)

    def labels(pairs: Pairs, file: Path, watch: Progress | None) -> UnseenLabels:
        def report(tally: Tally) -> None:
            if watch:
                watch("judging", tally.before + tally.judged + tally.problems, len(pairs))

        judgments, tally = judge_pairs(judging, pairs, file, say, report, workers=given.workers)
        return UnseenLabels(judgments, tally.stopped)

    return Unseen(given.spec, labels, given.depth)
