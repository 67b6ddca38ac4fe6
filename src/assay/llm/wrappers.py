"""Wrap a chat: cache its replies, limit its cost, limit its rate.

A call reserves the most it can take of a budget, and gives back what it did not; where it would not fit even alone, it
is refused. Questions start evenly spaced, so that no minute, wherever it begins, holds more than the rate allows.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from assay.errors import BudgetSpent, ChatError, InputError
from assay.io.database import Database
from assay.io.requests_in_flight import pause
from assay.llm.endpoint import Spend
from assay.llm.prompts import fingerprint
from assay.protocols import Chat
from assay.values import Prompt, Reply

_TABLE = (
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT, model TEXT, "
    "tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL) WITHOUT ROWID"
)


InnerT = TypeVar("InnerT", bound=Chat)


class WrappedChat(Generic[InnerT]):
    """Base of the wrappers: has the name of the wrapped chat, since the replies are the same."""

    def __init__(self, chat: InnerT) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The name of the chat inside."""
        return self._chat.name


class CachedChat(WrappedChat[Chat]):
    """A chat that caches replies; it wraps budgets and paces, so that a cached reply uses neither."""

    def __init__(self, chat: Chat, path: Path) -> None:
        super().__init__(chat)
        self._lock = threading.Lock()
        self._asking = WeakValueDictionary[str, Any]()
        """A lock for each key under way: other threads wait for its answer."""
        self._database = Database(path, _TABLE, "the cache of replies")

    def reply(self, prompt: Prompt) -> Reply:
        """Return the cached reply at no cost, or else ask the chat inside."""
        key = fingerprint(prompt, self.name)
        if known := self._read(key):
            return known
        with self._lock:
            alone = self._asking.setdefault(key, threading.Lock())
        with alone:
            known = self._read(key)
            return known or self._keep(key, self._chat.reply(prompt))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _keep(self, key: str, reply: Reply) -> Reply:
        taken = (reply.tokens_in, reply.tokens_out, reply.cost, reply.seconds)  # nan goes in as NULL
        row = (key, json.dumps(dict(reply.value)), reply.model, *taken)
        with self._database.use() as held:
            held.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return reply

    def _read(self, key: str) -> Reply | None:
        with self._database.use() as held:
            question = "SELECT value, model, tokens_in, tokens_out, cost FROM replies WHERE key = ?"
            row = held.execute(question, (key,)).fetchone()
        if row is None:
            return None
        value, model, tokens_in, tokens_out, cost = row
        saved = math.nan if cost is None else cost
        return Reply(json.loads(value), model, tokens_in, tokens_out, cached=True, saved=saved)


More = Callable[[Spend], None]
"""Called before a further try with what it may take; raises BudgetSpent where there is no room."""


class Bounded(Chat, Protocol):
    """A chat that can bound the usage of a try."""

    def most(self, prompt: Prompt) -> Spend:
        """Return roughly the most that one try at a prompt takes; USD are NaN without a known price."""

    def reply(self, prompt: Prompt, more: More = ...) -> Reply:
        """Return a reply; `more` is called before each further try with what it may take."""


class Budget:
    """Limits of cost and tokens, and what is spent; chats may share one."""

    def __init__(self, *, usd: float = math.inf, tokens: float = math.inf, spent: Spend | None = None) -> None:
        for name, limit in (("usd", usd), ("tokens", tokens)):
            if not limit >= 0:  # not even a number may be
                raise InputError(f"a budget of {limit} {name}; wanted 0 or more")
        self.usd, self.tokens = usd, tokens
        self._spent = spent or Spend()
        self._reserved: dict[object, Spend] = {}
        self._pending = Spend()
        """The sum of the reservations."""
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spend:
        """What was spent so far, without calls in flight."""
        with self._changed:
            return self._spent

    def reserve(self, most: Spend) -> object:
        """Reserve the most that a call can take, as soon as it fits; return the ticket for `settle`."""
        with self._changed:
            while not self._fits(most):
                if not self._reserved:
                    raise BudgetSpent(self._refusal(most))
                self._changed.wait()
            ticket = object()
            self._reserved[ticket] = most
            self._pending = _sum(self._pending, most)
        return ticket

    def extend(self, ticket: object, more: Spend) -> None:
        """Reserve more for a call under way; this never waits, since others may wait for the call."""
        with self._changed:
            if not self._fits(more):
                raise BudgetSpent(self._refusal(more))
            self._reserved[ticket] = _sum(self._reserved[ticket], more)
            self._pending = _sum(self._pending, more)

    def settle(self, ticket: object, took: Spend) -> None:
        """Spend what a call took, and free the rest of its reservation."""
        with self._changed:
            most = self._reserved.pop(ticket)
            self._pending = _sum(self._pending, Spend(-most.tokens, -most.usd)) if self._reserved else Spend()
            self._spent = _sum(self._spent, took)
            self._changed.notify_all()

    def _fits(self, most: Spend) -> bool:
        whole = _sum(self._spent, most, self._pending)
        return whole.tokens <= self.tokens and (self.usd == math.inf or whole.usd <= self.usd)

    def _refusal(self, most: Spend) -> str:
        amounts = {
            f"{self._spent.usd:.4f} of {self.usd:g} USD are spent, the next call may take {most.usd:.4f}": self.usd,
            f"{self._spent.tokens} of {self.tokens:g} tokens, the next call may take {most.tokens}": self.tokens,
        }
        limits = (text for text, limit in amounts.items() if limit < math.inf)
        held = f"; calls under way hold {self._pending.tokens} tokens" if self._pending.tokens else ""
        return f"the budget is spent: {'; '.join(limits)}{held}: what is done is kept, go on with a larger one"


