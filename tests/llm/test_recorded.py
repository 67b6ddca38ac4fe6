"""Chats whose replies are in a file: recorded ones ask each question once, scripted ones ask nobody."""

from __future__ import annotations

import json

import pytest

from assay.errors import BudgetSpent, EndpointFailed, InputError, NoAnswer, StorageError
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.recorded import REPLY, RecordedChat
from assay.llm.scripted import ScriptedChat
from assay.plugins import make
from assay.runs.record import Journal
from assay.values import Prompt, Reply

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
PROMPTS = [Prompt("system", f"question {number}", SCHEMA, name="count") for number in range(6)]


class Counting:
    """Answers with how often it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def reply(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt.text)
        if prompt.text.endswith(" 3"):
            raise NoAnswer("declined", tokens_in=5)
        if prompt.text.endswith(" 4"):
            raise EndpointFailed("busy")
        if prompt.text.endswith(" 5"):
            raise BudgetSpent("spent")
        return Reply({"n": len(self.asked)}, "m", 10, 2, 0.5)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "records.jsonl"


def recorded(chat, file, pair: str = "p") -> RecordedChat:
    return RecordedChat(chat, Journal(file, lambda _, one: one["kind"] == REPLY), pair)


def told(chat: RecordedChat, *numbers: int) -> list[int]:
    return [chat.record(PROMPTS[number])["value"]["n"] for number in numbers]


def test_what_is_recorded_is_not_asked_again_unless_it_had_no_answer(file):
    first, second = Counting(), Counting()
    assert told(recorded(first, file), 0, 1, 0) == [1, 2, 1]
    assert told(recorded(second, file), 0, 1, 2) == [1, 2, 1]
    assert (first.asked, second.asked) == ([p.text for p in PROMPTS[:2]], [PROMPTS[2].text])
    assert told(recorded(second, file, "another pair"), 0) == [2]
    file.unlink()
    for times in (1, 2):
        chat = recorded(Counting(), file)
        for number, error in ((3, NoAnswer), (4, EndpointFailed), (5, BudgetSpent)):
            with pytest.raises(error):
                chat.record(PROMPTS[number])
        assert [json.loads(line)["why"] for line in file.read_text().splitlines()] == ["declined", "busy"] * times


def test_altered_values_and_lines_are_no_answers(file):
    told(recorded(Counting(), file), 0)
    file.write_text(file.read_text().replace('{"n": 1}', '{"n": "one"}'))
    with pytest.raises(NoAnswer, match="cannot be used"):
        recorded(Counting(), file).record(PROMPTS[0])
    file.unlink()
    told(recorded(Counting(), file), 0)
    whole = file.read_text()
    file.write_text(whole + whole[:20])
    assert told(recorded(Counting(), file), 1) == [1]
    assert file.read_text().startswith(whole + '{"kind"')
    file.write_text('{"some": "thing"}\n')
    with pytest.raises(StorageError, match=r"records.jsonl:1: no record"):
        recorded(Counting(), file)


YES, NO = {"grade": 1, "reason": "yes"}, {"grade": 0, "reason": "no"}


@pytest.fixture
def script(tmp_path):
    def write(*lines):
        file = tmp_path / "replies.jsonl"
        file.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines))
        return make("chat", f"scripted:{file}")

    return write


def test_replies_go_by_hash_then_name_and_text_then_order(script, prompt):
    chat = script(
        {"value": {"grade": 0, "reason": "first in order"}, "tokens_in": 3, "cost": 0.5, "seconds": 2},
        {"name": "screen", "contains": "sub", "value": NO},
        {"hash": fingerprint(prompt("mul"))[:12], "value": {"grade": 1, "reason": "by hash"}},
        {"name": "screen", "contains": "def", "value": YES},
        {"value": {"grade": 0, "reason": "second in order"}},
    )
    assert [chat.reply(prompt()).value for _ in range(3)] == [YES] * 3
    assert (chat.reply(prompt("def sub")).value, chat.reply(prompt("mul")).value["reason"]) == (NO, "by hash")
    first = chat.reply(prompt("other"))
    assert (first.value["reason"], first.tokens_in, first.cost, first.seconds) == ("first in order", 3, 0.5, 2)
    assert chat.reply(prompt("other")).value["reason"] == "second in order"
    with pytest.raises(InputError, match=r"replies\.jsonl has no reply to the prompt 'screen' with hash [0-9a-f]{16}"):
        chat.reply(prompt("other"))
    assert chat.most(prompt()) == Spend(3, 0.5)
    with pytest.raises(InputError, match="did you mean 'screen'"):
        script({"name": "screen", "value": YES}).reply(prompt(name="scren"))


def test_failures_are_scripted_too(script, prompt):
    with pytest.raises(NoAnswer, match=r"replies\.jsonl:1: I will not") as caught:
        script({"error": "I will not", "tokens_in": 7}).reply(prompt())
    assert caught.value.tokens_in == 7
    with pytest.raises(NoAnswer, match=r"jsonl:2: the answer\.grade is 5") as caught:
        script("", {"value": {**YES, "grade": 5}}).reply(prompt())
    assert json.loads(caught.value.raw)["grade"] == 5


def test_a_line_or_a_file_that_cannot_be_used_is_named(script, tmp_path):
    for line, said in (
        ("{", "jsonl:1: not JSON"),
        ("[]", 'wanted an object with a "value" or an "error"'),
        ({"value": {}, "error": ""}, "wanted an object with"),
        ({"value": 3}, "'value' is 3, wanted an object"),
        ({"value": {}, "nmae": "x"}, "unknown 'nmae'; did you mean 'name'"),
        ({"value": {}, "name": 3}, "'name' is 3, wanted text"),
        ({"value": {}, "cost": -1}, "'cost' is -1, wanted a number"),
        ({"value": {}, "cost": True}, "'cost' is True, wanted a number"),
        ({"value": {}, "hash": "ab"}, "'hash' has 2 digits, wanted 8"),
    ):
        with pytest.raises(InputError, match=said):
            script(line)
    with pytest.raises(InputError, match="cannot read the replies"):
        ScriptedChat(str(tmp_path / "none.jsonl"))
    with pytest.raises(InputError, match="scripted:REPLIES"):
        make("chat", "scripted")
