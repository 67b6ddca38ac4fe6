"""A model file to what onnxruntime runs, with as many threads as this process may use; the owner of onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic

from assay.errors import InputError


class OnnxSession:
    """An exported model on the CPU."""

    def __init__(self, file: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
        try:
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises its own family, without a common root that it exports
            raise InputError(f"{file} is not an ONNX model that runs here: {error}; export it again") from error
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.float32], ...]:
        """Return the outputs of the model; arrays that it has no input for are left out."""
        return tuple(self._session.run(None, {name: arrays[name] for name in self._inputs}))


def quantize(file: Path) -> None:
    """Make the weights of a model 8-bit whole numbers, a scale a column; inputs are quantized as they come."""
    quantize_dynamic(str(file), str(file), weight_type=QuantType.QInt8, per_channel=True)
