"""The page and its files, as the package brings them; a browser asks each time whether it is still the same."""

from __future__ import annotations

from hashlib import blake2b
from http import HTTPStatus

from fastapi import FastAPI, Request, Response

from assay.serve.http.json_response import refusal
from assay.serve.page_files import page_file

INDEX = "index.html"


class PageRoutes:
    """The routes of the page; a name that is none of its files is not there, whatever it may lead to."""

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
        found = page_file("page", name)
        if found is None:
            return refusal(HTTPStatus.NOT_FOUND, "the page has no such file")
        kind, data = found
        tag = f'"{blake2b(data, digest_size=12).hexdigest()}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)
