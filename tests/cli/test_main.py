from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import click
import pytest

from assay import __version__
from assay.cli.main import guarded
from assay.errors import InputError


def test_the_version_is_the_package_s(assay):
    assert assay("--version").out == f"assay {__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("train",)], ids=str)
def test_no_command_is_answered_with_help_and_2(assay, arguments: tuple[str, ...]):
    ran = assay(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(" ".join(("Usage: assay", *arguments)))
    assert "\n\nCommands:\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serch"], "unknown command 'serch'; did you mean 'search'?; see assay --help\n"),
        (["search"], "Missing argument 'QUERY'; see assay search --help\n"),
        (["search", "x", "--limits", "3"], "No such option '--limits'. Did you mean '--limit'"),
        (["search", "x", "-k", "0"], "Invalid value for '-k' / '--limit': 0 is not in the range x>=1"),
        (["search", "x", "--format", "xml"], "Invalid value for '--format': 'xml' is not one of 'text', 'json'"),
        (["search", "x", "--mode", "tests"], "Invalid value for '--mode': 'tests' is not one of 'all', 'code'"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_leaves_with_2(assay, arguments: list[str], said: str):
    ran = assay(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"assay: {said}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (InputError("what was wrong"), 2, "assay: what was wrong\n"),
        (OSError(errno.EACCES, "Permission denied", "a/b"), 2, "assay: Permission denied: a/b\n"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            2,
            "assay: No space left on device; the index is as it was before\n",
        ),
        (
            RuntimeError("two\nlines"),
            2,
            "assay: internal error, please report it: RuntimeError: two lines (-v shows where)\n",
        ),
        (KeyboardInterrupt(), 130, "assay: interrupted\n"),
        (click.exceptions.Exit(1), 1, ""),
    ],
    ids=repr,
)
def test_whatever_is_raised_is_one_line_and_a_status(
    capsys: pytest.CaptureFixture[str], raised: BaseException, status: int, said: str
):
    assert guarded(lambda: _raise(raised)) == status
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("raised", [InputError("known"), RuntimeError("unknown")], ids=repr)
def test_the_traceback_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str], raised: Exception):
    guarded(lambda: _raise(raised), verbose=True)
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert "_raise" in said
    assert said.splitlines()[-1].startswith("assay: ")


def test_a_reader_that_leaves_early_is_success(project: Path):
    command = f"{sys.executable} -m assay search mail . --full; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -c 1 >/dev/null"], cwd=project, capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "0"


def _raise(error: BaseException) -> None:
    raise error


def test_a_closed_output_is_no_error(project: Path):
    script = 'exec "$0" -m assay search "send mail" "$1" >&-'
    ran = subprocess.run(["sh", "-c", script, sys.executable, project], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
