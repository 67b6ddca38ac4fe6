"""A corpus of three files, and tools that are small programs written for one test."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.bench.system_corpus import SystemCorpus

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
def tool(tmp_path: Path) -> Callable[..., str]:
    """Return a command that runs the given Python lines, `sys` and `os` imported."""

    def make(lines: str, arguments: str = "{query}") -> str:
        script = tmp_path / f"tool{len(list(tmp_path.glob('tool*.py')))}.py"
        script.write_text(f"import json, os, signal, subprocess, sys, time\n{lines}\n")
        return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(script))} {arguments}"

    return make
