from __future__ import annotations

import json

import pytest

from assay.errors import InputError, NoAnswer
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.llm.scripted import ScriptedChat
from assay.plugins import make

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
