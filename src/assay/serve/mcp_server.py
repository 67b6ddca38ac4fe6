"""A session to an MCP server: six tools over standard input and output, or over HTTP on the loopback address.

What can go wrong is an answer that says what to do, marked as an error; a tool never ends the server. Text for a model
and typed content say the same, and each alone keeps to the budget. A client that asks for progress hears of an index
that is being made, so that it does not take a long first answer for a lost one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial, wraps
from socket import socket
from typing import Annotated, Any, Literal

import uvicorn
from anyio import CapacityLimiter, create_task_group, sleep, to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, RootModel, ValidationError

from assay import __version__
from assay.errors import AssayError, printable
from assay.serve import read_tools, search_tools
from assay.serve.as_text import as_text
from assay.serve.read_tools import OutlineAnswer, PatternAnswer
from assay.serve.responses import FoundAnswer
from assay.serve.search_tools import Order, Page, SearchFilter, Status
from assay.serve.session import Session

LOOPBACK = "127.0.0.1"
LARGEST_REQUEST = 4 * 1024 * 1024
"""Bytes; a thousand candidate programs are smaller."""
_REPORT_S = 1.0
_AT_ONCE = 16
"""Questions that are worked on: more would be no faster, and each thread keeps memory of its own."""

Path = Annotated[
    str,
    Field(
        description="Folder or file below what is served, the name of a served folder, or the https URL of a git "
        "repository; empty for all in a search, for the one served folder elsewhere."
    ),
]
Globs = Annotated[list[str], Field(description="Keep files that match one: *.py, src/**; !tests/** leaves out.")]
Budget = Annotated[
    int, Field(ge=search_tools.LEAST_BUDGET, le=200_000, description="Tokens that the answer may take, about.")
]
Cursor = Annotated[str, Field(description="The cursor of the page before, all else the same; empty for the first.")]
Explain = Annotated[bool, Field(description="Add what each score is made of.")]
Count = Annotated[int, Field(ge=1, le=search_tools.MOST_HITS, description="Entries of a page, at most.")]

INSTRUCTIONS = (
    "Finds code by meaning, offline. Use search for where or how something is done, related for what touches a line, "
    "pattern for every place of a structure, outline before reading files. Lines are 1-based and inclusive, paths "
    "relative to root. Indexes are made and refreshed by themselves."
)


class Tools:
    """The tools of one session; each parameter is what a client sees of it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def search(  # noqa: PLR0913, PLR0917  what a client sees
        self,
        query: Annotated[str, Field(description="A question, a name in any spelling, an error message.")],
        path: Path = "",
        more_queries: Annotated[list[str], Field(description="Other wordings; their hits are united.")] = [],  # noqa: B006  a schema
        k: Count = 8,
        mode: Annotated[
            Literal["", "code", "docs", "all"], Field(description="Empty: code, or all where globs or languages keep.")
        ] = "",
        languages: Annotated[list[str], Field(description="Keep these, such as python or ts.")] = [],  # noqa: B006
        globs: Globs = [],  # noqa: B006
        repo: Annotated[
            list[str], Field(description="Of several served folders, those whose name or path matches: api-*, !*-old.")
        ] = [],  # noqa: B006
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
        explain: Explain = False,  # noqa: FBT002
    ) -> Annotated[CallToolResult, RootModel[FoundAnswer]]:
        """Find code or documentation by meaning: functions, types and sections that answer a question, best first."""
        keep = SearchFilter(mode, tuple(languages), tuple(globs), repositories=tuple(repo))
        page = Page(k, budget, cursor, explain=explain)
        return _result(search_tools.search(self._session, [query, *more_queries], path, keep=keep, page=page))

    def related(  # noqa: PLR0913, PLR0917
        self,
        path: Annotated[str, Field(description="A file below what is served.")],
        line: Annotated[int, Field(ge=1, description="A line of it.")],
        k: Count = 8,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
        explain: Explain = False,  # noqa: FBT002
    ) -> Annotated[CallToolResult, RootModel[FoundAnswer]]:
        """Find what has to do with the unit at a line of a file: what it calls, what calls it, what is like it."""
        return _result(search_tools.related(self._session, path, line, page=Page(k, budget, cursor, explain=explain)))

    def outline(
        self,
        path: Path = "",
        globs: Globs = [],  # noqa: B006
        k: Count = 50,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> Annotated[CallToolResult, RootModel[OutlineAnswer]]:
        """List the signatures of files, with their lines, and the headings of prose: what is there, without bodies."""
        return _result(read_tools.outlines(self._session, path, globs, page=Page(k, budget, cursor)))

    def pattern(  # noqa: PLR0913, PLR0917
        self,
        pattern: Annotated[
            str, Field(description="Code with holes: open($PATH, $$$REST); $X is one node, $$$X any number.")
        ],
        language: Annotated[str, Field(description="Of the files to look in, such as python, rust or tsx.")],
        path: Path = "",
        globs: Globs = [],  # noqa: B006
        k: Count = 50,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> Annotated[CallToolResult, RootModel[PatternAnswer]]:
        """Find every place whose code has a structure (ast-grep), in order of path; spacing does not count."""
        page = Page(k, budget, cursor)
        return _result(read_tools.patterns(self._session, (pattern, language), path, globs, page=page))

    def status(self, path: Path = "") -> Annotated[CallToolResult, RootModel[Status]]:
        """Say what the index of a folder holds, what it leaves out and why, and how fresh it is; changes nothing."""
        return _result(search_tools.status(self._session, path))

    def rank(
        self,
        programs: Annotated[list[str], Field(description="Python sources that try to solve one task.")],
        prompt: Annotated[str, Field(description="The task.")] = "",
        entry_point: Annotated[str, Field(description="The function that is to be written.")] = "",
    ) -> Annotated[CallToolResult, RootModel[Order]]:
        """Order candidate programs for one task by how likely each is right, by reading them; nothing is run."""
        return _result(search_tools.rank(programs, prompt, entry_point))


class _Exact(Tool):  # type: ignore[misc]  # it is Any
    """A tool whose refusal of an argument is a sentence."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: FBT001, FBT002  the SDK's
        """Answer, or say which argument is wrong, and which are known."""
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            return _failed(_refusal(error.errors(), list(self.parameters["properties"])))
        return await super().run(arguments, context, convert_result)


def _refusal(problems: Sequence[Mapping[str, Any]], known: Sequence[str]) -> str:
    """Return what is wrong with the first argument that is; an unknown one, for it may be a misspelt missing one."""
    first = next((each for each in problems if each["type"] == "extra_forbidden"), problems[0])
    name = ".".join(map(str, first["loc"]))
    what = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    if first["type"] == "missing":
        what = "wanted, and not given"
    if first["type"] == "extra_forbidden":
        name, what = name[:40], "unknown argument"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{name}: {what}{more}; known: {', '.join(known)}"


def server_of(session: Session) -> MCPServer[Any]:
    """Return the server of a session, as yet on no transport."""
    of = Tools(session)
    threads = CapacityLimiter(_AT_ONCE)
    tools = [
        _tool(each, session, threads) for each in (of.search, of.related, of.outline, of.pattern, of.status, of.rank)
    ]
    return MCPServer("assay", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", tools=tools)


def _tool(work: Callable[..., CallToolResult], session: Session, threads: CapacityLimiter) -> Tool:
    """Return a tool that refuses an argument it does not know, which would otherwise be passed over in silence."""
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
    tool = _Exact.from_function(_reported(work, session, threads), annotations=reads, context_kwarg="context")
    taken = tool.fn_metadata.arg_model
    taken.model_config["extra"] = "forbid"
    taken.model_rebuild(force=True)
    tool.parameters = taken.model_json_schema(by_alias=True)
    return tool


def serve_stdio(session: Session) -> None:
    """Serve one client on standard input and output until it leaves."""
    server_of(session).run("stdio")


def serve_http(session: Session, listening: socket) -> None:
    """Serve any number of clients of this machine on a socket, at /mcp; a page in a browser is none of them."""
    app = server_of(session).streamable_http_app(
        host=LOOPBACK, json_response=True, stateless_http=True, max_request_body_size=LARGEST_REQUEST
    )
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])


def _result(answer: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=as_text(answer))], structured_content=asdict(answer))


def _reported(work: Callable[..., CallToolResult], session: Session, threads: CapacityLimiter) -> Callable[..., Any]:
    """Return a tool that works in a thread, and tells of an index that it waits for."""

    @wraps(work)
    async def reported(*, context: Context[Any, Any], **given: Any) -> CallToolResult:
        async with create_task_group() as beside:
            beside.start_soon(_report, session, context)
            answer: CallToolResult = await to_thread.run_sync(partial(_guarded, work, given), limiter=threads)
            beside.cancel_scope.cancel()
        return answer

    return reported


async def _report(session: Session, context: Context[Any, Any]) -> None:
    while True:
        await sleep(_REPORT_S)
        if making := session.making():
            name, done, total = making
            await context.report_progress(done, total or None, f"indexing {name}")


def _guarded(work: Callable[..., CallToolResult], given: dict[str, Any]) -> CallToolResult:
    """Return an answer, or an error as an answer: one for people in its words, a lost file by its name."""
    try:
        return work(**given)
    except AssayError as error:
        what = str(error)
    except OSError as error:
        what = f"cannot be read: {error.strerror or type(error).__name__}"
    return _failed(what)


def _failed(what: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=printable(what))], is_error=True)
