"""What each signal of the rankers that run nothing is worth: alone, left out, and all, on unseen tasks and models.

    python benchmarks/coderanker/signals.py --set mbpp MBPP_974.jsonl mbpp.jsonl mbpp.outcomes.jsonl \
        --set apps APPS.jsonl apps.jsonl apps.outcomes.jsonl --out runs/signals

A set is a name, its tasks, its samples, and what `assay exec` found out about them. Weights are trained three times by
task (each task is scored by weights of the other tasks) and three times by task and by model (each pool is of a third
of the tasks and a third of the models, and the weights saw neither); they are kept in --out, and not trained again.
Pools are of all models of a task, or of one. A task's text shows its first test, as prompts of MBPP do. At full size
(25,600 programs) it takes about 25 minutes of one core.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from assay.measure import passk
from assay.measure.passk import RankMeasure
from assay.programs.outcome_file import load
from assay.programs.shown.shown_examples import examples_in
from assay.programs.tasks.task_formats import read
from assay.rank.consensus.train_consensus import learn
from assay.rank.consensus.training_pools import lessons, ways_to_tell
from assay.rank.dataset.examples import Example, by_task, examples_of
from assay.rank.evaluate_rankers import UNRANKED, EvaluationOptions, evaluate
from assay.rank.pools import read as read_samples
from assay.rank.specs import rankers_of
from assay.types import Task

FOLDS = 3
FEWEST = 5
"""Samples of a pool."""
VIEWS = ("all", "words", "results", "covers", "mass")
PARTS = ("central", "form", "task", "peers", "unlike")
SPECS = (
    "gate",
    "centrality",
    *(f"gate+centrality:{view}" for view in VIEWS),
    "gate+centrality",
    *(f"consensus:WEIGHTS?without={part}" for part in PARTS),
    "consensus:WEIGHTS?without=form,task,peers,base",
    "consensus:WEIGHTS",
)
MEASURES = (RankMeasure(1), RankMeasure(5, unique=True), RankMeasure(1, "exec"))
Values = dict[str, dict[RankMeasure, dict[str, float]]]
"""By ranker, measure and task."""


@dataclass(frozen=True, slots=True)
class SignalSet:
    """Tasks with their labelled programs."""

    name: str
    tasks: Mapping[str, Task]
    examples: tuple[Example, ...]


def third(text: str) -> int:
    """Return the fold of a task or a model, by a hash of its name."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) % FOLDS


def read_set(name: str, tasks: Path, samples: Path, outcomes: Path, left_out: Sequence[str]) -> SignalSet:
    """Read a set; programs of these configurations, which were repaired against the tests, are left out."""
    known = read(tasks).tasks
    pools = read_samples(samples, known)
    made = examples_of(pools.tasks, pools.programs, (row.outcome for row in load(outcomes)))
    kept = tuple(each for each in made.examples if not each.config.startswith(tuple(left_out)))
    return SignalSet(name, {task.id: task for task in known}, kept)


def train(sets: Sequence[SignalSet], keep: Callable[[Example, int], bool], folder: Path, name: str, fold: int) -> Path:
    """Return the weights that the programs kept for a fold teach, trained if they are not there."""
    out = folder / f"{name}-{fold}.json"
    if not out.exists():
        kept = [(each.tasks, [row for row in each.examples if keep(row, fold)]) for each in sets]
        pools = [pool for tasks, rows in kept for pool in lessons(tasks, rows, seed=0)]
        out.parent.mkdir(parents=True, exist_ok=True)
        half = out.with_suffix(".part")
        half.write_text(json.dumps(learn(pools)))
        half.replace(out)
    return out


def _unlike(row: Example, fold: int) -> bool:
    """Whether a program is of another task and of another model than those of a fold."""
    return third(row.task_id) != fold and third(row.model) != fold


def shown(task: Task) -> Task:
    """Return a task whose text shows an example."""
    if not task.entry_point or examples_in(task):
        return task
    return next((way for way in ways_to_tell(task)[2:] if "assert " in way.prompt), task)


def one_model(of: SignalSet, rows: Sequence[Example]) -> tuple[list[Task], list[Example]]:
    """Return tasks and programs in which each model's programs are a task of their own."""
    moved = [replace(row, task_id=f"{row.task_id} / {row.model}") for row in rows]
    tasks = {new.task_id: replace(of.tasks[old.task_id], id=new.task_id) for new, old in zip(moved, rows, strict=True)}
    return list(tasks.values()), moved


def measured(tasks: Sequence[Task], rows: Sequence[Example], weights: Path, specs: Sequence[str]) -> Values:
    """Return the values of each ranker on pools that are large enough."""
    large = [row for group in by_task(rows).values() if sum(each.n for each in group) >= FEWEST for row in group]
    if not large:
        return {}
    rankers = rankers_of([spec.replace("WEIGHTS", str(weights)) for spec in specs])
    found = evaluate([shown(task) for task in tasks], large, rankers, EvaluationOptions((1, 5)))
    names = {ranker.name: spec for ranker, spec in zip(rankers, specs, strict=True)} | {UNRANKED: UNRANKED}
    return {names[cell.ranker]: {measure: dict(cell.per_task[measure]) for measure in MEASURES} for cell in found.cells}


def merged(parts: Sequence[Values]) -> Values:
    """Return the values of all folds."""
    joined: Values = {}
    for part in parts:
        for name, of in part.items():
            for measure, values in of.items():
                joined.setdefault(name, {}).setdefault(measure, {}).update(values)
    return joined


def lines(title: str, values: Values) -> Iterator[str]:
    """Yield a table."""
    plain = values[UNRANKED]
    yield f"\n{title}: {len(plain[MEASURES[0]])} pools"
    for name, of in values.items():
        cells = []
        for measure in MEASURES:
            mean, gain = passk.mean(of[measure]), passk.gain(of[measure], plain[measure])
            cells.append(f"{measure} {mean.value:.3f} ({gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}])")
        yield f"  {name.replace(':WEIGHTS', ''):44s} {'  '.join(cells)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", nargs=4, action="append", required=True, metavar=("NAME", "TASKS", "SAMPLES", "FILE"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--leave-out", action="append", default=["results/ldb", "test_dfs/intermediate"])
    parser.add_argument("--ranker", action="append", help="instead of all. Repeatable")
    given = parser.parse_args(arguments)
    sets = [read_set(name, Path(a), Path(b), Path(c), given.leave_out) for name, a, b, c in given.set]
    specs = given.ranker or SPECS
    by_tasks = [train(sets, lambda row, k: third(row.task_id) != k, given.out, "task", k) for k in range(FOLDS)]
    by_both = [train(sets, _unlike, given.out, "task-and-model", k) for k in range(FOLDS)]
    for of in sets:
        folds = [[row for row in of.examples if third(row.task_id) == k] for k in range(FOLDS)]
        every = merged([measured(list(of.tasks.values()), rows, by_tasks[k], specs) for k, rows in enumerate(folds)])
        single = merged([measured(*one_model(of, rows), by_tasks[k], specs) for k, rows in enumerate(folds)])
        new = [[row for row in rows if third(row.model) == k] for k, rows in enumerate(folds)]
        unseen = merged([measured(*one_model(of, rows), by_both[k], specs) for k, rows in enumerate(new) if rows])
        for title, values in (("all models", every), ("one model", single), ("one model, not learned from", unseen)):
            if values:
                print("\n".join(lines(f"{of.name}, {title}", values)), flush=True)


if __name__ == "__main__":
    main()
