"""The five tasks of the paper (section 3.2) as classes: outcome in, number of its class out, and back to a fault.

The first class of each is `correct`: its probability is the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.faults import Fault, binary, execution, intent, ternary

LABELS: Mapping[str, Callable[[Fault], str]] = {
    "B": binary,
    "T": ternary,
    "I": intent,
    "E": execution,
    "E+L": execution,
}
"""What an outcome is called, by task."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    task: tuple(dict.fromkeys(map(label, Fault))) for task, label in LABELS.items()
}
"""The classes of each task, `correct` first: 2, 3, 11, 12 and 12 of them."""

LINES = "E+L"
"""The task that also predicts the line that breaks."""

_FAULTS = {str(fault): fault for fault in Fault}


def class_of(task: str, fault: Fault) -> int:
    """Return the number of an outcome's class."""
    return CLASSES[task].index(LABELS[task](fault))


def fault_of(name: str) -> Fault | None:
    """Return the fault that a class stands for, or None where it stands for several."""
    return _FAULTS.get(name)
