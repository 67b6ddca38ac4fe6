"""Descriptions by a language model: a real server on loopback, real indexes, budgets, changes, bad replies."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from endpoint_server import VARIABLES, EndpointServer, Play, Question, serving
from waiting import until

pytest.importorskip("httpx", reason="the api extra is not installed")

UNITS = 3
"""Of code in the project, each in a file of its own: two functions and a class."""
ZEPPELIN = "Launches a zeppelin with parcels towards the harbor."
OTHER = "Looks after a part of the service."


def unit_in(question: Question) -> str:
    """Return the unit that a prompt is about."""
    return question["messages"][1]["content"].removeprefix("Piece:\n").removesuffix("\nPurpose:")


def describing(question: Question) -> Play:
    """Describe each unit, the function that sends mail in words that stand nowhere."""
    return Play({"purpose": ZEPPELIN if "send_mail" in unit_in(question) else OTHER})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(describing) as running:
        yield running


def model(server: EndpointServer, name: str = "m") -> str:
    return f"vllm:{name}@{server.base}?max_tokens=100"


@pytest.fixture
def describe(assay: Callable, project: Path, server: EndpointServer) -> Callable:
    return lambda *options, root=project: assay("index", root, "--describe", model(server), *options)


@pytest.fixture
def found(assay: Callable, project: Path) -> Callable:
    """Return what gives the answer to a question about the project, or to a command that prints JSON."""

    def call(*words: object) -> dict:
        command = ("search", *words, project) if len(words) == 1 else words
        return json.loads(assay(*command, "--format", "json").out)

    return call


def asked(server: EndpointServer) -> list[str]:
    """Return every unit that was asked about, since this was last called."""
    units = list(map(unit_in, server.questions))
    server.questions.clear()
    return units


def test_units_are_forecast_described_searched_and_shown(assay, describe, found, project: Path, server: EndpointServer):
    assert not found("zeppelin harbor")["relevant"]
    ran = describe("--dry-run")
    assert re.search(rf": {UNITS} units to describe, about [\d,]+ tokens in and 120 out\n", ran.out)
    assert "$0.0000 by the listed price of vllm:m@" in ran.out
    assert json.loads(describe("--dry-run", "--format", "json").out)["forecasts"][0]["units"] == UNITS
    assert not server.questions
    ran = describe()
    assert (ran.status, ran.err) == (0, "")
    assert re.search(rf"4 files, \d+ chunks, {UNITS} described", ran.out)
    assert f"{UNITS} units described now, 330 tokens, $0.0000" in ran.out
    units = asked(server)
    assert len(units) == len(set(units)) == UNITS
    assert not any("Sends mail" in unit for unit in units)  # documentation says itself what it is about
    answer = found("zeppelin harbor")
    best = answer["hits"][0]
    assert (answer["relevant"], best["symbol"], best["description"]) == (True, "send_mail", ZEPPELIN)
    assert f"described {UNITS}" in assay("status", project).out
    explained = assay("search", "zeppelin harbor", project, "--explain").out
    assert f"\n    described: {ZEPPELIN}\n" in explained
    assert found("status", project)["described"] == UNITS


def test_no_unit_is_described_twice(assay, describe, project: Path, server: EndpointServer, tmp_path: Path):
    describe()
    assert len(asked(server)) == UNITS
    assert "0 units described now, 0 tokens" in describe().out
    (project / "mail" / "send.py").rename(project / "post.py")
    shutil.copytree(project, tmp_path / "branch")
    describe()
    copied = describe(root=tmp_path / "branch")
    assert re.search(rf"{UNITS} described.*\n.*: 0 units described now", copied.out)
    assert not asked(server)
    with (project / "mail" / "address.py").open("a") as file:
        file.write("\n\ndef parse_address(text):\n    return Address(*text.split('@'))\n")
    describe()
    (unit,) = asked(server)
    assert unit.startswith("python function parse_address\ndef parse_address(text):")
    assert assay("status", project).status == 0


def test_an_update_keeps_descriptions_and_asks_nobody(  # noqa: PLR0917  fixtures
    assay, describe, found, project: Path, server: EndpointServer, tmp_path: Path
):
    assay("index", project)
    (bare,) = (tmp_path / "cache").rglob("*.segment")
    assert b'"descriptions' not in bare.read_bytes(), "without descriptions there is no column for them"
    assert not found("send mail")["hits"][0]["description"]
    describe()
    asked(server)
    with (project / "mail" / "send.py").open("a") as file:
        file.write("\n\ndef receive_mail(server):\n    return server.inbox()\n")
    assert found("zeppelin harbor")["hits"][0]["symbol"] == "send_mail"
    anew = found("index", project, "--encoder", "hash")  # which makes all of it anew
    assert (anew["roots"][0]["described"], server.questions) == (UNITS, [])


def test_a_description_is_on_disk_before_the_next_is_asked_for(  # noqa: PLR0917  fixtures
    describe, found, project: Path, server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A run that is killed at its sixth question leaves what lay on disk then: from there the next one goes on."""
    for number in range(7):
        (project / f"part{number}.py").write_text(f"def part{number}(x):\n    return x * {number}\n")
    asked_before: list[str] = []

    def say(question: Question) -> Play:
        if len(server.questions) == 6:
            shutil.copytree(tmp_path / "cache", tmp_path / "killed")
            asked_before[:] = map(unit_in, server.questions[:5])
        return describing(question)

    server.say = say
    assert describe("--workers", "1").status == 0
    asked(server)
    server.say = describing
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "killed"))
    assert found("part3")["hits"], "the index is whole"
    assert describe().status == 0
    after = asked(server)
    assert len(after) + len(asked_before) == len({*after, *asked_before}) == UNITS + 7
    assert found("status", project)["described"] == UNITS + 7


