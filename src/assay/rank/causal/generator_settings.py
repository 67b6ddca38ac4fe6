"""What a fine-tuning of a generator does: with the programs and the base, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError

PRECISIONS = ("auto", "yes", "no")


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
        least = {"epochs": 1, "batch": 1, "at_once": 1, "length": 16, "most": 1, "looks": 1, "lora": 0, "warm": 0}
        for name, wanted in {**least, "decay": 0}.items():
            if getattr(self, name) < wanted:
                raise InputError(f"setting '{name}' is {getattr(self, name)}; wanted {wanted} or more")
        for name in ("rate", "clip"):
            if not getattr(self, name) > 0:
                raise InputError(f"setting '{name}' is {getattr(self, name)}; wanted more than 0")
        if not 0 < self.valid < 1:
            raise InputError(f"setting 'valid' is {self.valid}; wanted more than 0 and less than 1")
        if self.bf16 not in PRECISIONS:
            raise InputError(f"setting 'bf16' is '{self.bf16}'; wanted auto, yes or no")
