"""Say how a generator is fine-tuned: with the programs and the base, these values decide everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError
from assay.settings import above_zero, at_least
from assay.train.settings import FineTuneSettings


@dataclass(frozen=True, slots=True)
class GeneratorSettings(FineTuneSettings):
    """Sizes and rates; the defaults are those of Inala et al. 2022, section 4.1, where it says them.

    A `batch` is of programs, on all devices together, and a multiple of `at_once`, or less; `valid` is a fraction of
    the tasks, where the rows do not say it. From its highest value the rate falls to nothing in a straight line.
    """

    template: str = "apps"
    """How a task is put, as in `assay rank sample --template`; what it writes later is asked for in the same way."""
    epochs: int = 2
    batch: int = 256
    at_once: int = 8
    rate: float = 1e-5
    warm: float = 0.0
    decay: float = 0.0
    clip: float = 1.0
    """The largest norm of a gradient."""
    length: int = 1024
    """Tokens of task and program together; of a longer task the end is read, a longer program is left out."""
    most: int = 4
    """Different programs of a task, at most."""
    checkpointing: bool = False
    """Compute activations twice instead of keeping them: less memory, a third more time."""
    looks: int = 8

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        FineTuneSettings.__post_init__(self)
        at_least(self, {"length": 16, "most": 1})
        above_zero(self, "clip")
        if self.valid >= 1:
            raise InputError(f"setting 'valid' is {self.valid}; wanted more than 0 and less than 1")
