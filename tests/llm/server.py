"""A server on loopback that speaks the OpenAI chat protocol and does what it is told: late, broken, cut, too long.

It imports nothing outside the standard library and runs alone, too: `python server.py '{"grade": 1}'` prints its
address and says that to everyone.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Question = dict[str, Any]


@dataclass(frozen=True)
class Play:
    """What the server does with one question; as it stands, it answers at once with an empty object."""

    value: Any = None
    """The message is this as JSON."""
    text: str | None = None
    """The message as it stands, instead of a value."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """The whole body, instead of a completion."""
    usage: tuple[int, int] | None = (100, 10)
    """Tokens in and out; None is a server that does not count."""
    refusal: str | None = None
    finish: str = "stop"
    delay_s: float = 0.0
    cut: int = -1
    """Bytes of the body after which the connection breaks, although more was announced; -1 is none."""
    pause_s: float = 0.0
    """Between every two bytes of the body."""
    padding_mb: int = 0
    """Sent after the body, chunk by chunk, with no length announced."""


Say = Callable[[Question], Play]


class ChatServer(ThreadingHTTPServer):
    """Plays in order first, then what `say` makes of a question; keeps questions, keys and times."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, say: Say | None = None, plays: Iterable[Play] = ()) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.say = say or (lambda _: Play({}))
        self.plays = list(plays)
        self.questions: list[Question] = []
        self.keys: list[str | None] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.most_at_once = 0
        self.lock = threading.Lock()
        self._at_once = 0

    @property
    def base(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count how many questions are open."""
        with self.lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self.lock:
                self._at_once -= 1

    def next_play(self, question: Question) -> Play:
        """Return what to do with a question."""
        with self.lock:
            if self.plays:
                return self.plays.pop(0)
        return self.say(question)

    def handle_error(self, *_: object) -> None:
        """Keep quiet: clients that go away are part of the tests."""


@contextmanager
def serving(say: Say | None = None, plays: Iterable[Play] = ()) -> Iterator[ChatServer]:
    """Run a server in a thread for as long as the block lasts."""
    with ChatServer(say, plays) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def completion(question: Question, play: Play) -> bytes:
    """Return the body of a whole answer."""
    text = play.text if play.text is not None else json.dumps({} if play.value is None else play.value)
    message = {"role": "assistant", "content": None if play.refusal else text, "refusal": play.refusal}
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{question.get('model')}-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": play.finish}],
    }
    if play.usage is not None:
        tokens_in, tokens_out = play.usage
        answer["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return json.dumps(answer).encode()


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        with self.server.counted():
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with self.server.lock:
                self.server.questions.append(question)
                self.server.keys.append(self.headers.get("authorization"))
                self.server.paths.append(self.path)
                self.server.times.append(time.monotonic())
            play = self.server.next_play(question)
            time.sleep(play.delay_s)
            self._answer(play, completion(question, play) if play.body is None else play.body)

    def _answer(self, play: Play, body: bytes) -> None:
        self.send_response(play.status)
        for name, value in play.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        if play.padding_mb:
            self.send_header("connection", "close")
            self.close_connection = True
        else:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if play.pause_s:
            for at in range(len(body)):
                self.wfile.write(body[at : at + 1])
                time.sleep(play.pause_s)
        elif play.cut >= 0:
            self._cut(body[: play.cut])
        else:
            self.wfile.write(body)
            for _ in range(play.padding_mb):
                self.wfile.write(b" " * 2**20)

    def _cut(self, body: bytes) -> None:
        """Send a part and break the connection as a crash does."""
        self.wfile.write(body)
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    with serving(lambda _: Play(json.loads(sys.argv[1]))) as alone:
        sys.stdout.write(alone.base + "\n")
        sys.stdout.flush()
        threading.Event().wait()
