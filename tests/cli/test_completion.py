"""Completion in the shells themselves: a script is loaded, a line is typed, and what the shell offers is read."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

import assay as package
from assay.cli.completion import SHELLS
from assay.cli.main import COMMANDS

DONE = b"all-done"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `assay` is this program, and nobody's settings are read."""
    program = tmp_path / "bin" / "assay"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom assay.__main__ import main\nmain()\n")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    source = str(Path(package.__file__).parents[1])
    return {**os.environ, "PATH": path, "PYTHONPATH": source, "HOME": str(tmp_path), "TERM": "dumb"}


def offered(environment: dict[str, str], line: str) -> list[str]:
    """Return what bash's own machinery offers for a line."""
    script = f"""source <(assay completion bash)
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
$(complete -p assay | sed 's/.*-F \\([^ ]*\\) .*/\\1/') assay
printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("assay se", ["search", "serve"]),
        ("assay rank ev", ["eval"]),
        ("assay search --la", ["--lang"]),
        ("assay search --lang pyt", ["python"]),
        ("assay search --kind me", ["method"]),
        ("assay search --format json", ["json", "jsonl"]),
        ("assay install --agent cl", ["claude-code", "claude-desktop", "cline", "cline-vscode"]),
        ("assay completion z", ["zsh"]),
        ("assay --color n", ["never"]),
        ("assay search --lang nolanguage", []),
    ],
    ids=str,
)
def test_bash_offers(environment: dict[str, str], line: str, values: list[str]):
    assert offered(environment, line) == values


def test_every_command_is_offered_and_none_is_imported(environment: dict[str, str]):
    code = "import sys, assay.cli.main as m; print(len(m.assay.shell_complete(m.click.Context(m.assay), '')), end=' ');"
    code += "print(*(n for n in sys.modules if n.startswith('assay.cli.')))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    count, *modules = done.stdout.split()
    assert int(count) == len(COMMANDS)
    assert set(modules) <= {f"assay.cli.{name}" for name in ("command", "lazy", "main")}


def typed(command: list[str], keys: bytes, environment: dict[str, str]) -> bytes:
    """Type keys into a shell on a terminal, and return what it shows until it says that it is done."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    os.write(ours, keys)
    seen = b""
    try:
        while DONE not in seen:
            assert select.select([ours], [], [], 30)[0], seen
            seen += os.read(ours, 65_536)
    finally:
        running.kill()
        running.wait()
        os.close(ours)
    return seen


@pytest.mark.skipif(which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_what_is_typed(environment: dict[str, str]):
    setup = b"autoload -Uz compinit; compinit -u; source <(assay completion zsh)\n"
    keys = setup + b"assay comp\tba\t | grep -c _ASSAY_COMPLETE=bash_complete; echo all-do''ne\n"
    assert b"\r\n1\r\n" in typed(["zsh", "-f", "-i"], keys, environment)


@pytest.mark.skipif(which("fish") is None, reason="fish is not installed")
def test_fish_offers(environment: dict[str, str]):
    script = "assay completion fish | source; complete -C 'assay search --kind me'; complete -C 'assay comp'"
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["method", "completion\tPrint the completion script of a shell."]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_for_each_shell(assay, shell: str):
    ran = assay("completion", shell)
    assert (ran.status, ran.err) == (0, "")
    assert f"_ASSAY_COMPLETE={shell}_complete" in ran.out


def test_another_shell_is_refused(assay):
    ran = assay("completion", "tcsh")
    assert ran.status == 2
    assert "'bash', 'zsh', 'fish'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "variables", "letters"),
    [
        ((), {}, ""),
        (("--color", "always"), {}, "\x1b["),
        (("--color", "always"), {"NO_COLOR": "1"}, "\x1b["),
        (("--color", "never"), {"FORCE_COLOR": "1"}, ""),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, "\x1b["),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, ""),
    ],
    ids=str,
)
def test_color_is_as_it_is_asked_for(  # noqa: PLR0917  fixtures
    assay, project: Path, monkeypatch, arguments: tuple[str, ...], variables: dict[str, str], letters: str
):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = assay(*arguments, "search", "send a mail again", str(project))
    assert ("\x1b[" in ran.out) == bool(letters)
