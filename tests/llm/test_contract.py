"""What every chat keeps to, whatever it is made of."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import ChatError
from assay.llm.budget import Budget, BudgetedChat
from assay.llm.cached_chat import CachedChat
from assay.llm.pace import Pace, PacedChat
from assay.plugins import make, names
from assay.protocols import Chat
from endpoint_server import Play

GOOD = {"grade": 1, "reason": "it adds"}
ENDPOINTS = [name for name in names("chat") if name != "scripted"]


@pytest.fixture(params=[*names("chat"), "cached", "budgeted", "paced", "all"])
def chat(request, server, tmp_path):
    def say(question):
        bad = "nonsense" in question["messages"][1]["content"]
        return Play(refusal="no") if bad else Play(GOOD)

    server.say = say
    if request.param in ENDPOINTS:
        pytest.importorskip("httpx", reason="the api extra is not installed")
        return make("chat", f"{request.param}:m?usd_in=1&usd_out=1")
    script = tmp_path / "replies.jsonl"
    lines = [{"contains": "nonsense", "error": "no"}, {"contains": "", "value": GOOD, "tokens_in": 100, "cost": 1e-4}]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    inner = make("chat", f"scripted:{script}")
    wrapped = {
        "scripted": lambda: inner,
        "cached": lambda: CachedChat(inner, tmp_path / "replies.db"),
        "budgeted": lambda: BudgetedChat(inner, Budget(usd=1e3, tokens=10**6)),
        "paced": lambda: PacedChat(inner, Pace(requests=10**6, tokens=10**9)),
        "all": lambda: CachedChat(
            PacedChat(BudgetedChat(inner, Budget(usd=1e3)), Pace(requests=10**6)), tmp_path / "replies.db"
        ),
    }
    return wrapped[request.param]()


def test_it_is_a_chat_with_a_name(chat):
    assert isinstance(chat, Chat)
    kind, colon, rest = chat.name.partition(":")
    assert (kind in names("chat"), colon, bool(rest)) == (True, ":", True)
    assert "secret" not in repr(chat) + chat.name


def test_it_replies_with_what_fits_and_what_it_took(chat, prompt):
    reply = chat.reply(prompt())
    assert reply.value == GOOD
    assert reply.tokens_in == 100
    assert reply.cost >= 0
    assert reply.seconds >= 0
    assert not reply.cached


def test_it_raises_and_makes_nothing_up(chat, prompt):
    with pytest.raises(ChatError) as caught:
        chat.reply(prompt("nonsense"))
    assert caught.value.raw == "no"
    assert chat.reply(prompt()).value == GOOD, "one failure is not the next one's"


def test_threads_share_it(chat, prompt):
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: chat.reply(prompt(f"code {place}")), range(40)))
    assert all(reply.value == GOOD for reply in replies)
