"""Declare what is trained, and how: with the data and what it starts from, these values decide everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError, MissingExtra
from assay.judge.requests import signals_encoder
from assay.parameters import Request, argument, flag, option, verbose
from assay.runs import options
from assay.settings import above_zero, at_least, one_of


@contextmanager
def extra_of(part: str) -> Iterator[None]:
    """Name the extra that brings the library whose import failed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(part, str(error.name), "train") from error


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """What every training has; `batch` and `rate` are of a step, whatever is learned."""

    seed: int = 0
    batch: int = 64
    rate: float = 3e-5

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, {"batch": 1})
        above_zero(self, "rate")


@dataclass(frozen=True, slots=True)
class FineTuneSettings(TrainSettings):
    """What the fine-tuning of a transformer has, whatever it learns."""

    epochs: int = 3
    at_once: int = 64
    """What is in memory at once."""
    warm: float = 0.1
    """The fraction of the steps in which the rate rises."""
    decay: float = 0.01
    bf16: str = "auto"
    """Compute in bfloat16: `yes`, `no`, or where there is a GPU that has it."""
    looks: int = 10
    """How often the validation part is looked at; the model of the best look is kept."""
    valid: float = 0.1
    """The fraction that chooses the model."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        TrainSettings.__post_init__(self)
        at_least(self, {"epochs": 1, "at_once": 1, "looks": 1, "warm": 0, "decay": 0})
        above_zero(self, "valid")
        one_of("bf16", self.bf16, ("auto", "yes", "no"))


@dataclass(frozen=True, slots=True)
class TuneSettings(FineTuneSettings):
    """An encoder on judged pairs; the defaults made the figures in the documentation.

    A `batch` is of right pairs that stand against each other; a larger one than `at_once` computes its
    vectors twice instead of keeping them.
    """

    negatives: int = 2
    """Judged wrong codes beside each right one; 0 leaves judged wrong pairs out."""
    temperature: float = 0.05
    accumulate: int = 1
    """Batches of a step; unlike a larger batch, they do not stand against each other."""
    patience: int = 4
    """The training ends after so many looks without a better one; 0 goes to the end."""
    test: float = 0.1
    """The fraction of the queries that say what it is worth, and are used for nothing else."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        FineTuneSettings.__post_init__(self)
        at_least(self, {"accumulate": 1, "negatives": 0, "patience": 0})
        above_zero(self, "temperature", "test")
        if self.valid + self.test >= 1:
            raise InputError(f"settings 'valid' and 'test' are {self.valid} and {self.test}: nothing is left to learn")


@dataclass(frozen=True, slots=True)
class GeneratorSettings(FineTuneSettings):
    """A generator on right programs; the defaults are those of Inala et al. 2022 (section 4.1) where it has them.

    A `batch` is of programs, of which the most that divide it and `at_once` are in memory at once.
    """

    epochs: int = 2
    batch: int = 256
    at_once: int = 8
    rate: float = 1e-5
    warm: float = 0.0
    decay: float = 0.0
    length: int = 1024
    """Tokens of prompt and program together; what is longer is left out."""


@dataclass(frozen=True, slots=True)
class TableSettings(TrainSettings):
    """What each training of a table has: its width, the stage that learns to search, and what is only evaluated on."""

    held_out: tuple[str, ...] = ()
    """Sources that are only evaluated on."""
    held_out_one_in: int = 12
    """How many of the other sources one is held out of; 0 holds out the named ones alone."""
    left_out: tuple[str, ...] = ()
    """Sources that were kept out; only recorded."""
    evaluated: int = 1000
    """Pairs of the held-out sources at most."""
    dimension: int = 256
    epochs: int = 2
    rate: float = 4e-3
    batch: int = 1024
    temperature: float = 0.05
    keep: float = 1.0
    """The weight of staying near the teacher while learning to search."""
    hide: float = 0.5
    """The fraction of pairs whose common words are hidden in the answer, so that meaning has to be learned."""


@dataclass(frozen=True, slots=True)
class DistillSettings(TableSettings):
    """A table distilled from a teacher; the defaults made the first step of the shipped one."""

    entries: int = 48_000
    """Words and pieces: 256 bytes each in the shipped table."""
    rarity: float = 1e-3
    """`a` of the weight `a / (a + p)` of a word with probability `p` (Arora et al. 2017, section 3)."""
    fit_texts: int = 44_000
    fit_characters: int = 260
    fit_epochs: int = 6
    fit_rate: float = 1e-3


@dataclass(frozen=True, slots=True)
class JoinSettings(TableSettings):
    """Word vectors of another model joined to a table; the defaults made the second step of the shipped one."""

    weight: float = 0.7
    """How long a word's vector of the other model is beside the table's own row of it."""
    ridge: float = 5.0
    """The penalty of the map by which words that the other model does not know get a vector from the table's."""
    read_pairs: int = 22_000
    """Pairs whose sums choose the directions that are kept, and are stayed near while learning to search."""
    epochs: int = 1
    rate: float = 2e-3


