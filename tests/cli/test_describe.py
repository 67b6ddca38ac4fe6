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

from assay.store.segment import read_segment
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


@pytest.fixture
def describe(assay: Callable, project: Path, server: EndpointServer) -> Callable:
    def call(*options: str, root: Path = project) -> object:
        return assay("index", root, "--describe", f"vllm:m@{server.base}?max_tokens=100", *options)

    return call


def asked(server: EndpointServer) -> list[str]:
    """Return every unit that was asked about, since this was last called."""
    units = list(map(unit_in, server.questions))
    server.questions.clear()
    return units


def segments(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.segment"))


def test_units_are_described_searched_and_shown(assay, describe, project: Path, server: EndpointServer):
    question = ("search", "zeppelin harbor", project, "--format", "json")
    assert not json.loads(assay(*question).out)["relevant"]
    ran = describe()
    assert (ran.status, ran.err) == (0, "")
    assert re.search(rf"4 files, \d+ chunks, {UNITS} described", ran.out)
    assert f"{UNITS} units described now, 330 tokens, $0.0000" in ran.out
    units = asked(server)
    assert len(units) == len(set(units)) == UNITS
    assert not any("Sends mail" in unit for unit in units)  # documentation says itself what it is about
    answer = json.loads(assay(*question).out)
    best = answer["hits"][0]
    assert (answer["relevant"], best["symbol"]) == (True, "send_mail")
    assert best["description"] == ZEPPELIN
    assert f"described {UNITS}" in assay("status", project).out
    explained = assay("search", "zeppelin harbor", project, "--explain").out
    assert f"\n    described: {ZEPPELIN}\n" in explained
    assert json.loads(assay("status", project, "--format", "json").out)["described"] == UNITS


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


def test_an_update_keeps_what_is_known_and_asks_nobody(assay, describe, project: Path, server: EndpointServer):
    describe()
    asked(server)
    with (project / "mail" / "send.py").open("a") as file:
        file.write("\n\ndef receive_mail(server):\n    return server.inbox()\n")
    answer = json.loads(assay("search", "zeppelin harbor", project, "--format", "json").out)
    assert answer["hits"][0]["symbol"] == "send_mail"
    other = ("--encoder", "hash")  # which makes all of it anew
    assert json.loads(assay("index", project, *other, "--format", "json").out)["roots"][0]["described"] == UNITS
    assert not server.questions


def test_an_index_without_descriptions_has_no_column_for_them(assay, describe, project: Path, tmp_path: Path):
    assay("index", project)
    (bare,) = segments(tmp_path)
    assert b'"descriptions' not in bare.read_bytes()
    assert not read_segment(bare).described.any()
    assert not json.loads(assay("search", "send mail", project, "--format", "json").out)["hits"][0]["description"]
    describe()
    assert sum(read_segment(each).described.sum() for each in segments(tmp_path)) == UNITS


def test_what_was_described_is_on_disk_before_the_next_is_asked(  # noqa: PLR0917  fixtures
    assay, describe, project: Path, server: EndpointServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert json.loads(assay("search", "part3", project, "--format", "json").out)["hits"]  # the index is whole
    assert describe().status == 0
    after = asked(server)
    assert len(after) + len(asked_before) == len({*after, *asked_before}) == UNITS + 7
    assert json.loads(assay("status", project, "--format", "json").out)["described"] == UNITS + 7


def test_two_at_once_do_not_pay_twice(assay, describe, project: Path, server: EndpointServer):
    server.say = lambda question: replace(describing(question), delay_s=0.2)
    assert assay("index", project).status == 0
    command = [
        sys.executable,
        "-m",
        "assay",
        "index",
        str(project),
        "--describe",
        f"vllm:m@{server.base}?max_tokens=100",
    ]
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


def test_a_forecast_asks_nobody(describe, server: EndpointServer):
    ran = describe("--dry-run")
    assert re.search(rf": {UNITS} units to describe, about [\d,]+ tokens in and 120 out\n", ran.out)
    assert "$0.0000 by the listed price of vllm:m@" in ran.out
    assert json.loads(describe("--dry-run", "--format", "json").out)["forecasts"][0]["units"] == UNITS
    assert not server.questions


BAD = {
    "short": ("Sends.", "a description of 6 characters"),
    "refusal": ("I'm sorry, but I cannot help with that request.", "a refusal: \"I'm sorry"),
    "code": ("Runs this: ```rm -rf /``` in a shell.", "characters that no sentence has"),
    "cursor": ("Moves the cursor \x1b[2J over there.", "characters that no sentence has"),
    "empty": ("", "a description of 0 characters"),
    "parrot": ("rewrites a camel case identifier with underscores and small letters", "a part of the prompt"),
}


def test_what_is_no_description_is_refused_for_its_unit_and_named(
    assay, describe, project: Path, server: EndpointServer
):
    for name in BAD:
        (project / f"{name}.py").write_text(f"def bad_{name}(x):\n    return x * {len(name)}\n")

    def spoiled(question: Question) -> Play:
        found = re.search(r"def bad_(\w+)", unit_in(question))
        return Play({"purpose": BAD[found[1]][0]}) if found else describing(question)

    server.say = spoiled
    ran = describe("-v")
    assert ran.status == 0
    assert f"{UNITS} units described now, {len(BAD)} refused, " in ran.out
    for name, (_, message) in BAD.items():
        assert re.search(rf"assay: {name}\.py:1: .*{re.escape(message)}", ran.err), name
    assert json.loads(describe("--format", "json").out)["descriptions"][0]["refused"] == len(BAD)
    server.say = describing
    assert f"{len(BAD)} units described now" in describe().out
    assert assay("search", "mail", project).status == 0


def test_a_unit_that_nobody_describes_spoils_no_other_of_its_file(describe, project: Path, server: EndpointServer):
    body = "\n".join(f"    x = x * {n}" for n in range(20))
    (project / "parts.py").write_text("\n\n".join(f"def part{n}(x):\n{body}\n    return x\n" for n in range(8)))

    def broken(question: Question) -> Play:
        return Play(text="{not json") if "def part5" in unit_in(question) else describing(question)

    server.say = broken
    ran = describe()
    assert f"{UNITS + 7} units described now, 1 refused" in ran.out
    assert re.search(r"assay: parts\.py:121: vllm:m@.* gave no valid answer in 3", ran.err)


def test_a_description_is_one_line_that_does_not_name_its_unit(assay, describe, project: Path, server: EndpointServer):
    endless = "The `send_mail` function is used to launch a zeppelin,\n" + "which carries parcels and letters, " * 8
    server.say = lambda _: Play({"purpose": endless})
    assert f"{UNITS} units described now" in describe().out
    hits = json.loads(assay("search", "zeppelin parcels", project, "--format", "json").out)["hits"]
    (text,) = [hit["description"] for hit in hits if hit["symbol"] == "send_mail"]
    assert text == "Launch a zeppelin" + ", which carries parcels and letters" * 6


def test_what_was_described_once_is_found_by_a_copy_a_later_index_and_a_benchmark(
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
    named = f'index.describe = "vllm:m@{server.base}?max_tokens=100"'
    systems = f'[systems.without]\nspec = "assay"\n[systems.with]\nspec = "assay"\n{named}\n'
    sets = f'[sets.q]\ntruth = "{tmp_path}/q.csv"\ncorpus = "{project}"\n'
    (tmp_path / "m.toml").write_text(sets + systems)
    ran = assay("bench", tmp_path / "m.toml", "--out", tmp_path / "out")
    without, described = re.findall(r"^  \w+ +([\d.]+) \[", ran.out, re.MULTILINE)
    assert without < described == "1.000", ran.err
    assert not server.questions


def test_another_author_describes_anew_and_a_setting_says_whose_are_searched(
    assay, describe, project: Path, server: EndpointServer
):
    describe()
    server.say = lambda _: Play({"purpose": "Feeds the llamas of the neighbor in the morning."})
    other = f"vllm:other@{server.base}"
    assert f"{UNITS} units described now" in assay("index", project, "--describe", other).out

    def best(question: str) -> str:
        return json.loads(assay("search", question, project, "--format", "json").out)["hits"][0].get("description", "")

    assert "llamas" in best("llamas of the neighbor")
    assay("index", project, "--set", f"index.describe=vllm:m@{server.base}?max_tokens=100")
    assert "zeppelin" in best("zeppelin towards the harbor")
    assert "described" not in assay("index", project, "--set", "index.describe=none").out


def test_no_key_of_the_environment_is_sent(
    describe, project: Path, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("POSTBOX_API_KEY", "pb-51cf0a9e77d2")
    (project / "mail" / "key.py").write_text("def connect():\n    return open('pb-51cf0a9e77d2')\n")
    describe()
    (unit,) = [text for text in asked(server) if "def connect" in text]
    assert unit.endswith("return open('***')")


def test_who_refuses_everybody_ends_it(describe, server: EndpointServer):
    server.say = lambda _: Play(status=401, body=b"no such key")
    ran = describe("--workers", "1")
    assert ran.status == 1
    assert "stopped: vllm:m@" in ran.out
    assert f"{UNITS} left" in ran.out
    assert len(server.questions) == 1
    server.say = lambda _: Play(status=400, body=b"too large")
    ran = describe()
    assert (ran.status, f"stopped: each of {UNITS} units was refused: vllm:m@" in ran.out) == (1, True)


def test_options_of_describing_want_a_model(refuses, project: Path):
    said = "assay: --budget, --rate and --dry-run are for --describe CHAT: give that, too"
    refuses([(("index", project, "--budget", "5usd"), said)])
