"""What people get wrong and what goes wrong: one clear line each, an exit status, and an index that is as it was."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click
import pytest

from assay import __version__
from assay.cli.main import guarded
from assay.encode.vectors import HashedEncoder
from assay.errors import InputError
from assay.search.folder_index import FolderIndex
from endpoint_server import Play, serving

NO_WORD = "assay: the query holds no word to search for; ask something, such as 'where are retries handled'"


def test_a_mistake_is_one_line(refuses, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    refuses([
        ("serch", "assay: unknown command 'serch'; did you mean 'search'?; see assay --help"),
        ("search", "assay: Missing argument 'QUERY'; see assay search --help"),
        ("pattern foo .", "assay: Missing option '--lang'; see assay pattern --help"),
        ("search x --limits 3", "assay: No such option '--limits'. Did you mean '--limit'"),
        ("search x -k 0", "assay: --limit: expected 1 to 1,000, not 0"),
        ("search x --format xml", "assay: --format: unknown value 'xml'; known: text, json"),
        ("search mail nowhere", "assay: no such folder: 'nowhere' (a question of several words goes in quotes)"),
        ("search mail README.md web", "assay: files and folders cannot be searched together: README.md; name folders"),
        ("search mail README.md --file x", "assay: a PATH is a file: leave --file and --roots out"),
        ("search mail -fil:x", "assay: No such option '-f'"),
        ("search mail ''", "assay: a PATH is empty: name a folder, or . for the current one"),
        ("search '' .", NO_WORD),
        ("search ' \n?! ' .", NO_WORD),
        ("search mail . --lang pyton", "assay: unknown language 'pyton'; did you mean 'python'?"),
        ("search mail . --kind methods", "assay: unknown kind 'methods'; did you mean 'method'?"),
        ("search mail . --encoder statik", "assay: unknown encoder 'statik'; did you mean 'static'?"),
        ("search mail . --config none.toml", "assay: cannot read the settings file none.toml: No such file or direct"),
        ("search mail . --set serch.limit=3", "assay: unknown setting 'serch' in --set; did you mean 'search'?"),
        ("search mail . mail --index x", "assay: --index names one index, and several paths were given: take them"),
        ("search mail . --budget 3", "assay: the budget is too small for a line of the best hit; increase it"),
        ("search mail . --no-refresh --index x", "yet: leave out --no-refresh, or run assay index"),
        ("search 'kind:klass x' .", "unknown kind"),
        ("search '/(/ x' .", "not a regular expression"),
        ("watch mail web --index x", "--index names one index"),
    ])  # fmt: skip


def test_a_wrong_folder_is_named_by_every_command(assay, project: Path):
    for command in ("index", "status", "serve", "mcp", "install"):
        if find_spec({"serve": "fastapi", "mcp": "mcp"}.get(command, "assay")):
            none, file = project / "none", project / "README.md"
            assert assay(command, none).err == f"assay: no such folder: '{none}'\n"
            assert assay(command, file).err == f"assay: '{file}' is a file: give its folder\n"


def test_a_broken_settings_file_and_a_folder_with_nothing_to_search_are_named(assay, project: Path, tmp_path: Path):
    (project / "assay.toml").write_text("[search]\nlimit == 3\n")
    ran = assay("search", "mail", project)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"assay: {project}/assay.toml: not valid TOML: Invalid value (at line 2, column 8)\n"
    empty = tmp_path / "empty"
    empty.mkdir()
    for why in ("it has no files\nassay: nothing found\n", "none of its files has text to index (1 left out"):
        ran = assay("search", "mail", empty)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith(f"assay: nothing to search in '{empty}': {why}")
        assert assay("index", empty).status == 1
        (empty / "image.png").write_bytes(b"\x89PNG\0\0")


def test_the_version_is_the_package_s_and_no_command_is_answered_with_help_and_2(assay):
    assert assay("--version").out == f"assay {__version__}\n"
    for arguments in ((), ("train",)):
        ran = assay(*arguments)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(" ".join(("Usage: assay", *arguments)))
        assert "\n\nCommands:\n" in ran.err


INTERNAL = "internal error, please report it: RuntimeError: two lines (-v shows where)"


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (InputError("what was wrong"), 2, "assay: what was wrong\n"),
        (OSError(errno.EACCES, "Permission denied", "a/b"), 2, "assay: Permission denied: a/b\n"),
        (OSError(errno.ENOSPC, "No space left"), 2, "assay: No space left; the index is as it was before\n"),
        (RuntimeError("two\nlines"), 2, f"assay: {INTERNAL}\n"),
        (KeyboardInterrupt(), 130, "assay: interrupted\n"),
        (click.exceptions.Exit(1), 1, ""),
    ],
    ids=repr,
)
def test_an_exception_is_one_line_and_a_traceback_on_request(capsys, raised, status: int, said: str):
    assert guarded(lambda: _raise(raised)) == status
    assert capsys.readouterr() == ("", said)
    if status == 2 and not isinstance(raised, OSError):
        guarded(lambda: _raise(raised), verbose=True)
        told = capsys.readouterr().err
        assert told.startswith("Traceback")
        assert "_raise" in told
        assert told.splitlines()[-1].startswith("assay: ")


def _raise(error: BaseException) -> None:
    raise error


def test_a_reader_that_leaves_early_and_an_output_that_is_closed_are_success(project: Path):
    assay = f"{quote(sys.executable)} -m assay search 'send mail' . -k 5"
    script = f"({assay} --detail full; echo $? >&2) | head -c 1 >/dev/null; {assay} >&-; echo $? >&2"
    done = subprocess.run(["bash", "-c", script], cwd=project, capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["0", "0"]


def test_an_interrupt_keeps_the_last_index(assay, project: Path, tmp_path: Path):
    """The signal comes while the index waits for the vectors of what is new."""
    pytest.importorskip("httpx", reason="the api extra is not installed")

    def interrupt(_: object) -> Play:
        os.kill(os.getpid(), signal.SIGINT)
        return Play(delay_s=1)

    with serving() as server:
        options = ("--index", tmp_path / "index", "--encoder", f"api:m@{server.base}")
        before = assay("search", "send_mail", project, *options)
        assert before.status == 0
        (project / "more.py").write_text("def more_mail():\n    return 1\n")
        server.say = interrupt
        ran = assay("index", project, *options)
        assert (ran.status, ran.out, ran.err) == (130, "", "assay: interrupted\n")
        server.say = lambda _: Play({})
        assert assay("search", "send_mail", project, "--no-refresh", *options).out == before.out
        assert "1 added" in assay("index", project, *options).out


def test_an_interrupt_while_the_command_loads_is_no_traceback(tmp_path: Path):
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "assay", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (130, "assay: interrupted\n")


UNPRIVILEGED = """
import contextlib, io, json, os, sys
sys.path.insert(0, sys.argv[1])
if os.getuid() == 0:  # who may read everything
    from assay.cli import main, find, hit_text, progress  # before the right to read them is gone
    import assay.operations.published, assay.search.folder_index
    import assay.operations.local_roots, assay.operations.search
    import assay.corpus.walk, assay.encode.static
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
from assay.cli.main import run
told = []
for line in json.loads(sys.argv[2]):
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
        told.append((run(line), err.getvalue()))