@dataclass(frozen=True, slots=True)
class RankingSettings(TrainSettings):
    """The learned ranking; the defaults made the shipped weights. A `batch` is of queries."""

    encoder: str = "static:default"
    """The spec of the encoder whose cosines are learned with; one for bags of words, one for contextual encoders."""
    folds: int = 4
    """Groups that take turns in being held out, whole writers and whole repositories."""
    seeds: int = 8
    """Networks that are fitted side by side and averaged."""
    steps: int = 200
    """Of each network, instead of epochs."""
    batch: int = 160
    mined: int = 1200
    """Most queries that commits ask which are learned from beside those of people."""
    rate: float = 0.03
    hide: float = 0.1
    """The fraction of features that are hidden from a query at random while it is learned from."""
    hidden_code: int = 16
    hidden_docs: int = 8
    """Units of the hidden layer; 0 is a linear ranking."""
    decay_code: float = 0.1
    decay_docs: float = 1.0
    relevance_hidden: int = 16
    relevance_steps: int = 600
    relevance_rate: float = 0.01
    relevance_decay: float = 0.01
    """Of the network that tells answerable queries from foreign ones."""
    strangers: float = 0.25
    """What a query that another repository answers counts beside one that none does: some are answered here, too."""
    false_alarms: float = 0.05
    """The fraction of queries answered in the first five that may be told that nothing relevant was found."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        TrainSettings.__post_init__(self)
        at_least(self, {"folds": 2, "seeds": 1, "steps": 1})

    def hidden(self, mode: str) -> int:
        """Return how many hidden units the ranking of a mode has."""
        return self.hidden_docs if mode == "docs" else self.hidden_code

    def decay(self, mode: str) -> float:
        """Return the weight decay of a mode."""
        return self.decay_docs if mode == "docs" else self.decay_code


TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"
BEFORE = "static:default"


class EncoderRequest(Request):
    """Train a static encoder, or fine-tune a transformer."""

    out: Path = option("--out FOLDER", "Where the encoder goes.", required=True)
    from_environment: bool = flag("--from-environment", "Learn from installed packages and the standard library.")
    roots: tuple[str, ...] = option("--repository PATH", "Learn from a repository. Repeatable.")
    files: tuple[Path, ...] = option("--pairs FILE", "Learn from the pairs in FILE. Repeatable.")
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE", "Take out pairs with a query or code that FILE judges, to measure on it. Repeatable."
    )
    base: str = option("--base SPEC", "Fine-tune this transformer (hf:NAME or hf:FOLDER), not a table.")
    onnx: bool = flag("--onnx", "With --base: also write FOLDER/onnx, which runs without torch, in 8 bits.")
    fresh: bool = flag("--fresh", "With --base: start again; what is in FOLDER is moved to FOLDER.old.")
    teacher: str = option("--teacher SPEC", "The encoder to distill first.", show=TEACHER)
    words: Path | None = option(
        "--join FILE", "Join word vectors of another model (.npz) to a table; distill nothing.", kind="file"
    )
    before: str = option("--from SPEC", "The table that --join starts from.", show=BEFORE)
    changes: tuple[str, ...] = options.changes()
    verbose: bool = verbose("Show the traceback of an error.")


class GeneratorRequest(Request):
    """Fine-tune a language model that writes programs."""

    base: str = option("--base SPEC", "The causal language model to start from: hf:NAME or hf:FOLDER.", required=True)
    files: tuple[Path, ...] = option(
        "--data FILE", "Tasks with references, or what assay rank data wrote and its tasks. Repeatable.", required=True
    )
    left_out: tuple[Path, ...] = option("--leave-out FILE", "Take out the tasks in FILE, to test on them. Repeatable.")
    out: Path = option("--out FOLDER", "Where the generator goes.", required=True)
    template: str = option("--template NAME|FILE", "How tasks are put: apps, plain, or a file.", default="apps")
    fresh: bool = flag("--fresh", "Start again; what is in FOLDER is moved to FOLDER.old.")
    changes: tuple[str, ...] = options.changes()
    verbose: bool = verbose("Show all problems of the data, and the traceback of an error.")


class SignalsRequest(Request):
    """Train the weights of the judge that asks no model."""

    sources: tuple[str, ...] = argument("SOURCE...", required=True)
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE",
        "Pairs to report on later: what shares a query or a code with them is not learned from. Repeatable.",
    )
    encoder: str = signals_encoder(
        "--encoder", "An encoder, such as onnx:FOLDER, whose cosine takes the place of all features."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    changes: tuple[str, ...] = options.changes("Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


class RankingRequest(Request):
    """Train the weights of the ranking."""

    truths: tuple[Path, ...] = argument("TRUTH...", required=True)
    checkouts: Path = option(
        "--checkouts FOLDER",
        "Where the repositories are: NAME.csv and NAME_docs.csv are about FOLDER/NAME.",
        required=True,
    )
    foreign: tuple[Path, ...] = option(
        "--foreign FILE", "Questions that no repository answers, in the columns query and writer. Repeatable."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    encoder: str = option("--encoder SPEC", "The encoder to search with.", default="static:default")
    changes: tuple[str, ...] = options.changes("Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")
