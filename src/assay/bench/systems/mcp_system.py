"""A tool of an MCP server that is started by command: `mcp:tool serve {corpus}`, with the extra `mcp`.

The library is asynchronous; its loop runs in a thread of its own, so that here a call is a call.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from threading import Thread
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CONNECTION_CLOSED

from assay.bench.system import SystemCorpus, checked, folder_of, small_environment
from assay.bench.systems import tool_answers
from assay.bench.systems.tool_answers import OPTIONS, Answers
from assay.errors import AssayError, InputError
from assay.io import leash
from assay.protocols import Searcher
from assay.values import Query

_OPTIONS = {**OPTIONS, "tool": "", "arguments": {"query": "{query}"}, "environment": list[str]()}
_START = ("corpus", "location")


class McpSystem:
    """One server for all queries, one call of one tool a query."""

    def __init__(self, command: str = "") -> None:
        self._words = tool_answers.words_of(command, _START)
        self._server: _Server | None = None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Start the server and choose its tool: the one that was named, else the only one that searches."""
        given = checked("mcp", options, _OPTIONS)
        tool_answers.check(given["arguments"])
        location = str(folder_of(given["location"], "mcp", *self._words)) if given["location"] else ""
        values = tool_answers.values_of(corpus, location)
        server = _Server([tool_answers.filled(word, values) for word in self._words], given["environment"], corpus.root)
        self._server = server
        tool = _choose_tool(server.tools(), given["tool"], given["arguments"])

        def ask(query: Query, k: int) -> str:
            plain = {**tool_answers.values_of(corpus, location, query.text, k), "query": query.text}
            return server.call(tool, tool_answers.filled_all(given["arguments"], plain), given["timeout_s"])

        return Answers(ask, corpus, given, corpus.root)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()


@dataclass(frozen=True, slots=True)
class _Call:
    """Something to do with the client, and where its result goes."""

    work: Callable[[Client], Coroutine[Any, Any, Any]]
    timeout_s: float | None
    result: Future[Any]


class _Server:
    """A running server; calls come from any thread."""

    def __init__(self, command: list[str], names: list[str], cwd: Path) -> None:
        self._name = command[0]
        self._asked: asyncio.Queue[_Call | None]
        started: Future[asyncio.AbstractEventLoop] = Future()
        environment = small_environment(names)
        if which(command[0], path=environment.get("PATH")) is None and not (cwd / command[0]).is_file():
            raise InputError(f"the MCP server '{command[0]}' did not start: there is no such program")
        leashed = ["-I", "-S", leash.__file__, *command]
        at = StdioServerParameters(command=sys.executable, args=leashed, env=environment, cwd=cwd)
        self._thread = Thread(target=lambda: asyncio.run(self._serve(at, started)), daemon=True)
        self._thread.start()
        try:
            self._loop = started.result()
        except Exception as error:
            raise AssayError(f"the MCP server '{self._name}' did not start: {_cause(error)}") from error

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Return the arguments' schema of each tool by name."""
        listed = self._do(lambda client: client.list_tools(), None)
        return {tool.name: tool.input_schema or {} for tool in listed.tools}

    def call(self, tool: str, arguments: Mapping[str, Any], timeout_s: float) -> str:
        """Call a tool and return its text."""
        result = self._do(lambda client: client.call_tool(tool, dict(arguments)), timeout_s)
        texts = [each.text for each in result.content if getattr(each, "type", "") == "text"]
        text = "\n".join(texts) if texts or result.structured_content is None else json.dumps(result.structured_content)
        if result.is_error:
            raise AssayError(f"the tool '{tool}' failed: {' '.join(text.split())[:200]}")
        return text

    def close(self) -> None:
        """Let the server end and wait for it a little."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._asked.put_nowait, None)
        self._thread.join(5)

    async def _serve(self, at: StdioServerParameters, started: Future[asyncio.AbstractEventLoop]) -> None:
        """Hold the connection and do what is asked, in the one task that may."""
        self._asked = asyncio.Queue()
        try:
            async with Client(at) as client:
                started.set_result(asyncio.get_running_loop())
                while (call := await self._asked.get()) is not None:
                    try:
                        async with asyncio.timeout(call.timeout_s):
                            call.result.set_result(await call.work(client))
                    except Exception as error:  # noqa: BLE001  it is raised where it was asked
                        call.result.set_exception(error)
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    def _do(self, work: Callable[[Client], Coroutine[Any, Any, Any]], timeout_s: float | None) -> Any:
        call = _Call(work, timeout_s, Future())
        self._loop.call_soon_threadsafe(self._asked.put_nowait, call)
        try:
            return call.result.result()
        except TimeoutError as error:
            raise AssayError(f"the MCP server '{self._name}' did not answer within {timeout_s:g} s") from error
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:  # the end of the worker, too: another one starts another server
                raise SystemExit(f"the MCP server '{self._name}' ended") from error
            raise AssayError(f"the MCP server '{self._name}' answered with an error: {error}") from error


def _choose_tool(tools: Mapping[str, Mapping[str, Any]], asked: str, arguments: Mapping[str, Any]) -> str:
    searching = [name for name in tools if "search" in name.lower()]
    name = asked or next(iter(searching or ([*tools] if len(tools) == 1 else [])), "")
    if name not in tools:
        raise InputError(f"the server has no tool '{name or 'search'}'; say tool = one of: {', '.join(tools)}")
    known = tools[name].get("properties", {})
    for argument in arguments:
        if argument not in known:
            raise InputError(f"the tool '{name}' takes no '{argument}'; say arguments = a table of: {', '.join(known)}")
    return name


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
