"""Rank programs with a trained transformer (`neural:FOLDER`): the probability of being right, and the fault.

`ranker.json` in the folder says what was trained and how programs are laid out, `tokenizer.json` is the tokenizer with
the added tokens, `config.json` and `model.safetensors` are the model. `neural:FOLDER?dtype=bf16&device=cuda:1` chooses
precision and device; `batch=64` is how many programs go through the model at once.
The score is the probability of `correct`; the fault is the likeliest class, where that is one fault and not a kind of
them; `why` holds the probability of each class. A line is given where the likeliest class is an execution error: the
likeliest newline but the one that says *no error*, so that the two heads never contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assay.encode.models import ModelOptions, split_model
from assay.errors import InputError, MissingExtra
from assay.protocols import Pool
from assay.rank.neural_data import (
    TOKENIZER,
    ModelCard,
    Reader,
    TokenBatch,
    TokenLayout,
    TokenRow,
    by_length,
    fault_of,
    padded,
    read_about,
    required_file,
)
from assay.values import Program, Ranked, Task

Floats = NDArray[np.float32]
Shares = NDArray[np.float64]
_BATCH = 16
_OPTIONS = ("dtype", "device", "batch")


class LogitsRunner(Protocol):
    """A model that turns a batch into logits."""

    def run(self, batch: TokenBatch) -> tuple[Floats, ...]:
        """Return the logits of the classes, and with lines those of the tokens."""


@dataclass(frozen=True, slots=True)
class ProgramPrediction:
    """The prediction of a model for one program."""

    classes: Shares
    """The probability of each class."""
    places: Shares
    """The probability of each newline of its row; empty without lines."""


class NeuralRanker:
    """A ranker with a trained model."""

    def __init__(self, path: str = "") -> None:
        if not path:
            raise InputError("neural: needs the folder of a ranker, as in neural:PATH; 'assay rank train' writes one")
        self.name = f"neural:{path}"
        folder, options = split_model(path, _OPTIONS, "neural")
        place = Path(folder).expanduser()
        self._about = read_about(place)
        self._size = options.batch or _BATCH
        self._reader, self._runner = _open(place, self._about, options)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the model's ranking of each program."""
        return self.rank_many([(task, programs)])[0]

    def rank_many(self, pools: Sequence[Pool]) -> list[list[Ranked]]:
        """Return the model's ranking of each program of several tasks, which share batches."""
        sources: dict[tuple[str, str], int] = {}
        rows: list[TokenRow] = []
        for task, programs in pools:
            texts = dict.fromkeys(program.source for program in programs)
            new = [text for text in texts if (task.prompt, text) not in sources]
            sources |= {(task.prompt, source): len(rows) + at for at, source in enumerate(new)}
            rows += self._reader.rows(task.prompt, new)
        said = opinions(self._runner, rows, self._about.layout.padding, self._size)
        places = [[sources[task.prompt, program.source] for program in programs] for task, programs in pools]
        return [
            [self._ranked(program, rows[place], said[place]) for program, place in zip(programs, of, strict=True)]
            for (_, programs), of in zip(pools, places, strict=True)
        ]

    def _ranked(self, program: Program, row: TokenRow, opinion: ProgramPrediction) -> Ranked:
        classes = self._about.classes
        fault = fault_of(classes[int(opinion.classes.argmax())])
        blamed = fault is not None and fault.is_execution and len(opinion.places)
        line = row.line_of(1 + int(opinion.places[1:].argmax())) if blamed else -1
        why = dict(zip(classes, opinion.classes.tolist(), strict=True))
        right = float(opinion.classes[0])
        return Ranked(program, right, fault, line, why, right)


def opinions(
    runner: LogitsRunner, rows: Sequence[TokenRow], padding: int, size: int = _BATCH
) -> list[ProgramPrediction]:
    """Return the predictions of a model for each row."""
    said: list[ProgramPrediction | None] = [None] * len(rows)
    for places in by_length([len(row.ids) for row in rows], size):
        classes, *tokens = runner.run(padded([rows[place] for place in places], padding))
        for at, place in enumerate(places):
            newlines = tokens[0][at, rows[place].newlines] if tokens else np.zeros(0, np.float32)
            said[place] = ProgramPrediction(_softmax(classes[at]), _softmax(newlines))
    return [opinion for opinion in said if opinion is not None]


def _softmax(logits: Floats) -> Shares:
    """Return probabilities in double precision, since near certainties would be ties in single precision."""
    raised = np.exp(logits.astype(np.float64) - logits.max(initial=-np.inf))
    shares: Shares = raised / raised.sum()
    return shares


def _open(folder: Path, about: ModelCard, options: ModelOptions) -> tuple[Reader, LogitsRunner]:
    try:
        from assay.rank.neural_model import open_torch

        return open_reader(folder, about.layout), open_torch(folder, about, options)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("assay"):
            raise
        raise MissingExtra(f"neural:{folder}", error.name, "hf") from error


def open_reader(folder: Path, layout: TokenLayout) -> Reader:
    """Return the reader that turns programs into rows as in the training of the ranker."""
    from tokenizers import Tokenizer

    file = required_file(folder, TOKENIZER)
    try:
        return Reader(Tokenizer.from_file(str(file)), layout)
    except Exception as error:  # the library raises nothing narrower
        raise InputError(f"{file} is not a tokenizer: {error}; copy the whole folder again, or train again") from error
