"""`assay doctor` says what works here: this installation, keys, an index, extras."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.doctor import _NOT_PARTS

ROOT = Path(__file__).parents[2]


def line(ran: object, name: str) -> str:
    return next(line for line in ran.out.splitlines() if line[5:].startswith(f"{name} "))


def test_each_part_is_ok_or_bad(assay: Callable, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One story, for each look tries the sandbox: a sound installation, a stale index, a damaged one, none."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("DEEPSEEK_API_KEY", " ")
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    place = ("--index", tmp_path / "index")
    ran = assay("doctor", project, *place)
    assert ran.status == 0, ran.out
    assert "ok   search    searched for send_mail, found send_mail\n" in ran.out
    assert line(ran, "index").startswith("ok   index     none of ")
    chat = line(ran, "chat")
    assert chat.startswith("ok   chat ")
    assert "openai: OPENAI_API_KEY is set" in chat
    assert "deepseek: DEEPSEEK_API_KEY is not set" in chat
    assert "openrouter: OPENROUTER_API_KEY is not set" in chat
    assert "sk-very" not in ran.out + ran.err
    assay("index", project, *place)
    (project / "mail" / "send.py").unlink()
    ran = assay("doctor", project, *place)
    assert line(ran, "index").endswith("4 files, whole, 1 file stale; the next search updates the index")
    os.truncate(next((tmp_path / "index").glob("*.segment")), 50)
    ran = assay("doctor", project, *place)
    assert ran.status == 1
    assert line(ran, "index").startswith("BAD  index     of ")
    assert line(ran, "index").endswith(" rebuilds it")
    ran = assay("doctor", tmp_path / "none", "--encoder", "statik")
    assert (ran.status, "no such folder" in line(ran, "index")) == (1, True)
    assert "BAD  encoder   unknown encoder 'statik'; did you mean 'static'?\n" in ran.out


def test_every_extra_is_a_part_or_known_to_be_none():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*_NOT_PARTS} < set(extras)
