"""A model and held-out examples to what it is worth as a ranker and as a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.measure.classify import confusion, lines
from assay.measure.ranked import Judged, RankMeasure, mean, values
from assay.rank.dataset.examples import Example
from assay.rank.neural.batches import TokenRow
from assay.rank.neural.fault_classes import CLASSES, LABELS, LINES
from assay.rank.neural.neural_ranker import LogitsRunner, opinions

MEASURES = (RankMeasure(1), RankMeasure(5), RankMeasure(1, "exec"))


@dataclass(frozen=True, slots=True)
class HeldOutExamples:
    """Examples as a model reads them."""

    examples: Sequence[Example]
    rows: Sequence[TokenRow]


def look(runner: LogitsRunner, held_out: HeldOutExamples, task: str, *, padding: int, size: int) -> dict[str, float]:
    """Return ranked pass@1, pass@5 and exec@1, macro-F1, and with lines how many were found."""
    said = opinions(runner, held_out.rows, padding, size)
    pools: dict[str, list[Judged]] = {}
    for example, opinion in zip(held_out.examples, said, strict=True):
        fault = example.fault
        judged = Judged(float(opinion.classes[0]), fault == "correct", example.runs, example.n)
        pools.setdefault(example.task_id, []).append(judged)
    found = {str(measure): mean(values(pools, measure)).value for measure in MEASURES}
    names = [CLASSES[task][int(opinion.classes.argmax())] for opinion in said]
    true = [LABELS[task](example.fault) for example in held_out.examples]
    found["macro-F1"] = confusion(true, names, labels=CLASSES[task]).macro_f1
    if task == LINES:
        placed = zip(held_out.rows, said, strict=True)
        told = [row.line_of(int(opinion.places.argmax())) for row, opinion in placed]
        broken = [example.line if example.fault.is_execution else -1 for example in held_out.examples]
        compared = lines(broken, told)
        found |= {"line": compared.accuracy, "broken line": compared.found}
    return found
