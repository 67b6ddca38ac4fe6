"""Serve open roots over MCP: a tool for each operation, over standard input and output, or over HTTP.

What can go wrong is an answer that says what to do, marked as an error; a tool never ends the server. An answer is
text: clients that are given typed content as well hand that to their model, in up to twice the tokens, so that it comes
only on request. Filters are query words, so that a model learns them once: a parameter costs each of its requests the
tokens of its schema. A client that asks for progress hears of an index that is being made, so that it does not take a
long first answer for a lost one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, replace
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
from assay.errors import AssayError, InputError, nearest, printable
from assay.operations.catalogue import OPERATIONS, Operation
from assay.operations.hits import Answer, FoundUnit, as_text
from assay.operations.read import UnitText
from assay.parameters import Declared, described, parameters_of, read_request, schema_of
from assay.search.query_filters import FILTERS
from assay.serve.session import Session

MAX_REQUEST_BYTES = 4 * 1024 * 1024
"""Bytes; a thousand candidate programs are smaller."""
_REPORT_S = 1.0
_AT_ONCE = 16
"""Questions that are answered at a time: more would be no faster, and each thread uses memory."""


_USES = {
    "search": "search for where or how something is done",
    "read": "read for a whole unit",
    "related": "related for what touches a line",
    "log": "log for when and why something was changed",
    "pattern": "pattern for every place of a structure",
    "outline": "outline before reading files",
}
_INSTRUCTIONS = (
    "Finds code by meaning, offline. Use {}. Lines are 1-based and inclusive, paths relative to root. Indexes are "
    "built and refreshed automatically."
)
LEAN = "lean"
_LISTS = {LEAN: ("search", "read"), "all": tuple(each.name for each in OPERATIONS if each.tool is not None)}
_ON_REQUEST = "rank"
SentLines = set[tuple[str, str, str]]
"""The lines that a session has received: root, path, and the line with its number."""
_LEFT_OUT = {
    "search": frozenset((*(each.option for each in FILTERS), "group", "explain")),
    "log": frozenset(("file",)),
    "status": frozenset(("limit",)),
}
"""Parameters that query words cover, or that only JSON shows."""
_FAR = 10**6
"""A bound from here on does not help a model."""


class _Exact(Tool):  # type: ignore[misc]  # it is Any
    """A tool whose arguments are those of a request, which are checked with it."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: FBT001, FBT002  the SDK's
        """Answer, or return the error of an argument."""
        found = await self.fn(arguments, context)
        return self.fn_metadata.convert_result(found) if convert_result else found


def server_of(
    session: Session, *, structured: bool = False, tools: str = LEAN, sent_lines: SentLines | None = None
) -> MCPServer[Any]:
    """Return the server of a session, without a transport yet.

    If `structured`, answers have typed content beside their text, and tools a schema of it. `tools` are names of tools,
    with commas, or of a list of them. Lines of text answers are added to `sent_lines`; later searches omit them.
    """
    threads = CapacityLimiter(_AT_ONCE)
    listed = _tools_named(tools)
    uses = ", ".join(_USES[each.name] for each in listed if each.name in _USES)
    tool_list = [
        _tool(each, session, threads, None if structured else sent_lines, structured=structured) for each in listed
    ]
    text = _INSTRUCTIONS.format(uses or "its tools")
    return MCPServer("assay", version=__version__, instructions=text, log_level="ERROR", tools=tool_list)


def _tools_named(text: str) -> list[Operation]:
    names = {one for name in text.split(",") for one in _LISTS.get(name.strip(), (name.strip(),))}
    if unknown := sorted(names.difference(_LISTS["all"], [_ON_REQUEST])):
        known = [*_LISTS, *_LISTS["all"], _ON_REQUEST]
        raise InputError(f"--tools: unknown tool '{unknown[0]}'; {nearest(unknown[0], known)}")
    return [each for each in OPERATIONS if each.name in names]


