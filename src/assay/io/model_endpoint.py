"""An OpenAI-compatible endpoint as encoders and samplers ask it: a question in, the object of the answer out.

The address is `ASSAY_API_BASE`, else `OPENAI_BASE_URL`, else OpenAI's own. The key for a base of the environment is
`ASSAY_API_KEY`, else `OPENAI_API_KEY`; an endpoint on one's own machine needs none.
"""

from __future__ import annotations

import os
from typing import Any

from assay.errors import HttpError, InputError
from assay.io.addresses import BASE, KEY, OPENAI_BASE, OPENAI_KEY, OPENAI_URL, checked_base, first_set, key_in
from assay.io.http import HttpClient, HttpOptions


class ModelEndpoint:
    """One model at one path; any number of threads may share it. `later` says what to do where it does not answer."""

    def __init__(self, path: str, model: str, options: HttpOptions, *, base: str, later: str) -> None:
        named = "" if base else first_set((BASE, OPENAI_BASE))
        base = base or os.environ.get(named, "").strip() or OPENAI_URL
        self.url = f"{checked_base(base, f'the address in {named}' if named else 'the address')}/{path}"
        self._model = model
        self._later = later
        self._key_variable = (first_set((KEY,)) if base != OPENAI_URL else "") or OPENAI_KEY
        key = key_in(self._key_variable)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = HttpClient(self.url, self.url, options, headers)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what the endpoint answers; an answer that is no object is an empty one."""
        try:
            reply = self._client.ask_json(self.url, {"model": self._model, **question}, lambda value: value)
        except HttpError as error:
            problem = self._explained(error)
        else:
            return reply if isinstance(reply, dict) else {}
        raise InputError(problem)

    def _explained(self, error: HttpError) -> str:
        if error.may_pass:
            return f"{error}: {self._later}"
        return (
            f"{self.url} refused {self._model!r} with {error.what}; "
            f"check {BASE}, {self._key_variable} and the model's name"
        )
