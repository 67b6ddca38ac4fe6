"""What a ranker tells apart, and the settings of its training: with the data and the base model they decide everything.

The five tasks are those of Inala et al. 2022 (section 3.2). The first class of each is `correct`: its probability is
the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.faults import Fault, binary, execution, intent, ternary
from assay.settings import above_zero, at_least, one_of

LINES = "E+L"
"""The task that also predicts the line that breaks."""

LABELS: Mapping[str, Callable[[Fault], str]] = {
    "B": binary,
    "T": ternary,
    "I": intent,
    "E": execution,
    LINES: execution,
}
"""What an outcome is called, by task."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    task: tuple(dict.fromkeys(map(label, Fault))) for task, label in LABELS.items()
}
"""The classes of each task, `correct` first: 2, 3, 11, 12 and 12."""

_FAULTS = {str(fault): fault for fault in Fault}


def class_of(task: str, fault: Fault) -> int:
    """Return the number of an outcome's class."""
    return CLASSES[task].index(LABELS[task](fault))


def fault_of(name: str) -> Fault | None:
    """Return the fault that a class stands for, or None where it stands for several."""
    return _FAULTS.get(name)


PRECISIONS = ("auto", "float32", "bfloat16")
LINE_HEADS = ("mapped", "vector")
_COUNTS = ("window", "code_least", "epochs", "batch", "micro")
_AMOUNTS = (
    *("layers", "steps", "warm", "warm_steps", "decay", "balance"),
    *("evaluate_every", "patience", "checkpoint_steps", "clip"),
)


@dataclass(frozen=True, slots=True)
class NeuralSettings:
    """The defaults are the paper's (section 4.1) where it gives one; `PAPER` has what else its training does."""

    base: str = "microsoft/codebert-base"
    """An encoder or decoder: a name on the hub, or a folder."""
    task: str = "T"
    """What is predicted: B, T, I, E or E+L."""
    window: int = 512
    """Tokens of prompt and code together at most."""
    code_least: int = 64
    """Tokens that are left to the code, however long the prompt; half of the window at most."""
    layers: int = 0
    """Keep only the lowest layers of the base model, to fit a small machine; 0 keeps all."""
    epochs: int = 30
    steps: int = 0
    """Stop after so many steps of the optimizer instead; 0 is what the epochs make."""
    batch: int = 512
    micro: int = 32
    """Programs that go through the model at once; a batch gathers the gradients of several."""
    rate: float = 1e-4
    warm: float = 0.1
    """The share of all steps in which the rate rises; then it falls to nothing."""
    warm_steps: int = 0
    """How many steps the rate rises instead; 0 leaves that to `warm`."""
    decay: float = 0.01
    clip: float = 1.0
    balance: float = 1.0
    """How far classes are weighed against their frequency: 0 not at all, 1 until each counts the same."""
    even_tasks: bool = True
    """Whether each programming task counts the same, however many programs it has."""
    line_head: str = "mapped"
    """How E+L tells the line: `vector` is the paper's one learned vector with a loss that weighs all alike."""
    evaluate_every: int = 0
    """Steps between looks at the validation set; 0 is once an epoch."""
    patience: int = 5
    """Looks without a better ranked pass@1 before it stops; 0 goes to the end."""
    checkpoint_steps: int = 200
    """Steps between checkpoints, beside the one at each look; 0 leaves it at these."""
    precision: str = "auto"
    """`auto` is bfloat16 on a GPU that has it."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        one_of("task", self.task, tuple(CLASSES))
        one_of("precision", self.precision, PRECISIONS)
        one_of("line_head", self.line_head, LINE_HEADS)
        at_least(self, {**dict.fromkeys(_COUNTS, 1), **dict.fromkeys(_AMOUNTS, 0)})
        above_zero(self, "rate")


RECIPES: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "paper": {
        "epochs": 30,
        "window": 512,
        "batch": 512,
        "micro": 16,
        "rate": 1e-4,
        "warm_steps": 1000,
        "decay": 0.01,
        "clip": 1.0,
        "balance": 1.0,
        "even_tasks": False,
        "line_head": "vector",
        "evaluate_every": 10,
        "patience": 0,
    },
}
"""Settings by name. What the paper leaves open is as its published code has it (microsoft/CodeRanker, finetune.sh)."""
