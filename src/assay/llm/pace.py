"""A chat that is asked so often a minute, and no more.

Questions start evenly spaced, so that no minute, wherever it begins, holds more than are allowed. Tokens are
estimated when a question starts and put right when the reply is there.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from assay.errors import ChatError, InputError
from assay.protocols import Chat
from assay.types import Prompt, Reply

_LETTERS_A_TOKEN = 4  # of code and English, about


class Pace:
    """Requests and tokens a minute; chats of one account share one."""

    def __init__(
        self,
        *,
        requests: float = math.inf,
        tokens: float = math.inf,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for name, limit in (("requests", requests), ("tokens", tokens)):
            if not limit > 0:  # not even a number may be
                raise InputError(f"a pace of {limit} {name} a minute; wanted more than 0")
        self._a_request_s, self._a_token_s = 60 / requests, 60 / tokens
        self._now, self._sleep = now, sleep
        self._requests_from = self._tokens_from = -math.inf
        self._lock = threading.Lock()

    def start(self, tokens: int) -> None:
        """Wait until a question of about so many tokens may start."""
        with self._lock:
            now = self._now()
            start = max(now, self._requests_from, self._tokens_from)
            self._requests_from = start + self._a_request_s
            self._tokens_from = start + tokens * self._a_token_s
        if start > now:
            self._sleep(start - now)

    def correct(self, tokens: int) -> None:
        """Count so many tokens more than a question was estimated at, or fewer."""
        with self._lock:
            self._tokens_from += tokens * self._a_token_s


class PacedChat:
    """A wrapper with the protocol of what it wraps."""

    def __init__(self, chat: Chat, pace: Pace) -> None:
        self._chat = chat
        self._pace = pace

    @property
    def name(self) -> str:
        """The name of the chat inside: the replies are the same."""
        return self._chat.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return the reply of the chat inside, when it is its turn."""
        estimate = (len(prompt.system) + len(prompt.text)) // _LETTERS_A_TOKEN
        self._pace.start(estimate)
        took: Reply | ChatError | None = None
        try:
            took = self._chat.reply(prompt)
        except ChatError as error:
            took = error
            raise
        finally:
            tokens = took.tokens_in + took.tokens_out if took else 0
            self._pace.correct(tokens - estimate if tokens else 0)
        return took
