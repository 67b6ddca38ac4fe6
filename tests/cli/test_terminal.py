"""What a person at a terminal gets: completion, colour, lines of its width, and how far a long command has come."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from click.shell_completion import get_completion_class

from assay.cli import progress
from assay.cli.adapter import COMPLETION_VARIABLE
from assay.cli.completion import SHELLS
from assay.cli.main import COMMANDS, run
from assay.cli.main import assay as top
from assay.cli.progress import Lines, StageLine, time_left
from source import SOURCE


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `assay` is this program, and nobody's settings are read."""
    program = tmp_path / "bin" / "assay"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assay "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": SOURCE, "HOME": str(tmp_path), "TERM": "dumb"}


OFFERED = {
    "assay se": ["search", "serve"],
    "assay rank ev": ["eval"],
    "assay search --la": ["--lang"],
    "assay search --lang pyt": ["python"],
    "assay search --kind me": ["method"],
    "assay search --format json": ["json", "jsonl"],
    "assay install --agent cl": ["claude-code", "claude-desktop", "cline", "cline-vscode"],
    "assay completion z": ["zsh"],
    "assay --color n": ["never"],
    "assay search --lang nolanguage": [],
}


def test_commands_options_and_values_are_completed():
    complete = get_completion_class("bash")(top, {}, "assay", COMPLETION_VARIABLE)
    found = {}
    for line in OFFERED:
        *words, last = line.split()[1:]
        found[line] = [item.value for item in complete.get_completions(words, last)]
    assert found == OFFERED


def test_bash_offers_what_fits(environment: dict[str, str]):
    """Load the script, and ask bash's own machinery what it offers for two lines."""
    script = """source <(assay completion bash)
for line in "assay se" "assay search --kind me"; do
    COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    $(complete -p assay | sed 's/.*-F \\([^ ]*\\) .*/\\1/') assay
    echo "${COMPREPLY[@]}"
done"""
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("search serve\nmethod\n", "")


OTHER_SHELLS = {
    "zsh": (
        ["-f", 'autoload -Uz compinit; compinit -u; source <(assay completion zsh); print "$_comps[assay]"'],
        "_assay_completion\n",
    ),
    "fish": (
        ["assay completion fish | source; complete -C 'assay search --kind me'; complete -C 'assay comp'"],
        "method\ncompletion\tPrint the completion script of a shell.",
    ),
}


