"""A corpus of three files, and tools that are small programs written for one test."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.bench.answer_runs import Preparation, SystemAnswer
from assay.bench.ask_worker import Worker
from assay.bench.system import SystemCorpus
from assay.bench.systems.system_worker import SystemTask
from assay.values import Query

FILES = {
    "mail/send.py": "def send_mail(server, message):\n    for attempt in range(3):\n        server.deliver(message)\n",
    "mail/address.py": "class Address:\n    def is_valid(self):\n        return '@' in self.mailbox\n",
    "README.md": "# Postbox\n\nSends mail to every address.\n",
}


@pytest.fixture
def postbox(tmp_path: Path) -> SystemCorpus:
    root = tmp_path / "postbox"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return SystemCorpus("postbox", root, digest="d")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no report drawn, as where matplotlib is not installed: that takes longest."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "assay.report.drawing", raising=False)
    monkeypatch.delattr("assay.report.drawing", raising=False)


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., str]:
    """Return a command that runs the given Python lines, `sys` and `os` imported."""

    def make(lines: str, arguments: str = "{query}") -> str:
        script = tmp_path / f"tool{len(list(tmp_path.glob('tool*.py')))}.py"
        script.write_text(f"import json, os, signal, subprocess, sys, time\n{lines}\n")
        return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(script))} {arguments}"

    return make


@pytest.fixture
def ask_all() -> Callable[..., tuple[Preparation, list[SystemAnswer]]]:
    """Return what prepares a worker and asks it every query in order."""

    def ask(
        spec: str, options: Mapping[str, Any], corpus: SystemCorpus, queries: Sequence[Query], **limits: Any
    ) -> tuple[Preparation, list[SystemAnswer]]:
        with Worker(SystemTask(spec, options, corpus), **limits) as worker:
            worker.prepare()
            answers = [worker.ask(query, 5) for query in queries]
            return worker.preparation, answers

    return ask
