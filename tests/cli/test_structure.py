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
    rows = [json.loads(row) for row in assay("outline", ".", "--format", "jsonl", "--path", "*.js").out.splitlines()]
    assert [row["path"] for row in rows] == ["web/router.js"]
    assert assay("outline", "--path", "*.none").status == 1


def test_what_is_related_to_a_name_is_listed(assay, project: Path):
    ran = assay("related", "send_mail", project)
    assert (ran.status, ran.out.splitlines()[0]) == (0, f"send_mail  {project}/mail/send.py:6-12")
    missed = assay("related", "sent_mail", project)
    assert (missed.status, missed.err) == (2, "assay: nothing here declares 'sent_mail'; near to it: send_mail\n")
    assert "is not a place: give FILE:LINE" in assay("related", project / "mail/send.py", project).err


def test_a_pattern_lists_its_matches(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    ran = assay("pattern", "$S.deliver($M)", "--lang", "py")
    assert ran.out.startswith("mail/send.py:9\n  ")
    assert "1 match in" in ran.err
    (row,) = assay("pattern", "$S.deliver($M)", "--lang", "py", "--format", "jsonl").out.splitlines()
    assert json.loads(row)["holes"] == {"S": "server", "M": "message"}
    assert assay("pattern", "nowhere($A)", "--lang", "py", "mail").status == 1


def test_a_rewriting_is_shown_and_written_only_when_asked(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    file = project / "mail" / "send.py"
    before = file.read_text()
    change = ("pattern", "$S.deliver($M)", "--lang", "py", "--rewrite", "$S.send($M)")
    ran = assay(*change)
    assert file.read_text() == before
    assert "--- a/mail/send.py\n+++ b/mail/send.py\n" in ran.out
    assert "server.send(message)" in ran.out
    assert "--write writes them" in ran.err
    file.chmod(0o640)
    ran = assay(*change, "--write")
    assert (ran.out, file.read_text()) == ("", before.replace("server.deliver(message)", "server.send(message)"))
    assert file.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_done_is_said(refuses, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    refuses([
        ("pattern f($A) --lang py --write", "--write is for --rewrite"),
        ("pattern f($A) --lang cobol", "unknown language 'cobol'"),
        ("pattern f($A) --lang py --rewrite $B", "which the pattern does not define"),
        ("pattern '' --lang py", "not a valid python pattern"),
        ("outline nowhere", "no such file or folder"),
    ])  # fmt: skip


def test_a_file_in_another_encoding_is_not_written(assay, project: Path):
    file = project / "latin.py"
    file.write_bytes(b"# -*- coding: latin-1 -*-\nname = f('\xe9t\xe9 d\xe9j\xe0 vu')\n")
    before = file.read_bytes()
    ran = assay("pattern", "f($A)", "--lang", "py", "--rewrite", "g($A)", "--write", project)
    assert (ran.status, file.read_bytes()) == (2, before)
    assert "not plain UTF-8" in ran.err


def test_a_file_is_rewritten_once_and_its_diff_applies(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    file = project / "mail" / "odd.py"
    file.write_bytes(b'x = "\x1b[31m\x0c\xe2\x80\xa8"; foo(1)\r\n')
    change = ("pattern", "foo($A)", "mail/odd.py", "mail", "--lang", "py", "--rewrite", "foo(\nfoo($A))")
    out = assay(*change).out
    assert out.count("@@ -1 +1,2 @@") == 1
    assert '-x = "\x1b[31m\x0c\u2028"; foo(1)' in out
    file.chmod(0o444)
    (project / "mail" / "early.py").write_text("foo(0)\n")
    ran = assay(*change, "--write")
    assert (ran.status, "write-protected" in ran.err) == (2, True)
    assert (project / "mail" / "early.py").read_text() == "foo(0)\n", "nothing was written"
    file.chmod(0o644)
    assert assay(*change, "--write").status == 0
    assert file.read_bytes().endswith(b"; foo(\r\nfoo(1))\r\n")
    assert "--path leaves 'mail/odd.py' out" in assay(*change, "--path", "*.js").err


def test_names_of_files_draw_nothing(assay, project: Path):
    (project / "a\x1b[31m.py").write_text("foo(1)\n")
    for form in ("text", "vimgrep"):
        assert "a\\x1b[31m.py" in assay("pattern", "foo($A)", project, "--lang", "py", "--format", form).out
