"""Every parameter of every request refuses the same bad value in the same words on every surface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import click
import pytest

from assay.cli.adapter import click_parameters
from assay.errors import InputError
from assay.operations.catalogue import OPERATIONS, Operation
from assay.operations.requests import Candidates, Search
from assay.parameters import Declared, Options, Request, argument, option, parameters_of, read_request, shared
from assay.settings import Settings


class Inner(Request):
    names: tuple[str, ...] = option("--names NAME", "Names. Repeatable.", entries=2)
    mode: str = option("--mode", "How.", choices=("a", "b"), default="a")


class Outer(Options):
    files: tuple[Path, ...] = argument("FILE...", required=True)
    inner: Inner = shared(Inner, hidden=("mode",))
    least: int = option("--least N", "At least.", least=1, most=5, default=2)
    share: float = option("--share P", "A fraction.", least=0, most=1, is_open=True, default=0.5)


def test_a_request_is_a_frozen_value_with_the_defaults_that_it_declares():
    made = Outer((Path("a"),))
    assert (made.inner, made.least, made.share) == (Inner(), 2, 0.5)
    with pytest.raises(AttributeError):
        made.least = 3  # type: ignore[misc]
    assert [each.name for each in parameters_of(Outer)] == ["files", "names", "least", "share"]


def bad_values(each: Declared) -> Iterator[Any]:
    one = each.parameter
    if each.type in {"int", "float"}:
        yield from ("many", "1e1", "\N{FULLWIDTH DIGIT ONE}") if each.type == "int" else ("many",)
        yield from (bound for bound in ((one.least or 0) - 1, (one.most or -2) + 1) if bound != -1 or one.least == 0)
    if one.choices:
        yield "no such choice"
    if one.longest:
        yield "x" * (one.longest + 1)
    if each.type == "bool":
        yield from ("maybe", "1")
    if one.entries:
        yield ["a"] * (one.entries + 1)
    if each.is_repeatable and each.is_required:
        yield []


def refusal(request: type[Request], values: dict[str, Any]) -> str:
    with pytest.raises(InputError) as refused:
        read_request(request, values)
    return str(refused.value)


def good_values(operation: Operation) -> dict[str, Any]:
    """Return a value for each parameter that needs one."""
    needed = [each for each in parameters_of(operation.request) if each.is_required]
    return {each.name: ["a"] if each.is_repeatable else 1 if each.type == "int" else "a" for each in needed}


SAID = (
    ({"query": "a", "limit": 1001}, "limit: expected 1 to 1,000, not 1,001"),
    ({"query": "a", "limit": "1e1"}, "limit: expected a whole number, not '1e1'"),
    ({"query": "a", "explain": "1"}, "explain: expected true or false, not '1'"),
    ({"query": "a", "mode": "cod"}, "mode: unknown value 'cod'; did you mean 'code'?"),
    ({"query": "a", "cursor": "x" * 101}, "cursor: has 101 characters, at most 100 are allowed"),
    ({"query": "a", "more": ["a"] * 10}, "more: 10 values were given, at most 9 are allowed"),
    ({"query": "a", "more": "a"}, "more: expected a list, not 'a'"),
    ({"query": "a", "more": [1]}, "more: expected a text, not '1'"),
    ({"queri": "a"}, "queri: unknown parameter; did you mean 'query'?"),
    ({}, "query: missing"),
)


def test_a_refusal_says_what_was_given_and_what_is_wanted():
    assert [refusal(Search, values) for values, _ in SAID] == [said for _, said in SAID]
    assert refusal(Candidates, {"programs": []}) == "programs: is empty"


CASES = [
    (operation, each, [value] if each.is_repeatable and not isinstance(value, list) else value)
    for operation in OPERATIONS
    for each in parameters_of(operation.request)
    for value in bad_values(each)
]


def test_every_parameter_refuses_a_bad_value_on_every_surface_in_the_same_words(tmp_path: Path):
    assert len(CASES) > 100
    pytest.importorskip("fastapi")
    pytest.importorskip("mcp")
    from mcp.client import Client
    from starlette.testclient import TestClient

    from assay.serve.answer_threads import AnswerThreads
    from assay.serve.http.app import app_of
    from assay.serve.labels import Labeller
    from assay.serve.mcp import server_of
    from assay.serve.session import Session

    session = Session({tmp_path: Settings()})
    http = TestClient(app_of(session, Labeller(session, "me"), {}, AnswerThreads(most=1)))
    differing = []
    for operation, each, value in CASES:
        values = {**good_values(operation), each.name: value}
        said = refusal(operation.request, values)
        if operation.name == "rank":
            answer = http.post("/api/rank", json=values)
        else:
            answer = http.get(f"/api/{operation.name}", params=values)
        if answer.status_code != 422 or answer.json()["error"] != said:
            differing.append((operation.name, each.name, said, answer.text))
    assert not differing

    async def ask() -> None:
        async with Client(server_of(session, tools="all,rank")) as client:
            listed = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
            for operation, each, value in CASES:
                if each.name in listed.get(operation.name, ()):
                    values = {**good_values(operation), each.name: value}
                    answer = await client.call_tool(operation.name, values)
                    if answer.content[0].text != refusal(operation.request, values):
                        differing.append((operation.name, each.name, answer.content[0].text))

    anyio.run(ask)
    assert not differing


def test_the_command_line_refuses_in_these_words_too():
    differing, context = [], click.Context(click.Command("assay"))
    for operation, each, value in CASES:
        if each.parameter.is_flag or not value:
            continue  # a flag has no value, and of what is missing click says so
        (parameter,) = (one for one in click_parameters(operation.request) if one.name == each.name)
        said = refusal(operation.request, {**good_values(operation), each.name: value})
        with pytest.raises(click.BadParameter) as refused:
            parameter.process_value(context, tuple(map(str, value)) if each.is_repeatable else str(value))
        if f"{each.name}: {refused.value.message}" != said:
            differing.append((operation.name, each.name, refused.value.message, said))
    assert not differing


def test_every_parameter_has_one_name_and_a_help():
    for operation in OPERATIONS:
        for each in parameters_of(operation.request):
            long = next((flag[2:] for flag in each.parameter.flags if flag.startswith("--")), each.name)
            assert re.sub("-", "_", long) == each.name, (operation.name, each.name)
            assert each.parameter.help, (operation.name, each.name)
