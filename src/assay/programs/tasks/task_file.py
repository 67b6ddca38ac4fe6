"""What a file of tasks or samples held, and what of it could not be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.types import Problem, Task


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arguments of calls whose expected values are what the task's reference returns."""

    args: tuple[tuple[Any, ...], ...]
    contract: str = ""
    """Statements over the parameters that fail for arguments that are not allowed."""
    atol: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The tasks of a file, in its order."""

    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...] = ()
    form: str = ""
    inputs: Mapping[str, Inputs] = field(default_factory=dict, hash=False)
    """By the id of a task that has no tests yet: its reference has to be run for them."""
    notes: tuple[Problem, ...] = ()
    """What is no problem and worth a look: tests that hold for programs that do nothing."""
