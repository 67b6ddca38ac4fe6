"""Questions and texts to the token numbers of pairs, as a cross-encoder reads them; the longer of the two is cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class PairReader:
    """The tokenizer of a folder, with how many tokens a pair may have."""

    def __init__(self, folder: Path, tokens: int) -> None:
        self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[str, NDArray[np.int64]]:
        """Return what a model takes, each of shape (pairs, tokens of the longest)."""
        encoded = self._tokenizer.encode_batch(list(pairs))
        parts = ("ids", "attention_mask", "type_ids")
        return {
            name: np.array([getattr(entry, part) for entry in encoded], dtype=np.int64)
            for name, part in zip(INPUTS, parts, strict=True)
        }
