from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("tomlkit")

from assay.errors import InputError
from assay.serve.agents import tomls
from assay.serve.agents.edit_journal import step
from assay.serve.agents.jsonc import BrokenText

KEYS = ["mcp_servers", "assay"]
ENTRY = {"command": '/a b/as"say', "args": ["mcp", "ü\\"]}
FILES = [
    "",
    "# only this",
    'model = "o"\n',
    'model = "o"\r\n\r\n[tui]\r\nx = 1',
    "\ufeffa = 1\n",
    '[mcp_servers.other]\ncommand = "x" # why\n\n[mcp_servers.other.env]\nA = "1"\n\n[profiles.a]\nb = 1\n',
    '[mcp_servers]\nother = { command = "x" }\n\n[z]\n',
    "[[a]]\nb = 1\n[[a]]\nb = 2\n# the end\n",
    '"mcp_servers".other.command = "x"\n',
]
INLINE = ['mcp_servers = { other = { command = "x" } }\n', "a = 1\nmcp_servers = {}\n# end\n"]
HELD = [
    '[mcp_servers.assay]\ncommand = "old"\n\n[mcp_servers.assay.env]\nA = "1"\n\n# of the next\n[z]\na = 1\n',
    '[mcp_servers]\nassay = { command = "old", args = [] }\nb.command = "x" # why\n',
    '[z]\na = 1\n\n[mcp_servers.assay]\ncommand = "old"\n',
]


@pytest.mark.parametrize("text", FILES)
def test_a_new_entry_goes_to_the_end(text: str):
    after = tomls.put(text, KEYS, ENTRY)
    assert after.startswith(text)
    assert tomllib.loads(after.removeprefix("\ufeff"))["mcp_servers"]["assay"] == ENTRY
    assert ("\r\n" in after) == ("\r\n" in text)
    assert tomls.load(tomls.drop(after, KEYS)).get("mcp_servers", {}) == tomls.load(text).get("mcp_servers", {})


@pytest.mark.parametrize("text", [*FILES, *INLINE, *HELD])
def test_an_entry_comes_and_goes(text: str):
    before = tomls.load(text)
    after = tomls.put(text, KEYS, ENTRY)
    assert tomls.load(after) == {**before, "mcp_servers": {**before.get("mcp_servers", {}), "assay": ENTRY}}
    assert step(text, after).undone(after) == text
    left = tomls.load(tomls.drop(after, KEYS))
    others = {name: of for name, of in before.get("mcp_servers", {}).items() if name != "assay"}
    assert {**left, "mcp_servers": left.get("mcp_servers", {})} == {**before, "mcp_servers": others}


@pytest.mark.parametrize("text", HELD)
def test_one_value_of_an_entry_is_changed(text: str):
    after = tomls.put(text, [*KEYS, "command"], "new")
    assert after == text.replace('"old"', '"new"')


@given(st.dictionaries(st.text(), st.text()), st.text())
def test_any_text_may_stand_in_an_entry(env: dict[str, str], command: str):
    entry = {"command": command, "args": list(env.values())}
    assert tomls.load(tomls.put("a = 1\n", KEYS, entry)) == {"a": 1, "mcp_servers": {"assay": entry}}


@pytest.mark.parametrize(("text", "line"), [("a = \n", 1), ("a = 1\n[b\n", 2), ("a = 1\na = 2\n", 2)])
def test_what_is_broken_is_named_with_its_line(text: str, line: int):
    with pytest.raises(BrokenText) as error:
        tomls.put(text, KEYS, ENTRY)
    assert error.value.line == line


@pytest.mark.parametrize("text", ["mcp_servers = 1\n", "[[mcp_servers]]\na = 1\n"])
def test_what_holds_no_entries_is_left_alone(text: str):
    with pytest.raises(InputError, match=r"'mcp_servers' is .*, wanted a table"):
        tomls.put(text, KEYS, ENTRY)
