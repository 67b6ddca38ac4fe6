"""The loopback server as fixtures: `openai_server` is the module, `server` one that runs, with no key about."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay.types import Prompt

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": [0, 1]}, "reason": {"type": "string"}},
    "required": ["grade", "reason"],
    "additionalProperties": False,
}


@pytest.fixture(scope="session")
def openai_server() -> ModuleType:
    """Return the module of the server: `serving`, `Play`."""
    spec = spec_from_file_location("openai_server", Path(__file__).with_name("server.py"))
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the machine's own environment says."""
    for name in (
        "ASSAY_CHAT_URL ASSAY_CHAT_KEY OPENAI_BASE_URL OPENAI_API_KEY DEEPSEEK_API_KEY OPENROUTER_API_KEY VLLM_API_KEY"
    ).split():
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(openai_server: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a server that the environment names, with a key."""
    with openai_server.serving(lambda _: openai_server.Play({"grade": 1, "reason": "it adds"})) as running:
        monkeypatch.setenv("ASSAY_CHAT_URL", running.base)
        monkeypatch.setenv("ASSAY_CHAT_KEY", "sk-very-secret")
        yield running


@pytest.fixture
def prompt() -> Callable[..., Prompt]:
    """Return a function that makes prompts."""

    def make(text: str = "def add(a, b): return a + b", **changed: Any) -> Prompt:
        return Prompt(**{"system": "You judge.", "text": text, "schema": SCHEMA, "name": "screen", **changed})

    return make
