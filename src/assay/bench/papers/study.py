"""Train and compare the rankers of a study, by the commands of Assay.

Everything lies below one folder: `data` holds the parts of the programs that rankers learn from, `rankers` a folder for
each ranker, `compared` the orders. What is there is not made again; a training that was cut off goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import file_digest
from pathlib import Path

from assay.bench.program_ranking import RankingColumn, columns, ranked_columns
from assay.bench.ranking_matrix import RankingSetSpec, load
from assay.errors import InputError, nearest
from assay.protocols import Progress
from assay.rank import datasets
from assay.rank.datasets import Example
from assay.rank.neural_data import ABOUT, CHECKPOINT
from assay.rank.rankers import ranker_of
from assay.report.document import Mean
from assay.runs.record import append_lines, begin, differing, manifest_of, read_lines, stored_settings, write_manifest

LOG, DONE = "log.jsonl", "trained.jsonl"
KS = (1, 5, 100)
TOGETHER = "all"
Run = Callable[[Sequence[str]], None]
"""What runs the words of a command, or raises."""
Watching = Callable[[], AbstractContextManager[Progress]]
"""What shows how far a measurement is."""


@dataclass(frozen=True, slots=True)
class Study:
    """What is asked for."""

    run: Run
    watching: Watching
    learn: Path
    """Programs with their splits, as `assay rank data` writes them."""
    tests: Mapping[str, Path]
    """Programs of other tasks, by what they are called."""
    bases: Mapping[str, str]
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    together: bool
    """Whether all programs are of one source, whatever model wrote them."""
    beside: tuple[str, ...]
    """Other rankers; `{}` stands for the trained one."""
    logprob: str
    """The ranker by the probability of a program."""
    out: Path
    more: tuple[str, ...] = ()
    """Options of each training."""
    is_dry: bool = False
    """Whether nothing is run."""

    @property
    def sources(self) -> tuple[str, ...]:
        """What rankers learn from: the programs of each model, or all of them."""
        if self.together:
            return (TOGETHER,)
        known = tuple(sorted({each.model for each in examples_of(self.learn)}))
        for name in self.models:
            if name not in known:
                raise InputError(f"{self.learn} has no programs of '{name}'; {nearest(name, known)}")
        return self.models or known


@dataclass(frozen=True, slots=True)
class TrainedRanker:
    """A ranker in its folder."""

    source: str
    task: str
    base: str
    data: Path
    folder: Path
    is_first: bool
    """Whether it is of the first base model, which needs no mention."""

    @property
    def name(self) -> str:
        """What a table calls it: the paper's R with the task above and the source below."""
        return f"{self.source} {self.task}" if self.is_first else f"{self.source} {self.task} {self.base}"

    @property
    def spec(self) -> str:
        """What the commands of Assay call it."""
        return f"neural:{self.folder.resolve()}"


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """What decides about a training; a folder of another one is refused."""

    base: str
    task: str
    more: tuple[str, ...]
    data: str
    """A hash of the file."""


@dataclass(frozen=True, slots=True)
class MixOrder:
    """What decides about a file that is mixed of others; one of another order is made again."""

    words: tuple[str, ...]
    parts: tuple[str, ...]
    """A hash of each of the others."""


Figures = Mapping[tuple[str, str], Mapping[str, Mean]]
"""By column and ranker, each measure."""


@cache
def examples_of(file: Path) -> tuple[Example, ...]:
    """Return the programs of a file, read once; one that a dry run did not make has none."""
    return datasets.read(file).examples if file.exists() else ()


def part(study: Study, source: str, *words: str, called: str = "") -> Path:
    """Return the file with the programs of a source, made with `words` for `assay rank mix` where it has to be made."""
    if source == TOGETHER and not words:
        return study.learn
    file = study.out / "data" / f"{slug(' '.join(filter(None, (source, called))))}.jsonl"
    model = () if source == TOGETHER else ("--model", source)
    return mixed(study, file, [study.learn], *model, *words)


def mixed(study: Study, file: Path, parts: Sequence[Path], *words: str) -> Path:
    """Return a file that `assay rank mix` makes of others, made again where these or the words are not as before."""
    order = MixOrder(words, tuple(map(hash_of_file, parts)))
    if study.is_dry or not file.exists() or differing(stored_settings(file) or {}, asdict(order)):
        file.parent.mkdir(parents=True, exist_ok=True)
        study.run(("rank", "mix", *map(str, parts), *words, "--out", str(file)))
        if not study.is_dry:
            write_manifest(manifest_of(file), order, seed=0)
    return file


