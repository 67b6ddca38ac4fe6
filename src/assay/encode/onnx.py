"""Encode texts with a folder of `model.onnx` and `tokenizer.json`: no torch, mean over tokens.

`assay.encode.hf` writes such folders from `hf:` encoders; other exports work when their inputs are
`input_ids`, `attention_mask` and perhaps `token_type_ids`, and their first output is one vector a token. The owner of
onnxruntime.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from assay.encode.vectors import shortest_first, unit
from assay.errors import InputError
from assay.protocols import Role, Vectors


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


MODEL, TOKENIZER, USE = "model.onnx", "tokenizer.json", "assay.json"
_BATCH = 32
_MAX_TOKENS = 256


class OnnxEncoder:
    """An exported transformer on the CPU."""

    def __init__(self, folder: str) -> None:
        self.name = f"onnx:{folder}"
        path = Path(folder).expanduser()
        for file in (MODEL, TOKENIZER):
            if not (path / file).is_file():
                raise InputError(f"no {file} in {path}; export one with assay.encode.hf, or name another folder")
        use = json.loads((path / USE).read_text("utf-8")) if (path / USE).is_file() else {}
        self._prefix = {"query": str(use.get("query", "")), "code": str(use.get("code", ""))}
        self._tokenizer: Any = Tokenizer.from_file(str(path / TOKENIZER))
        self._tokenizer.enable_truncation(int(use.get("max_tokens", _MAX_TOKENS)))
        self._tokenizer.enable_padding()
        self._session = OnnxSession(path / MODEL)
        self.dimension = self._run(["dimension"]).shape[1]

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text, with the prefix of the role."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for places in shortest_first(texts, _BATCH):
            vectors[places] = self._run([self._prefix[role] + texts[place] for place in places])
        return unit(vectors)

    def _run(self, texts: list[str]) -> Vectors:
        """Return the mean of the tokens' vectors of each text."""
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([entry.attention_mask for entry in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([entry.ids for entry in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        tokens = self._session.run(given)[0]
        vectors: Vectors = (tokens * mask[:, :, None]).sum(1) / np.maximum(mask.sum(1, keepdims=True), 1)
        return vectors
