"""A chat that stops before the call that might pass a limit of money or of tokens.

A call reserves the most it can take, and gives back what it did not. Where the rest of the budget is reserved by
calls in flight, the next one waits for them; where a call would not fit even alone, it is refused. What an endpoint
does not tell is charged as reserved. The budget is one process's: a resumed campaign hands in what it has spent.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from assay.errors import BudgetSpent, ChatError, Deferred, InputError
from assay.llm.prices import Spend
from assay.protocols import Chat
from assay.types import Prompt, Reply


class Bounded(Chat, Protocol):
    """A chat that can say what a reply takes at most."""

    def most(self, prompt: Prompt) -> Spend:
        """Return the most that the reply to a prompt takes; USD are nan where no price is known."""


class Budget:
    """How much may be spent and how much was; chats may share one."""

    def __init__(self, *, usd: float = math.inf, tokens: float = math.inf, spent: Spend | None = None) -> None:
        for name, limit in (("usd", usd), ("tokens", tokens)):
            if not limit >= 0:  # not even a number may be
                raise InputError(f"a budget of {limit} {name}; wanted 0 or more")
        self.usd, self.tokens = usd, tokens
        self._spent = spent or Spend()
        self._reserved: dict[object, Spend] = {}
        self._held = Spend()
        """All of them together."""
        self._changed = threading.Condition()
        self.refusal = ""
        """What there was no room for last, of what does not wait; empty where there was room for all."""

    @property
    def spent(self) -> Spend:
        """What was spent so far; what is in flight does not count."""
        with self._changed:
            return self._spent

    def reserve(self, most: Spend) -> object:
        """Set the most that a call takes aside, as soon as it fits; return what `settle` wants to know it by."""
        ticket = object()
        with self._changed:
            while not self._fits(most):
                if not self._reserved:
                    raise BudgetSpent(self._refusal(most))
                self._changed.wait()
            self._hold(ticket, most)
        return ticket

    def reserve_now(self, most: Spend) -> object | None:
        """Set the most that a call takes aside, or return None where it does not fit now; `refusal` says why."""
        ticket = object()
        with self._changed:
            if not self._fits(most):
                self.refusal = self._refusal(most)
                return None
            self._hold(ticket, most)
        return ticket

    def hold(self, most: Spend) -> object:
        """Set the most that a call of before takes aside: it is under way, whether it fits or not."""
        ticket = object()
        with self._changed:
            self._hold(ticket, most)
        return ticket

    def add(self, took: Spend) -> None:
        """Count what was spent elsewhere."""
        with self._changed:
            self._spent = _sum(self._spent, took)

    def _hold(self, ticket: object, most: Spend) -> None:
        self._reserved[ticket] = most
        self._held = _sum(self._held, most)

    def settle(self, ticket: object, took: Spend) -> None:
        """Spend what a call took and free the rest of what it had reserved."""
        with self._changed:
            most = self._reserved.pop(ticket)
            self._held = _sum(self._held, Spend(-most.tokens, -most.usd)) if self._reserved else Spend()
            self._spent = _sum(self._spent, took)
            self._changed.notify_all()

    def _fits(self, most: Spend) -> bool:
        whole = _sum(self._spent, most, self._held)
        return whole.tokens <= self.tokens and (self.usd == math.inf or whole.usd <= self.usd)

    def _refusal(self, most: Spend) -> str:
        limits = []
        if self.usd < math.inf:
            limits.append(f"{self._spent.usd:.4f} of {self.usd:g} USD are spent, the next call may take {most.usd:.4f}")
        if self.tokens < math.inf:
            limits.append(f"{self._spent.tokens} of {self.tokens:g} tokens, the next call may take {most.tokens}")
        return f"the budget is spent: {'; '.join(limits)}: what is done is kept, go on with a larger one"


def _sum(*several: Spend) -> Spend:
    return Spend(sum(each.tokens for each in several), math.fsum(each.usd for each in several))


class BudgetedChat:
    """A wrapper with the protocol of what it wraps."""

    def __init__(self, chat: Bounded, budget: Budget, *, waits: bool = True) -> None:
        """Wait for room, or where others hold it for long, put the question off."""
        self._chat, self._budget, self._waits = chat, budget, waits
        if budget.usd < math.inf and math.isnan(chat.most(Prompt("", "", {})).usd):
            raise InputError(
                f"a budget in USD, but the price of {chat.name} is not known: add ?usd_in=…&usd_out=… (USD for a "
                "million tokens) to its spec, or give a budget in tokens"
            )

    @property
    def name(self) -> str:
        """The name of the chat inside: the replies are the same."""
        return self._chat.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return the reply of the chat inside, if the budget allows for it."""
        most = self._chat.most(prompt)
        with self._reserved(most) as took:
            try:
                reply = self._chat.reply(prompt)
            except ChatError as error:
                took.append(charged(error, Spend()))
                raise
            took.append(Spend() if reply.cached else charged(reply, most))
            return reply

    @contextmanager
    def _reserved(self, most: Spend) -> Iterator[list[Spend]]:
        """Hold a reservation and spend what the block puts into the list; all of it where the block was torn apart."""
        ticket = self._budget.reserve(most) if self._waits else self._budget.reserve_now(most)
        if ticket is None:
            raise Deferred(f"{self.name} waits for room in the budget")
        took: list[Spend] = []
        try:
            yield took
        finally:
            self._budget.settle(ticket, took[0] if took else most)


def charged(took: Reply | ChatError, otherwise: Spend) -> Spend:
    """Return what was taken, with something else in the place of what was not told."""
    tokens = took.tokens_in + took.tokens_out
    usd = otherwise.usd if math.isnan(took.cost) else took.cost
    return Spend(tokens or otherwise.tokens, 0.0 if math.isnan(usd) else usd)
