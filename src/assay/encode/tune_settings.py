"""What a fine-tuning of a transformer does: with the pairs and the base, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError
from assay.settings import above_zero, at_least

_COUNTS = ("batch", "at_once", "accumulate", "epochs", "looks")
BF16 = ("auto", "yes", "no")


@dataclass(frozen=True, slots=True)
class TuneSettings:
    """Sizes, rates and parts; the defaults made the figures in the documentation."""

    negatives: int = 2
    """Judged wrong codes beside each right one, and wrong queries beside each code; 0 leaves judged wrong pairs out."""
    temperature: float = 0.05
    epochs: int = 3
    batch: int = 64
    """Right pairs of a step that stand against each other, on each device."""
    at_once: int = 64
    """Texts in memory at once; a larger batch computes its vectors twice instead of keeping them."""
    accumulate: int = 1
    """Batches of a step; unlike a larger batch, they do not stand against each other."""
    rate: float = 3e-5
    warm: float = 0.1
    """The fraction of the steps in which the rate rises."""
    decay: float = 0.01
    bf16: str = "auto"
    """Compute in bfloat16: `yes`, `no`, or where there is a GPU that has it."""
    lora: int = 0
    """The rank of LoRA's matrices, which are all that is trained and are merged at the end; 0 trains every weight."""
    looks: int = 10
    """How often the validation part is looked at; the model of the best look is kept."""
    patience: int = 4
    """The training ends after so many looks without a better one; 0 goes to the end."""
    valid: float = 0.1
    """The fraction of the queries that choose the model."""
    test: float = 0.1
    """The fraction of the queries that say what it is worth, and are used for nothing else."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, dict.fromkeys(_COUNTS, 1))
        at_least(self, dict.fromkeys(("negatives", "lora", "patience", "warm", "decay"), 0))
        above_zero(self, "rate", "temperature", "valid", "test")
        if self.valid + self.test >= 1:
            raise InputError(f"settings 'valid' and 'test' are {self.valid} and {self.test}: nothing is left to learn")
        check_bf16(self.bf16)


def check_bf16(value: str) -> None:
    """Refuse a value that says nothing about the precision."""
    if value not in BF16:
        raise InputError(f"setting 'bf16' is '{value}'; wanted {', '.join(BF16[:-1])} or {BF16[-1]}")
