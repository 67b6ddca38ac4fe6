"""What a fine-tuning of a generator does: with the programs and the base, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.encode.tune_settings import check_bf16
from assay.errors import InputError
from assay.settings import above_zero, at_least


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """Sizes and rates; the defaults are those of Inala et al. 2022, section 4.1, where it says them."""

    template: str = "apps"
    """How a task is put, as in `assay rank sample --template`; what it writes later is asked for in the same way."""
    epochs: int = 2
    batch: int = 256
    """Programs of a step, on all devices together."""
    at_once: int = 8
    """Programs in memory at once, on each device; `batch` is a multiple of it, or less."""
    rate: float = 1e-5
    warm: float = 0.0
    """The fraction of the steps in which the rate rises; then it falls to nothing in a straight line."""
    decay: float = 0.0
    clip: float = 1.0
    """The largest norm of a gradient."""
    length: int = 1024
    """Tokens of task and program together; of a longer task the end is read, a longer program is left out."""
    most: int = 4
    """Different programs of a task, at most."""
    lora: int = 0
    """The rank of LoRA's matrices, which are all that is trained and are merged at the end; 0 trains every weight."""
    bf16: str = "auto"
    """Compute in bfloat16: `yes`, `no`, or where there is a GPU that has it."""
    checkpointing: bool = False
    """Compute activations twice instead of keeping them: less memory, a third more time."""
    looks: int = 8
    """How often the validation part is looked at; the model of the lowest loss is kept."""
    valid: float = 0.1
    """The fraction of the tasks that choose the model, where the rows do not say it."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, {"epochs": 1, "batch": 1, "at_once": 1, "length": 16, "most": 1, "looks": 1})
        at_least(self, {"lora": 0, "warm": 0, "decay": 0})
        above_zero(self, "rate", "clip")
        if not 0 < self.valid < 1:
            raise InputError(f"setting 'valid' is {self.valid}; wanted more than 0 and less than 1")
        check_bf16(self.bf16)
