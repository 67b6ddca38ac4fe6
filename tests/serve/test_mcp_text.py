"""What a model reads of the server's answers: text, in as few tokens as say where something is, and what it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client  # noqa: TID253

from assay.serve.mcp_server import server_of
from assay.serve.session import Session
from assay.settings import Settings


def asking(root: Path, talk: Callable[[Client], Any]) -> Any:
    async def run() -> Any:
        async with Client(server_of(Session({root: Settings()}))) as client:
            return await talk(client)

    return anyio.run(run)


def test_an_answer_is_text_alone_unless_more_was_asked_for(project: Path):
    async def ask(client: Client) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "search" in listed
        assert "rank" not in listed
        assert not any(tool.output_schema for tool in listed.values())
        assert '"title"' not in json.dumps([tool.input_schema for tool in listed.values()])
        called = await client.call_tool("search", {"query": "where is mail sent"})
        assert called.structured_content is None
        assert "    6 def send_mail(" in called.content[0].text
        status = (await client.call_tool("status", {})).content[0].text
        assert status.count("\n") <= 2

    asking(project, ask)


def test_an_agent_chooses_how_much_it_sees_of_each_hit(project: Path):
    async def ask(client: Client) -> None:
        async def text(query: str, detail: str) -> str:
            return (await client.call_tool("search", {"query": query, "detail": detail})).content[0].text

        names = await text("where is mail sent", "names")
        assert names.splitlines()[0].startswith("mail/send.py:6-")
        assert "def send_mail" not in names
        assert (
            len(names) < len(await text("where is mail sent", "lines")) <= len(await text("where is mail sent", "full"))
        )
        full = await text("where is mail sent", "full")
        assert "\n    6 def send_mail(" in full
        assert '\n    7     """Deliver' in full
        counted = await text('"send_mail"', "names")
        assert counted.splitlines()[0] == "1 match in 1 file"
        assert counted.endswith(" at 6")

    asking(project, ask)


def test_every_unit_that_holds_a_quoted_text_is_shown_with_its_lines(tmp_path: Path):
    for name in "abcdefgh":
        (tmp_path / f"{name}.py").write_text(
            f"def {name}(order):\n    pay(order)\n    total = 1\n    pay(order, total)\n    return pay(total)\n"
        )

    async def ask(client: Client) -> None:
        told = (await client.call_tool("search", {"query": '"pay("', "detail": "lines"})).content[0].text
        assert told.startswith("24 matches in 8 files")
        assert told.count("function ") == 8
        assert told.count("\n    2     pay(order)\n    4     pay(order, total)\n    5     return pay(total)") == 8

    asking(tmp_path, ask)


def test_a_unit_is_read_whole_by_line_and_by_name(project: Path):
    async def ask(client: Client) -> None:
        async def text(**arguments: Any) -> str:
            return (await client.call_tool("read", {"path": "mail/send.py", **arguments})).content[0].text

        whole = await text(line=9)
        assert whole.splitlines()[0].endswith("function send_mail")
        assert whole.splitlines()[1].startswith("    6 def send_mail(")
        assert await text(name="Send_Mail") == whole
        assert (await text(line=7, end_line=8)).count("\n") == 2
        file = (project / "mail" / "send.py").read_text().splitlines()
        shown = [line[6:] for line in (await text()).splitlines()[1:]]
        assert shown == file

    asking(project, ask)


def test_a_line_without_end_takes_no_more_than_the_budget(project: Path):
    (project / "mail" / "long.py").write_text(f"names = {['x' * 50] * 5000}\n")

    async def ask(client: Client) -> None:
        for tool, arguments in (("read", {"path": "mail/long.py"}), ("search", {"query": "names file:long.py"})):
            text = (await client.call_tool(tool, {**arguments, "budget": 500})).content[0].text
            assert len(text) < 2000, tool

    asking(project, ask)
