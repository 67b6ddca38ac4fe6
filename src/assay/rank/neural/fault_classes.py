"""The tasks of a ranker as classes: outcome in, number of its class out, and back to a fault.

Five are the paper's (section 3.2). The sixth, M, is its future work: the execution errors of E, split further by the
shape of the exception's message where that shape is frequent among the programs to learn from; other messages keep the
class of their fault. The first class of each is `correct`: its probability is the score.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence

from assay.faults import Fault, binary, execution, intent, ternary

LINES, MESSAGES = "E+L", "M"
"""The task that also predicts the line that breaks, and the one that predicts the message."""

LABELS: Mapping[str, Callable[[Fault], str]] = {
    "B": binary,
    "T": ternary,
    "I": intent,
    "E": execution,
    LINES: execution,
    MESSAGES: execution,
}
"""What an outcome is called, by task; of M where its message has no class."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    task: tuple(dict.fromkeys(map(label, Fault))) for task, label in LABELS.items()
}
"""The classes of each task, `correct` first: 2, 3, 11, 12, 12, and 12 before those of messages."""

_FAULTS = {str(fault): fault for fault in Fault}


def classes_of(task: str, shapes: Mapping[str, int], *, least: int, most: int) -> tuple[str, ...]:
    """Return the classes of a task, with the most frequent shapes of messages where it predicts these."""
    if task != MESSAGES:
        return CLASSES[task]
    frequent = sorted((shape for shape, count in shapes.items() if count >= least), key=lambda each: -shapes[each])
    return (*CLASSES[task], *frequent[:most])


def class_of(task: str, fault: Fault, shape: str = "", classes: Sequence[str] = ()) -> int:
    """Return the number of an outcome's class; its message's, where that is among the classes."""
    known = classes or CLASSES[task]
    named = task == MESSAGES and fault.is_execution and shape in known
    return known.index(shape if named else LABELS[task](fault))


def has_own_message(fault: Fault, shape: str) -> bool:
    """Say whether a message is about the fault; a function that is not found may raise an error of another kind."""
    return fault.is_execution and _exception_of(shape) is fault


def fault_of(name: str) -> Fault | None:
    """Return the fault that a class stands for, or None where it stands for several."""
    return _FAULTS.get(name) or _exception_of(name)


def _exception_of(shape: str) -> Fault | None:
    """Return the fault of an exception by its type, which a message begins with; None where it begins with none."""
    kind, colon, _ = shape.partition(":")
    known = getattr(builtins, kind, None)
    exception = known if isinstance(known, type) and issubclass(known, BaseException) else None
    if exception is None and not (colon and kind.isidentifier()):
        return None
    if exception is not None and issubclass(exception, SyntaxError):  # with those of indentation
        return Fault.SYNTAX_ERROR
    return _FAULTS.get(kind, Fault.EXECUTION_OTHER)
