"""What people get wrong: one clear line each, never a traceback, and an index that is as it was before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mail", "nowhere"], "no such folder: 'nowhere' (a question of several words goes in quotes)"),
        (["mail", "README.md"], "'README.md' is a file: give its folder, with --path 'README.md' to keep to that file"),
        (["mail", ""], "a PATH is empty: name a folder, or . for the current one"),
        (["", "."], "the query holds no word to search for; ask something, such as 'where are retries handled'"),
        ([" \n?! ", "."], "the query holds no word to search for; ask something, such as 'where are retries handled'"),
        (["x" * 100_000, "."], "the query has 100,000 characters, at most 20,000 are searched; cut it"),
        (["mail", ".", "--lang", "pyton"], "unknown language 'pyton'; did you mean 'python'?"),
        (["mail", ".", "--kind", "methods"], "unknown kind 'methods'; did you mean 'method'?"),
        (["mail", ".", "--encoder", "statik"], "unknown encoder 'statik'; did you mean 'static'?"),
        (["mail", ".", "--config", "none.toml"], "cannot read the settings file none.toml: No such file or directory"),
        (["mail", ".", "--set", "serch.limit=3"], "unknown setting 'serch' in --set; did you mean 'search'?"),
        (
            ["mail", ".", "mail", "--index", "x"],
            "--index names one index, and several paths were given: take them one by one",
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(assay, project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str):
    monkeypatch.chdir(project)
    ran = assay("search", *arguments)
    assert (ran.status, ran.out, ran.err) == (2, "", f"assay: {said}\n")


@pytest.mark.parametrize("command", ["index", "status", "serve", "mcp", "install"])
def test_what_a_question_would_explain_is_said_of_searches_only(assay, project: Path, command: str):
    pytest.importorskip({"serve": "fastapi", "mcp": "mcp"}.get(command, "assay"))
    assert assay(command, project / "none").err == f"assay: no such folder: '{project}/none'\n"
    assert assay(command, project / "README.md").err == f"assay: '{project}/README.md' is a file: give its folder\n"


def test_a_broken_settings_file_is_named_with_its_line(assay, project: Path):
    (project / "assay.toml").write_text("[search]\nlimit == 3\n")
    ran = assay("search", "mail", project)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"assay: {project}/assay.toml: not valid TOML: Invalid value (at line 2, column 8)\n"


def test_an_empty_folder_is_said(assay, tmp_path: Path):
    ran = assay("search", "mail", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"assay: nothing to search in '{tmp_path}': it holds no file\n"


def test_a_folder_without_text_is_said(assay, tmp_path: Path):
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    ran = assay("search", "mail", tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(
        f"assay: nothing to search in '{tmp_path}': none of its files has text to index (1 left out"
    )


def test_a_folder_that_may_not_be_read_is_said(project: Path):
    project.chmod(0o000)
    script = f"import sys; from assay.cli.main import run; sys.exit(run(['search', 'mail', {str(project)!r}]))"
    try:
        ran = _as_nobody(script)
    finally:
        project.chmod(0o755)
    assert ran.returncode == 2
    assert ran.stderr == f"assay: no permission to read the folder '{project}'\n"


def test_a_disk_that_is_full_leaves_the_last_index(assay, project: Path):
    before = assay("search", "send_mail", project).out
    (project / "new.py").write_text("def something_new():\n    return 1\n" * 2000)
    script = (
        "import resource, signal, sys; from assay.cli.main import run; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
        f"sys.exit(run(['index', {str(project)!r}]))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("assay: no room left for the index in ")
    assert ran.stderr.count("\n") == 1
    assert assay("search", "send_mail", project, "--no-refresh").out == before


def _as_nobody(script: str) -> subprocess.CompletedProcess[str]:
    """Run Python without the rights of root, who may read everything."""
    drop = "import os; os.getuid() or (os.setgroups([]), os.setgid(65534), os.setuid(65534));"
    preload = "import click, numpy, assay.cli.main, assay.cli.search, assay.cli.answer, assay.cli.workspaces;"
    environment = {**os.environ, "XDG_CACHE_HOME": "/nonexistent"}
    return subprocess.run(
        [sys.executable, "-c", preload + drop + script], capture_output=True, text=True, check=False, env=environment
    )
