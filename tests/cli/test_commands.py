from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
COMMAND = [sys.executable, "-m", "assay"]


def test_index_says_what_it_holds_and_what_changed(assay, project: Path):
    assert assay("index", project).out.startswith(f"{project}: 4 files, ")
    (project / "web" / "router.js").unlink()
    ran = assay("index", project)
    assert ran.status == 0
    assert ran.out.startswith(f"{project}: 3 files, ")
    assert "(1 removed)" in ran.out
    assert json.loads(assay("index", project, "--format", "json").out)["files"] == 3


def test_index_of_nothing_leaves_with_1(assay, tmp_path: Path):
    assert assay("index", tmp_path).status == 1


def test_status_tells_and_changes_nothing(assay, project: Path):
    ran = assay("status", project)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"assay: no index of '{project}' yet: assay index {project}\n"
    (project / "logo.png").write_bytes(b"\x89PNG\0\0")
    assay("index", project)
    (project / "late.py").write_text("x = 1\n")
    status = json.loads(assay("status", project, "--format", "json").out)
    assert (status["root"], status["files"]) == (str(project), 4)
    text = assay("status", project)
    assert text.status == 0
    assert f"root      {project}\n" in text.out


def test_status_counts_what_is_left_out_and_names_it_when_asked(assay, project: Path):
    (project / "logo.png").write_bytes(b"\x89PNG\0\0")
    assay("index", project)
    plain, verbose = assay("status", project).out, assay("status", project, "-v").out
    assert "left out  1 file: " in plain
    assert "\n            " not in plain
    assert "\n            logo.png: " in verbose


def test_doctor_finds_this_installation_well(assay):
    ran = assay("doctor")
    assert ran.status == 0, ran.out
    assert "ok   search    asked for send_mail, found send_mail\n" in ran.out


def test_doctor_names_what_is_wrong(assay):
    ran = assay("doctor", "--encoder", "statik")
    assert ran.status == 1
    assert "BAD  encoder   unknown encoder 'statik'; did you mean 'static'?\n" in ran.out


def test_doctor_says_which_chat_keys_are_set_and_never_a_key(assay, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("DEEPSEEK_API_KEY", " ")
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    ran = assay("doctor")
    (line,) = (line for line in ran.out.splitlines() if line.startswith("ok   chat "))
    assert "openai: OPENAI_API_KEY is set" in line
    assert "deepseek: DEEPSEEK_API_KEY is not set" in line
    assert "openrouter: OPENROUTER_API_KEY is not set" in line
    assert "sk-very" not in ran.out + ran.err


def test_a_git_url_is_searched_like_a_folder(assay, project: Path):
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    for step in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "-m", "first"]):
        subprocess.run(["git", *step], cwd=project, check=True)
    ran = assay("search", "send_mail", project.as_uri())
    assert ran.status == 0
    assert "/mail/send.py:6  function send_mail\n" in ran.out


def test_an_interrupt_is_said_and_the_last_index_stays(assay, project: Path, tmp_path: Path):
    place = ("--index", str(tmp_path / "index"))
    before = assay("search", "send_mail", project, *place).out
    for number in range(600):
        (project / f"many{number}.py").write_text(f"def function_{number}(a):\n    return a + {number}\n" * 60)
    running = subprocess.Popen([*COMMAND, "index", project, *place], stderr=subprocess.PIPE, text=True)
    while not _locked(tmp_path / "index" / "lock"):
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "assay: interrupted\n")
    assert assay("search", "send_mail", project, "--no-refresh", *place).out == before


def _locked(path: Path) -> bool:
    """Say whether somebody writes."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("code", [INTERRUPT, f"exec({INTERRUPT!r})"])
def test_an_interrupt_while_the_command_loads_is_no_traceback(tmp_path: Path, code: str):
    (tmp_path / "click.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (130, "assay: interrupted\n")


def test_a_terminal_shows_progress_and_a_pipe_does_not(on_terminal, project: Path):
    done = subprocess.run([*COMMAND, "index", project], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "━" not in on_terminal("index", str(project), stream="stderr"), "for a moment's work"
    for number in range(1500):
        (project / f"many{number}.py").write_text(f"def function_{number}(a):\n    return a + {number}\n" * 60)
    assert "━" in on_terminal("index", str(project), stream="stderr")
