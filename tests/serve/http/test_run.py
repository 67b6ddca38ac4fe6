"""Connections that only wait: each has its time, and whoever asks in between is answered."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("uvicorn")

from assay.serve.http.run import Protocol

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
LARGE = b"a" * 50_000_000


class Hasty(Protocol):
    head_s = 0.3
    answer_s = 1.0


async def app(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    body = LARGE if scope["path"] == "/large" else b"ok"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


def with_line(use: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
    """Use a connection to a hasty server."""

    async def run() -> None:
        import uvicorn

        config = uvicorn.Config(app, lifespan="off", log_level="critical")
        config.load()
        made = await asyncio.get_running_loop().create_server(
            lambda: Hasty(config=config, server_state=uvicorn.server.ServerState(), app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*made.sockets[0].getsockname())
        try:
            await asyncio.wait_for(use(reader, writer), 10)
        finally:
            writer.close()
            made.close()

    asyncio.run(run())


async def trickle(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"A")
        await asyncio.sleep(0.02)


async def read_to_end(reader: asyncio.StreamReader) -> int:
    """Return how many bytes come before the server hangs up."""
    size = 0
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1_000_000):
            size += len(part)
    return size


@pytest.mark.parametrize("before", [b"", HEAD + b"\r\nab", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_a_head_that_trickles_is_not_waited_for(before: bytes):
    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(before)
        if before:
            assert (await reader.readuntil(b"\r\nok")).startswith(b"HTTP/1.1 200 ")
        trickling = asyncio.create_task(trickle(writer))
        assert await asyncio.wait_for(read_to_end(reader), 3) == 0
        trickling.cancel()

    with_line(use)


def test_a_body_may_take_longer_than_a_head_and_requests_follow_one_another():
    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            writer.write(HEAD + b"\r\na")
            await asyncio.sleep(0.5)
            writer.write(b"b")
            assert (await reader.readuntil(b"\r\nok")).startswith(b"HTTP/1.1 200 ")

    with_line(use)


def test_an_answer_that_nobody_reads_is_given_up():
    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        await asyncio.sleep(1.5)
        assert await read_to_end(reader) < len(LARGE)

    with_line(use)
