"""What a model says of held-out programs to what it is worth as a ranker and as a classifier."""

from __future__ import annotations

from collections.abc import Sequence

from assay.faults import Fault
from assay.measure.classify import confusion, lines
from assay.measure.ranked import Judged, RankMeasure, mean, values
from assay.rank.neural.fault_classes import LINES
from assay.rank.neural.neural_ranker import ProgramPrediction
from assay.rank.neural.token_store import TokenStore

MEASURES = (RankMeasure(1), RankMeasure(5), RankMeasure(1, "exec"))


def worth_of(
    said: Sequence[ProgramPrediction], held_out: TokenStore, true: Sequence[int], classes: Sequence[str], task: str
) -> dict[str, float]:
    """Return ranked pass@1, pass@5 and exec@1, macro-F1, and with lines how many were found."""
    faults = held_out.faults()
    pools: dict[str, list[Judged]] = {}
    for about, fault, opinion in zip(held_out.about, faults, said, strict=True):
        runs = bool(about["ran_all"]) if about["ran_all"] >= 0 else not fault.is_execution
        judged = Judged(float(opinion.classes[0]), fault is Fault.CORRECT, runs, int(about["n"]))
        pools.setdefault(str(about["task"]), []).append(judged)
    found = {str(measure): mean(values(pools, measure)).value for measure in MEASURES}
    told = [classes[int(opinion.classes.argmax())] for opinion in said]
    found["macro-F1"] = confusion([classes[at] for at in true], told, labels=tuple(classes)).macro_f1
    if task == LINES:
        guessed = [row.line_of(int(one.places.argmax())) for row, one in zip(held_out, said, strict=True)]
        compared = lines(held_out.about["line"].tolist(), guessed)
        found |= {"line": compared.accuracy, "broken line": compared.found}
    return found
