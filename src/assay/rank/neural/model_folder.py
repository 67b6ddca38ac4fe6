"""What a trained ranker leaves in its folder, and how it is read again: no torch here.

`ranker.json` says what was trained and how programs are laid out, `tokenizer.json` is the tokenizer with the tokens
that were added, `config.json` and `model.safetensors` are base model and heads for torch, `model.onnx` the same for
onnxruntime where it was exported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.rank.neural.batches import TokenLayout
from assay.rank.neural.fault_classes import CLASSES, LINES, MESSAGES

ABOUT, TOKENIZER, CONFIG, WEIGHTS, ONNX = (
    "ranker.json",
    "tokenizer.json",
    "config.json",
    "model.safetensors",
    "model.onnx",
)
FORMAT = 2
_READ = (1, 2)
"""Formats that are read; in the first, classes were those of the task, and E+L had one head for lines."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a folder holds."""

    base: str
    """What people call the model that was trained on: a name on the hub, or a folder's last part."""
    task: str
    reads: str
    """Whose state tells the class: the `first` token's, or the `last` one's where a model cannot look ahead."""
    layout: TokenLayout
    found: Mapping[str, float]
    """What the validation set said of it."""
    classes: tuple[str, ...]
    """What it tells apart, `correct` first."""
    line_head: str
    """How the line is told, empty where it is not."""


def write_about(folder: Path, about: ModelCard) -> None:
    """Write `ranker.json`."""
    text = json.dumps({"format": FORMAT, **asdict(about)}, indent=1)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


def read_about(folder: Path) -> ModelCard:
    """Read `ranker.json`; a folder that holds no trained ranker is refused, with what it lacks."""
    file = folder / ABOUT
    if not file.is_file():
        there = f"{folder} holds no {ABOUT}" if folder.is_dir() else f"no folder {folder}"
        raise InputError(f"{there}; train a ranker with 'assay rank train', and name the folder that it wrote")
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if (form := told.pop("format")) not in _READ:
            raise InputError(f"{file} is of format {form}, wanted {_READ[0]} to {_READ[-1]}; train again")
        classes, known = tuple(told.pop("classes")), CLASSES[told["task"]]
        if classes[: len(known)] != known or (len(classes) > len(known) and told["task"] != MESSAGES):
            raise InputError(f"{file} has other classes than this version of assay; train again")
        line_head = told.pop("line_head", "mapped" if told["task"] == LINES else "")
        layout = told.pop("layout")
        layout = TokenLayout(**{**layout, "opening": tuple(layout["opening"])})
        return ModelCard(layout=layout, classes=classes, line_head=line_head, **told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} is damaged ({type(error).__name__}: {error}); train again") from error


def required_file(folder: Path, name: str) -> Path:
    """Return a file of a folder, which has to be there."""
    if not (folder / name).is_file():
        raise InputError(f"no {name} in {folder}; copy the whole folder that 'assay rank train' wrote, or train again")
    return folder / name
