"""Questions in batches, against a server on loopback: what is answered, what falls back, what is never paid twice."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import Deferred, EndpointFailed, EndpointRefused, InputError, NoAnswer
from assay.llm.batch_chat import BatchChat
from assay.llm.batch_files import BatchWire
from assay.llm.endpoint import Spend, endpoint
from assay.llm.openai import OpenAiChat
from assay.llm.wrappers import Budget, BudgetedChat
from assay.values import Prompt
from endpoint_server import Play

GOOD = {"grade": 1, "reason": "it adds"}
SPEC = "gpt-x?usd_in=1&usd_out=10"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl.batches"


@pytest.fixture
def opened(server, folder):  # noqa: ARG001  the server is named by the environment
    """Return a function that opens the chat as a new process does."""

    def make(spec: str = SPEC, folder: Path = folder, **more) -> BatchChat:
        asked = OpenAiChat(endpoint("openai", spec), pause_s=0.001)
        wire = BatchWire(endpoint("openai", spec), pause_s=0.001)
        return BatchChat(asked, wire, folder, asked, sleep=lambda _: None, **more)

    return make


def put_off(chat: BatchChat, *prompts: Prompt) -> None:
    for prompt in prompts:
        with pytest.raises(Deferred):
            chat.reply(prompt)


def ask(chat: BatchChat, *prompts: Prompt) -> list:
    put_off(chat, *prompts)
    chat.submit()
    chat.collect(lambda _: None)
    return [chat.reply(prompt) for prompt in prompts]


def test_questions_come_back_with_their_answers_at_half_the_price(opened, prompt, server):
    prompts = [prompt(f"code {number}") for number in range(5)]
    replies = ask(opened(), *prompts, prompts[0])
    assert [reply.value for reply in replies] == [GOOD] * 6
    assert replies[0].cost == pytest.approx((100 + 100) * 1e-6 / 2)
    assert replies[0].batch
    assert len(server.batches.batches) == 1
    assert server.batches.paid.total() == 5
    assert not server.questions, "nothing was asked directly"
    (content,) = [raw for raw in server.batches.files.values() if b"/v1/chat/completions" in raw]
    line = json.loads(content.splitlines()[0])
    assert line["body"]["messages"][1]["content"] == "code 0"
    assert line["body"]["response_format"]["type"] == "json_schema"


MOMENTS = ("put off", "uploaded", "told", "begun", "under way", "fetched")


def test_a_process_that_dies_at_any_moment_is_followed_by_one_that_pays_nothing_twice(opened, prompt, server, tmp_path):
    prompts = [prompt(f"code {number}") for number in range(4)]
    for number, moment in enumerate(MOMENTS):
        begun, paid = len(server.batches.batches), server.batches.paid.total()
        folder = tmp_path / f"{moment}.batches"
        first = opened(folder=folder)
        put_off(first, *prompts)
        refuse = ("/batches",) if moment == "told" else ()
        server.batches.fault = lambda method, path, moment=moment, refuse=refuse: (
            (400, b"{}") if path in refuse or (moment, method, path) == ("uploaded", "POST", "/batches") else None
        )
        if moment == "begun":  # the answer is lost, and so is the list that would name it
            server.batches.lost = lambda _, path: (400, b"{}") if path == "/batches" else None
        if moment in {"uploaded", "told", "begun"}:
            with pytest.raises(NoAnswer):
                first.submit()
        elif moment != "put off":
            first.submit()
        if moment == "fetched":
            first.collect(lambda _: None)
        server.batches.fault = server.batches.lost = lambda *_: None
        second = opened(folder=folder)
        if moment != "fetched":
            put_off(second, *prompts)
        second.submit()
        second.collect(lambda _: None)
        assert [second.reply(each).value for each in prompts] == [GOOD] * 4, moment
        assert server.batches.paid.total() == paid + 4 == 4 * (number + 1), moment
        assert len(server.batches.batches) == begun + 1, moment


def test_a_batch_whose_beginning_got_no_answer_is_found_in_the_list(opened, prompt, server):
    lost = [(500, b"broken")]
    server.batches.lost = lambda method, path: lost.pop() if lost and (method, path) == ("POST", "/batches") else None
    assert ask(opened(), prompt())[0].value == GOOD
    assert len(server.batches.batches) == 1
    assert server.batches.asked.count("POST /batches") == 1


def test_endpoints_that_are_busy_are_asked_again(opened, prompt, server):
    faults = {"/files": [429, 500], "/batches/batch_0": [429, 500]}
    server.batches.fault = lambda _, path: (faults[path].pop(), b"later") if faults.get(path) else None
    assert ask(opened(), prompt())[0].value == GOOD
    assert server.batches.paid.total() == 1
    assert not any(faults.values())


def test_a_beginning_that_is_refused_for_now_is_told_and_the_next_run_begins_it(opened, prompt, server):
    server.batches.fault = lambda method, path: (429, b"busy") if (method, path) == ("POST", "/batches") else None
    first = opened()
    put_off(first, prompt())
    with pytest.raises(EndpointFailed, match="go on later"):
        first.submit()
    server.batches.fault = lambda *_: None
    second = opened()
    second.submit()
    second.collect(lambda _: None)
    assert second.reply(prompt()).value == GOOD
    assert len(server.batches.batches) == 1


def test_a_line_that_failed_is_asked_directly(opened, prompt, server):
    server.batches.lines = lambda body: "error" if "code 1" in body["messages"][1]["content"] else ""
    replies = ask(opened(), prompt("code 0"), prompt("code 1"))
    assert [reply.value for reply in replies] == [GOOD] * 2
    assert [reply.batch for reply in replies] == [True, False]
    assert [question["messages"][1]["content"] for question in server.questions] == ["code 1"]


def test_what_expired_goes_into_the_next_batch_and_then_is_asked_directly(opened, prompt, server):
    server.batches.ending = "expired"
    chat = opened()
    for _ in range(2):
        put_off(chat, prompt())
        chat.submit()
        chat.collect(lambda _: None)
    assert chat.reply(prompt()).value == GOOD
    assert (len(server.batches.batches), len(server.questions), server.batches.paid.total()) == (2, 1, 0)


def test_an_output_that_was_truncated_on_the_way_is_fetched_again(opened, prompt, server):
    cuts = [0]

    def lost(_, path):
        if path.endswith("/content") and not cuts[0]:
            cuts[0] = 1
            whole = server.batches.files[path.split("/")[2]]
            return 200, whole[: len(whole) // 2]
        return None

    server.batches.lost = lost
    replies = ask(opened(), *[prompt(f"code {number}") for number in range(4)])
    assert [reply.value for reply in replies] == [GOOD] * 4
    assert server.batches.paid.total() == 4
    assert not server.questions


def test_an_answer_that_does_not_fit_is_paid_and_asked_directly(opened, prompt, server):
    server.plays = [Play(text="I think so")]
    (reply,) = ask(opened(), prompt())
    assert reply.value == GOOD
    assert (reply.attempts, reply.tokens_in) == (2, 200)
    assert reply.cost == pytest.approx(200e-6 * 1.5)


def test_a_model_that_declines_is_paid_once_and_asked_anew_by_the_next_process(opened, prompt, server):
    server.plays = [Play(refusal="no")]
    chat = opened()
    with pytest.raises(NoAnswer, match="declined") as raised:
        ask(chat, prompt())
    assert raised.value.cost == pytest.approx(100e-6)
    for _ in range(2):
        with pytest.raises(NoAnswer, match="declined") as again:
            chat.reply(prompt())
        assert (again.value.tokens_in, again.value.tokens_out, again.value.cost) == (0, 0, 0.0)
    assert chat.submit() == 0
    assert server.batches.paid.total() == 1
    assert ask(opened(), prompt())[0].value == GOOD
    assert opened().reply(prompt()).value == GOOD, "the answer after a forgotten one is found by the next process"
    assert server.batches.paid.total() == 2


def test_a_direct_failure_is_paid_once_in_all_waves_of_a_process(opened, prompt, server):
    server.batches.lines = lambda _: "error"
    server.plays = [Play(refusal="no")]
    chat = opened()
    with pytest.raises(NoAnswer, match="declined"):
        ask(chat, prompt())
    with pytest.raises(NoAnswer, match="declined"):
        chat.reply(prompt())
    assert len(server.questions) == 1


def test_letters_that_end_a_line_elsewhere_stand_in_answers(opened, prompt, server):
    text = json.dumps({"grade": 1, "reason": "a\u2028b\u2029c\u0085d"}, ensure_ascii=False)
    server.plays = [Play(text=text)]
    server.batches.lost = lambda _, path: (
        (200, server.batches.files[path.split("/")[2]].replace(rb"\u2028", "\u2028".encode()))
        if path.endswith("/content")
        else None
    )
    (reply,) = ask(opened(), prompt())
    assert reply.value["reason"] == "a\u2028b\u2029c\u0085d"
    assert not server.questions


def test_a_batch_that_is_refused_says_why_and_is_sent_anew_by_the_next_run(opened, prompt, server):
    server.batches.ending = "failed"
    chat = opened()
    put_off(chat, prompt())
    chat.submit()
    with pytest.raises(EndpointRefused, match="no such model"):
        chat.collect(lambda _: None)
    server.batches.ending = "completed"
    second = opened()
    second.submit()
    second.collect(lambda _: None)
    assert second.reply(prompt()).value == GOOD


def test_a_budget_ends_before_a_batch_that_might_pass_it(opened, prompt, server):
    prompts = [prompt(f"code {number}") for number in range(10)]
    most = opened(TIGHT)._asked.most_of_batch(prompts[0]).usd
    chat = opened(TIGHT, budget=Budget(usd=1.9 * most))

    def wave() -> None:
        for each in prompts:
            with suppress(Deferred):
                chat.reply(each)
        chat.submit()
        chat.collect(lambda _: None)

    wave()
    assert server.batches.paid.total() == 1, "the others wait for what the first takes"
    while (before := server.batches.paid.total()) < 10:
        wave()
        if server.batches.paid.total() == before:
            break
    assert 1 < server.batches.paid.total() < 10
    assert server.batches.paid.total() * 100e-6 <= 1.5 * most
    assert "go on with a larger one" in chat.refusal


TIGHT = "gpt-x?usd_in=1&usd_out=10&max_tokens=20"


def test_a_budget_holds_what_batches_may_take_until_they_have_ended(opened, prompt, server):
    first = opened(TIGHT)
    put_off(first, prompt("code 0"))
    first.submit()
    most = first._asked.most_of_batch(prompt("code 0"))
    budget = Budget(usd=most.usd)
    second = opened(TIGHT, budget=budget)
    assert budget.reserve_now(most) is None, "an earlier process sent it"
    second.collect(lambda _: None)
    assert budget.spent.usd == pytest.approx(100e-6)
    assert second.reply(prompt("code 0")).value == GOOD
    assert budget.spent.usd == pytest.approx(100e-6), "each answer counts once"

    server.batches.lines = lambda _: "error"
    budget = Budget(usd=most.usd)
    ask(opened(TIGHT, budget=budget), prompt("code 1"))
    assert budget.spent.usd == 0.0
    ticket = budget.reserve_now(most)
    assert ticket, "what a batch does not answer makes room"

    server.questions.clear()
    direct = BudgetedChat(first._asked, Budget(usd=first._asked.most(prompt()).usd), waits=False)
    ticket = direct._budget.hold(most)
    with pytest.raises(Deferred, match="room in the budget"):
        direct.reply(prompt())
    assert not server.questions
    direct._budget.settle(ticket, Spend())
    assert direct.reply(prompt()).value == GOOD


def test_batches_for_which_there_is_no_room_wait_for_the_others(opened, prompt, server, monkeypatch):
    """An account has room for one batch at a time; the second is sent again when the first has ended."""
    monkeypatch.setattr("assay.llm.batch_files.MOST_QUESTIONS", 2)
    full = {"status": "failed", "errors": {"data": [{"code": "token_limit_exceeded", "message": "too many"}]}}

    def fault(method, path):
        under_way = [each for each in server.batches.batches.values() if each["status"] == "in_progress"]
        if method == "GET" and len(under_way) > 1 and path == f"/batches/{under_way[-1]['id']}":
            under_way[-1].update(full)

    server.batches.fault = fault
    server.batches.polls = 3
    sleeps = []
    chat = opened()
    chat._sleep = sleeps.append
    replies = ask(chat, *[prompt(f"code {number}") for number in range(4)])
    assert [reply.value for reply in replies] == [GOOD] * 4
    assert set(server.batches.paid.values()) == {1}
    assert len(server.batches.batches) == 3
    assert len(sleeps) >= 4, "it looked again and again without a pause"


def test_a_folder_holds_the_batches_of_one_chat(opened, prompt):
    put_off(opened(), prompt())
    opened()
    with pytest.raises(InputError, match=r"holds batches of openai:gpt-x.*; give another --out, or --fresh"):
        opened("gpt-y?usd_in=1&usd_out=10")
