"""A server on loopback that speaks OpenAI's protocols and a search service's, and does what it is told: late, broken,
cut, too long, or the key of whoever asks in its answer.

It imports nothing outside the standard library, and runs alone, too:
`python endpoint_server.py '{"grade": 1}'` prints its address and says that to everyone.
"""

from __future__ import annotations

import json
import math
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
from urllib.parse import parse_qs, quote, urlsplit

Question = dict[str, Any]

VARIABLES = (
    "ASSAY_API_BASE ASSAY_API_KEY OPENAI_BASE_URL OPENAI_API_KEY DEEPSEEK_API_KEY OPENROUTER_API_KEY VLLM_API_KEY"
    " COHERE_API_KEY JINA_API_KEY VOYAGE_API_KEY"
).split()
"""Of the environment: what a test takes away first."""


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
    details: Mapping[str, Any] = field(default_factory=dict)
    """More of the usage, as of a cache."""
    refusal: str | None = None
    finish: str = "stop"
    delay_s: float = 0.0
    cut: int = -1
    """Bytes of the body after which the connection breaks, although more was announced; -1 is none."""
    pause_s: float = 0.0
    """Between every two bytes of the body."""
    padding_mb: int = 0
    """Sent after the body, chunk by chunk, with no length announced."""
    drip: str = ""
    """A byte now and then, for good: of the `body`, or of the `headers`."""
    echo: str = ""
    """Where the authorization of the request comes back, one of `ECHOES`."""


Say = Callable[[Question], Play]


def _answer_with(value: str) -> bytes:
    """Return a body that every kind of client takes for an answer, with a text in all places where there is one."""
    message = {"role": "assistant", "content": value}
    return json.dumps({
        "choices": [{"index": 0, "message": message, "text": value, "finish_reason": "stop"}],
        "data": [{"index": 0, "embedding": value, "relevance_score": value}],
        "hits": [{"path": value, "line": 3}],
        "model": value,
    }).encode()  # fmt: skip


ECHOES: Mapping[str, Callable[[str], bytes]] = {
    "plain": lambda key: f"you sent {key}".encode(),
    "json": lambda key: json.dumps({"error": {"message": f"no such key: {key}"}}).encode(),
    "answer": _answer_with,
    "escaped": lambda key: _answer_with(key).replace(b"k", b"\\u006b").replace(b"-", b"\\u002d"),
    "quoted": lambda key: f"https://host/?key={quote(key, safe='')}".encode(),
    "percent": lambda key: "".join(f"%{ord(letter):02x}" for letter in key).encode(),
    "partly": lambda key: f"incorrect key {key[:-6]}".encode(),
    "end": lambda key: f"incorrect key ...{key[-16:]}, really".encode(),
    "late": lambda key: b"x" * 185 + key.encode(),
    "latin": lambda key: b"\xff\xfe" + key.encode(),
    "header": lambda _: b"",
    "location": lambda _: b"",
    "reason": lambda _: b"",
    "broken header": lambda _: b"",
}
"""How an authorization comes back to the body; the last few stand in the head of the answer."""


