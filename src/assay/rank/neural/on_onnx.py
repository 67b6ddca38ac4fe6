"""A ranker that was exported, run by onnxruntime: no torch."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from assay.errors import InputError
from assay.rank.neural.batches import Batch
from assay.rank.neural.folder import ONNX, About

Floats = NDArray[np.float32]


class OnnxRunner:
    """An exported ranker on the CPU."""

    def __init__(self, file: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        try:
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises its own family, without a common root that it exports
            raise InputError(f"{file} is no ONNX model that runs here: {error}; export it again") from error
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def run(self, batch: Batch) -> tuple[Floats, ...]:
        """Return the logits of the classes, and with lines those of the tokens."""
        given = {"ids": batch.ids, "mask": batch.mask, "segments": batch.segments}
        return tuple(self._session.run(None, {name: given[name] for name in self._inputs}))


def open_onnx(folder: Path, _: About) -> OnnxRunner:
    """Return a trained ranker; its file says all."""
    return OnnxRunner(folder / ONNX)
