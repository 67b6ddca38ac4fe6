"""The container cage against a stand-in for the engine, which records what it is asked and runs it here."""

from __future__ import annotations

import json
import os
import shlex
import sys

import pytest

from assay.cage import bridge
from assay.cage.cage import CagePlan
from assay.cage.cage_pool import open_pool
from assay.cage.container import arguments
from assay.cage.limits import Job, Limits
from assay.cage.probe import PLAIN
from assay.cage.sandbox_kinds import CONTAINER
from assay.errors import InputError

STANDIN = """import os, sys
open({record!r}, "a").write(repr(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    (mount,) = [word for word in sys.argv if word.startswith("type=bind")]
    source = mount.split(",")[1].removeprefix("src=")
    command = sys.argv[sys.argv.index("python") + 1 :]
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv({python!r}, [{python!r}, *[word.replace("/opt/assay", source) for word in command]])
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    record = tmp_path / "asked"
    script = tmp_path / "podman"
    program = tmp_path / "standin.py"
    program.write_text(STANDIN.format(python=sys.executable, record=str(record)))
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(program))} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return record


def test_the_container_gets_no_network_no_rights_and_no_writable_root():
    words = " ".join(arguments("docker", "name", Limits(memory_mb=100, processes=5, scratch_mb=7)))
    for wanted in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--user 65534:65534",
        "--pids-limit 37", "--memory 456m --memory-swap 456m", "--pull never", "--rm", "size=7m",
    ):  # fmt: skip
        assert wanted in words
    assert "--privileged" not in words


def test_frames_cross_and_a_cut_one_is_the_end(tmp_path):
    file = tmp_path / "frames"
    with file.open("wb") as out:
        bridge.put(out, {"a": 1}, [b"", b"x\n\0"])
        bridge.put(out, {"b": 2})
    whole = file.read_bytes()
    with file.open("rb") as source:
        assert bridge.get(source) == ({"a": 1}, [b"", b"x\n\0"])
        assert bridge.get(source) == ({"b": 2}, [])
        assert bridge.get(source) is None
    for length in range(len(whole)):  # wherever it is cut
        file.write_bytes(whole[:length])
        with file.open("rb") as source:
            while (frame := bridge.get(source)) is not None:
                assert frame[0] in ({"a": 1}, {"b": 2})


def test_no_engine_is_one_clear_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_pool(CagePlan(CONTAINER), 1) as sandbox, pytest.raises(InputError, match="podman or docker"):
        list(sandbox.run([Job("1", b"{}")]))


def test_an_engine_without_the_image_says_so(tmp_path, monkeypatch):
    script = tmp_path / "docker"
    script.write_text("#!/bin/sh\nif [ $1 = run ]; then echo 'No such image' >&2; exit 125; fi\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_pool(CagePlan(CONTAINER), 1) as sandbox, pytest.raises(InputError, match="No such image"):
        list(sandbox.run([Job("1", b"{}")]))


@pytest.mark.skipif(os.geteuid() == 0, reason="a container runs as nobody, and so must its stand-in")
def test_jobs_run_in_a_container(engine):
    sources = ["print(input())", "1 / 0", "while True: pass"]
    jobs = [
        Job(source, json.dumps({"source": source}).encode(), stdin=b"in", limits=Limits(cpu_s=0.3))
        for source in sources
    ]
    with open_pool(CagePlan(CONTAINER, harness=(PLAIN, PLAIN)), 1) as sandbox:
        printed, failed, endless = sandbox.run(jobs)
    assert (printed.stdout, printed.ended) == (b"in\n", "exit")
    assert b"ZeroDivisionError" in failed.stderr
    assert endless.ended == "cpu"
    asked = engine.read_text().splitlines()
    assert "'run'" in asked[1]
    assert "'kill'" in asked[-1]
