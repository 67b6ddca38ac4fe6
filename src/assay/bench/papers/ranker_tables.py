"""Show what each ranker of a study is worth, as the tables and figures of sections 4 and A.2 do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import itemgetter
from pathlib import Path

from assay.bench.papers.program_tables import entry, one_of_each_kind
from assay.bench.papers.study import (
    Figures,
    Study,
    TrainedRanker,
    columns_of,
    compared,
    examples_of,
    learned,
    mixed,
    part,
    trained,
)
from assay.bench.program_ranking import RankingColumn
from assay.bench.ranking_matrix import RankerSpec, RankingSetSpec
from assay.bench.ranking_plots import heat, training_lines, training_logs
from assay.errors import InputError
from assay.faults import Fault
from assay.rank.datasets import Example
from assay.rank.evaluate_rankers import UNRANKED
from assay.rank.rankers import ranker_of
from assay.report import document as doc
from assay.values import Task

VALID, TEST = "valid", "test"
NAMES = {VALID: "Validation", TEST: "Test"}
PAIRED = ("pass@1", "pass@5", "exec@1")
MIXES = ("mixed-small", "mixed-large")
FRACTIONS = (0.125, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table or figure, and the rankers that were trained for it."""

    blocks: tuple[doc.Block, ...]
    rankers: tuple[TrainedRanker, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One ranker on the samples of one column."""

    samples: str
    column: RankingColumn
    ranker: str
    shown: str = ""


def all_rankers(study: Study) -> tuple[list[TrainedRanker], dict[str, TrainedRanker], Figures]:
    """Return the rankers of each source and task, the best of each source by validation pass@1, and their figures."""
    rankers = [trained(study, source, task) for source in study.sources for task in study.tasks]
    found = compared(study, "tasks", rankers, map(valid_set(study), study.sources))
    return rankers, {source: best_of(rankers, source, source, found) for source in study.sources}, found


def best_of(rankers: Sequence[TrainedRanker], source: str, column: str, found: Figures) -> TrainedRanker:
    """Return the ranker of a source with the best pass@1 on a column; the first of equals."""
    own = [each for each in rankers if each.source == source]
    return max(own, key=lambda each: found[column, each.name]["pass@1"].mean if found else 0.0)


def valid_set(study: Study, split: str = VALID) -> Callable[[str], RankingSetSpec]:
    """Return what gives the validation programs of a source, or those of another split."""
    return lambda source: RankingSetSpec(
        source if split == VALID else f"{source} {split}", data=part(study, source), split=split
    )


def table6(study: Study) -> MadeTable:
    """Return the best ranker of each generating model on its validation tasks."""
    return _of_split(study, VALID)


def table7(study: Study) -> MadeTable:
    """Return the same on the test tasks."""
    return _of_split(study, TEST)


def _of_split(study: Study, split: str) -> MadeTable:
    rankers, best, _ = all_rankers(study)
    sets = [valid_set(study, split)(source) for source in study.sources]
    beside = _beside(study, best)
    found = compared(study, split, [*best.values()], sets, *beside)
    rows = []
    for source, of in zip(study.sources, sets, strict=True):
        rows += [
            RankedRow(source, column, name, shown)
            for column in _some(columns_of(of), of)
            for name, shown in _named(best[source], beside)
        ]
    return MadeTable((ranked_table(f"{NAMES[split]} tasks", rows, found),), tuple(rankers))


def table8(study: Study) -> MadeTable:
    """Return the best rankers on HumanEval, of which they learned nothing."""
    return _of_test(study, "HumanEval")


def table9(study: Study) -> MadeTable:
    """Return the best rankers on MBPP, of which they learned nothing."""
    return _of_test(study, "MBPP")


def _of_test(study: Study, name: str) -> MadeTable:
    rankers, best, _ = all_rankers(study)
    of = RankingSetSpec(name, data=other_tasks(study, name), by=("model",))
    beside = _beside(study, best)
    found = compared(study, name, [*best.values()], [of], *beside)
    rows = [
        RankedRow(column.model or name, column, ranker, shown)
        for column in columns_of(of)
        for ranker, shown in _named(own_ranker(column, best), beside)
    ]
    return MadeTable((ranked_table(name, rows, found),), tuple(rankers))


def table10(study: Study) -> MadeTable:
    """Return which ranker is the best of each generating model."""
    rankers, best, found = all_rankers(study)
    heads = (*doc.columns("generating model", "best ranker"), "ranked pass@1")
    rows = [
        (source, ranker.name, doc.figure(found.get((source, ranker.name), {}).get("pass@1")))
        for source, ranker in best.items()
    ]
    return MadeTable((doc.table("The best ranker by pass@1 on the validation tasks", heads, rows),), tuple(rankers))


def table11(study: Study) -> MadeTable:
    """Return the best rankers on samples of each temperature, which is the configuration of a program."""
    if not study.tests:
        raise InputError("no samples of several temperatures (their config); give --test NAME=FILE")
    rankers, best, _ = all_rankers(study)
    sets = [RankingSetSpec(name, data=file, by=("model", "config")) for name, file in study.tests.items()]
    found = compared(study, "temperatures", [*best.values()], sets)
    rows = [
        RankedRow(column.name, column, ranker, shown)
        for of in sets
        for column in columns_of(of)
        for ranker, shown in _named(own_ranker(column, best), ())
    ]
    return MadeTable((ranked_table("Temperatures", rows, found),), tuple(rankers))


def table14(study: Study) -> MadeTable:
    """Return the rankers of all tasks on the validation tasks, a table each generating model."""
    rankers, _, found = all_rankers(study)
    tables = []
    for source in study.sources:
        column = _only(valid_set(study)(source))
        rows = [RankedRow(each.task, column, each.name) for each in rankers if each.source == source]
        tables.append(ranked_table(source, rows, found, head="task"))
    return MadeTable(tuple(tables), tuple(rankers))


def table16(study: Study) -> MadeTable:
    """Return what rankers that learned from another model's programs, or a mix, are worth; figure 5 as a heat map."""
    rankers, best, _ = all_rankers(study)
    parts = [part(study, source) for source in study.sources]
    for mix in MIXES:
        file = mixed(study, study.out / "data" / f"{mix}.jsonl", parts, "--size", mix.removeprefix("mixed-"))
        rankers += [trained(study, mix, task, data=file) for task in study.tasks]
    own = [RankingSetSpec(mix, data=study.out / "data" / f"{mix}.jsonl", split=VALID) for mix in MIXES]
    sets = [valid_set(study)(source) for source in study.sources]
    found = compared(study, "mixes", rankers, [*sets, *own])
    best |= {mix: best_of(rankers, mix, mix, found) for mix in MIXES}
    column = _only(sets[0])
    rows = [RankedRow(source, column, each.name) for source, each in best.items()]
    return MadeTable(
        (
            ranked_table(f"On programs of {study.sources[0]}", rows, found, head="learned from"),
            figure5(study, best, found),
        ),
        tuple(rankers),
    )


def figure5(study: Study, best: Mapping[str, TrainedRanker], found: Figures) -> doc.Heat:
    """Return ranked pass@1 of each ranker on each model's programs, over that of the model's own ranker."""
    specs = [RankerSpec(source, each.spec, source) for source, each in best.items()]
    worth = [[_value(found, source, each.name) for source in study.sources] for each in best.values()]
    caption = (
        "Rows: what the best ranker learned from. Columns: whose programs it ranks. Each column is relative to the "
        "ranker that learned from the same model (figure 5 of the paper)."
    )
    texts = ("Ranked pass@1 by what a ranker learned from", caption)
    return heat(texts, specs, {source: source for source in study.sources}, worth)


def table17(study: Study) -> MadeTable:
    """Return the ternary ranker of each base model; figure 8 has how they learn."""
    if len(study.bases) < 2:
        raise InputError("one base model is nothing to compare; give --base NAME=MODEL several times")
    source, task = study.sources[0], _ternary(study)
    rankers = [trained(study, source, task, base) for base in study.bases]
    of = valid_set(study)(source)
    found = compared(study, "bases", rankers, [of])
    rows = [RankedRow(each.base, _only(of), each.name) for each in rankers]
    lines = {each.base: each for each in rankers}
    drawn = curves("Training curves of the base models (figure 8 of the paper)", {source: lines}, ("pass@1", "exec@1"))
    return MadeTable((ranked_table(source, rows, found, head="base model"), *drawn), tuple(rankers))


def table18(study: Study) -> MadeTable:
    """Return the ternary ranker with the example tests of the prompts, and without them."""
    source, task = study.sources[0], _ternary(study)
    bare = part(study, source, "--strip-examples", called="stripped")
    rankers = [trained(study, source, task), trained(study, f"{source} stripped", task, data=bare)]
    sets = [valid_set(study)(source), RankingSetSpec(f"{source} stripped", data=bare, split=VALID)]
    found = compared(study, "prompts", rankers, sets)
    rows = [
        RankedRow(shown, _only(of), each.name)
        for shown, of, each in zip(("with example tests", "without them"), sets, rankers, strict=True)
    ]
    return MadeTable((ranked_table(source, rows, found, head="prompts"),), tuple(rankers))


def table19(study: Study) -> MadeTable:
    """Return the order by the generating model's own probability beside the best ranker."""
    rankers, best, _ = all_rankers(study)
    sets = [valid_set(study)(source) for source in study.sources]
    found = compared(study, "probability", [*best.values()], sets, study.logprob)
    rows = [
        RankedRow(source, _only(of), name, shown)
        for source, of in zip(study.sources, sets, strict=True)
        for name, shown in ((study.logprob, "generation probability"), (best[source].name, ""))
    ]
    return MadeTable((ranked_table("Validation tasks", rows, found),), tuple(rankers))


def table20(study: Study) -> MadeTable:
    """Return programs of the validation tasks, how each fails, and what each ranker of the first source predicts."""
    rankers, _, _ = all_rankers(study)
    own = [each for each in rankers if each.source == study.sources[0]]
    rows = [each for each in examples_of(part(study, study.sources[0])) if each.split == VALID]
    shown = one_of_each_kind(rows)
    said = {} if study.is_dry else {each.task: _predicted(each, shown) for each in own}
    heads = doc.columns("program", "how it fails", *(each.task for each in own))
    cells = [
        [f"{each.task_id} {each.program_id}", _fault_of(each), *(said[task][at] for task in said)]
        for at, each in enumerate(shown)
    ]
    told = [
        entry(each, *(doc.Detail(doc.Phrase(f"{task} predicts"), (doc.Phrase(said[task][at]),)) for task in said))
        for at, each in enumerate(shown)
    ]
    note = "The likeliest class of each ranker with its probability, and where it says the line."
    side_by_side = doc.table("What each ranker predicts", heads, cells, note)
    return MadeTable((side_by_side, doc.Entries("predicted", "program", (), tuple(told))), tuple(rankers))


def _predicted(ranker: TrainedRanker, examples: Sequence[Example]) -> list[str]:
    """Return the likeliest class of each program in words."""
    made = ranker_of(ranker.spec)
    ranked = [made.rank(Task(each.task_id, each.prompt), [each.program])[0] for each in examples]
    likeliest = [max(each.why.items(), key=itemgetter(1)) for each in ranked]
    lines = [f", line {each.line}" if each.line > 0 else "" for each in ranked]
    return [f"{name} {share:.2f}{line}" for (name, share), line in zip(likeliest, lines, strict=True)]


def _fault_of(example: Example) -> str:
    return f"{example.fault}, line {example.line}" if example.line > 0 else str(example.fault)


def shares(study: Study) -> MadeTable:
    """Return a ranker by how many of the training tasks it learned from, which the paper does not show."""
    source, task = study.sources[0], _ternary(study)
    files = {each: part(study, source, "--train", str(each), called=str(each)) for each in FRACTIONS}
    files[1.0] = part(study, source)
    rankers = [trained(study, source if n == 1 else f"{source} {n}", task, data=file) for n, file in files.items()]
    sets = [valid_set(study, split)(source) for split in (VALID, TEST)]
    columns = [column for of in sets for column in columns_of(of)]
    found = compared(study, "shares", rankers, [of for of in sets if columns_of(of)])
    names = [f"{learned(each.data):,} programs" for each in rankers]
    tables = [
        ranked_table(
            column.name,
            [RankedRow(name, column, each.name) for name, each in zip(names, rankers, strict=True)],
            found,
            head="learned from",
        )
        for column in columns
    ]
    return MadeTable((*tables, *([growth(rankers, columns, found)] if found else [])), tuple(rankers))


def growth(rankers: Sequence[TrainedRanker], columns: Sequence[RankingColumn], found: Figures) -> doc.Curves:
    """Return pass@1 and exec@1 over the number of programs that were learned from."""
    programs = tuple(float(learned(each.data)) for each in rankers)

    def line(at: int, column: str, measure: str) -> doc.Series:
        return doc.Series(column, at, programs, tuple(found[column, each.name][measure] for each in rankers))

    panels = tuple(
        doc.CurvePanel(measure, tuple(line(at, column.name, measure) for at, column in enumerate(columns)))
        for measure in ("pass@1", "exec@1")
    )
    return doc.Curves(
        "What more programs bring", "By the programs that a ranker learned from.", panels, "programs", log=True
    )


def figure4(study: Study) -> MadeTable:
    """Return how ranked pass@1 grows in training, a panel a generating model, a line a task."""
    return _training_curves(study, "Ranked pass@1 in training", "pass@1")


def figure7(study: Study) -> MadeTable:
    """Return how ranked exec@1 grows in training."""
    return _training_curves(study, "Ranked exec@1 in training", "exec@1")


def _training_curves(study: Study, title: str, measure: str) -> MadeTable:
    rankers, _, _ = all_rankers(study)
    lines = {source: {each.task: each for each in rankers if each.source == source} for source in study.sources}
    return MadeTable(tuple(curves(title, lines, (measure,))), tuple(rankers))


def curves(
    title: str, panels: Mapping[str, Mapping[str, TrainedRanker]], measures: Sequence[str]
) -> Iterator[doc.Curves]:
    """Yield how rankers did on their validation tasks while they learned: a panel a source and measure."""
    drawn = []
    for source, rankers in panels.items():
        logs = training_logs(
            [RankerSpec(name, each.spec, log=each.folder / "log.jsonl") for name, each in rankers.items()]
        )
        for measure in measures:
            named = source if len(measures) == 1 else measure
            drawn.append(doc.CurvePanel(named, tuple(training_lines(logs, measure))))
    if any(panel.lines for panel in drawn):
        yield doc.Curves(title, "Exponential means over the looks at the validation tasks.", tuple(drawn), "step")


def ranked_table(title: str, rows: Sequence[RankedRow], found: Figures, *, head: str = "generating model") -> doc.Table:
    """Return a row a ranker: each measure of the samples as they are, and as they are ranked."""
    pairs = [doc.Column(name, over=measure) for measure in PAIRED for name in ("unranked", "ranked")]
    heads = (*doc.columns(head, "ranker"), doc.Column("tasks"), doc.Column("pass@all"))
    values = defaultdict[str, list[float]](list)
    for each in rows:
        values[each.column.name].append(_value(found, each.column.name, each.ranker))
    top = {column: max(of_column) for column, of_column in values.items()}
    cells = tuple(tuple(_row(each, found, top[each.column.name])) for each in rows)
    note = "pass@all: tasks of which any program is right, the paper's pass@100. Intervals: 95%, bootstrap over tasks."
    return doc.Table(title, (*heads, *pairs), cells, note)


def _row(row: RankedRow, found: Figures, top: float) -> Iterator[doc.Cell]:
    name, examples = row.column.name, row.column.examples
    tasks = {each.task_id for each in examples}
    right = {each.task_id for each in examples if each.fault is Fault.CORRECT}
    yield from (doc.Phrase(row.samples), doc.Phrase(row.shown or row.ranker), doc.Number(len(tasks), digits=0))
    yield doc.Number(len(right) / len(tasks) if tasks else None)
    for measure in PAIRED:
        plain, ranked = (found.get((name, ranker), {}).get(measure) for ranker in (UNRANKED, row.ranker))
        yield doc.Number(plain.mean if plain else None)
        mark: doc.Mark = "best" if measure == "pass@1" and ranked and ranked.mean == top else ""
        yield doc.figure(ranked, mark=mark)


def own_ranker(column: RankingColumn, best: Mapping[str, TrainedRanker]) -> TrainedRanker:
    """Return the ranker that learned from the model of a column, or the only one that there is."""
    if column.model not in best and len(best) > 1:
        raise InputError(
            f"'{column.set}' has programs of '{column.model}', of which no ranker learned (known: {', '.join(best)}); "
            "leave them out, or learn from all models with --together"
        )
    return best.get(column.model) or next(iter(best.values()))


def other_tasks(study: Study, name: str) -> Path:
    """Return the programs of other tasks that a table is about."""
    if name not in study.tests:
        raise InputError(f"no programs of {name}; give --test {name}=FILE, which 'assay rank data' writes")
    return study.tests[name]


def _named(ranker: TrainedRanker, beside: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what each ranker of a row is called in the results, and in the table."""
    yield ranker.name, ranker.name
    for spec in beside:
        if "neural:" not in spec or ranker.spec in spec:
            yield spec, spec.replace(ranker.spec, ranker.name)


def _beside(study: Study, best: Mapping[str, TrainedRanker]) -> tuple[str, ...]:
    """Return the other rankers that were asked for, with each of the best in the place of `{}`."""
    return tuple(dict.fromkeys(spec.replace("{}", ranker.spec) for spec in study.beside for ranker in best.values()))


def _some(columns: Sequence[RankingColumn], of: RankingSetSpec) -> Sequence[RankingColumn]:
    if not columns:
        raise InputError(f"{of.data} has no programs of the split '{of.split}'; give assay rank data --valid or --test")
    return columns


def _only(of: RankingSetSpec) -> RankingColumn:
    """Return the one column of a set."""
    return _some(columns_of(of), of)[0]


def _value(found: Figures, column: str, ranker: str) -> float:
    there = found.get((column, ranker), {}).get("pass@1")
    return there.mean if there else nan


def _ternary(study: Study) -> str:
    return "T" if "T" in study.tasks else study.tasks[0]
