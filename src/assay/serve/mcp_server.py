"""Serve a session over MCP: tools over standard input and output, or over HTTP on the loopback address.

What can go wrong is an answer that says what to do, marked as an error; a tool never ends the server. An answer is
text: clients that are given typed content as well hand that to their model, in up to twice the tokens, so that it comes
only on request. A client that asks for progress hears of an index
that is being made, so that it does not take a long first answer for a lost one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial, wraps
from inspect import getdoc, signature
from typing import Annotated, Any

from anyio import CapacityLimiter, create_task_group, sleep, to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import RootModel, ValidationError

from assay import __version__
from assay.errors import AssayError, printable
from assay.serve.mcp_tools import Tools, as_text
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
        what = "missing"
    if first["type"] == "extra_forbidden":
        name, what = name[:40], "unknown argument"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{name}: {what}{more}; known: {', '.join(known)}"


def server_of(session: Session, *, structured: bool = False, rank: bool = False) -> MCPServer[Any]:
    """Return the server of a session, as yet on no transport.

    If `structured`, answers have typed content beside their text, and tools a schema of it; `rank` lists the tool that
    orders candidate programs.
    """
    of = Tools(session, is_text=not structured)
    threads = CapacityLimiter(_AT_ONCE)
    listed = (of.search, of.read, of.related, of.outline, of.pattern, of.log, of.status, *((of.rank,) if rank else ()))
    tools = [_tool(each, session, threads, structured=structured) for each in listed]
    return MCPServer("assay", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", tools=tools)


def _tool(work: Callable[..., Any], session: Session, threads: CapacityLimiter, *, structured: bool) -> Tool:
    """Return a tool that refuses an argument it does not know, which would otherwise be passed over in silence."""
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
    tool = _Exact.from_function(
        _reported(work, session, threads, structured=structured),
        description=" ".join((getdoc(work) or "").split()),
        annotations=reads,
        context_kwarg="context",
        structured_output=structured,
    )
    taken = tool.fn_metadata.arg_model
    taken.model_config["extra"] = "forbid"
    taken.model_rebuild(force=True)
    tool.parameters = _without_titles(taken.model_json_schema(by_alias=True))
    return tool


def _without_titles(schema: Any) -> Any:
    """Return a schema without its titles, which repeat the names of parameters at a model's cost."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(each) for key, each in schema.items() if key != "title" or not isinstance(each, str)
        }
    return [_without_titles(each) for each in schema] if isinstance(schema, list) else schema


def http_app(server: MCPServer[Any]) -> Any:
    """Return what answers any number of clients at /mcp; who may ask is for the guard before it to say."""
    return server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


def _reported(
    work: Callable[..., Any], session: Session, threads: CapacityLimiter, *, structured: bool
) -> Callable[..., Any]:
    """Return a tool that works in a thread, and tells of an index that it waits for."""
    written = partial(_guarded, work, structured=structured)

    @wraps(work)
    async def reported(*, context: Context[Any, Any], **arguments: Any) -> CallToolResult:
        async with create_task_group() as beside:
            beside.start_soon(_report, session, context)
            answer: CallToolResult = await to_thread.run_sync(partial(written, arguments), limiter=threads)
            beside.cancel_scope.cancel()
        return answer

    seen = signature(work, eval_str=True)
    typed: Any = Annotated[CallToolResult, RootModel[seen.return_annotation]]
    vars(reported)["__signature__"] = seen.replace(return_annotation=typed)
    return reported


async def _report(session: Session, context: Context[Any, Any]) -> None:
    while True:
        await sleep(_REPORT_S)
        if making := session.making():
            name, done, total = making
            await context.report_progress(done, total or None, f"indexing {name}")


def _guarded(work: Callable[..., Any], arguments: dict[str, Any], *, structured: bool) -> CallToolResult:
    """Return an answer, or an error as an answer: one for people in its words, a lost file by its name."""
    try:
        answer = work(**arguments)
        text = [TextContent(type="text", text=as_text(answer))]
        return CallToolResult(content=text, structured_content=asdict(answer) if structured else None)
    except AssayError as error:
        what = str(error)
    except OSError as error:
        what = f"cannot be read: {error.strerror or type(error).__name__}"
    return _failed(what)


def _failed(what: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=printable(what))], is_error=True)
