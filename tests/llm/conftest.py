"""The loopback server that the environment names, with no other key about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.values import Prompt
from endpoint_server import VARIABLES, Play, serving

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": [0, 1]}, "reason": {"type": "string"}},
    "required": ["grade", "reason"],
    "additionalProperties": False,
}
REASON = {"type": "string", "maxLength": 100}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the machine's own environment says."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a server that the environment names, with a key."""
    with serving(lambda _: Play({"grade": 1, "reason": "it adds"})) as running:
        monkeypatch.setenv("ASSAY_API_BASE", running.base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-very-secret")
        yield running


@pytest.fixture
def prompt() -> Callable[..., Prompt]:
    """Return a function that makes prompts."""

    def make(text: str = "def add(a, b): return a + b", **changed: Any) -> Prompt:
        return Prompt(**{"system": "You judge.", "text": text, "schema": SCHEMA, "name": "screen", **changed})

    return make


@pytest.fixture
def bounded(prompt: Callable[..., Prompt]) -> Prompt:
    """Return a prompt whose schema bounds the length of a reason."""
    return prompt(schema={**SCHEMA, "properties": {**SCHEMA["properties"], "reason": REASON}})
