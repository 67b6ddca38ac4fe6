"""Run an experiment: prepare each set, ask its systems in turn, score their answers, write the results.

Answers are saved as they come, so that a run that was cut short goes on where it was, and what is there already is not
asked again while nothing it depends on has changed. Indexes are made anew in a folder of the run, for their time is
one of the figures; systems that need the same index share it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from assay.bench import results_file, scores
from assay.bench.answer_runs import Preparation, RunFile, SystemAnswer, is_run, key_of
from assay.bench.ask_worker import Contender, ask_in_turn
from assay.bench.bench_report import overview_of, report_of
from assay.bench.comparisons import comparisons
from assay.bench.gates import Gates
from assay.bench.matrix import BenchPlan, SystemSpec
from assay.bench.query_sets import JudgedSet, Prepared, Unseen, judge_unseen, prepare
from assay.bench.results import MeasuredCell, MeasuredSet, Results
from assay.corpus.pinned import commit_of
from assay.errors import AssayError, InputError, MissingExtra
from assay.io import files
from assay.io.fields import as_json
from assay.io.files import claim_folder, refuse_links_in
from assay.protocols import Progress, Say
from assay.report.document import Block
from assay.report.plain_text import as_markdown
from assay.report.web_page import write_page
from assay.runs.record import digest
from assay.truth.ground_truth import disagreement

RESULTS = "results.json"
_WRITTEN = frozenset(".gitignore results.json RESULTS.md report.html baseline runs runs.old truth unseen".split())
_MAX_LISTED_PROBLEMS = 3
"""Problems of a set that are told one by one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where an experiment writes, and whom it tells how it goes."""

    out: Path
    say: Say
    watch: Progress | None = None
    command: str = ""
    """What was typed, for whoever wants to repeat it."""
    unseen: Unseen | None = None
    """Who judges what systems found and nobody judged."""
    gates: Gates = field(default_factory=Gates)


def run(plan: BenchPlan, setting: Setting, *, fresh: bool = False) -> Results:
    """Measure everything that a plan names and return what was written; `fresh` moves earlier answers aside."""
    _check(plan, setting.gates)
    claim_output(setting.out)
    if fresh:
        move_aside(setting.out / "runs")
    asked = frozenset(system.name for system in plan.systems if _is_asked(system, plan, setting.say))
    failed: defaultdict[str, dict[str, str]] = defaultdict(dict)
    sets: dict[str, MeasuredSet] = {}
    unusable: dict[str, str] = {}
    cells: list[MeasuredCell] = []
    earlier = earlier_in(setting.out / RESULTS)
    before = {cell.key: cell for cell in earlier.cells} if earlier else {}
    with TemporaryDirectory(prefix="assay-bench-") as work:
        for ready in _prepared(plan, setting, unusable):
            of = ready.spec.name
            answered = _ask(ready, plan, setting, Path(work) / of, asked)
            judged = _judged(ready, {name: answers for name, (answers, _) in answered.items()}, setting)
            sets[of] = scores.set_of(ready, judged.counts if judged else None)
            for name, (answers, preparation) in answered.items():
                if why := _useless(answers, preparation):
                    failed[name][of] = why
                else:
                    cells.append(scores.cell_of(ready, name, answers, preparation, plan, judged, before))
    if not cells:
        why = "; ".join(f"{name}: {why}" for name, whys in failed.items() for why in whys.values())
        raise InputError(f"nothing could be measured: {why or 'no set could be used; the lines above say why'}")
    measured = Results(
        format=results_file.FORMAT,
        manifest=scores.manifest_of(plan, setting.command),
        sets=sets,
        unusable=unusable,
        systems={each.name: scores.system_of(each, failed[each.name]) for each in plan.systems},
        cells=tuple(cells),
        comparisons=(),
        asked=tuple((each.set, each.system) for each in cells if each.system in asked),
    )
    measured = setting.gates.compared(concluded(measured, all_pairs=plan.all_pairs))
    write(measured, setting.out, setting.say, earlier)
    return measured


def measured_at(plan: BenchPlan, setting: Setting, commit: str) -> Results:
    """Measure the sets that follow their files as these were at a commit, in a folder of the run."""
    sets = tuple(replace(each, at=commit_of(each.corpus or Path(), commit)) for each in plan.sets)
    setting.say(f"measuring the baseline at {sets[0].at[:12]}")
    found = run(replace(plan, sets=sets), replace(setting, out=setting.out / "baseline", gates=Gates()))
    if not any(of.follows for of in found.sets.values()):
        raise InputError(
            f"--baseline {commit}: every question is about a commit of its own, so that nothing would differ; "
            "assay truth mine --follow asks questions that follow the files"
        )
    return found


def _useless(answers: Mapping[str, SystemAnswer], preparation: Preparation) -> str:
    """Return why a system said nothing at all, empty when it answered something."""
    if all(answer.error and not answer.spans for answer in answers.values()):
        return preparation.error or next((answer.error for answer in answers.values()), "it was not asked")
    return ""


def earlier_in(file: Path) -> Results | None:
    """Return what an earlier run found there, None where there is nothing of use."""
    try:
        return results_file.load(file)
    except InputError:
        return None


def concluded(found: Results, *, all_pairs: bool = False) -> Results:
    """Return what any experiment measured with the comparisons that are made of it."""
    return replace(found, comparisons=tuple(comparisons(found, all_pairs=all_pairs)))


def claim_output(out: Path) -> None:
    """Make the folder of an experiment, or refuse one that holds something else, or symbolic links."""
    refuse_links_in(out)
    if not (out / RESULTS).is_file():
        claim_folder(out, _WRITTEN.__contains__, "a folder of results", "--out")


def move_aside(folder: Path) -> None:
    """Move a folder to `FOLDER.old`; what was there gives way."""
    if folder.is_dir():
        rmtree(folder.with_name(f"{folder.name}.old"), ignore_errors=True)
        folder.rename(folder.with_name(f"{folder.name}.old"))


def _judged(ready: Prepared, answered: Mapping[str, Mapping[str, SystemAnswer]], setting: Setting) -> JudgedSet | None:
    """Have judged what nobody did, if that is wanted, and say what came of it where that is not all."""
    if setting.unseen is None:
        return None
    judged = judge_unseen(ready, answered, setting.unseen, setting.out, setting.watch)
    if judged.counts.stopped:
        setting.say(f"{ready.spec.name}: {setting.unseen.judge} stopped: {judged.counts.stopped}")
    return judged


def _check(plan: BenchPlan, gates: Gates) -> None:
    """Refuse a baseline of something else, and names that would share a file or a row; those of sets are folders."""
    gates.check([(of.name, system.name) for of in plan.sets for system in plan.systems], plan.k)
    for kind, names in (("sets", [each.name for each in plan.sets]), ("systems", [each.name for each in plan.systems])):
        known: dict[str, str] = {}
        for name in names:
            if known.setdefault(name.casefold(), name) != name or names.count(name) > 1:
                raise InputError(
                    f"two {kind} are called '{name}' (case does not tell them apart): give each a name, as NAME=SPEC"
                )
    for each in plan.sets:
        if not each.name.strip(".") or {"/", "\\", "\0"} & {*each.name}:
            raise InputError(f"a set cannot be called '{each.name}': its answers go to a folder of that name")


def write(results: Results, out: Path, say: Say, earlier: Results | None = None, plots: Sequence[Block] = ()) -> None:
    """Write results.json, RESULTS.md and, where matplotlib is installed, report.html; git is to pass all of it over."""
    files.write(out / ".gitignore", "*\n")
    results_file.save(results, out / RESULTS)
    files.write(out / "RESULTS.md", as_markdown(overview_of(results)))
    _write_report(results, out, say, earlier, plots)


def _write_report(results: Results, out: Path, say: Say, earlier: Results | None, plots: Sequence[Block]) -> None:
    """Write report.html, unless the one that is there shows the same; without matplotlib that is said."""
    if earlier and _comparable_json(results) == _comparable_json(earlier) and (out / "report.html").exists():
        return
    (out / "report.html").unlink(missing_ok=True)  # what cannot be made anew would be old
    try:
        write_page(report_of(results, plots), out / "report.html")
    except MissingExtra as missing:
        say(str(missing))


def written_to(out: Path) -> str:
    """Return what `write` left in a folder, as text."""
    written = (name for name in (RESULTS, "RESULTS.md", "report.html") if (out / name).exists())
    return f"written to {out}: {', '.join(written)}"


def _comparable_json(results: Results) -> object:
    return as_json(replace(results, manifest=replace(results.manifest, when="", command="")))


def _is_asked(system: SystemSpec, plan: BenchPlan, say: Say) -> bool:
    """Say whether a system is to be asked, and may be: one that is paid for needs its key."""
    if plan.asked and system.name not in plan.asked:
        return False
    if not system.needs or os.environ.get(system.needs):
        return True
    say(f"{system.name} is left out: the environment has no {system.needs}")
    return False


def _prepared(plan: BenchPlan, setting: Setting, unusable: dict[str, str]) -> Iterator[Prepared]:
    """Yield each set that can be used; why one cannot is told and noted, and the others still count."""
    of_runs = all(each.spec.partition(":")[0] == "run" for each in plan.systems)
    for spec in plan.sets:
        try:
            ready = prepare(spec, setting.out, setting.say, setting.watch, of_runs=of_runs)
        except AssayError as error:
            setting.say(f"{spec.name}: {error}")
            unusable[spec.name] = str(error)
            continue
        if apart := disagreement(ready.truth):
            setting.say(f"{spec.name}: {apart}")
        for problem in ready.problems[:_MAX_LISTED_PROBLEMS]:
            setting.say(f"{spec.name}: {problem}")
        if len(ready.problems) > _MAX_LISTED_PROBLEMS:
            more = len(ready.problems) - _MAX_LISTED_PROBLEMS
            setting.say(f"{spec.name}: {more:,} more rows cannot be used; assay truth check lists them")
        yield ready


def _ask(
    ready: Prepared, plan: BenchPlan, setting: Setting, location: Path, asked: Collection[str]
) -> dict[str, tuple[Mapping[str, SystemAnswer], Preparation]]:
    """Return the answers of each system, asking for what is missing; of one that is not asked, what it said."""
    of, queries, corpus = ready.spec.name, ready.expected.queries, ready.corpus
    saved: dict[str, RunFile] = {}
    contenders: list[Contender] = []
    done = count(1)

    def take(name: str, answer: SystemAnswer) -> None:
        saved[name].add(answer)
        if setting.watch:
            setting.watch(f"asking about {of}", next(done), sum(len(each.queries) for each in contenders))

    def tell(name: str, preparation: Preparation) -> None:
        for problem in filter(None, (preparation.error, *preparation.problems)):
            setting.say(f"{name} on {of}: {problem}")

    with ExitStack() as held:
        for system in plan.systems:
            key = key_of(system.spec, system.options, corpus.digest, plan.k, queries)
            place = setting.out / "runs" / of / f"{file_name(system.name)}.jsonl"
            if system.name not in asked and not is_run(place, key):
                continue
            file = held.enter_context(RunFile(place, key, {"set": of, "system": system.name}))
            missing = file.missing(queries)
            if system.name in asked or all(query.id in file.answers for query in queries):
                saved[system.name] = file
            if system.name in asked and (missing or file.preparation is None):
                options = {"location": str(location), **system.options}
                contenders.append(Contender(system.name, system.spec, options, corpus, missing))
        limits = {"timeout_s": plan.timeout_s, "index_timeout_s": plan.index_timeout_s}
        prepared = ask_in_turn(contenders, plan.k, **limits, threads=plan.threads, on_answer=take, on_prepared=tell)
        for name, preparation in prepared.items():
            saved[name].prepared(preparation)
        return {each.name: _saved_answers(saved[each.name], each) for each in plan.systems if each.name in saved}


def _saved_answers(file: RunFile, system: SystemSpec) -> tuple[dict[str, SystemAnswer], Preparation]:
    """Return the answers of a file that score enough, and what it took to get the system ready."""
    answers = {query: answer.from_score(system.threshold) for query, answer in file.answers.items()}
    return answers, file.preparation or Preparation()


def file_name(name: str) -> str:
    """Return the name of a system as a file may have it; other names of other systems stay apart."""
    safe = "".join(letter if letter.isalnum() or letter in "._-+" else "_" for letter in name)
    return safe if safe == name else f"{safe[:60]}-{digest([name])[:8]}"