def _tool(
    operation: Operation, session: Session, threads: CapacityLimiter, sent_lines: SentLines | None, *, structured: bool
) -> Tool:
    """Return the tool of an operation."""
    left_out = _LEFT_OUT.get(operation.name, frozenset(("explain",)))
    declared = {each.name: each for each in parameters_of(operation.request) if each.name not in left_out}
    usual = {**(operation.tool or {}), **({"group": True} if operation.name == "search" and not structured else {})}

    run = operation.run if structured else operation.text_run or operation.run

    def run_request(arguments: Mapping[str, Any]) -> Any:
        return run(read_request(operation.request, arguments, list(declared.values()), usual), session)

    async def answer(arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        work = partial(_run_guarded, partial(run_request, arguments), sent_lines, structured=structured)
        async with create_task_group() as beside:
            beside.start_soon(_report, session, context)
            result: CallToolResult = await to_thread.run_sync(work, limiter=threads)
            beside.cancel_scope.cancel()
        return result

    typed: Any = Annotated[CallToolResult, RootModel[operation.answer]]  # of which the SDK makes the schema of answers
    vars(answer)["__signature__"] = Signature(return_annotation=typed)
    tool = _Exact.from_function(
        answer,
        name=operation.name,
        description=" ".join(operation.help.split()),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True),
        structured_output=structured,
    )
    tool.parameters = _schema(declared, usual)
    return tool


def _schema(declared: Mapping[str, Declared], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, without what is not worth its tokens: empty defaults, sizes."""
    properties = {}
    for name, each in declared.items():
        default = usual.get(name, each.default)
        more = {"default": default} if default and default is not MISSING else {}
        schema = schema_of(each)
        for inner in (schema, schema.get("items", {})):
            for bound in ("maxLength", "maxItems", "maximum"):
                if bound != "maximum" or inner.get(bound, 0) >= _FAR:
                    inner.pop(bound, None)
        properties[name] = {**schema, "description": described(each), **more}
    required = [name for name, each in declared.items() if each.is_required]
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def http_app(server: MCPServer[Any]) -> Any:
    """Return the application for any number of clients at /mcp; the guard before it decides about access."""
    return server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_REQUEST_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


async def _report(session: Session, context: Context[Any, Any]) -> None:
    while True:
        await sleep(_REPORT_S)
        if making := session.making():
            name, done, total = making
            await context.report_progress(done, total or None, f"indexing {name}")


def _run_guarded(run: Callable[[], Any], sent_lines: SentLines | None, *, structured: bool) -> CallToolResult:
    """Return an answer, or an error as an answer: its message, or for a lost file the reason."""
    try:
        answer = run()
        if sent_lines is not None:
            answer = _without_sent_lines(answer, sent_lines)
        text = [TextContent(type="text", text=as_text(answer))]
        return CallToolResult(content=text, structured_content=asdict(answer) if structured else None)
    except AssayError as error:
        what = str(error)
    except OSError as error:
        what = f"cannot be read: {error.strerror or type(error).__name__}"
    return CallToolResult(content=[TextContent(type="text", text=printable(what))], is_error=True)


def _without_sent_lines(answer: Any, sent_lines: SentLines) -> Any:
    """Return an answer whose hits have no lines if all of them were sent before, and record the others."""
    if isinstance(answer, UnitText):
        sent_lines.update(
            _rows(FoundUnit(answer.path, answer.start_line, 0, 0, "", "", "", answer.text, root=answer.root))
        )
    if not isinstance(answer, Answer):
        return answer
    hits = []
    for hit in answer.hits:
        is_known = bool(hit.text) and sent_lines.issuperset(_rows(hit))
        hits.append(replace(hit, text="", lines=[], more=[], kind=f"shown above: {hit.kind}") if is_known else hit)
        sent_lines.update(_rows(hit))
    return replace(answer, hits=hits)


def _rows(unit: FoundUnit) -> SentLines:
    return {(unit.root, unit.path, row) for row in unit.rows.split("\n")} if unit.text else set()
