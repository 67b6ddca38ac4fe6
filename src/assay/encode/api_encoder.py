"""Texts to vectors by an OpenAI-compatible `/embeddings` endpoint, whose address and key the environment names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.encode.vectors import unit
from assay.errors import InputError, printable
from assay.io.endpoints import BASE
from assay.io.http import HttpOptions, ModelEndpoint
from assay.protocols import Role, Vectors

_BATCH = 96
_LONGEST = 24_000  # characters of one text: about the 8,191 tokens that such endpoints take
_MOST_BYTES = 32_000_000  # a batch of 8,192 numbers a text is 20 MB
_SHOWN = 200  # characters of an answer in a message


class ApiEncoder:
    """An encoder behind HTTP."""

    def __init__(self, model: str, *, base: str = "", pause_s: float = 0.5, timeout_s: float = 60.0) -> None:
        self.name = f"api:{model}"
        options = HttpOptions(timeout_s, _MOST_BYTES, pause_s=pause_s)
        self._endpoint = ModelEndpoint(
            "embeddings", model, options, base=base, later=f"try later, check {BASE}, or use another encoder"
        )
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """The width of a vector; the first question to the endpoint tells."""
        return self._dimension or self.encode(["dimension"], "query").shape[1]

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  such endpoints know no roles
        """Return one unit-length row a text; such endpoints know no roles."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit(np.concatenate([self._embed(batch) for batch in batches]))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of one batch; an empty text is sent as a space, which endpoints accept."""
        reply = self._endpoint.ask({"input": [text[:_LONGEST] or " " for text in texts]})
        try:
            ordered = sorted(reply["data"], key=lambda entry: int(entry["index"]))
            vectors = np.array([entry["embedding"] for entry in ordered], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            what = printable(repr(error))[:_SHOWN]
            raise InputError(
                f"{self._endpoint.url} answered without vectors ({what}): is it OpenAI-compatible?"
            ) from error
        wanted = (len(texts), self._dimension or (vectors.shape[1] if vectors.ndim == 2 else 0))
        if vectors.shape != wanted:
            raise InputError(
                f"{self.name} sent vectors of shape {vectors.shape}, wanted {wanted}: did the model change?"
            )
        self._dimension = wanted[1]
        return vectors
