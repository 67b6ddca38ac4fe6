"""Texts to vectors by an OpenAI-compatible `/embeddings` endpoint.

The address is `ASSAY_API_BASE`, else `OPENAI_BASE_URL`, else OpenAI's own; the key is `OPENAI_API_KEY`, and an
endpoint on one's own machine needs none. Busy and broken servers (429, 5xx, dropped connections) are asked again
with doubling pauses; any other refusal is the user's to mend and is shown at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np

from assay.encode.vectors import unit
from assay.errors import InputError
from assay.protocols import Role, Vectors

_BATCH = 96
_LONGEST = 24_000  # characters of one text: about the 8,191 tokens that such endpoints take
_TRIES = 6


class ApiEncoder:
    """An encoder behind HTTP."""

    def __init__(self, model: str, *, base: str | None = None, pause_s: float = 0.5, timeout_s: float = 60.0) -> None:
        self.name = f"api:{model}"
        self._model = model
        self._pause_s = pause_s
        self._base = (base or os.environ.get("ASSAY_API_BASE") or os.environ.get("OPENAI_BASE_URL") or "").rstrip("/")
        self._base = self._base or "https://api.openai.com/v1"
        key = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, timeout=timeout_s)
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
        reply = self._ask({"model": self._model, "input": [text[:_LONGEST] or " " for text in texts]})
        try:
            ordered = sorted(reply["data"], key=lambda entry: int(entry["index"]))
            vectors = np.array([entry["embedding"] for entry in ordered], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{self._base}/embeddings answered without vectors ({error!r}): is it OpenAI-compatible?"
            ) from error
        wanted = (len(texts), self._dimension or (vectors.shape[1] if vectors.ndim == 2 else 0))
        if vectors.shape != wanted:
            raise InputError(
                f"{self.name} sent vectors of shape {vectors.shape}, wanted {wanted}: did the model change?"
            )
        self._dimension = wanted[1]
        return vectors

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Post one question and ask again while the endpoint is busy."""
        for attempt in range(_TRIES):
            problem, wait_s = self._attempt(question)
            if isinstance(problem, dict):
                return problem
            if attempt + 1 < _TRIES:
                time.sleep(wait_s if wait_s is not None else self._pause_s * 2**attempt)
        raise InputError(
            f"{self._base}/embeddings failed {_TRIES} times, last with {problem}: try later, or another encoder"
        )

    def _attempt(self, question: dict[str, Any]) -> tuple[dict[str, Any] | str, float | None]:
        """Return the reply, or what went wrong for now and how long the endpoint wants us to wait."""
        try:
            response = self._client.post(f"{self._base}/embeddings", json=question)
        except httpx.TransportError as error:
            return f"{type(error).__name__}: {error}", None
        if response.status_code == 429 or response.status_code >= 500:
            return f"HTTP {response.status_code}", _asked_to_wait_s(response)
        if response.is_error:
            raise InputError(
                f"{self._base}/embeddings refused {self._model!r} with HTTP {response.status_code}: "
                f"{response.text[:200]!r}; check ASSAY_API_BASE, OPENAI_API_KEY and the model's name"
            )
        try:
            reply = response.json()
        except ValueError as error:
            raise InputError(f"{self._base}/embeddings did not answer in JSON: is ASSAY_API_BASE right?") from error
        return (reply if isinstance(reply, dict) else {}), None


def _asked_to_wait_s(response: httpx.Response) -> float | None:
    """Return the seconds of `Retry-After`, at most a minute; dates are left to the doubling pause."""
    value = response.headers.get("retry-after", "")
    return min(float(value), 60.0) if value.replace(".", "", 1).isdigit() else None
