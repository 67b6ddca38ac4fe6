"""Encode texts on the workers of a pool, each of which has the model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay import plugins
from assay.errors import AssayError
from assay.protocols import Encoder, Role, Runner, Vectors
from assay.runs.worker_pool import About, NamedWork

TEXTS = 16
"""Texts of one item: a batch of a model, and little enough to be shared out."""
Texts = tuple[tuple[str, ...], Role]


def encoder_work(spec: str) -> NamedWork[Texts, Vectors]:
    """Return what makes the workers of a crew encode."""
    settings = {"spec": spec, "folder": str(Path.cwd())}
    return NamedWork("assay.encode.encoder_member:open_member", settings, tuple, _vectors, _broken)


class PoolEncoder:
    """An encoder whose model is elsewhere, on every machine of a crew."""

    def __init__(self, runner: Runner[Texts, Vectors], about: About) -> None:
        """Take the crew, and what its first worker said of the model."""
        self._runner = runner
        self.name = about["encoder"]
        self.dimension = int(about["dimension"])

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text, in their order."""
        items = [(tuple(texts[start : start + TEXTS]), role) for start in range(0, len(texts), TEXTS)]
        return np.vstack([np.zeros((0, self.dimension), np.float32), *self._runner.run(items)])


class EncoderMember:
    """The model where a worker is."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def about(self) -> About:
        """Say which model it is."""
        return {"encoder": self._encoder.name, "dimension": str(self._encoder.dimension)}

    def do(self, items: Sequence[Any]) -> list[tuple[int, bytes]]:
        """Encode some texts of each item."""
        encoded = [self._encoder.encode(texts, role) for texts, role in items]
        return [(len(vectors), vectors.tobytes()) for vectors in encoded]

    def close(self) -> None:
        """End it."""


def open_member(spec: str, folder: str) -> EncoderMember:
    """Load the model; a relative folder in its name is one of the folder where the run was started."""
    if Path(folder).is_dir():
        os.chdir(folder)
    return EncoderMember(plugins.make("encoder", spec))


def _vectors(values: tuple[int, bytes]) -> Vectors:
    rows, raw = values
    vectors = np.frombuffer(raw, np.float32)
    return vectors.reshape(rows, -1) if rows else vectors.reshape(0, 0)


def _broken(item: Texts, detail: str) -> Vectors:
    raise AssayError(f"{len(item[0])} texts cannot be encoded: {detail}")