def _sum(*several: Spend) -> Spend:
    return Spend(sum(each.tokens for each in several), math.fsum(each.usd for each in several))


class BudgetedChat(WrappedChat[Bounded]):
    """A chat that asks only within a budget."""

    def __init__(self, chat: Bounded, budget: Budget) -> None:
        super().__init__(chat)
        self._budget = budget
        if budget.usd < math.inf and math.isnan(chat.most(Prompt("", "", {})).usd):
            raise InputError(
                f"a budget in USD, but the price of {chat.name} is not known: add ?usd_in=…&usd_out=… (USD for a "
                "million tokens) to its spec, or give a budget in tokens"
            )

    def reply(self, prompt: Prompt) -> Reply:
        """Return the reply of the chat inside, if the budget allows it."""
        most = self._chat.most(prompt)
        ticket = self._budget.reserve(most)
        tries = [most]

        def more(further: Spend) -> None:
            self._budget.extend(ticket, further)
            tries.append(further)

        took = None
        try:
            reply = self._chat.reply(prompt, more)
            took = Spend() if reply.cached else charged(reply, _sum(*tries))
        except ChatError as error:
            took = charged(error, _sum(*tries) if math.isnan(error.cost) else Spend())
            raise
        finally:
            self._budget.settle(ticket, took or _sum(*tries))  # the whole where the call is torn apart
        return reply


def charged(took: Reply | ChatError, otherwise: Spend) -> Spend:
    """Return the usage of a call, with `otherwise` for numbers that the endpoint did not report."""
    tokens = took.tokens_in + took.tokens_out
    usd = otherwise.usd if math.isnan(took.cost) else took.cost
    return Spend(tokens or otherwise.tokens, 0.0 if math.isnan(usd) else usd)


_LETTERS_A_TOKEN = 4  # of code and English, about


class Pace:
    """A limit of requests and tokens per minute; chats of one account share one."""

    def __init__(
        self,
        *,
        requests: float = math.inf,
        tokens: float = math.inf,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = pause,
    ) -> None:
        for name, limit in (("requests", requests), ("tokens", tokens)):
            if not limit > 0:  # not even a number may be
                raise InputError(f"a pace of {limit} {name} a minute; wanted more than 0")
        self._a_request_s, self._a_token_s = 60 / requests, 60 / tokens
        self._now, self._sleep = now, sleep
        self._requests_from = self._tokens_from = -math.inf
        self._lock = threading.Lock()

    def start(self, tokens: int) -> None:
        """Wait until a request of about so many tokens may start."""
        with self._lock:
            now = self._now()
            start = max(now, self._requests_from, self._tokens_from)
            self._requests_from = start + self._a_request_s
            self._tokens_from = start + tokens * self._a_token_s
        if start > now:
            self._sleep(start - now)

    def correct(self, tokens: int) -> None:
        """Correct the estimate of a request by so many tokens."""
        with self._lock:
            self._tokens_from += tokens * self._a_token_s


class PacedChat(WrappedChat[Chat]):
    """A chat that asks no faster than a pace allows."""

    def __init__(self, chat: Chat, pace: Pace) -> None:
        super().__init__(chat)
        self._pace = pace

    def reply(self, prompt: Prompt) -> Reply:
        """Return the reply of the chat inside, when it is its turn."""
        estimate = (len(prompt.system) + len(prompt.text)) // _LETTERS_A_TOKEN
        self._pace.start(estimate)
        tokens = 0
        try:
            reply = self._chat.reply(prompt)
            tokens = reply.tokens_in + reply.tokens_out
        except ChatError as error:
            tokens = error.tokens_in + error.tokens_out
            raise
        finally:
            self._pace.correct(tokens - estimate if tokens else 0)
        return reply
