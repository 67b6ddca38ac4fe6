"""The page and its files, as the package brings them; a browser asks each time whether it is still the same."""

from __future__ import annotations

from hashlib import blake2b
from http import HTTPStatus
from importlib import resources
from pathlib import PurePosixPath

from fastapi import FastAPI, Request, Response

from assay.serve.http.json_response import refusal

INDEX = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


class PageRoutes:
    """The routes of the page; a name that is none of its files is not there, whatever it may lead to."""

    def __init__(self) -> None:
        self._folder = resources.files("assay.serve").joinpath("page")

    async def index(self, request: Request) -> Response:
        """Answer with the page."""
        return self._answer(INDEX, request)

    async def file(self, request: Request) -> Response:
        """Answer with a file of the page."""
        return self._answer(request.path_params["name"], request)

    def add(self, app: FastAPI) -> None:
        """Add the routes to an application; parameters are for the page's own script, which keeps its state there."""
        for path, work in (("/", self.index), ("/page/{name}", self.file)):
            app.add_route(path, work, methods=["GET", "HEAD"], include_in_schema=False)

    def _answer(self, name: str, request: Request) -> Response:
        file = next((each for each in self._folder.iterdir() if each.name == name), None)
        kind = _TYPES.get(PurePosixPath(name).suffix)
        if file is None or kind is None:
            return refusal(HTTPStatus.NOT_FOUND, "the page has no such file")
        data = file.read_bytes()
        tag = f'"{blake2b(data, digest_size=12).hexdigest()}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)
