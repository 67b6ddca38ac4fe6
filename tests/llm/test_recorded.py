"""A recorded chat asks each question once, over the end of the process."""

from __future__ import annotations

import json

import pytest

from assay.errors import BudgetSpent, EndpointFailed, NoAnswer, StorageError
from assay.llm.recorded import REPLY, RecordedChat
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


def test_what_is_recorded_of_a_pair_is_not_asked_again(file):
    first, second = Counting(), Counting()
    assert told(recorded(first, file), 0, 1, 0) == [1, 2, 1]
    assert told(recorded(second, file), 0, 1, 2) == [1, 2, 1]
    assert (first.asked, second.asked) == ([p.text for p in PROMPTS[:2]], [PROMPTS[2].text])
    assert told(recorded(second, file, "another pair"), 0) == [2]


def test_a_question_without_an_answer_is_recorded_as_that_and_asked_again(file):
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
