"""What a training run of the neural ranker does; with the data and the base model, these values say everything."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError
from assay.rank.neural.fault_classes import CLASSES

RANKINGS = ("none", "pairwise", "listwise")
PRECISIONS = ("auto", "float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class NeuralSettings:
    """The defaults are the paper's (section 4.1) where it gives one."""

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
    decay: float = 0.01
    clip: float = 1.0
    balance: float = 1.0
    """How far classes are weighed against their frequency: 0 not at all, 1 until each counts the same."""
    even_tasks: bool = True
    """Whether each programming task counts the same, however many programs it has."""
    ranking: str = "none"
    """A loss between the programs of one task, beside that of the classes."""
    ranking_weight: float = 1.0
    group: int = 8
    """Programs of one task that are kept together in a batch where there is a ranking loss."""
    evaluate_every: int = 0
    """Steps between looks at the validation set; 0 is once an epoch."""
    patience: int = 5
    """Looks without a better ranked pass@1 before it stops."""
    precision: str = "auto"
    """`auto` is bfloat16 on a GPU that has it."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        known = {"task": (self.task, tuple(CLASSES)), "ranking": (self.ranking, RANKINGS)}
        for key, (value, wanted) in {**known, "precision": (self.precision, PRECISIONS)}.items():
            if value not in wanted:
                raise InputError(f"setting '{key}' is '{value}'; wanted one of {', '.join(wanted)}")
        for key in ("window", "code_least", "epochs", "batch", "micro", "group", "patience"):
            if getattr(self, key) < 1:
                raise InputError(f"setting '{key}' is {getattr(self, key)}; wanted 1 or more")
