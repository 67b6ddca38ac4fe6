"""`assay outline` and `assay pattern` on files as people have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_an_outline_lists_signatures_with_their_lines(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    ran = assay("outline", "mail")
    assert "mail/send.py\n  6: def send_mail(server, message, attempts=3)" in ran.out
    assert assay("outline", "mail/send.py").out.startswith("mail/send.py\n")
    rows = [json.loads(row) for row in assay("outline", ".", "--format", "jsonl", "--file", "*.js").out.splitlines()]
    assert {row["path"] for row in rows} == {"web/router.js"}
    assert list(rows[0]["declarations"][0]) == ["line", "end_line", "depth", "kind", "name", "signature"]
    assert assay("outline", "--file", "*.none").status == 1


def test_related_code_of_a_name_is_listed(assay, project: Path):
    ran = assay("related", "send_mail", project)
    assert (ran.status, ran.out.splitlines()[0]) == (0, f"send_mail  {project}/mail/send.py:6-12")
    missed = assay("related", "sent_mail", project)
    assert (missed.status, missed.err) == (2, "assay: nothing here declares 'sent_mail'; similar names: send_mail\n")
    file = project / "mail/send.py"
    assert assay("related", "send_mail", file).out == ran.out
    assert "is neither a place nor a name: give FILE:LINE or NAME" in assay("related", file, project).err


def test_a_pattern_lists_its_matches(assay, refuses, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    ran = assay("pattern", "$S.deliver($M)", "--lang", "py")
    assert ran.out.startswith("mail/send.py:9\n  ")
    assert "1 match in" in ran.err
    (row,) = assay("pattern", "$S.deliver($M)", "--lang", "py", "--format", "jsonl").out.splitlines()
    assert json.loads(row)["holes"] == {"S": "server", "M": "message"}
    assert assay("pattern", "nowhere($A)", "--lang", "py", "mail").status == 1
    refuses([
        ("pattern f($A) --lang cobol", "no grammar for the language 'cobol'"),
        ("pattern '' --lang py", "not a valid python pattern"),
        ("outline nowhere", "no such file or folder"),
    ])  # fmt: skip


def test_names_of_files_are_escaped(assay, project: Path):
    (project / "a\x1b[31m.py").write_text("foo(1)\n")
    for form in ("text", "vimgrep"):
        assert "a\\x1b[31m.py" in assay("pattern", "foo($A)", project, "--lang", "py", "--format", form).out
