"""A campaign that is killed in mid-run and begun again, in the real sandbox, beside one that nobody disturbs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.cage.probe import probe
from assay.cage.sandbox_kinds import NAMESPACES
from assay.runs.record import manifest_of

MEASURED = {"seconds", "cpu_s", "peak_mb"}
QUICK, SLOW = 70, 8
KILLS = 2
BODIES = ("return {n}", "return a", "return [a] * {n}", "return b", "return None")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    task = {"id": "t", "entry_point": "f", "tests": [{"args": [1], "expected": 1}, {"args": [2], "expected": 2}]}
    quick = [f"def f(a):\n    {BODIES[n % 5].format(n=n)}  # {n}\n" for n in range(QUICK)]
    slow = [f"import time\ntime.sleep(.4)\ndef f(a): return a + {n % 2}  # {n}\n" for n in range(SLOW)]
    sources = [*quick, *slow, "while True: pass\n", quick[1]]
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task) + "\n")
    lines = (json.dumps({"task_id": "t", "code": source}) + "\n" for source in sources)
    (tmp_path / "samples.jsonl").write_text("".join(lines))
    return tmp_path / "tasks.jsonl", tmp_path / "samples.jsonl"


def started(files: tuple[Path, Path], out: Path) -> subprocess.Popen[bytes]:
    """Run the command itself, in a process that can be killed."""
    command = [sys.executable, "-c", "from assay.cli.main import main; main()", "exec", *files]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*command, "--workers", "1", "--timeout", ".5", "--out", out], **quiet)


def killed_after_a_line(files: tuple[Path, Path], out: Path, before: bytes) -> bytes:
    """Run until there are more lines than before, kill it, and return the whole lines: the earlier ones first."""
    with started(files, out) as running:
        deadline = time.monotonic() + 60
        while not (out.exists() and out.stat().st_size > len(before)) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.kill()
    after = out.read_bytes()
    whole = after[: after.rindex(b"\n") + 1]
    assert whole.startswith(before)
    assert len(before) < len(whole)
    assert before or whole.count(b"\n") < QUICK + SLOW
    return whole


def rows(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_killed_and_begun_again_it_leaves_the_same_file_but_for_what_was_measured(files, tmp_path: Path):
    if not probe(NAMESPACES).holds:
        pytest.skip("no namespaces here")
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert started(files, whole).wait(120) == 0
    before = b""
    for _ in range(KILLS):
        before = killed_after_a_line(files, cut, before)
    assert started(files, cut).wait(120) == 0
    assert cut.read_bytes().startswith(before)
    told = [[{name: row[name] for name in row.keys() - MEASURED} for row in rows(out)] for out in (whole, cut)]
    assert told[0] == told[1]
    assert [list(row) for row in rows(whole)] == [list(row) for row in rows(cut)]
    settings = [json.loads(manifest_of(out).read_text())["settings"] for out in (whole, cut)]
    assert settings[0] == settings[1]
