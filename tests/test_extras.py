"""A library that is not installed is named by the extra that brings it; CI runs this where none is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

CALLS = {
    "api": ("httpx", "search", "mail", ".", "--encoder", "api:model"),
    "bucket": ("obstore", "index", ".", "--index", "s3://bucket/prefix"),
    "hf": ("torch", "search", "mail", ".", "--encoder", "hf:some/model"),
    "mcp": ("mcp", "mcp", "."),
    "onnx": ("onnxruntime", "search", "mail", ".", "--encoder", "onnx:folder"),
    "ray": ("ray", "exec", "tasks.jsonl", "--reference", "--on", "ray"),
    "serve": ("fastapi", "serve", "."),
    "train": ("torch", "train", "encoder", "--repository", ".", "--out", "out"),
    "watch": ("watchfiles", "watch", "."),
}
"""A library of each extra, and a command that needs it."""
TASK = """{"id": "one", "entry_point": "one", "prompt": "", "reference": "def one(): return 1",
"tests": [{"args": [], "expected": 1}]}""".replace("\n", "")


@pytest.mark.parametrize("extra", CALLS)
def test_a_command_names_the_extra_that_it_misses(assay, project: Path, monkeypatch: pytest.MonkeyPatch, extra: str):
    library, *command = CALLS[extra]
    if find_spec(library):
        pytest.skip(f"{library} is installed")
    monkeypatch.chdir(project)
    (project / "tasks.jsonl").write_text(TASK)
    ran = assay(*command)
    assert (ran.status, f"pip install 'assay[{extra}]'" in ran.err) == (2, True), ran.err