print(json.dumps(told))
"""


def test_files_without_permission_to_read_are_named(project: Path):
    hidden = ("manifest.json", ".segment", ".catalog", "")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is for its user alone
        base = Path(folder)
        base.chmod(0o755)
        root, closed = base / "root", base / "closed"
        shutil.copytree(project, root)
        shutil.copytree(project, closed)
        lines = [["search", "mail", str(closed)]]
        unreadable = [closed]
        for name in hidden:
            place = base / f"index{name}"
            FolderIndex(root, place, HashedEncoder()).refresh()
            unreadable.append(next(file for file in place.iterdir() if file.name.endswith(name)) if name else place)
            lines.append(["status", str(root), "--index", str(place), "--encoder", "hash"])
        for each in unreadable:
            each.chmod(0)
        source = Path(sys.modules["assay"].__file__).parents[1]
        command = [sys.executable, "-c", UNPRIVILEGED, source, json.dumps(lines)]
        environment = {**os.environ, "XDG_CACHE_HOME": "/nonexistent"}
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=environment)
        for each in unreadable:
            each.chmod(0o755)
    assert ran.returncode == 0, ran.stderr
    (status, said), *indexes = json.loads(ran.stdout)
    assert (status, said) == (2, f"assay: no permission to read the folder '{closed}'\n")
    for name, (status, said) in zip(hidden, indexes, strict=True):
        assert (status, "Permission denied" in said, "--index" in said) == (2, True, True), (name, said)
