"""What a trained reranker says of itself, in a file of its folder: what it reads, and what its opinion is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.types import Blend

ABOUT, MODEL, CARD = "reranker.json", "model.onnx", "README.md"


@dataclass(frozen=True, slots=True)
class RerankerAbout:
    """The part of a record that searching needs."""

    version: str
    """Changes with any number of the model."""
    tokens: int
    """Of question and text together, at most."""
    blend: Blend


def read_about(folder: Path) -> RerankerAbout:
    """Read what a folder says of its reranker."""
    file = folder / ABOUT
    try:
        stored: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
        blend = Blend(**{name: float(stored["blend"][name]) for name in ("weight", "scale", "offset")})
        return RerankerAbout(str(stored["version"]), int(stored["settings"]["tokens"]), blend)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"'{file}' does not describe a reranker ({error!r}): assay train reranker makes one"
        ) from error


def version_of(folder: Path) -> str:
    """Return the version of the model in a folder."""
    return sha256((folder / MODEL).read_bytes()).hexdigest()[:12]
