"""Code and documentation encoded by two models that know nothing of one another, as one encoder.

`sides:CODE,DOCS` has the width of both: a chunk of code lies in the first coordinates and a chunk of documentation in
the others, zeros elsewhere, and a query in all of them. So the cosine of a query with a chunk is that of the encoder of
its side, but for one constant, and nothing that stores or compares vectors knows of it. What is measured in deviations
from a mean, which differ from encoder to encoder, is measured for each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal

import numpy as np

from assay import plugins
from assay.errors import InputError
from assay.protocols import Encoder, Role, Vectors

Side = Literal["code", "docs"]
SIDES: tuple[Side, ...] = ("code", "docs")
HALVES = sqrt(2)
"""How many times the cosine of a query with a chunk is that of the vectors of both."""
_NAME = "sides:"


class SidesEncoder:
    """An encoder made of two."""

    def __init__(self, code: Encoder, docs: Encoder) -> None:
        self.name = f"{_NAME}{code.name},{docs.name}"
        self._code, self._docs = code, docs

    @property
    def dimension(self) -> int:
        """The width of a vector: of both."""
        return self._code.dimension + self._docs.dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text: a query by both encoders, a chunk by that of its side."""
        if role == "query":
            both = (self._code.encode(texts, "query"), self._docs.encode(texts, "query"))
            return np.hstack(both) / np.float32(HALVES)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if role == "docs":
            vectors[:, self._code.dimension :] = self._docs.encode(texts, "code")
        else:
            vectors[:, : self._code.dimension] = self._code.encode(texts, "code")
        return vectors


def make_sides(argument: str = "") -> SidesEncoder:
    """Return the encoder of a spec `sides:CODE,DOCS`."""
    return SidesEncoder(*(plugins.make("encoder", spec) for spec in specs_of(argument)))


def specs_of(argument: str) -> tuple[str, str]:
    """Return the specs of both sides."""
    code, comma, docs = argument.partition(",")
    if not (code and comma and docs):
        raise InputError(f"'{_NAME}{argument}' does not name two encoders; wanted sides:CODE,DOCS")
    return code, docs


def is_sided(encoder: str) -> bool:
    """Say whether the encoder of a name has one for each side."""
    return encoder.startswith(_NAME)


def name_of_side(encoder: str, side: str) -> str:
    """Return the name of what encodes a side; one encoder does both."""
    if not is_sided(encoder):
        return encoder
    code, docs = specs_of(encoder.removeprefix(_NAME))
    return docs if side == "docs" else code
