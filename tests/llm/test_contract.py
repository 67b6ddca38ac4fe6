"""What every chat keeps to, whatever it is made of."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import ChatError
from assay.llm.wrappers import Budget, BudgetedChat, CachedChat, Pace, PacedChat
from assay.plugins import make, names
from assay.protocols import Chat
from endpoint_server import Play

GOOD = {"grade": 1, "reason": "it adds"}


@pytest.fixture(params=["openai", "scripted", "cached", "budgeted", "paced"])
def chat(request, server, tmp_path):
    def say(question):
        bad = "nonsense" in question["messages"][1]["content"]
        return Play(refusal="no") if bad else Play(GOOD)

    server.say = say
    if request.param == "openai":
        pytest.importorskip("httpx", reason="the api extra is not installed")
        return make("chat", "openai:m?usd_in=1&usd_out=1")
    script = tmp_path / "replies.jsonl"
    lines = [{"contains": "nonsense", "error": "no"}, {"contains": "", "value": GOOD, "tokens_in": 100, "cost": 1e-4}]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    inner = make("chat", f"scripted:{script}")
    wrapped = {
        "scripted": lambda: inner,
        "cached": lambda: CachedChat(inner, tmp_path / "replies.db"),
        "budgeted": lambda: BudgetedChat(inner, Budget(usd=1e3, tokens=10**6)),
        "paced": lambda: PacedChat(inner, Pace(requests=10**6, tokens=10**9)),
    }
    return wrapped[request.param]()


def test_a_chat_has_a_name_replies_with_what_fits_raises_and_is_shared_by_threads(chat, prompt):
    assert isinstance(chat, Chat)
    kind, colon, rest = chat.name.partition(":")
    assert (kind in names("chat"), colon, bool(rest)) == (True, ":", True)
    assert "secret" not in repr(chat) + chat.name
    reply = chat.reply(prompt())
    assert (reply.value, reply.tokens_in, reply.cached) == (GOOD, 100, False)
    assert reply.cost >= 0 <= reply.seconds
    with pytest.raises(ChatError) as caught:
        chat.reply(prompt("nonsense"))
    assert caught.value.raw == "no"
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: chat.reply(prompt(f"code {place}")), range(20)))
    assert all(reply.value == GOOD for reply in replies), "one failure is not the next one's"