def hash_of_file(file: Path) -> str:
    """Return a hash of what a file holds; one that a dry run did not make has none."""
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return file_digest(stream, "blake2b").hexdigest()


def trained(study: Study, source: str, task: str, base: str = "", data: Path | None = None) -> TrainedRanker:
    """Return the ranker of a source and a task, trained as far as it was not."""
    data = data or part(study, source)
    first = next(iter(study.bases))
    base = base or first
    folder = study.out / "rankers" / slug(f"{source} {task} {base}")
    made = TrainedRanker(source, task, base, data, folder, is_first=base == first)
    words = ["rank", "train", str(data), "--base", study.bases[base], "--task", task, "--out", str(made.folder)]
    if study.is_dry:
        study.run((*words, *study.more))
        return made
    order = TrainingOrder(study.bases[base], task, study.more, hash_of_file(data))
    begin(made.folder / DONE, order, "the training")
    if not any(True for _ in read_lines(made.folder / DONE)):
        (made.folder / LOG).touch()
        resume = ["--resume"] if (made.folder / CHECKPOINT).exists() else []
        if not resume:
            (made.folder / ABOUT).unlink(missing_ok=True)  # killed before it could go on: it begins anew
        study.run((*words, *resume, *study.more))
        append_lines(made.folder / DONE, [{"learned": learned(data)}])
    return made


def learned_tasks(data: Path) -> set[str]:
    """Return the tasks that a ranker learns from."""
    return {each.task_id for each in examples_of(data) if each.split == "train"}


def learned(data: Path) -> int:
    """Return how many different programs a ranker learns from."""
    return sum(each.split == "train" for each in examples_of(data))


def compared(
    study: Study, name: str, rankers: Sequence[TrainedRanker], sets: Iterable[RankingSetSpec], *specs: str
) -> Figures:
    """Measure rankers on sets of samples and return each figure; `specs` are rankers that need no training."""
    file = study.out / "compared" / f"{slug(name)}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(_matrix(rankers, specs, sets)) + "\n", "utf-8")
    return {} if study.is_dry else _measured(file, file.read_text("utf-8"), study.watching)


@cache
def _measured(file: Path, _: str, watching: Watching) -> Figures:
    """Return the figures of a matrix; once in a process, for several tables ask for the same."""
    plan = load(file)
    rankers = [ranker_of(ranker.spec) for ranker in plan.rankers]
    with watching() as watch:
        ranked = ranked_columns(plan, rankers, file.parent, watch)
    return {
        (each.column.name, cell.ranker): {str(of): Mean(at.value, at.low, at.high) for of, at in cell.values.items()}
        for each in ranked
        for cell in each.cells
    }


def _matrix(rankers: Sequence[TrainedRanker], specs: Sequence[str], sets: Iterable[RankingSetSpec]) -> Iterator[str]:
    yield f"k = {list(KS)}"
    names = []
    for each in sets:
        names.append(each.name)
        assert each.data
        yield f"[sets.{json.dumps(each.name)}]\ndata = {json.dumps(str(each.data.resolve()))}"
        yield f"by = {json.dumps(each.by)}"
        if each.split:
            yield f"split = {json.dumps(each.split)}"
    for ranker in rankers:
        own = [f"trained_on = {json.dumps(ranker.source)}"] if ranker.source in names else []
        yield from (f"[rankers.{json.dumps(ranker.name)}]", f"spec = {json.dumps(ranker.spec)}", *own)
    for spec in specs:
        yield f"[rankers.{json.dumps(spec)}]\nspec = {json.dumps(spec)}"


def columns_of(of: RankingSetSpec) -> list[RankingColumn]:
    """Return the columns that a set of samples is measured in; in a dry run, an empty one."""
    assert of.data
    rows = [each for each in examples_of(of.data) if of.split in {"", each.split}]
    return list(columns(of, (), rows)) if of.data.exists() else [RankingColumn(of.name, "", "", "", (), ())]


def seconds_of(ranker: TrainedRanker) -> tuple[int, float]:
    """Return the steps of a training and its seconds, those of each process that worked on it."""
    steps, total, before = 0, 0.0, 0.0
    for record in read_lines(ranker.folder / LOG):
        seconds = float(record.get("seconds", before))
        total += seconds - before if seconds >= before else seconds
        steps, before = int(record.get("step", steps)), seconds
    return steps, total


def slug(name: str) -> str:
    """Return what something is called in folders."""
    return re.sub(r"[^\w+.-]+", "-", name.strip().lower())