def test_two_at_once_do_not_pay_twice(assay, describe, project: Path, server: EndpointServer):
    server.say = lambda question: replace(describing(question), delay_s=0.2)
    assert assay("index", project).status == 0
    command = [sys.executable, "-m", "assay", "index", str(project), "--describe", model(server)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        until(lambda: server.questions, "the other process asks")
        said = [describe().out, other.communicate()[0]]
    assert len(asked(server)) == UNITS
    assert sorted(re.search(r"(\d) units described now", out)[1] for out in said) == ["0", str(UNITS)]


def test_a_budget_that_ends_loses_nothing(describe, server: EndpointServer):
    server.say = lambda question: replace(describing(question), usage=(5000, 100))
    first = describe("--budget", "6ktok", "--workers", "1")
    assert first.status == 1
    count = len(asked(server))
    assert 0 < count < UNITS
    assert f"{count} described" in first.out
    assert f"{UNITS - count} left, which the same command describes" in first.out
    assert "stopped: the budget is spent" in first.out
    second = describe()
    assert (second.status, len(asked(server))) == (0, UNITS - count)
    assert f"{UNITS} described" in second.out


BAD = {
    "short": ("Sends.", "a description of 6 characters"),
    "refusal": ("I'm sorry, but I cannot help with that request.", "a refusal: \"I'm sorry"),
    "code": ("Runs this: ```rm -rf /``` in a shell.", "characters that no sentence has"),
    "cursor": ("Moves the cursor \x1b[2J over there.", "characters that no sentence has"),
    "empty": ("", "a description of 0 characters"),
    "parrot": ("rewrites a camel case identifier with underscores and small letters", "a part of the prompt"),
}


def test_a_bad_description_is_refused_for_its_unit_alone(assay, describe, project: Path, server: EndpointServer):
    for name in BAD:
        (project / f"{name}.py").write_text(f"def bad_{name}(x):\n    return x * {len(name)}\n")
    body = "\n".join(f"    x = x * {n}" for n in range(20))
    (project / "parts.py").write_text("\n\n".join(f"def part{n}(x):\n{body}\n    return x\n" for n in range(8)))

    def spoiled(question: Question) -> Play:
        found = re.search(r"def bad_(\w+)", unit_in(question))
        if "def part5" in unit_in(question):
            return Play(text="{not json")
        return Play({"purpose": BAD[found[1]][0]}) if found else describing(question)

    server.say = spoiled
    ran = describe("-v")
    assert ran.status == 0
    assert f"{UNITS + 7} units described now, {len(BAD) + 1} refused, " in ran.out
    for name, (_, message) in BAD.items():
        assert re.search(rf"assay: {name}\.py:1: .*{re.escape(message)}", ran.err), name
    assert re.search(r"assay: parts\.py:121: vllm:m@.* gave no valid answer in 3", ran.err)
    assert json.loads(describe("--format", "json").out)["descriptions"][0]["refused"] == len(BAD) + 1
    server.say = describing
    assert f"{len(BAD) + 1} units described now" in describe().out
    assert assay("search", "mail", project).status == 0


def test_a_description_is_one_line_that_does_not_name_its_unit(describe, found, server: EndpointServer):
    endless = "The `send_mail` function is used to launch a zeppelin,\n" + "which carries parcels and letters, " * 8
    server.say = lambda _: Play({"purpose": endless})
    assert f"{UNITS} units described now" in describe().out
    (text,) = [hit["description"] for hit in found("zeppelin parcels")["hits"] if hit["symbol"] == "send_mail"]
    assert text == "Launch a zeppelin" + ", which carries parcels and letters" * 6


def test_known_descriptions_serve_copies_later_indexes_and_benchmarks(
    assay, describe, project: Path, server: EndpointServer, tmp_path: Path
):
    """Nobody is asked: an index that is made takes what is known, one that was there with its next `assay index`."""
    copies = [tmp_path / name for name in ("earlier", "later")]
    for copy in copies:
        shutil.copytree(project, copy)
    question = ("search", "zeppelin harbor", "--format", "json")
    assert not json.loads(assay(*question, copies[0]).out)["relevant"]
    describe()
    server.questions.clear()
    assert f"{UNITS} described" in assay("index", copies[0]).out
    for copy in copies:
        assert json.loads(assay(*question, copy).out)["hits"][0]["description"] == ZEPPELIN
    (tmp_path / "q.csv").write_text("query,result1\nzeppelin towards a harbor,mail/send.py:1-99:1\n")
    named = f'index.describe = "{model(server)}"'
    systems = f'[systems.without]\nspec = "assay"\n[systems.with]\nspec = "assay"\n{named}\n'
    sets = f'[sets.q]\ntruth = "{tmp_path}/q.csv"\ncorpus = "{project}"\n'
    (tmp_path / "m.toml").write_text(sets + systems)
    ran = assay("bench", tmp_path / "m.toml", "--out", tmp_path / "out")
    without, described = re.findall(r"^  \w+ +([\d.]+) \[", ran.out, re.MULTILINE)
    assert without < described == "1.000", ran.err
    assert not server.questions


def test_another_author_describes_again_and_a_setting_chooses(
    assay, describe, found, project: Path, server: EndpointServer
):
    describe()
    server.say = lambda _: Play({"purpose": "Feeds the llamas of the neighbor in the morning."})
    assert f"{UNITS} units described now" in assay("index", project, "--describe", model(server, "other")).out
    assert "llamas" in found("llamas of the neighbor")["hits"][0]["description"]
    assay("index", project, "--set", f"index.describe={model(server)}")
    assert "zeppelin" in found("zeppelin towards the harbor")["hits"][0]["description"]
    assert "described" not in assay("index", project, "--set", "index.describe=none").out


def test_no_key_of_the_environment_is_sent(
    describe, project: Path, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("POSTBOX_API_KEY", "pb-51cf0a9e77d2")
    (project / "mail" / "key.py").write_text("def connect():\n    return open('pb-51cf0a9e77d2')\n")
    describe()
    (unit,) = [text for text in asked(server) if "def connect" in text]
    assert unit.endswith("return open('***')")


def test_a_model_that_refuses_everything_ends_the_run(describe, refuses, project: Path, server: EndpointServer):
    server.say = lambda _: Play(status=401, body=b"no such key")
    ran = describe("--workers", "1")
    assert ran.status == 1
    assert "stopped: vllm:m@" in ran.out
    assert f"{UNITS} left" in ran.out
    assert len(server.questions) == 1
    server.say = lambda _: Play(status=400, body=b"too large")
    ran = describe()
    assert (ran.status, f"stopped: each of {UNITS} units was refused: vllm:m@" in ran.out) == (1, True)
    said = "assay: --budget, --rate and --dry-run are for --describe CHAT: give that, too"
    refuses([(("index", project, "--budget", "5usd"), said)])
