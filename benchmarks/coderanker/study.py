"""Train rankers for a study and describe the programs that they learn from, by the commands of Assay.

Everything lies below one folder: `data` holds the parts of the programs that rankers learn from, `rankers` a folder for
each ranker, `compared` the orders. What is there is not made again; a training that was cut off goes on.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import file_digest
from io import StringIO
from pathlib import Path

from assay.bench.program_ranking import RankingColumn, RankingSetSpec, columns, load
from assay.cli.main import run
from assay.cli.rank import ranked_columns
from assay.errors import InputError, nearest
from assay.faults import EXECUTION, INTENT, Fault
from assay.rank import datasets, fault_tables
from assay.rank.datasets import SPLITS, Example
from assay.rank.neural_data import ABOUT
from assay.rank.rankers import ranker_of
from assay.report.document import (
    Block,
    Cell,
    Column,
    Count,
    Detail,
    Entries,
    ListEntry,
    Mean,
    Phrase,
    Table,
    fraction,
    words,
)
from assay.runs.record import append_lines, begin, differing, manifest_of, read_lines, stored_settings, write_manifest
from assay.train.neural import FILE as CHECKPOINT

LOG, DONE = "log.jsonl", "trained.jsonl"
KS = (1, 5, 100)
TOGETHER = "all"


@dataclass(frozen=True, slots=True)
class Study:
    """What the command line asks for."""

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
    dry_run: bool = False

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


def assay(given: Study, *words: str) -> None:
    """Print a command of Assay and run it; one that fails ends everything with its status."""
    print("$ assay", shlex.join(words), flush=True)
    if given.dry_run:
        return
    with redirect_stdout(StringIO()):  # what it prints is in its files; the tables are printed at the end
        status = run(words)
    if status:
        raise InputError(f"'assay {words[0]} {words[1]}' failed with status {status}: what it says is above")


@cache
def examples_of(file: Path) -> tuple[Example, ...]:
    """Return the programs of a file, read once; one that a dry run did not make has none."""
    return datasets.read(file).examples if file.exists() else ()


def part(given: Study, source: str, *words: str, called: str = "") -> Path:
    """Return the file with the programs of a source, made with `words` for `assay rank mix` where it has to be made."""
    if source == TOGETHER and not words:
        return given.learn
    file = given.out / "data" / f"{slug(' '.join(filter(None, (source, called))))}.jsonl"
    model = () if source == TOGETHER else ("--model", source)
    return mixed(given, file, [given.learn], *model, *words)


def mixed(given: Study, file: Path, parts: Sequence[Path], *words: str) -> Path:
    """Return a file that `assay rank mix` makes of others, made again where these or the words are not as before."""
    order = MixOrder(words, tuple(map(hash_of_file, parts)))
    if given.dry_run or not file.exists() or differing(stored_settings(file) or {}, asdict(order)):
        file.parent.mkdir(parents=True, exist_ok=True)
        assay(given, "rank", "mix", *map(str, parts), *words, "--out", str(file))
        if not given.dry_run:
            write_manifest(manifest_of(file), order, seed=0)
    return file


def hash_of_file(file: Path) -> str:
    """Return a hash of what a file holds; one that a dry run did not make has none."""
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return file_digest(stream, "blake2b").hexdigest()


def trained(given: Study, source: str, task: str, base: str = "", data: Path | None = None) -> TrainedRanker:
    """Return the ranker of a source and a task, trained as far as it was not."""
    data = data or part(given, source)
    first = next(iter(given.bases))
    base = base or first
    folder = given.out / "rankers" / slug(f"{source} {task} {base}")
    made = TrainedRanker(source, task, base, data, folder, is_first=base == first)
    words = ["rank", "train", str(data), "--base", given.bases[base], "--task", task, "--out", str(made.folder)]
    if given.dry_run:
        assay(given, *words, *given.more)
        return made
    order = TrainingOrder(given.bases[base], task, given.more, hash_of_file(data))
    begin(made.folder / DONE, order, "the training")
    if not any(True for _ in read_lines(made.folder / DONE)):
        (made.folder / LOG).touch()
        resume = ["--resume"] if (made.folder / CHECKPOINT).exists() else []
        if not resume:
            (made.folder / ABOUT).unlink(missing_ok=True)  # killed before it could go on: it begins anew
        assay(given, *words, *resume, *given.more)
        append_lines(made.folder / DONE, [{"learned": learned(data)}])
    return made


def learned_tasks(data: Path) -> set[str]:
    """Return the tasks that a ranker learns from."""
    return {each.task_id for each in examples_of(data) if each.split == "train"}


def learned(data: Path) -> int:
    """Return how many different programs a ranker learns from."""
    return sum(each.split == "train" for each in examples_of(data))


def compared(
    given: Study, name: str, rankers: Sequence[TrainedRanker], sets: Iterable[RankingSetSpec], *specs: str
) -> Figures:
    """Measure rankers on sets of samples and return each figure; `specs` are rankers that need no training."""
    file = given.out / "compared" / f"{slug(name)}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(_matrix(rankers, specs, sets)) + "\n", "utf-8")
    print(f"# as does: assay rank compare {shlex.quote(str(file))}", flush=True)
    return {} if given.dry_run else _measured(file, file.read_text("utf-8"))


@cache
def _measured(file: Path, _: str) -> Figures:
    """Return the figures of a matrix; once in a process, for several tables ask for the same."""
    plan = load(file)
    return {
        (each.column.name, cell.ranker): {str(of): Mean(at.value, at.low, at.high) for of, at in cell.values.items()}
        for each in ranked_columns(plan, [ranker_of(ranker.spec) for ranker in plan.rankers], file.parent)
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


MEANINGS = {
    Fault.NAME_ERROR: "A name that nothing defines",
    Fault.VALUE_ERROR: "An operation or function got an argument of an inappropriate value",
    Fault.EOF_ERROR: "More input was read than there is",
    Fault.TYPE_ERROR: "An operation or function got an object of an inappropriate type",
    Fault.INDEX_ERROR: "An index out of bounds",
    Fault.KEY_ERROR: "A key that is not in a dictionary",
    Fault.TIMEOUT: "Inefficient, or does not end",
    Fault.SYNTAX_ERROR: "Cannot be parsed",
    Fault.FUNCTION_NOT_FOUND: "The function that the tests call is not there",
    Fault.EXECUTION_OTHER: "Other execution errors",
    Fault.NONE_ERROR: "The output is None, and the expected one is not",
    Fault.EMPTY_ERROR: "The output is empty, and the expected one is not",
    Fault.OUTPUT_TYPE_ERROR: "The output has another type",
    Fault.LENGTH_ERROR: "A list, dictionary or set of another length",
    Fault.INT_SMALL_ERROR: "A number that is at most 10 off",
    Fault.INT_LARGE_ERROR: "A number that is more than 10 off",
    Fault.STRING_SMALL_ERROR: "A string whose length is at most 3 off",
    Fault.STRING_LARGE_ERROR: "A string whose length is more than 3 off",
    Fault.INTENT_OTHER: "Other wrong outputs",
}
"""Tables 4 and 5 of the paper in our words."""
_SHOWN = 2
"""Examples of a class, as tables 12 and 13 have."""


def table2(given: Study) -> Iterator[Block]:
    """Yield how many programs of each generating model are right, answer wrongly, and break, by split."""
    heads = [
        Column(name, over=f"{split} data")
        for split in ("training", "validation", "test")
        for name in ("correct", "intent", "execution")
    ]
    rows = tuple((Phrase(source), *_counts(examples_of(part(given, source)))) for source in given.sources)
    note = "Each program as often as it was sampled."
    yield Table("How programs fail", (Column("generating model", words=True), *heads), rows, note)


def _counts(rows: Sequence[Example]) -> Iterator[Cell]:
    of = {side.name: side for side in fault_tables.sides(rows)}
    for split in SPLITS:
        yield from map(Count, of[split].kinds() if split in of else (0, 0, 0))


def table3(given: Study) -> Iterator[Block]:
    """Yield a program of each kind with its labels."""
    rows = examples_of(given.learn)
    kinds = (Fault.CORRECT, *_frequent(rows, EXECUTION)[:3], *_frequent(rows, INTENT)[:3])
    shown = [each for fault in kinds for each in _shortest(rows, fault)[:1]]
    heads = tuple(Column(name, words=True) for name in ("program", "B", "T", "I", "E", "L"))
    yield Table("Labels", heads, tuple(tuple(_labels(each)) for each in shown))
    yield _entries("labels", shown)


def table4(given: Study) -> Iterator[Block]:
    """Yield the classes of execution errors with two programs of each (tables 4 and 12)."""
    return _classes(given, "execution", [fault for fault in Fault if fault in EXECUTION])


def table5(given: Study) -> Iterator[Block]:
    """Yield the classes of intent errors with two programs of each (tables 5 and 13)."""
    return _classes(given, "intent", [fault for fault in Fault if fault in INTENT])


def figure6(given: Study) -> Iterator[Block]:
    """Yield how frequent each class is among the training programs of each generating model."""
    sides = [(source, _training(given, source)) for source in given.sources]
    heads = (Column("class", words=True), *(Column(name) for name, _ in sides))
    note = "Of all training programs of a generating model (figure 6 of the paper)."
    for title, of in (("execution errors", EXECUTION), ("intent errors", INTENT)):
        faults = [fault for fault in Fault if fault in of]
        shares = zip(*(_shares(rows, faults) for _, rows in sides), strict=True)
        rows = ((Phrase(str(fault)), *each) for fault, each in zip(faults, shares, strict=True))
        yield Table(title, heads, tuple(rows), note)


def _training(given: Study, source: str) -> list[Example]:
    return [each for each in examples_of(part(given, source)) if each.split == "train"]


def _shares(rows: Sequence[Example], faults: Sequence[Fault]) -> tuple[Cell, ...]:
    total = sum(each.n for each in rows) or 1
    return tuple(fraction(sum(each.n for each in rows if each.fault is fault) / total, digits=1) for fault in faults)


def _classes(given: Study, kind: str, faults: Sequence[Fault]) -> Iterator[Block]:
    rows = examples_of(given.learn)
    total = sum(each.n for each in rows)
    counts = {fault: sum(each.n for each in rows if each.fault is fault) for fault in faults}
    cells = tuple(
        (Phrase(str(fault)), Phrase(MEANINGS[fault]), Count(counts[fault]), fraction(counts[fault] / total, digits=1))
        for fault in faults
    )
    heads = (Column("class", words=True), Column("meaning", words=True), Column("programs"), Column("of all"))
    yield Table(f"Classes of {kind} errors", heads, cells)
    shown = [each for fault in faults for each in _shortest(rows, fault)[:_SHOWN]]
    yield words(f"The shortest programs of each class, {_SHOWN} at most, of different tasks:")
    yield _entries(kind, shown)


def _frequent(rows: Sequence[Example], members: frozenset[Fault]) -> list[Fault]:
    """Return the classes that there are, the most frequent first."""
    counts = {fault: sum(each.n for each in rows if each.fault is fault) for fault in Fault if fault in members}
    return sorted((fault for fault, count in counts.items() if count), key=lambda fault: -counts[fault])


def _shortest(rows: Sequence[Example], fault: Fault) -> list[Example]:
    """Return programs of a class, one a task, the shortest first; of those that say nothing none."""
    of_task: dict[str, Example] = {}
    for each in sorted(
        (each for each in rows if each.fault is fault), key=lambda each: (len(each.source), each.source)
    ):
        if each.source.count("\n") > 1:
            of_task.setdefault(each.task_id, each)
    return list(of_task.values())


def _labels(example: Example) -> Iterator[Cell]:
    labels = example.labels()
    yield Phrase(f"{example.task_id} {example.program_id}")
    kinds = ("binary", "ternary", "intent", "execution", "error_line")
    yield from (Phrase(str(labels[kind])) for kind in kinds)


def _entries(name: str, shown: Sequence[Example]) -> Entries:
    return Entries(name, "program", (), tuple(map(_entry, shown)))


def _entry(example: Example) -> ListEntry:
    labels = example.labels()
    where = f"line {example.line}" if example.line > 0 else ""
    told = Detail(Phrase("labels"), tuple(Phrase(f"{kind}: {label}") for kind, label in labels.items()))
    asked = Detail(Phrase("task"), (Phrase(example.prompt),))
    error = (Detail(Phrase("error"), (Phrase(example.message, code=True),)),) if example.message else ()
    badges = tuple(filter(None, (example.model, where)))
    return ListEntry(str(example.fault), example.task_id, badges, "", (), {}, (asked, told, *error), example.source)
