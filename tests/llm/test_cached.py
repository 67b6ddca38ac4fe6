from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import NoAnswer, StorageError
from assay.llm.wrappers import CachedChat
from assay.values import Reply


class Model:
    """Counts what it is asked."""

    def __init__(self, name="model", together=1):
        self.name, self._barrier = name, threading.Barrier(together, timeout=60)
        self.asked = []
        self.fails = False

    def reply(self, prompt):
        self.asked.append(prompt.text)
        self._barrier.wait()
        if self.fails:
            raise NoAnswer("no")
        return Reply({"grade": 1, "reason": prompt.text}, "m-1", 10, 2, 0.5, 3.0)


def test_a_reply_is_paid_for_once_and_another_question_is_another_reply(tmp_path, prompt):
    model = Model()
    chat = CachedChat(model, tmp_path / "deep" / "replies.db")
    first, second = chat.reply(prompt()), chat.reply(prompt())
    assert (first.cost, first.cached) == (0.5, False)
    assert second == Reply(first.value, "m-1", 10, 2, 0.0, 0.0, cached=True, saved=0.5)
    assert len(model.asked) == 1
    chat.close()
    chat = CachedChat(model, tmp_path / "deep" / "replies.db")
    assert (chat.reply(prompt()).cached, chat.name) == (True, "model")
    chat.reply(prompt("a"))
    changes = [{"text": "b"}, {"system": "x"}, {"schema": {"type": "object"}}, {"text": "a\ud800"}]
    assert not any(chat.reply(prompt(**{"text": "a", **change})).cached for change in changes)
    assert chat.reply(prompt("a", name="other", version="2")).cached, "the same question from another file"
    assert not CachedChat(Model("model?seed=2"), tmp_path / "deep" / "replies.db").reply(prompt("a")).cached


def test_failures_are_not_remembered(tmp_path, prompt):
    model = Model()
    chat = CachedChat(model, tmp_path / "replies.db")
    model.fails = True
    with pytest.raises(NoAnswer):
        chat.reply(prompt())
    model.fails = False
    assert not chat.reply(prompt()).cached
    assert not chat._asking


def test_threads_that_ask_the_same_at_once_pay_once(tmp_path, prompt):
    """Four questions are under way together before any is answered; whoever asks one of them waits for it."""
    model = Model(together=4)
    chat = CachedChat(model, tmp_path / "replies.db")
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: chat.reply(prompt(f"code {place % 4}")), range(64)))
    assert sorted(model.asked) == [f"code {place}" for place in range(4)]
    assert [reply.value["reason"] for reply in replies] == [f"code {place % 4}" for place in range(64)]
    assert sum(reply.cost for reply in replies) == 2.0
    assert not chat._asking


def test_a_file_that_is_no_cache_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "rubbish").write_bytes(b"no database, not at all " * 100)
    for name in ("folder", "rubbish"):
        with pytest.raises(StorageError, match=rf"the cache of replies .*{name} cannot be used"):
            CachedChat(Model(), tmp_path / name)
