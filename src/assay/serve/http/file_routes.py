"""Answer for files and folders: their lines, bytes, history, and whether an editor here can open them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Query, Request, Response
from pydantic import StringConstraints
from starlette.responses import FileResponse

from assay.corpus.blocks import lines_of
from assay.serve import file_views, history_tools
from assay.serve.file_views import MOST_LINES, FileText, FolderList, FoundLines, StyledFile
from assay.serve.history_tools import MOST_CHANGES, BlameAnswer, HistoryAnswer
from assay.serve.http import json_response as answers
from assay.serve.http import params as param
from assay.serve.page_files import styled_parts_json
from assay.serve.session import Session
from assay.serve.turns import AnswerThreads


def is_same_machine(request: Request) -> bool:
    """Say whether a request came from this machine and by a name of it that no other machine has.

    What a proxy passes on says so, and into a container it comes from another address. A forwarded port cannot be
    told from this machine.
    """
    client = request.client.host if request.client else ""
    if any(name.startswith("x-forwarded-") for name in request.headers):
        return False
    name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return _is_loopback(client) and (name == "localhost" or _is_loopback(name))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


LONGEST_SOUGHT = 500
_MOST_ENTRIES = 1000
_HEAD_BYTES = 8192
_POLICY = "default-src 'none'; sandbox"
"""A raw file is shown as text and does nothing."""


From = Annotated[int, *param.number(1, param.LAST_LINE, "The first line that is wanted, from 1.")]
Lines = Annotated[int, *param.number(1, MOST_LINES, "Lines that are wanted, at most.")]
FirstLine = Annotated[int, *param.number(0, param.LAST_LINE, "The first line of the unit; 0: the whole file.")]
LastLine = Annotated[int, *param.number(0, param.LAST_LINE, "The last line of the unit; 0: the first one alone.")]
Entries = Annotated[int, *param.number(1, _MOST_ENTRIES, "Entries of a page, at most.")]
Commits = Annotated[int, *param.number(1, MOST_CHANGES, "Commits, at most.")]
Sought = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_SOUGHT),
    Query(description="A text; capitals count only where it has one."),
]


class FileRoutes:
    """The routes of files; each answers with a record but that of raw bytes."""

    def __init__(self, session: Session, workers: AnswerThreads) -> None:
        self._session, self._workers = session, workers
        self._answer = partial(answers.answer, workers)

    async def file(
        self,
        path: param.File,
        line: From = 1,
        count: Lines = MOST_LINES,
        styled: param.Styled = False,  # noqa: FBT002
    ) -> Response:
        """Read lines of a file; with the first come what it declares and where a code host shows it."""
        work = partial(file_views.file_text, self._session, path, line, count)
        return await self._answer(work, _styled_json if styled else answers.as_json)

    async def find(self, path: param.File, text: Sought) -> Response:
        """Find the lines of a file that hold a text."""
        return await self._answer(partial(file_views.found_lines, self._session, path, text))

    async def tree(self, path: param.Path = "", k: Entries = 500, cursor: param.Cursor = "") -> Response:
        """List what a folder holds by itself."""
        return await self._answer(partial(file_views.folder_list, self._session, path, k, cursor))

    async def blame(self, path: param.File, line: From = 1, count: Lines = MOST_LINES) -> Response:
        """Say which commits wrote lines of a file."""
        return await self._answer(partial(history_tools.blame, self._session, path, line, count))

    async def history(self, path: param.File, line: FirstLine = 0, end_line: LastLine = 0, k: Commits = 20) -> Response:
        """List the commits that changed lines of a file, or all of it, newest first."""
        return await self._answer(partial(history_tools.history, self._session, path, line, end_line, k))

    async def raw(self, path: param.File) -> Response:
        """Answer with the bytes of a file: text to be read, anything else to be saved."""
        file, place, _ = await self._workers.do(partial(file_views.whole_file, self._session, path))
        with file.open("rb") as opened:
            is_text = b"\0" not in opened.read(_HEAD_BYTES)
        name = quote(place.inside.rpartition("/")[2])
        how = f"{'inline' if is_text else 'attachment'}; filename*=UTF-8''{name}"
        headers = {"Content-Security-Policy": _POLICY, "Content-Disposition": how}
        return FileResponse(file, headers=headers, media_type="text/plain" if is_text else "application/octet-stream")

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        for work, answer, more in (
            (self.file, FileText | StyledFile, ()),
            (self.find, FoundLines, ()),
            (self.tree, FolderList, (409,)),
            (self.blame, BlameAnswer, ()),
            (self.history, HistoryAnswer, ()),
        ):
            errors = answers.errors(400, 404, *more)
            app.add_api_route(f"/api/{work.__name__}", work, response_model=answer, responses=errors)
        plain: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
        responses = {**plain, **answers.errors(400, 404)}
        app.add_api_route("/api/raw", self.raw, response_class=Response, responses=responses)


def _styled_json(answer: FileText) -> bytes:
    """Return a `StyledFile` as JSON."""
    starts = {one.line - answer.start_line for one in answer.outline if not one.depth}
    lines = styled_parts_json(lines_of(answer.text), answer.language, starts)
    plain = answers.as_json(replace(answer, text=""))
    return plain[:-1] + b',"styled":' + lines.encode("utf-8", "backslashreplace") + b"}"
