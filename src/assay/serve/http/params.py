"""Read the requests of operations from HTTP, and declare their parameters and bodies in the schema.

A number is written as one and a truth value is `true` or `false`; what is unknown, or given twice where one is wanted,
is refused rather than passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from fastapi import HTTPException, Request
from pydantic import BeforeValidator, Field

from assay import parameters
from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import InputError, nearest
from assay.operations.requests import MAX_PATH_CHARS, file_option, path_option
from assay.parameters import Declared, R, described, parameters_of, read_request, schema_of
from assay.search.query_filters import MAX_QUERY_CHARS
from assay.values import KINDS

_JSON = "application/json"
_CHOICES = {
    "languages": sorted({*BY_EXTENSION, *BY_EXTENSION.values(), *BY_NAME.values()}),
    "kinds": list(filter(None, KINDS)),
}
"""The known values of parameters, for the schema."""
MAX_GRADE = 1


class InvalidParameter(InputError):
    """A parameter is unknown, missing or not valid."""


class PlaceOf(parameters.Request):
    """The place of a request."""

    path: str = path_option()


class FileOf(parameters.Request):
    """The file of a request."""

    path: str = file_option()


class Highlighting(parameters.Request):
    """Options of the page beside an operation."""

    styled: bool = parameters.flag(
        "--styled", "Add `styled`: each line as pairs of a class and a text, for highlighting."
    )


def query_parameters(*requests: type[parameters.Request]) -> dict[str, Any]:
    """Return the parameters of requests in the format of OpenAPI."""
    return {"parameters": [_parameter(each) for request in requests for each in parameters_of(request)]}


def _parameter(declared: Declared) -> dict[str, Any]:
    schema = schema_of(declared) | ({} if declared.default is MISSING else {"default": declared.default})
    if known := _CHOICES.get(declared.parameter.names):
        schema.get("items", schema)["enum"] = known
    text, required = described(declared), declared.is_required
    return {"name": declared.name, "in": "query", "description": text, "required": required, "schema": schema}


def body_of(request: type[parameters.Request]) -> dict[str, Any]:
    """Return the body of a request in the format of OpenAPI."""
    every = list(parameters_of(request))
    fields = {each.name: {**schema_of(each), "description": described(each)} for each in every}
    schema = {"type": "object", "properties": fields, "additionalProperties": False}
    schema["required"] = [each.name for each in every if each.is_required]
    return {"requestBody": {"required": True, "content": {_JSON: {"schema": schema}}}}


def from_query(kind: type[R], pairs: Sequence[tuple[str, str]]) -> R:
    """Return a request from query parameters; parameters of others are ignored."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    declared = {each.name: each for each in parameters_of(kind)}
    held = {key: texts[key] if each.is_repeatable else texts[key][0] for key, each in declared.items() if key in texts}
    return _request_of(kind, held)


def from_body(kind: type[R], body: Any) -> R:
    """Return a request from a body."""
    if not isinstance(body, dict):
        raise InvalidParameter("the body: expected a JSON object")
    return _request_of(kind, body)


def _request_of(kind: type[R], values: Mapping[str, Any]) -> R:
    try:
        return read_request(kind, values)
    except InputError as error:
        raise InvalidParameter(str(error)) from None


async def exact(request: Request) -> None:
    """Refuse unknown parameters, a repeated one that is not a list, and a body that is not JSON."""
    query, route = request.query_params, request.scope["route"]
    if request.method == "POST" and request.headers.get("Content-Type", "").partition(";")[0].strip() != _JSON:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body has to be {_JSON}")
    if not query or not route.include_in_schema:  # the page's own parameters are its own
        return
    known = {each["name"]: each["schema"] for each in (route.openapi_extra or {}).get("parameters", ())}
    for name in query:
        if name not in known:
            raise InvalidParameter(f"{name[:40]}: unknown parameter; {nearest(name, sorted(known))}")
    for name, times in Counter(name for name, _ in query.multi_items()).items():
        if times > 1 and known[name]["type"] != "array":
            raise InvalidParameter(f"{name}: given more than once")


def _number(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError(f"expected a number, not {value!r:.40}")  # noqa: TRY004  what pydantic takes
    return value


Grade = Annotated[int, Field(ge=0, le=MAX_GRADE), BeforeValidator(_number)]


@dataclass(frozen=True, slots=True)
class Label:
    """One judgment: whether an answer is right."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "use_attribute_docstrings": True}

    query: Annotated[str, Field(max_length=MAX_QUERY_CHARS, pattern=r"\w")]
    """The text of the question."""
    target: Annotated[str, Field(min_length=1, max_length=MAX_PATH_CHARS)]
    """The answer, as `path:start-end` or `path::Symbol.name`, relative to the root; lines are stored by their name."""
    grade: Grade | None
    """1 is right, 0 wrong; null removes the judgment."""
    symbol: Annotated[str, Field(max_length=MAX_PATH_CHARS)] = ""
    """The unit of these lines, such as Task.retry: if the file declares it, its name is stored."""
    path: Annotated[str, Field(max_length=MAX_PATH_CHARS)] = ""
    """The root, or any path in it; empty where one folder is served."""
