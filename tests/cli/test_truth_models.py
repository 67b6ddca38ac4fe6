"""Ground truth by models of a real server: what they write is checked, judges are judged, nothing is paid twice."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.truth.truth_formats import read
from endpoint_server import VARIABLES, EndpointServer, Play, serving
from json_lines import read_lines

pytest.importorskip("httpx", reason="the api extra is not installed")

THINGS = ("parcel", "kettle", "lantern", "violin", "harbor", "meadow")
QUESTION = "what happens to things nobody collects before the {} closes in winter"
WRITE = "truth write shop --chat openai:author?usd_in=1&usd_out=2 --no-cache --workers 2 --out t.jsonl".split()


def source(thing: str) -> str:
    body = [f"    for each in {thing}s:", "        if each.days > 30:", f"            each.send_back('{thing}')"]
    lines = [f"def return_{thing}({thing}s):", *body, "    return None", "", "", f"def count_{thing}({thing}s):"]
    return "\n".join([*lines, *body, f"    return len({thing}s)", ""])


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    monkeypatch.chdir(tmp_path)
    Path("shop").mkdir()
    for thing in THINGS:
        Path(f"shop/{thing}.py").write_text(source(thing))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(say) as held:
        monkeypatch.setenv("ASSAY_API_BASE", held.base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
        yield held


def say(question: dict) -> Play:
    """Answer as a good model does."""
    text = question["messages"][1]["content"]
    if question.get("logprobs"):
        return Play({"Yes": 0.9, "No": 0.1} if fits(text) else {"Yes": 0.1, "No": 0.9})
    if "At most" in text:
        thing = next(each for each in THINGS if f"{each}.py" in text)
        return Play({"questions": [proposal(QUESTION.format(thing), 1, 5)]})
    return Play({"reason": "as it reads", "grade": 2 * fits(text)})


def fits(text: str) -> bool:
    """Say whether a pair of a question and a place is right."""
    return any(f"the {thing} closes" in text and f"{thing}s:" in text for thing in THINGS)


def proposal(question: str, start: int, end: int, *more: tuple[int, int, int]) -> dict[str, object]:
    others = [dict(zip(("start", "end", "grade"), each, strict=True)) for each in more]
    return {"question": question, "start": start, "end": end, "more": others}


def test_right_questions_of_a_model_are_kept_and_wrong_ones_counted(assay, server: EndpointServer):
    good = "what happens to goods nobody collects before the {} closes in winter"
    wrong = {
        "parcel": proposal("where does the parcel closes ledger live for every customer", 70, 90),
        "kettle": proposal("where are the steaming things of the kitchen shelved at night", 6, 7),
        "lantern": proposal("what does `return_lantern` do with all of its lanterns", 1, 5),
        "violin": proposal("which musician tunes the instrument before dawn breaks", 1, 5),
    }

    def writes(question: dict) -> Play:
        text = question["messages"][1]["content"]
        thing = next((each for each in THINGS if f"{each}.py" in text and "At most" in text), "")
        if not thing:
            return say(question)
        right = proposal(good.format(thing), 1, 5, (8, 12, 1), (13, 99, 1))
        hard = proposal(f"whom do we give forgotten goods from the {thing} closes", 1, 5)
        return Play({"questions": [right, *([wrong[thing]] if thing in wrong else [hard])]})

    server.say = writes
    ran = assay(*WRITE)
    assert ran.status == 0, ran.err
    truth = read(Path("t.jsonl")).truth
    assert {query.text for query in truth.queries} >= {good.format(thing) for thing in THINGS}
    targets = sorted(each.target for each in truth.judgments if each.target.startswith("parcel"))
    assert targets == ["parcel.py:1-5", "parcel.py:8-12"]
    for why in (
        "7 left out: a place that does not exist",
        "1 left out: a blank place",
        "3 left out: a question without a place that answers it",
        "1 left out: a question that names a file, lines or code",
        "1 left out: a place that does not answer",
    ):
        assert why in re.sub(" +", " ", ran.out), ran.out
    assert {query.tags["kind"] for query in truth.queries} == {"standard"}
    assert assay("truth", "check", "t.jsonl", "--corpus", "shop").status == 0


def test_questions_without_a_word_of_their_answer_are_hard(assay, server: EndpointServer):
    asks = ["what happens to goods nobody collects before the shop closes in winter", QUESTION.format("harbor")]

    def writes(question: dict) -> Play:
        if question.get("logprobs"):
            return Play({"Yes": 0.9, "No": 0.1})
        about = asks if "harbor.py" in json.dumps(question) else []
        return Play({"questions": [proposal(each, 1, 5) for each in about]})

    server.say = writes
    assert assay(*WRITE).status == 0
    assert [query.tags["kind"] for query in read(Path("t.jsonl")).truth.queries] == ["hard", "standard"]
    ran = assay(*WRITE, "--hard", "--fresh")
    assert "1 query" in ran.out
    assert "1 left out: a question that is not hard" in ran.out
    assert "all hard" in json.dumps(server.questions[-3:])


def test_an_interrupted_run_pays_for_the_rest_alone_and_writes_the_same(assay, server: EndpointServer):
    ran = assay(*WRITE)
    assert (ran.status, "6 queries (6 standard)" in ran.out) == (0, True), ran.out
    whole, asked = Path("t.jsonl").read_text(), len(server.questions)
    records = next(Path("assay-bench/truth/t.jsonl").glob("*.jsonl"))
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:5]) + lines[5][:20])
    assert assay(*WRITE).status == 0
    assert Path("t.jsonl").read_text() == whole
    assert len(server.questions) == asked + len(lines) - 5
    assert assay(*WRITE, "--budget", "1ktok", "--fresh").status == 1
    ran = assay(*WRITE, "--budget", "9Mtok")
    assert (ran.status, Path("t.jsonl").read_text()) == (0, whole)


def test_an_endpoint_without_log_probabilities_is_asked_in_words(assay, server: EndpointServer):
    def speaks(question: dict) -> Play:
        if question.get("logprobs"):
            return Play(status=400, body=b'{"error": {"message": "logprobs are not supported"}}')
        text = question["messages"][1]["content"]
        return Play({"answer": "Yes" if fits(text) else "No"}) if text.startswith("Query:") else say(question)

    server.say = speaks
    ran = assay(*WRITE)
    assert (ran.status, "6 queries" in ran.out) == (0, True), ran.out


@pytest.fixture
def written(assay, server: EndpointServer) -> Path:
    """Return a ground truth with one wrong place, and one right one that is not judged."""
    assert assay(*WRITE).status == 0
    truth = Path("t.jsonl").read_text()
    Path("t.jsonl").write_text(truth.replace('"target": "violin.py:1-5"', '"target": "meadow.py:8-12"'))
    server.questions.clear()
    return Path("t.jsonl")


def test_judges_dispute_places_and_one_that_accepts_everything_is_named(assay, server: EndpointServer, written: Path):
    def judges(question: dict) -> Play:
        return Play({"Yes": 0.999, "No": 0.001}) if question["model"] == "nods" else say(question)

    server.say = judges
    command = ("truth", "audit", written, "--corpus", "shop", "--judge", "grades:openai:author", "--judge")
    ran = assay(*command, "asks:openai:nods", "--no-cache")
    assert ran.status == 1
    assert "grades:openai:author accepts 0 of 6 places that answer other questions\n" in ran.err
    assert "asks:openai:nods accepts 6 of 6 places that answer other questions: its yes says little" in ran.err
    assert "disputed places: 1 of 6" in ran.out
    assert "meadow.py:8-12: 2 in the file, 0 by grades:openai:author, 1 by asks:openai:nods" in ran.out
    assert "kappa" in ran.out
    asked = len(server.questions)
    told = json.loads(assay(*command, "asks:openai:nods", "--format", "json").out)["judges"]
    assert [each["target"] for each in told["disputes"]] == ["meadow.py:8-12"]
    assert len(server.questions) == asked


def correct(*more: str) -> list[str]:
    return ["truth", "correct", "t.jsonl", "--corpus", "shop", "--judge", "grades:openai:author", *more]


@pytest.mark.usefixtures("written")
def test_accepted_finds_are_proposed_and_added_once(assay, server: EndpointServer):
    before = Path("t.jsonl").read_text()
    ran = assay(*correct())
    assert (ran.status, Path("t.jsonl").read_text()) == (0, before), ran.err
    rows = read_lines("assay-bench/truth/t.corrected.jsonl/proposals.jsonl")
    assert {"violin.py:1-5"} <= {row["code_id"] for row in rows}
    assert all(fits(f"{row['query']} {row['code']}") for row in rows)
    asked = len(server.questions)
    ran = assay(*correct("--yes"))
    assert f"{len(rows)} answers added, 0 refused; written to t.corrected.jsonl" in ran.out
    added = [each for each in read(Path("t.corrected.jsonl")).truth.judgments if each.judge.startswith("grades")]
    assert {(each.grade, each.judge) for each in added} == {(1, "grades:openai:author")}
    assert len(server.questions) == asked
    assert assay(*correct("--yes")).status == 1


@pytest.mark.usefixtures("written")
def test_a_person_confirms_on_the_terminal_and_goes_on_later():
    def run(answers: bytes) -> str:
        ours, theirs = pty.openpty()
        os.write(ours, answers)
        done = subprocess.run([sys.executable, "-m", "assay", *correct()], stdin=theirs, stdout=theirs, check=False)
        os.close(theirs)
        seen = os.read(ours, 65_536).decode()
        os.close(ours)
        assert done.returncode == 0
        return seen

    assert "1 of " in run(b"y\nn\nq\n")
    said = [each for each in read(Path("t.corrected.jsonl")).truth.judgments if "person" in each.judge]
    assert [(each.grade, each.judge.partition(", ")[2]) for each in said] == [
        (1, "confirmed by a person"),
        (0, "refused by a person"),
    ]
    run(b"y\nq\n")
    assert len([each for each in read(Path("t.corrected.jsonl")).truth.judgments if "person" in each.judge]) == 3


@pytest.mark.usefixtures("server")
def test_queries_get_their_kind_by_the_rule_of_mining(assay):
    asked = ("what happens to forgotten goods", "send a kettle back", "what does return_kettle do")
    Path("a.csv").write_text("query,result1\n" + "".join(f"{each},kettle.py:1-5:2\n" for each in asked))
    ran = assay("truth", "convert", "a.csv", "b.jsonl", "--corpus", "shop", "--kinds")
    assert ran.out.startswith("1 hard, 1 standard, 1 symbol\n"), ran.err
    assert [query.tags["kind"] for query in read(Path("b.jsonl")).truth.queries] == ["hard", "standard", "symbol"]


@pytest.mark.usefixtures("written")
def test_a_mistake_is_refused_in_one_line(refuses: Callable[..., None]):
    Path("empty").mkdir()
    Path("a.csv").write_text("query,result1\nwhere is it,kettle.py:1-5:2\n")
    refuses([
        ("truth write empty --chat openai:author", "has no file with a function, type or section"),
        ("truth write nowhere --chat openai:author", "is not a folder"),
        ("truth write shop --chat openai:author --out t.beir", "does not say what format to write"),
        ("truth write shop --chat nowhere:x", "nowhere"),
        ("truth audit a.csv --judge signals", "give the checkout with --corpus FOLDER"),
        ("truth audit t.jsonl --corpus empty --judge signals", "none of its right places exists in the corpus"),
        ("truth audit t.jsonl --corpus shop --judge nobody", "no judge 'nobody'"),
        ("truth correct t.jsonl --corpus shop --judge signals --budget 1usd", "the judge 'signals' asks no model"),
        ("truth convert t.jsonl u.jsonl --kinds --corpus none", "none"),
    ])  # fmt: skip