class EndpointServer(ThreadingHTTPServer):
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
        self.most_at_once = 0
        self.sent_mb = 0
        self.lock = threading.Lock()
        self.at_once = 0

    @property
    def base(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count how many questions are open."""
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self.lock:
                self.at_once -= 1

    def next_play(self, question: Question) -> Play:
        """Return what to do with a question."""
        with self.lock:
            if self.plays:
                return self.plays.pop(0)
        return self.say(question)

    def handle_error(self, *_: object) -> None:
        """Keep quiet: clients that go away are part of the tests."""


@contextmanager
def serving(say: Say | None = None, plays: Iterable[Play] = ()) -> Iterator[EndpointServer]:
    """Run a server in a thread for as long as the block lasts."""
    with EndpointServer(say, plays) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def answer(path: str, question: Question, play: Play) -> bytes:
    """Return the body of a whole answer to what was asked at a path."""
    if path.endswith("/chat/completions"):
        return completion(question, play)
    if path.endswith("/embeddings"):
        vectors = [[float(len(text)), 1.0, 0.0] for text in question["input"]]
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return json.dumps({"data": data[::-1]}).encode()
    if path.endswith("/rerank"):
        scores = [float(sum(word in text for word in question["query"].split())) for text in question["documents"]]
        results = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
        return json.dumps({"results": sorted(results, key=lambda each: -each["relevance_score"])}).encode()
    if path.endswith("/completions"):
        choices = [{"text": play.text or "    return 1\n"}] * question["n"]
        usage = {"prompt_tokens": 7, "completion_tokens": 4 * question["n"]}
        return json.dumps({"choices": choices, "usage": usage}).encode()
    return json.dumps({"hits": [{"path": "README.md", "line": 3}]}).encode()


def completion(question: Question, play: Play) -> bytes:
    """Return the body of a whole answer of a chat, with as many choices as were asked for."""
    text = play.text if play.text is not None else json.dumps({} if play.value is None else play.value)
    message = {"role": "assistant", "content": None if play.refusal else text, "refusal": play.refusal}
    choice = {"index": 0, "message": message, "finish_reason": play.finish}
    if question.get("logprobs") and isinstance(play.value, dict):
        choice["logprobs"] = {"content": [{"token": "?", "logprob": -1.0, "top_logprobs": top_logprobs(play.value)}]}
    answer: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000}
    answer |= {"model": f"{question.get('model')}-2026", "choices": [choice] * question.get("n", 1)}
    if play.usage is not None:
        tokens_in, tokens_out = play.usage
        tokens = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
        answer["usage"] = tokens | play.details
    return json.dumps(answer).encode()


def top_logprobs(probabilities: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the likeliest first tokens as a chat's endpoint has them."""
    return [{"token": token, "logprob": math.log(each)} for token, each in probabilities.items() if each]


class _Handler(BaseHTTPRequestHandler):
    server: EndpointServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        values = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        self._play({name: each[0] for name, each in values.items()})

    def do_POST(self) -> None:
        self._play(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _play(self, question: Question) -> None:
        with self.server.counted():
            with self.server.lock:
                self.server.questions.append(question)
                self.server.keys.append(self.headers.get("authorization"))
                self.server.paths.append(urlsplit(self.path).path)
            play = self.server.next_play(question)
            time.sleep(play.delay_s)
            body = answer(urlsplit(self.path).path, question, play) if play.body is None else play.body
            if play.echo:
                body = ECHOES[play.echo](self.headers.get("authorization", ""))
            self._answer(play, body)

    def _answer(self, play: Play, body: bytes) -> None:
        self._head(play)
        self.send_header("content-type", "application/json")
        if play.padding_mb or play.drip:
            self.send_header("connection", "close")
            self.close_connection = True
        else:
            self.send_header("content-length", str(len(body)))
        if play.drip == "headers":
            self.flush_headers()
            self._drip(b"x-more: ")
        self.end_headers()
        if play.drip:
            self._drip(b" ")
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
                self.server.sent_mb += 1

    def _head(self, play: Play) -> None:
        """Send the status and the headers that a play asks for, with the key in them if it asks for that."""
        key = self.headers.get("authorization", "")
        self.send_response(play.status, key if play.echo == "reason" else None)
        for name, value in play.headers.items():
            self.send_header(name, value)
        if play.echo == "header":
            self.send_header("retry-after", key)
        if play.echo == "location":
            self.send_header("location", f"http://{key.replace(' ', '.')}.example/{key}")
        if play.echo == "broken header":
            self.send_header(f"bad {key}", key)

    def _drip(self, piece: bytes) -> None:
        """Send a little again and again, until nobody reads it."""
        while True:
            self.wfile.write(piece[:1])
            self.wfile.flush()
            time.sleep(0.05)

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
