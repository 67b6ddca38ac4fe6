"""Serve open roots over MCP: a tool for each operation, over standard input and output, or over HTTP.

What can go wrong is an answer that says what to do, marked as an error; a tool never ends the server. An answer is
text: clients that are given typed content as well hand that to their model, in up to twice the tokens, so that it comes
only on request. Filters are query words, so that a model learns them once: a parameter costs each of its requests the
tokens of its schema. A client that asks for progress hears of an index that is being made, so that it does not take a
long first answer for a lost one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict
from functools import partial
from inspect import Signature
from typing import Annotated, Any

from anyio import CapacityLimiter, create_task_group, sleep, to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import RootModel

from assay import __version__
from assay.errors import AssayError, printable
from assay.operations.catalogue import OPERATIONS, Operation
from assay.operations.render import as_text
from assay.parameters import Declared, described, parameters_of, read_request, schema_of
from assay.serve.session import Session

LOOPBACK = "127.0.0.1"
LARGEST_REQUEST = 4 * 1024 * 1024
"""Bytes; a thousand candidate programs are smaller."""
_REPORT_S = 1.0
_AT_ONCE = 16
"""Questions that are worked on: more would be no faster, and each thread keeps memory of its own."""


INSTRUCTIONS = (
    "Finds code by meaning, offline. Use search for where or how something is done, read for a whole unit, related for "
    "what touches a line, log for when and why something was changed, pattern for every place of a structure, outline "
    "before reading files. Lines are 1-based and inclusive, paths relative to root. Indexes are made and refreshed by "
    "themselves."
)
_LEFT_OUT = {"search": frozenset(("repo", "lang", "file", "kind", "group", "explain")), "log": frozenset(("file",))}
"""Parameters that query words say, or that only JSON shows."""
_FAR = 10**6
"""A bound from here on says nothing to a model."""


class _Exact(Tool):  # type: ignore[misc]  # it is Any
    """A tool whose arguments are those of a request, which are checked with it."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: FBT001, FBT002  the SDK's
        """Answer, or say what is wrong with an argument."""
        found = await self.fn(arguments, context)
        return self.fn_metadata.convert_result(found) if convert_result else found


def server_of(session: Session, *, structured: bool = False, rank: bool = False) -> MCPServer[Any]:
    """Return the server of a session, as yet on no transport.

    If `structured`, answers have typed content beside their text, and tools a schema of it; `rank` lists the tool that
    orders candidate programs.
    """
    threads = CapacityLimiter(_AT_ONCE)
    listed = [each for each in OPERATIONS if each.tool is not None or (rank and each.name == "rank")]
    tools = [_tool(each, session, threads, structured=structured) for each in listed]
    return MCPServer("assay", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", tools=tools)


def _tool(operation: Operation, session: Session, threads: CapacityLimiter, *, structured: bool) -> Tool:
    """Return the tool of an operation."""
    left_out = _LEFT_OUT.get(operation.name, frozenset(("explain",)))
    known = {each.name: each for each in parameters_of(operation.request) if each.name not in left_out}
    usual = {**(operation.tool or {}), **({"group": True} if operation.name == "search" and not structured else {})}

    async def answer(arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        work = partial(_guarded, operation, known, usual, arguments, session, structured=structured)
        async with create_task_group() as beside:
            beside.start_soon(_report, session, context)
            found: CallToolResult = await to_thread.run_sync(work, limiter=threads)
            beside.cancel_scope.cancel()
        return found

    typed: Any = Annotated[CallToolResult, RootModel[operation.answer]]  # of which the SDK makes the schema of answers
    vars(answer)["__signature__"] = Signature(return_annotation=typed)
    tool = _Exact.from_function(
        answer,
        name=operation.name,
        description=" ".join(operation.help.split()),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True),
        structured_output=structured,
    )
    tool.parameters = _schema(known, usual)
    return tool


def _schema(known: Mapping[str, Declared], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, without what costs a model more than it says: empty defaults, sizes."""
    properties = {}
    for name, each in known.items():
        default = usual.get(name, each.default)
        more = {"default": default} if default and default is not MISSING else {}
        schema = schema_of(each)
        for inner in (schema, schema.get("items", {})):
            for bound in ("maxLength", "maxItems", "maximum"):
                if bound != "maximum" or inner.get(bound, 0) >= _FAR:
                    inner.pop(bound, None)
        properties[name] = {**schema, "description": described(each), **more}
    required = [name for name, each in known.items() if each.is_required]
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def http_app(server: MCPServer[Any]) -> Any:
    """Return what answers any number of clients at /mcp; who may ask is for the guard before it to say."""
    return server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


async def _report(session: Session, context: Context[Any, Any]) -> None:
    while True:
        await sleep(_REPORT_S)
        if making := session.making():
            name, done, total = making
            await context.report_progress(done, total or None, f"indexing {name}")


def _guarded(  # noqa: PLR0913  what a call is made of
    operation: Operation,
    known: Mapping[str, Declared],
    usual: Mapping[str, Any],
    arguments: Mapping[str, Any],
    session: Session,
    *,
    structured: bool,
) -> CallToolResult:
    """Return an answer, or an error as an answer: one for people in its words, a lost file by its name."""
    run = operation.run if structured else operation.text_run or operation.run
    try:
        request = read_request(operation.request, arguments, list(known.values()), usual)
        answer = run(request, session)
        text = [TextContent(type="text", text=as_text(answer))]
        return CallToolResult(content=text, structured_content=asdict(answer) if structured else None)
    except AssayError as error:
        what = str(error)
    except OSError as error:
        what = f"cannot be read: {error.strerror or type(error).__name__}"
    return CallToolResult(content=[TextContent(type="text", text=printable(what))], is_error=True)
