"""A recorded chat asks each question once, over the end of the process, and a replay asks nobody."""

from __future__ import annotations

import json
import threading

import pytest

from assay.errors import BudgetSpent, EndpointFailed, NoAnswer, StorageError
from assay.llm.endpoint import Spend
from assay.llm.recorded import RecordedChat, ReplayedChat, reply_journal, spent_in
from assay.llm.scripted import ScriptedChat
from assay.llm.wrappers import Budget, BudgetedChat, ask_all
from assay.values import Prompt, Reply

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
PROMPTS = [Prompt("system", f"question {number}", SCHEMA, name="count") for number in range(12)]


class Counting:
    """Answers with how often it was asked, and knows the most that were under way at once."""

    name = "counting"

    def __init__(self, together: int = 1) -> None:
        self.asked: list[str] = []
        self._barrier = threading.Barrier(together, timeout=60)

    def reply(self, prompt: Prompt) -> Reply:
        self._barrier.wait()
        self.asked.append(prompt.text)
        if prompt.text.endswith(" 3"):
            raise NoAnswer("declined", tokens_in=5)
        if prompt.text.endswith(" 4"):
            raise EndpointFailed("busy")
        return Reply({"n": len(self.asked)}, "m", 10, 2, 0.5)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "records.jsonl"


def test_what_is_recorded_is_not_asked_again(file):
    first = Counting()
    chat = RecordedChat(first, reply_journal(file))
    told = [chat.reply(PROMPTS[0]), chat.reply(PROMPTS[1]), chat.reply(PROMPTS[0])]
    assert [each.value["n"] for each in told] == [1, 2, 1]
    second = Counting()
    again = RecordedChat(second, reply_journal(file))
    assert [again.reply(prompt).value["n"] for prompt in PROMPTS[:3]] == [1, 2, 1]
    assert (first.asked, second.asked) == ([p.text for p in PROMPTS[:2]], [PROMPTS[2].text])
    assert (again.counts.answered, again.counts.recorded, again.counts.cost) == (3, 2, 0.5)
    assert spent_in(file) == Spend(36, 1.5)


def test_an_answer_of_no_use_is_recorded_and_a_busy_endpoint_is_asked_again(file):
    for times in (1, 2):
        chat = RecordedChat(Counting(), reply_journal(file))
        with pytest.raises(NoAnswer, match="declined"):
            chat.reply(PROMPTS[3])
        with pytest.raises(EndpointFailed):
            chat.reply(PROMPTS[4])
        kinds = [json.loads(line)["why"] for line in file.read_text().splitlines()]
        assert kinds == ["declined", *["busy"] * times]
    assert spent_in(file).tokens == 5


def test_a_replay_asks_nobody_and_adds_nothing(file):
    RecordedChat(Counting(), reply_journal(file)).reply(PROMPTS[0])
    before = file.read_bytes()
    chat = RecordedChat(ReplayedChat("counting"), reply_journal(file, only_read=True))
    assert chat.reply(PROMPTS[0]).value == {"n": 1}
    with pytest.raises(EndpointFailed, match="no reply of counting to this prompt 'count' is recorded"):
        chat.reply(PROMPTS[1])
    assert file.read_bytes() == before


def test_a_recorded_value_that_was_altered_is_no_answer(file):
    RecordedChat(Counting(), reply_journal(file)).reply(PROMPTS[0])
    file.write_text(file.read_text().replace('{"n": 1}', '{"n": "one"}'))
    with pytest.raises(NoAnswer, match="cannot be used"):
        RecordedChat(Counting(), reply_journal(file)).reply(PROMPTS[0])


def test_a_line_that_is_no_record_is_named_and_a_cut_one_does_not_count(file):
    RecordedChat(Counting(), reply_journal(file)).reply(PROMPTS[0])
    whole = file.read_text()
    file.write_text(whole + whole[:20])
    chat = RecordedChat(Counting(), reply_journal(file))
    assert chat.reply(PROMPTS[1]).value == {"n": 1}
    assert file.read_text().startswith(whole + '{"kind"')
    file.write_text('{"some": "thing"}\n')
    with pytest.raises(StorageError, match=r"records.jsonl:1: no record"):
        reply_journal(file)


def test_as_many_are_under_way_as_may_be_and_replies_keep_their_order():
    chat = Counting(together=3)
    told = ask_all(chat, [prompt for prompt in PROMPTS[:4] if prompt is not PROMPTS[2]], 3)
    assert [reply is None for reply in told] == [False, False, True]
    assert ask_all(Counting(), PROMPTS[:1], 3)[0] == Reply({"n": 1}, "m", 10, 2, 0.5)


def test_what_was_answered_before_the_budget_ended_is_kept(file, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"name": "count", "value": {"n": 1}, "tokens_in": 8, "tokens_out": 2}) + "\n")

    def chat(tokens: int) -> RecordedChat:
        budget = Budget(tokens=tokens, spent=spent_in(file))
        return RecordedChat(BudgetedChat(ScriptedChat(str(script)), budget), reply_journal(file))

    with pytest.raises(BudgetSpent):
        ask_all(chat(50), PROMPTS, 4)
    assert spent_in(file).tokens == 50
    more = chat(120)
    assert all(ask_all(more, PROMPTS, 1))
    assert more.counts.recorded == 5
    assert spent_in(file).tokens == 120
