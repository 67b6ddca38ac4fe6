"""Ground truth by models of a real server: faults, a run that is cut off, replies that cannot be trusted."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.judge.records import verdicts
from assay.truth.truth_formats import read
from assay.truth.written import fault_of_question, order_of
from endpoint_server import VARIABLES, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

_THINGS = "parcel ladder kettle lantern violin harbor meadow pebble compass saddle orchard thimble anvil quilt".split()
_FAULTS = {
    0: Play(status=429, headers={"retry-after": "0"}),
    1: Play(status=500, headers={"retry-after": "0"}),
    2: Play(body=b'{"choices": [{"mess', headers={"retry-after": "0"}),
    3: Play(text="What about this one?"),
    4: Play({"purpose": "so", "question": "where is it?", "lines": "1-9999", "path": "/etc/passwd"}),
}
"""Too many requests, a broken server, a broken body, no JSON, and a reply that brings a range along."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "shop"
    (root / "docs").mkdir(parents=True)
    for at in range(8):
        lines = [f"LIMIT_{at} = dict(zip('abcdefgh', range({at}, 100)))  # how many at most of each may be taken home"]
        lines += ["", "", f"class Basket{at}:", f'    """Holds what somebody wants to buy in aisle {at} of it."""', ""]
        lines += ['    owner = "nobody"', ""]
        lines += ["    " + each for each in _function(f"add_item_{at}")]
        lines += ["", "", *_function(f"total_price_{at}")]
        (root / f"shelf_{at}.py").write_text("\n".join(lines) + "\n")
        words = " ".join(f"Sentence {number} says what visitors of branch {at} bring." for number in range(4))
        (root / "docs" / f"page{at}.md").write_text(f"# Branch {at}\n\n{words}\n\nMore of it.\n\nAnd more.\n")
    return root


def _function(name: str) -> list[str]:
    return [
        f"def {name}(basket, item, amount):",
        '    """Put something in, unless there is no room left for it."""',
        "    for kind in basket:",
        "        if kind == item and amount > 3:",
        "            return basket[kind] * amount",
        "    return None",
    ]


