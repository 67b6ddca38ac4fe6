"""Texts to vectors by a Model2Vec folder (`tokenizer.json`, `model.safetensors`), for tables that others trained.

The folder's own tokenizer is used, so its library is needed; the one tensor is read without one: the safetensors
format is a length, a JSON header and raw numbers (github.com/huggingface/safetensors, "Format").
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from assay.encode.vectors import unit
from assay.errors import InputError
from assay.protocols import Role, Vectors

_TYPES = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I8": np.int8}


class Model2VecEncoder:
    """A table of token vectors behind its own tokenizer."""

    def __init__(self, folder: Path) -> None:
        self.name = f"static:{folder}"
        self._table = read_tensor(folder / "model.safetensors", "embeddings")
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # tokenizers raises plain Exception
            raise InputError(f"no tokenizer.json of a Model2Vec model in {folder}: {error}") from error
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return int(self._table.shape[1])

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  such tables know no roles
        """Return one unit-length row a text; a text without a known token is the zero vector."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for vector, encoded in zip(
            vectors, self._tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True
        ):
            known = [token for token in encoded.ids if token != self._unknown]
            vector[:] = self._table[known].astype(np.float32).sum(0)
        return unit(vectors)


def read_tensor(path: Path, name: str) -> Any:
    """Return a two-dimensional tensor of a safetensors file as a memory map."""
    try:
        with path.open("rb") as file:
            header_size = int.from_bytes(file.read(8), "little")
            about = json.loads(file.read(header_size))[name]
        start, _ = about["data_offsets"]
        return np.memmap(path, _TYPES[about["dtype"]], "r", 8 + header_size + start, tuple(about["shape"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"no tensor {name!r} in {path} ({error!r}): is it a Model2Vec model?") from error
