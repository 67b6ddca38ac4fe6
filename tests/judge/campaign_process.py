"""`assay judge run` as a process of its own, on pairs of the acting model, for tests that kill it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from acting import KINDS, pair, row
from wheels import wheel

from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.judge.past_records import verdicts

_MEASURED = ("seconds", "cost", "tokens_in", "tokens_out", "tokens_shareable", "asked_again", "judge")
"""What differs by the clock, by a fault of the line, and by the port of the server."""


def prepare(folder: Path, count: int) -> Path:
    """Write so many pairs, and what may be installed for them; skip the test where nothing can be run."""
    try:
        open_sandbox(workers=1).close()
    except InputError as error:
        pytest.skip(str(error))
    if not shutil.which("uv"):
        pytest.importorskip("pip")
    wheel(folder / "index", "tinything", {"tinything.py": "x = 42\n"})
    (folder / "allow.txt").write_text("tinything\n")
    rows = [row(pair(KINDS[number % len(KINDS)], number)) for number in range(count)]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    return folder


def started(home: Path, base: str, out: str, *more: str, chat: str = "openai:actor") -> subprocess.Popen:
    """Start a campaign."""
    index = {name: str(home / "index") for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS")}
    offline = {"UV_NO_INDEX": "1", "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    command = [sys.executable, "-m", "assay", "judge", "run", str(home / "pairs.jsonl"), "--install"]
    command += ["--allow", str(home / "allow.txt"), "--out", str(home / out), "--format", "json", "--no-cache"]
    command += ["--chat", f"{chat}?usd_in=1&usd_out=2", "--workers", "8", *more]
    return subprocess.Popen(
        command,
        env={**os.environ, **index, **offline, "ASSAY_API_BASE": base, "ASSAY_API_KEY": "sk-test"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(out: Path) -> list[dict]:
    """Return the verdicts without what differs by chance."""
    rows = sorted(verdicts(out), key=lambda record: record["code_id"])
    return [{name: value for name, value in record.items() if name not in _MEASURED} for record in rows]


def quiet(out: Path) -> None:
    """Wait until a file has stopped growing."""
    size = -1
    while size != out.stat().st_size:
        size = out.stat().st_size
        time.sleep(1.5)
