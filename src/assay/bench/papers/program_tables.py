"""Describe the programs that rankers learn from, as the tables and figures of sections 2 and A.1 do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.bench.papers.study import Study, examples_of, part
from assay.faults import EXECUTION, INTENT, Fault
from assay.rank import fault_tables
from assay.rank.datasets import SPLITS, Example
from assay.report import document as doc

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
_MAX_EXAMPLES = 2
"""Examples of a class, as tables 12 and 13 have."""


def table2(study: Study) -> Iterator[doc.Block]:
    """Yield how many programs of each generating model are right, answer wrongly, and break, by split."""
    heads = [
        doc.Column(name, over=f"{split} data")
        for split in ("training", "validation", "test")
        for name in ("correct", "intent", "execution")
    ]
    rows = tuple((doc.Phrase(source), *_counts(examples_of(part(study, source)))) for source in study.sources)
    note = "Each program as often as it was sampled."
    yield doc.Table("How programs fail", (doc.Column("generating model", words=True), *heads), rows, note)


def _counts(rows: Sequence[Example]) -> Iterator[doc.Cell]:
    of = {side.name: side for side in fault_tables.sides(rows)}
    for split in SPLITS:
        yield from map(doc.Count, of[split].kinds() if split in of else (0, 0, 0))


def table3(study: Study) -> Iterator[doc.Block]:
    """Yield a program of each kind with its labels."""
    shown = one_of_each_kind(examples_of(study.learn))
    heads = tuple(doc.Column(name, words=True) for name in ("program", "B", "T", "I", "E", "L"))
    yield doc.Table("Labels", heads, tuple(tuple(_labels(each)) for each in shown))
    yield doc.Entries("labels", "program", (), tuple(map(entry, shown)))


def table4(study: Study) -> Iterator[doc.Block]:
    """Yield the classes of execution errors with two programs of each (tables 4 and 12)."""
    return _classes(study, "execution", [fault for fault in Fault if fault in EXECUTION])


def table5(study: Study) -> Iterator[doc.Block]:
    """Yield the classes of intent errors with two programs of each (tables 5 and 13)."""
    return _classes(study, "intent", [fault for fault in Fault if fault in INTENT])


def figure6(study: Study) -> Iterator[doc.Block]:
    """Yield how frequent each class is among the training programs of each generating model."""
    sides = [(source, _training(study, source)) for source in study.sources]
    heads = (doc.Column("class", words=True), *(doc.Column(name) for name, _ in sides))
    note = "Of all training programs of a generating model (figure 6 of the paper)."
    for title, of in (("execution errors", EXECUTION), ("intent errors", INTENT)):
        faults = [fault for fault in Fault if fault in of]
        shares = zip(*(_shares(rows, faults) for _, rows in sides), strict=True)
        rows = ((doc.Phrase(str(fault)), *each) for fault, each in zip(faults, shares, strict=True))
        yield doc.Table(title, heads, tuple(rows), note)


def _training(study: Study, source: str) -> list[Example]:
    return [each for each in examples_of(part(study, source)) if each.split == "train"]


def _shares(rows: Sequence[Example], faults: Sequence[Fault]) -> tuple[doc.Cell, ...]:
    total = sum(each.n for each in rows) or 1
    return tuple(doc.fraction(count / total, digits=1) for count in _counted(rows, faults).values())


def _counted(rows: Sequence[Example], faults: Iterable[Fault]) -> dict[Fault, int]:
    return {fault: sum(each.n for each in rows if each.fault is fault) for fault in faults}


def _classes(study: Study, kind: str, faults: Sequence[Fault]) -> Iterator[doc.Block]:
    rows = examples_of(study.learn)
    shares = zip(faults, _counted(rows, faults).values(), _shares(rows, faults), strict=True)
    cells = [(str(fault), MEANINGS[fault], count, share) for fault, count, share in shares]
    yield doc.table(f"Classes of {kind} errors", (*doc.columns("class", "meaning"), "programs", "of all"), cells)
    shown = [each for fault in faults for each in _shortest(rows, fault)[:_MAX_EXAMPLES]]
    yield doc.words(f"The shortest programs of each class, {_MAX_EXAMPLES} at most, of different tasks:")
    yield doc.Entries(kind, "program", (), tuple(map(entry, shown)))


def one_of_each_kind(rows: Sequence[Example]) -> list[Example]:
    """Return short programs: a right one, and one of each of the most frequent errors and wrong answers."""
    kinds = (Fault.CORRECT, *_frequent(rows, EXECUTION)[:3], *_frequent(rows, INTENT)[:3])
    return [each for fault in kinds for each in _shortest(rows, fault)[:1]]


def _frequent(rows: Sequence[Example], members: frozenset[Fault]) -> list[Fault]:
    """Return the classes that there are, the most frequent first."""
    counts = _counted(rows, [fault for fault in Fault if fault in members])
    return sorted((fault for fault, count in counts.items() if count), key=lambda fault: -counts[fault])


def _shortest(rows: Sequence[Example], fault: Fault) -> list[Example]:
    """Return programs of a class, one a task, the shortest first; of those that say nothing none."""
    of_task: dict[str, Example] = {}
    of_fault = (each for each in rows if each.fault is fault)
    for each in sorted(of_fault, key=lambda each: (len(each.source), each.source)):
        if each.source.count("\n") > 1:
            of_task.setdefault(each.task_id, each)
    return list(of_task.values())


def _labels(example: Example) -> Iterator[doc.Cell]:
    labels = example.labels()
    yield doc.Phrase(f"{example.task_id} {example.program_id}")
    kinds = ("binary", "ternary", "intent", "execution", "error_line")
    yield from (doc.Phrase(str(labels[kind])) for kind in kinds)


def entry(example: Example, *more: doc.Detail) -> doc.ListEntry:
    """Return a program with its labels, its task, its error and what else is said of it."""
    labels = example.labels()
    where = f"line {example.line}" if example.line > 0 else ""
    told = doc.Detail(doc.Phrase("labels"), tuple(doc.Phrase(f"{kind}: {label}") for kind, label in labels.items()))
    asked = doc.Detail(doc.Phrase("task"), (doc.Phrase(example.prompt),))
    error = (doc.Detail(doc.Phrase("error"), (doc.Phrase(example.message, code=True),)),) if example.message else ()
    badges = tuple(filter(None, (example.model, where)))
    return doc.ListEntry(
        str(example.fault), example.task_id, badges, "", (), {}, (asked, told, *error, *more), example.source
    )