@pytest.mark.parametrize("shell", OTHER_SHELLS)
def test_other_shells_offer_what_fits(environment: dict[str, str], shell: str):
    (*options, script), wanted = OTHER_SHELLS[shell]
    if which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    command = [shell, *options, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(wanted)


def test_a_script_is_printed_for_each_shell_and_another_is_refused(assay):
    for shell in SHELLS:
        ran = assay("completion", shell)
        assert (ran.status, ran.err) == (0, "")
        assert f"_ASSAY_COMPLETE={shell}_complete" in ran.out
    ran = assay("completion", "tcsh")
    assert (ran.status, "bash, zsh, fish" in ran.err) == (2, True)


def test_completion_offers_every_command_and_imports_none(environment: dict[str, str]):
    code = "import sys, assay.cli.main as m; print(len(m.assay.shell_complete(m.click.Context(m.assay), '')), end=' ');"
    code += "print(*(n for n in sys.modules if n.startswith('assay.cli.')))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    count, *modules = done.stdout.split()
    assert int(count) == len(COMMANDS)
    assert set(modules) <= {f"assay.cli.{name}" for name in ("adapter", "completion", "lazy", "main")}


def test_color_follows_option_and_environment(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    force, no = {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}
    cases = (
        *(("", {}, False), ("", force, True), ("", force | no, False), ("--color always", {}, True)),
        *(("--color always", no, True), ("--color never", force, False), ("--color auto", force, True)),
    )
    for arguments, variables, colored in cases:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        ran = assay(*arguments.split(), "search", "send a mail again", project)
        assert ("\x1b[" in ran.out) == colored, (arguments, variables)


def test_a_narrow_terminal_breaks_lines_where_words_end(on_terminal, project: Path):
    telling = "        # the mailbox of the addressee is full and nobody knows when it will be emptied again\n"
    (project / "full.py").write_text(f"def mailbox_is_full():\n{telling}        return {'x' * 90}\n")
    command = ("search", "mailbox is full", str(project), "-k", "1", "--index", f"{project}.index")
    for color in ({"NO_COLOR": "1"}, {}):
        shown = on_terminal(*command, columns=60, **color)
        assert ("\x1b[" in shown) == (not color)
        lines = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n").splitlines()[1:]
        assert max(map(len, lines)) <= 60
        words = {word for line in lines for word in line.split()}
        assert set(telling.split()) <= words, "no word is cut"
        below = (line[:6].strip().isdigit() or line.startswith(" " * 16) for line in lines if line)
        assert all(below), "below their text"
        assert "x" * 90 in "".join(line.strip() for line in lines), "what is longer than a line is cut somewhere"


def test_a_terminal_shows_a_bar_and_a_pipe_none(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    for patience_s, shown in ((0.0, "━━ index: 4 of 4"), (3600.0, "listing files"), (3600.0, "")):
        monkeypatch.setattr(progress, "_PATIENCE_S", patience_s)
        ours, theirs = pty.openpty()
        with monkeypatch.context() as patch, os.fdopen(theirs, "w") as terminal:
            patch.setattr(sys, "stderr", terminal)
            patch.setenv("TERM", "xterm")
            assert run(["index", str(project), "--index", f"{project}.{patience_s}"]) == 0
            terminal.write("the end")
            terminal.flush()
            seen = b""
            while not seen.endswith(b"the end"):
                seen += os.read(ours, 65_536)
        os.close(ours)
        assert (shown in seen.decode()) if shown else seen == b"the end"
    assert assay("index", project, "--index", f"{project}.piped").err == ""


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_is_written_after_three_seconds_and_then_every_ten():
    clock, seen = Clock(), list[tuple[float, str]]()
    stage = StageLine(clock)
    lines = Lines(lambda: str(stage), lambda line: seen.append((clock.now - 100.0, line)), clock)
    for second in range(31):
        clock.now = 100.0 + second
        if second >= 4:
            stage("programs", 50 * (second - 4), 2_000)
        lines.look()
    assert seen == [  # and what takes less than three seconds is not reported
        (3.0, "working, 3 s"),
        (13.0, "programs: 450 of 2,000, 50.0 a second, 31 s left"),
        (23.0, "programs: 950 of 2,000, 50.0 a second, 21 s left"),
    ]


def test_a_rate_is_that_of_the_stage_and_of_this_run_and_time_left_needs_enough_reports():
    """Of a first index of 12,000 files the first batch, of seven, came after a second: 29 minutes, and it took 7 s."""
    clock = Clock()
    stage = StageLine(clock)
    stage("encoding", 10, 10)
    clock.now += 60
    stage("programs", 700, 1_000)
    clock.now += 10
    stage("programs", 701, 1_000)
    assert str(stage) == "programs: 701 of 1,000, 10 s"
    for done in (710, 720, 730):
        stage("programs", done, 1_000)
    assert str(stage) == "programs: 730 of 1,000, 3.0 a second, 90 s left"
    asked = (map(float, each.split()) for each in "1 7 1, 3 500 1.5, 2 6000 2, 9 0 60, 3 1200 2, 3 12 30".split(", "))
    assert [time_left(reports, done, 12_000, seconds) for reports, done, seconds in asked] == [*[None] * 4, 18, 29_970]


SILENT = """
from assay.cli import progress
progress.FIRST_LINE_S = 0.0
with progress.progress():
    print(input())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timer here")
def test_lines_are_written_during_a_silent_step():
    """The child waits for a line that only comes once a line of progress was seen."""
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SILENT], **pipe, env={**os.environ, "COLUMNS": "80"}) as child:
        assert child.stderr.readline().startswith(b"assay: working, ")
        out, _ = child.communicate(b"go on\n")
    assert out == b"go on\n"
