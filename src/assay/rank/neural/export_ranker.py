"""A trained ranker to `model.onnx` in its own folder, so that ranking needs no torch.

What was written is run beside torch before it counts: a file whose probabilities are off by more than 1e-3 is removed.
int8 weights take a quarter of the space and are not the same model; how far off they are is told, and at most 0.2 is
let pass.
"""

from __future__ import annotations

from pathlib import Path

from assay.errors import InputError, MissingExtra
from assay.rank.neural.batches import padded
from assay.rank.neural.model_folder import ONNX, read_about
from assay.rank.neural.neural_ranker import OnnxRunner, ProgramPrediction, opinions

try:
    import torch

    from assay.encode.onnx import OnnxSession, quantize
    from assay.encode.onnx_export import write_onnx
    from assay.rank.neural.model import RankerModel, TorchRunner, load, tensors
    from assay.rank.neural.tokens import open_reader
except ModuleNotFoundError as error:
    raise MissingExtra("ONNX export", error.name or "onnx", "hf,onnx") from error

_OFF = {False: 1e-3, True: 0.2}
_SAMPLES = (
    "def f(a):\n    return a\n",
    "",
    "import re\n\n\ndef g(text, n):\n    for each in text:\n        n += 1\n    return n\n",
)


def export(folder: Path, *, int8: bool = False) -> float:
    """Write the file and return how far its probabilities are off from torch's at most."""
    about = read_about(folder)
    rows = open_reader(folder, about.layout).rows("Write a function that counts the letters of a text.", _SAMPLES)
    model = load(folder, about).eval()
    new = folder / f"{ONNX}.new"
    try:
        _write(model, tensors(padded(rows, about.layout.padding), "cpu"), new)
        if int8:
            quantize(new)
        wanted, got = (
            opinions(each, rows, about.layout.padding)
            for each in (TorchRunner(model, "cpu"), OnnxRunner(OnnxSession(new)))
        )
        off = max(_distance(one, two) for one, two in zip(wanted, got, strict=True))
        if not off <= _OFF[int8]:
            raise InputError(f"the exported model is {off:.4f} off from torch, more than {_OFF[int8]}; nothing written")
        new.replace(folder / ONNX)
    finally:
        new.unlink(missing_ok=True)
    return off


def _write(model: RankerModel, example: tuple[torch.Tensor, ...], file: Path) -> None:
    texts = {0: "texts"}
    size = {**texts, 1: "tokens"}
    inputs = {"ids": size, "mask": size, "segments": size}
    outputs = {"classes": texts, **({"tokens": size} if model.blame is not None else {})}
    write_onnx(model, example, file, inputs, outputs)


def _distance(one: ProgramPrediction, two: ProgramPrediction) -> float:
    classes, places = abs(one.classes - two.classes), abs(one.places - two.places)
    return float(max(classes.max(), places.max(initial=0)))
