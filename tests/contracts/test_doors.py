"""Command line, Python, HTTP and MCP answer alike, and how much is asked for never changes an order."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("mcp")

import anyio
from mcp import Client  # noqa: TID253
from starlette.testclient import TestClient  # noqa: TID253

import assay as package
from assay.operations.requests import UNBOUNDED
from assay.serve.answer_threads import AnswerThreads
from assay.serve.http.access import AccessRules
from assay.serve.http.app import app_of
from assay.serve.http.guard import Guard
from assay.serve.labels import Labeller
from assay.serve.mcp import server_of
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import Settings

QUESTIONS = (
    "where are requests refused",
    "how is an index brought up to date while somebody asks",
    "filter_mask",
    "Session.place",
    "cursor of the next page",
    "which lines of a hit are shown",
    "error: the index of is corrupt",
    '"offset_of" cursor',
    "kind:class answer",
    "spell corection of a queryy",
    "token of a person",
    "expression lines match /def \\w+_mask/",
)
LIMITS = (5, 10, 50, 200)
MODES = ("code", "docs", "all")
SAMPLED = [(number % 2 + 1, MODES[number % 3], question) for number, question in enumerate(QUESTIONS[3:])]
EVERY = list(product((1, 2), MODES, QUESTIONS))
PAGES = ("searching", "serving", "measuring", "ranking", "architecture")
Place = tuple[str, str, int, int, float]
Doors = Mapping[str, Callable[..., Any]]


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two folders of real code and documentation: several hundred units, of which some are cut."""
    source, docs = Path(package.__file__).parent, Path(__file__).parents[2] / "docs"
    base = tmp_path_factory.mktemp("doors")
    for name, rooms in (("one", ("search", "corpus")), ("two", ("serve", "operations"))):
        for room in rooms:
            shutil.copytree(source / room, base / name / room, ignore=shutil.ignore_patterns("*.pyc", "data"))
    for number, page in enumerate(PAGES):
        shutil.copy(docs / f"{page}.md", base / ("one", "two")[number % 2])
    return [base / "one", base / "two"]


@pytest.fixture(scope="module")
def servers(roots: list[Path]) -> Callable[[int], tuple[TestClient, Any]]:
    """Return what gives a client of HTTP and a server of MCP, of one root or of both, made once."""

    @cache
    def of(number: int) -> tuple[TestClient, Any]:
        session = Session({root: Settings() for root in roots[:number]}, waits=Waits(fresh_s=600.0))
        app = app_of(session, Labeller(session, "me"), {}, AnswerThreads(most=2))
        client = TestClient(Guard(app, AccessRules(1, frozenset({"h"}))), base_url="http://h:1")
        return client, server_of(session, structured=True, tools="all")

    return of


@pytest.fixture
def doors(assay: Callable, roots: list[Path], servers: Callable) -> Callable[[int], Doors]:
    """Return what asks an operation through each door, of one root or of both; every answer is a record as JSON."""

    def of(number: int) -> Doors:
        asked = roots[:number]
        client, server = servers(number)

        def command(operation: str, **parameters: Any) -> Any:
            ran = assay(*_line(operation, parameters, asked), "--format", "json")
            assert ran.status < 2, ran.err
            return json.loads(ran.out)

        def http(operation: str, **parameters: Any) -> Any:
            answer = client.get(f"/api/{operation}", params=_unbounded(operation, parameters))
            assert answer.status_code == 200, answer.json()["error"]
            return answer.json()

        def mcp(operation: str, **parameters: Any) -> Any:
            answer = anyio.run(_call, server, operation, _unbounded(operation, parameters))
            assert not answer.is_error, answer.content[0].text
            return answer.structured_content

        def python(operation: str, query: str, **parameters: Any) -> Any:
            assert operation == "search"
            return asdict(package.search(query, asked, **parameters))

        return {"command": command, "http": http, "mcp": mcp, "python": python}

    return of