class Writer:
    """The model that writes and the one that grades: first trouble of the line, then of the answer, then good ones."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.troubled: Counter[int] = Counter()
        self.at: dict[int, Callable[[], object]] = {}
        """What is done before so many questions are answered."""
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, question: dict) -> Play:
        text = question["messages"][1]["content"]
        with self._lock:
            self._seen[text] += 1
            trouble = len(self._seen) % 12 if self._seen[text] == 1 else 99
        if trouble in _FAULTS and "kind: " in text:
            self.troubled[trouble] += 1
            return _FAULTS[trouble]
        with self._lock:
            self.at.pop(self.answered.total(), lambda: None)()
            self.answered[text] += 1
        return Play(written(text) if "kind: " in text else graded(text))


def written(text: str) -> dict[str, str]:
    """Return what the author says to an order."""
    path, symbol = (re.search(rf"^{name}: (.*)$", text, re.MULTILINE)[1] for name in ("path", "symbol"))
    number = int(re.search(r"\d+", path)[0])
    thing = _THINGS[number]
    if "no question was refused" in text:
        if number == 1:
            return {"purpose": "", "question": f"what does {symbol}() do in {path}:3-9 with it?"}
        if number == 2 and "kind: hard" in text:
            return {"purpose": "", "question": f"where is the {symbol.replace('_', ' ')} of a shelf worked out?"}
    if number == 3:
        return {"purpose": "it always names the unit", "question": f"please explain what `{symbol}` is good for here"}
    if number == 4:
        return {"purpose": "nothing to say", "question": ""}
    if number == 5:
        return {"purpose": "", "question": "how does a wandering minstrel tune an instrument before dawn"}
    sort = "verse" if path.endswith(".md") else {"L": "chart", "B": "herd"}.get(symbol[0], "dance")
    more = "slowly" if symbol.startswith("add") else "quickly"
    return {"purpose": "", "question": f"how does a {thing} become one {sort} {more} once evening comes"}


def graded(text: str) -> dict[str, object]:
    """Return what the checker says: no where there is a compass, helps where there is a pebble."""
    grade = 0 if "pebble" in text else 1 if "compass" in text else 2
    return {"reason": "as it reads", "grade": grade}


@pytest.fixture
def write(assay, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable]:
    """Return what runs the command with two models of a server."""
    chats = ("--chat", "openai:author?usd_in=1&usd_out=2", "--check-chat", "openai:checker?usd_in=1&usd_out=2")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-test")

        def call(model: Writer, out: str, *more: str) -> object:
            server.say = model
            return assay("truth", "write", "shop", "--out", out, "--no-cache", *chats, *more)

        yield call


@pytest.mark.usefixtures("repository")
def test_cut_off_and_resumed_it_writes_the_same_and_pays_once(write):
    """A run that is killed leaves what lay on disk then: from there the next one goes on."""
    whole, rest, nobody = Writer(), Writer(), Writer()

    def kill() -> None:
        assert not Path("whole.jsonl").exists()
        for file in Path().glob("whole.*"):
            shutil.copy(file, file.name.replace("whole", "cut"))

    whole.at[12] = kill
    told = write(whole, "whole.jsonl", "--workers", "4")
    assert told.status == 0, told.err
    assert all(whole.troubled[fault] for fault in _FAULTS), whole.troubled
    went_on = write(rest, "cut.jsonl", "--workers", "4")
    assert went_on.status == 0, went_on.err
    assert "no model was asked" in write(nobody, "cut.jsonl").out
    assert not nobody.answered
    assert Path("cut.jsonl").read_text() == Path("whole.jsonl").read_text()
    again = rest.answered.total() + 12 - whole.answered.total()
    assert 0 <= again <= 4  # only what was on its way to a worker when it was cut off
    assert set(rest.answered) < set(whole.answered)
    assert went_on.out.splitlines()[1:-1] == told.out.splitlines()[1:-1]  # all but the name of the file, and the cost


def test_what_a_model_says_is_checked_and_its_ranges_are_not_believed(repository: Path, assay, write):
    ran = write(Writer(), "truth.jsonl")
    assert ran.status == 0, ran.err
    home = repository.parent
    truth = read(home / "truth.jsonl").truth
    checked = assay("truth", "check", home / "truth.jsonl", "--corpus", repository)
    assert checked.status == 0, checked.out
    records = {record["code_id"]: record for record in verdicts(home / "truth.records.jsonl")}
    assert {judgment.target for judgment in truth.judgments} <= records.keys()
    for query, judgment in zip(truth.queries, truth.judgments, strict=True):
        order = order_of(records[judgment.target]["query"])
        assert fault_of_question(query.text, order) == ""
        assert query.tags["kind"] == order.kind
        assert judgment.judge.startswith("grade:openai:checker")
        assert "pebble" not in query.text
        assert judgment.grade == (1 if "compass" in query.text else 2)
    assert len({query.text for query in truth.queries}) == len(truth.queries)
    assert {query.tags["unit"] for query in truth.queries} == {"function", "type", "constant", "documentation"}
    assert {query.tags["kind"] for query in truth.queries} == {"standard", "hard", "issue"}
    for why in ("no question that can be used", "the unit does not answer it", "the same question about another unit"):
        assert why in ran.out
    assert "/etc/passwd" not in (home / "truth.jsonl").read_text()
    replayed = assay("judge", "replay", home / "truth.records.jsonl")
    assert replayed.status == 0, replayed.out
    assert "0 differ" in replayed.out


@pytest.mark.usefixtures("repository")
def test_a_budget_ends_it_and_a_larger_one_goes_on(write):
    for budget, status in (("30ktok", 1), ("30Mtok", 0)):
        ran = write(Writer(), "truth.jsonl", "--budget", budget)
        assert (ran.status, "budget is spent" in ran.out) == (status, bool(status)), ran.err


@pytest.mark.usefixtures("repository")
def test_people_check_what_a_model_wrote(assay):
    """Without a second model the pairs go to people, whose labels overturn questions that are no good."""
    from assay.judge.label_ballots import LabelBallot, LabelSettings
    from assay.judge.pairs import Pair
    from assay.judge.pairs import read as read_pairs

    said = {"purpose": "", "question": "how is the evening meal of the crew arranged"}
    Path("replies.jsonl").write_text(json.dumps({"contains": "kind: ", "value": said}) + "\n")
    ran = assay("truth", "write", "shop", "--chat", "scripted:replies.jsonl", "--out", "truth.jsonl", "--limit", "4")
    assert ran.status == 0, ran.err
    assert "3 left out: the same question about another unit" in ran.out
    (pair,) = (each for each in read_pairs(Path("truth.pairs.jsonl")) if isinstance(each, Pair))
    with LabelBallot([pair], Path("labels"), LabelSettings(person="ann", graded=True)) as ballot:
        ballot.take({"item": pair.digest, "grade": 0, "reason": "not at all"})
    ran = assay("truth", "correct", "--truth", "truth.jsonl", "--labels", "labels/ann.jsonl", "--write")
    assert ran.status == 0, ran.err
    assert "1 overturned" in ran.out
    assert [(each.grade, each.judge) for each in read(Path("truth.jsonl")).truth.judgments] == [(0, "ann")]


@pytest.mark.usefixtures("repository")
def test_two_campaigns_are_compared(assay, write):
    assert write(Writer(), "a.jsonl", "--seed", "1", "--limit", "8").status == 0
    Path("b.jsonl").write_text(Path("a.jsonl").read_text().replace('"grade": 2', '"grade": 1', 1))
    ran = assay("judge", "agreement", "a=a.jsonl", "b=b.jsonl", "--match", "2")
    assert ran.status == 0, ran.err
    assert "1 pairs are labelled in two ways" in ran.out
    assert "cannot be used" not in ran.out
    assert "grades" in assay("truth", "audit", "a.jsonl", "--corpus", "shop").out


@pytest.mark.usefixtures("repository")
def test_what_cannot_be_used_and_records_of_something_else_are_refused(assay, refuses):
    Path("replies.jsonl").write_text(json.dumps({"value": {"purpose": "", "question": ""}, "contains": ""}) + "\n")
    Path("empty").mkdir()
    ask = "truth write shop --chat scripted:replies.jsonl --limit 2 --out t.jsonl"
    assert assay(*ask.split()).status == 1
    refuses([
        (f"{ask} --max-tries 5", "holds verdicts of another run: max_tries differ"),
        ("truth write empty --chat scripted:replies.jsonl", "has no function or type"),
        ("truth write shop --chat scripted:none.jsonl", "cannot read the replies in none.jsonl"),
        ("truth write shop --chat nowhere:x", "nowhere"),
        ("truth write shop --chat scripted:replies.jsonl --out truth.beir", "does not say what format to write"),
        ("truth write shop --chat scripted:replies.jsonl --at v9", "no git repository"),
    ])  # fmt: skip
    assert assay(*ask.split(), "--max-tries", "5", "--fresh").status == 1
