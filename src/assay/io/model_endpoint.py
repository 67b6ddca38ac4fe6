"""Ask one model of an endpoint, which its spec or the environment names.

A model is named as `MODEL` or `MODEL@URL`. The address is the one that it names, else `ASSAY_API_BASE`, else
`OPENAI_BASE_URL`, else `otherwise`. The key for a base of the environment is `ASSAY_API_KEY`, else `OPENAI_API_KEY`; an
endpoint on one's own machine needs none, and an address that stands only in a spec gets none.
"""

from __future__ import annotations

import os
from typing import Any

from assay.errors import HttpError, ModelUnavailable
from assay.io.endpoint_address import (
    BASE,
    KEY,
    OPENAI_BASE,
    OPENAI_KEY,
    OPENAI_URL,
    checked_base,
    first_set,
    key_in,
    split_address,
)
from assay.io.http import HttpClient, HttpOptions


class ModelEndpoint:
    """One model at one path, which threads may share; `later` is the advice if it does not answer."""

    def __init__(  # noqa: PLR0913  who is asked, where, how, and what to do where nobody is there
        self,
        path: str,
        model: str,
        options: HttpOptions,
        *,
        base: str = "",
        otherwise: str = OPENAI_URL,
        key: str = "",
        later: str,
    ) -> None:
        """Without `base`, the environment gives the address; `key` is the variable with the key of its provider."""
        self._model, at = split_address(model)
        if key and not at and not key_in(key):
            raise ModelUnavailable(f"no key for {base}: set {key} to it, or write {self._model}@URL")
        named = "" if base else first_set((BASE, OPENAI_BASE))
        environment = os.environ.get(named, "").strip().rstrip("/")
        base = at.rstrip("/") or base or environment or otherwise
        if not base:
            raise ModelUnavailable(f"no address of {self._model!r}: set {BASE} to it, or write {self._model}@URL")
        is_named = environment and base == environment
        self.url = f"{checked_base(base, f'the address in {named}' if is_named else 'the address')}/{path}"
        self._later = later
        self._key_variable = key or (first_set((KEY,)) if base != OPENAI_URL else "") or OPENAI_KEY
        secret = "" if at and not is_named else key_in(self._key_variable)
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        self._client = HttpClient(self.url, self.url, options, headers)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON object that the endpoint answers; empty if the answer is not an object."""
        reply = self.ask_any(question)
        return reply if isinstance(reply, dict) else {}

    def ask_any(self, question: dict[str, Any]) -> Any:
        """Return the JSON that the endpoint answers, of any type."""
        try:
            return self._client.ask_json(self.url, {"model": self._model, **question}, lambda value: value)
        except HttpError as error:
            problem = ModelUnavailable(self._explained(error), status=error.status)
        raise problem

    def _explained(self, error: HttpError) -> str:
        if error.may_pass:
            return f"{error}: {self._later}"
        return (
            f"{self.url} refused {self._model!r} with {error.what}; "
            f"check {BASE}, {self._key_variable} and the model's name"
        )