def _unbounded(operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {**parameters} if operation == "status" else {"budget": UNBOUNDED, **parameters}


async def _call(server: Any, operation: str, arguments: Mapping[str, Any]) -> Any:
    async with Client(server) as client:
        return await client.call_tool(operation, arguments)


def _line(operation: str, parameters: Mapping[str, Any], roots: list[Path]) -> list[object]:
    values = dict(parameters)
    first = [values.pop("query")] if "query" in values else []
    named = [word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", value)]
    return [operation, *first, *roots, *named]


def places(answer: Any, roots: list[Path]) -> list[Place]:
    """Return the places and scores of an answer; HTTP calls a root by its name."""
    names = {each: root.name for root in roots for each in (str(root), root.name)}
    return [
        (names[hit["root"] or answer["root"]], hit["path"], hit["start_line"], hit["end_line"], hit["score"])
        for hit in answer["hits"]
    ]


def check(doors: Doors, roots: list[Path], mode: str, question: str, limits: Iterable[int] = LIMITS) -> None:
    shorter: list[Place] = []
    before = 0
    for limit in limits:
        asked = {"query": question, "mode": mode, "limit": limit}
        found = {name: places(door("search", **asked), roots) for name, door in doors.items()}
        first = found["http"]
        differing = {name: one for name, one in found.items() if one != first}
        assert not differing, (asked, first)
        assert first[:before] == shorter, (asked, "the shorter list does not begin the longer one")
        shorter, before = first, limit


@pytest.mark.parametrize(("number", "mode", "question"), SAMPLED)
def test_doors_list_the_same_places_and_longer_lists_begin_with_shorter_ones(doors, roots, number, mode, question):
    check(doors(number), roots, mode, question, limits=(10, 200))


@pytest.mark.nightly
@pytest.mark.parametrize(("number", "mode", "question"), EVERY)
def test_doors_list_the_same_places_for_every_question(doors, roots, number, mode, question):
    check(doors(number), roots, mode, question)


REFUSED = [
    *({"limit": 0}, {"limit": 1001}, {"mode": "cod"}, {"budget": 0}, {"budget": 1}, {"detail": "ful"}),
    *({"query": each} for each in ("mail lang:klingon", "mail kind:clas", "?!", "/(/", "x" * 20_001)),
    *({"cursor": each} for each in ("zz", "AAAAAAAAAAgcGGteS6z7T9AckUs")),
]


def test_every_door_refuses_a_value_in_the_same_words(doors):
    for bad in REFUSED:
        said = set()
        for door in doors(1).values():
            with pytest.raises((AssertionError, package.InputError)) as refused:
                door("search", **{"query": "mail", **bad})
            text = str(refused.value).partition("\n")[0]
            plain = re.sub(r"^AssertionError: |^assay: (--)?|; see assay search --help$", "", text)
            said.add(plain.replace("QUERY: ", "query: "))
        assert len(said) == 1, (bad, said)


def test_each_form_of_the_command_prints_the_same_hits(assay, roots: list[Path]):
    for question, limit in product(QUESTIONS[:2], (5, 50)):
        asked = ("search", question, roots[0], "--limit", limit, "--group")
        whole = json.loads(assay(*asked, "--format", "json").out)["hits"]
        rows = [json.loads(row) for row in assay(*asked, "--format", "jsonl").out.splitlines()]
        more = {"relevant": rows[0]["relevant"], "root": str(roots[0])}
        assert rows == [{**hit, **more} for hit in whole]
        for form in (("--detail", "names"), ("--format", "vimgrep")):
            code = assay(*asked, *form).out.partition("Documentation\n")[0]
            named = re.findall(r"^(\S+?):(\d+)[: ]", code, re.MULTILINE)
            assert [path for path, _ in named] == [f"{roots[0]}/{hit['path']}" for hit in whole]
            pairs = zip(named, whole, strict=True)
            assert all(hit["start_line"] <= int(line) <= hit["end_line"] for (_, line), hit in pairs)


def test_text_for_models_begins_the_list_for_programs(doors, roots: list[Path]):
    session = Session({roots[0]: Settings()}, waits=Waits(fresh_s=600.0))
    for question in QUESTIONS[:3]:
        asked = {"query": question, "limit": 10, "mode": "code"}
        text = anyio.run(_call, server_of(session), "search", asked).content[0].text
        whole = doors(1)["http"]("search", group=True, **asked)["hits"]
        read = re.findall(r"^(\S+):(\d+)-(\d+) ", text, re.MULTILINE)
        assert read == [(hit["path"], str(hit["start_line"]), str(hit["end_line"])) for hit in whole[: len(read)]]
        assert read


def test_the_other_operations_answer_alike(assay, doors, roots: list[Path]):
    root, file = roots[0], roots[0] / "search/path_filters.py"
    by = doors(1)
    http, mcp = by["http"], by["mcp"]

    def printed(*line: object) -> Any:
        return json.loads(assay(*line, "--format", "json").out)

    def agree(command: Any, operation: str, **parameters: Any) -> None:
        there = http(operation, **parameters)
        assert mcp(operation, **parameters) == {**there, "root": str(root)}
        assert {**command, "root": ""} == {**there, "root": ""}

    for limit in (5, 200):
        agree(printed("related", "filter_mask", root, "--limit", limit), "related", name="filter_mask", limit=limit)
    agree(printed("read", file, "--name", "globs"), "read", path="search/path_filters.py", name="globs")
    status = printed("status", root)
    passing = ("root", "checked_s", "updated_s")
    there = http("status")
    assert status.keys() == there.keys()
    assert {key: each for key, each in status.items() if key not in passing} == {
        key: each for key, each in there.items() if key not in (*passing, "location")
    } | {"location": status["location"]}
    for operation, more in (("outline", ()), ("pattern", ("re.compile($X)", "--lang", "python"))):
        rows = [json.loads(row) for row in assay(operation, *more, root, "--format", "jsonl").out.splitlines()]
        query = {"pattern": more[0], "lang": "python"} if more else {}
        answer = http(operation, limit=1000, **query)
        found = answer["files"] if operation == "outline" else answer["matches"]
        assert [{**row, "root": ""} for row in rows] == found
        assert mcp(operation, limit=1000, **query) == {**answer, "root": str(root)}
