"""Settings files of agents, JSON with comments and TOML: an entry comes and goes, all else stays as it was typed."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tomlkit")

from assay.errors import InputError
from assay.serve.agents import jsonc, tomls
from assay.serve.agents.edits import step

ENTRY = {"command": '/a "b/assay', "args": ["mcp", "ü\\"]}
PATHS = (["servers", "assay"], ["assay"], ["amp.mcpServers", "assay"])
TOML_KEYS = ["mcp_servers", "assay"]
GAPS = st.lists(st.sampled_from([" ", "\t", "\n", "  ", "// {,\n", "// {\n", "/* ] */", "/*\n*/"]), max_size=3).map(
    "".join
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.sampled_from(["servers", "amp.mcpServers", "other", "", "//", 'a"b']) | st.text(max_size=3)


@st.composite
def written(draw: st.DrawFn, depth: int = 0) -> str:
    """Return an object as somebody might have typed it; keys are not repeated."""
    names = draw(st.lists(KEYS, max_size=3, unique=True))
    rows = []
    for name in names:
        nested = name in {"servers", "amp.mcpServers"} or (depth < 2 and draw(st.booleans()))
        value = draw(written(depth + 1)) if nested else draw(listed())
        rows.append(f"{draw(GAPS)}{json.dumps(name)}{draw(GAPS)}:{draw(GAPS)}{value}{draw(GAPS)}")
    trailing = "," if rows and draw(st.booleans()) else ""
    return f"{{{','.join(rows)}{trailing}{draw(GAPS)}}}"


@st.composite
def listed(draw: st.DrawFn) -> str:
    """Return a scalar, or a list of some."""
    values = [f"{draw(GAPS)}{json.dumps(value)}{draw(GAPS)}" for value in draw(st.lists(SCALARS, max_size=2))]
    trailing = "," if values and draw(st.booleans()) else ""
    return draw(st.just(f"[{','.join(values)}{trailing}{draw(GAPS)}]") | SCALARS.map(json.dumps))


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return the text of a file: a mark, line ends, and perhaps no end of the last line."""
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(GAPS) + draw(written()) + draw(GAPS)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def nested(value: dict[str, Any], keys: list[str], entry: object) -> dict[str, Any]:
    if len(keys) == 1:
        return {**value, keys[0]: entry}
    return {**value, keys[0]: nested(value.get(keys[0], {}), keys[1:], entry)}


@settings(max_examples=25)
@given(files(), st.sampled_from(PATHS))
def test_an_entry_comes_and_goes_and_nothing_else_does(text: str, keys: list[str]):
    value = jsonc.load(text)
    assert jsonc.load(json.dumps(value, indent=1) + "// not strict") == value
    after = jsonc.put(text, keys, ENTRY)
    assert jsonc.load(after) == nested(value, keys, ENTRY)
    assert jsonc.put(after, keys, ENTRY) == after, "a second time changes nothing"
    letters = iter(after)
    assert all(letter in letters for letter in text if not letter.isspace()), "what stood there stands there in order"
    assert ("\r" in after) >= ("\r" in text)
    assert step(text, after).undone(after) == text
    before = jsonc.load(jsonc.drop(after, keys))
    assert before in (value, nested(value, keys[:-1], {}) if len(keys) > 1 else value)
    for key in value:
        assert jsonc.load(jsonc.drop(text, [key])) == {name: of for name, of in value.items() if name != key}


@settings(max_examples=50)
@given(st.text(alphabet='{}[]",:/*\\\n 1ae', max_size=40))
def test_any_text_is_read_or_refused(text: str):
    try:
        jsonc.put(text, ["a", "assay"], ENTRY)
    except InputError:
        return
    assert jsonc.load(jsonc.put(text, ["a", "assay"], ENTRY))["a"]["assay"] == ENTRY


PUT = [
    ("", '{\n  "m": {\n    "a": 1\n  }\n}\n'),
    ("{}", '{\n  "m": {\n    "a": 1\n  }\n}'),
    ("// only this\n", '// only this\n{\n  "m": {\n    "a": 1\n  }\n}\n'),
    ('{"x":1}', '{"x":1, "m": {"a": 1}}'),
    ('{"m":{}}', '{"m":{"a": 1}}'),
    ('{\n\t"x": 1\n}\n', '{\n\t"x": 1,\n\t"m": {\n\t\t"a": 1\n\t}\n}\n'),
    ('{\n    "x": 1, // why\n}\n', '{\n    "x": 1, // why\n    "m": {\n        "a": 1\n    },\n}\n'),
    ('{\n  "x": 1 // why\n}\n', '{\n  "x": 1, // why\n  "m": {\n    "a": 1\n  }\n}\n'),
    ('{\r\n  "m": {\r\n  }\r\n}', '{\r\n  "m": {\r\n    "a": 1\r\n  }\r\n}'),
    ('{\n  "m": {\n    // "b": 2\n  }\n}', '{\n  "m": {\n    // "b": 2\n    "a": 1\n  }\n}'),
    ('{\n  "m": {"b": 2}\n}', '{\n  "m": {"b": 2, "a": 1}\n}'),
    ('{\n  "m": {"a": 0, "b": 2}\n}', '{\n  "m": {"a": 1, "b": 2}\n}'),
    ('\ufeff{\n "x": 1\n}', '\ufeff{\n "x": 1,\n "m": {\n  "a": 1\n }\n}'),
]
DROPPED = [
    ('{"a": 1}', "{}"),
    ('{\n  "a": 1,\n}', "{}"),
    ('{"x": 0, "a": 1, "y": 2}', '{"x": 0, "y": 2}'),
    ('{\n  "x": 0,\n  "a": 1\n}', '{\n  "x": 0\n}'),
    ('{\n  "x": 0, // why\n  "a": 1\n}', '{\n  "x": 0 // why\n}'),
    ('{\n  "x": 0,\n  "a": 1,\n}', '{\n  "x": 0,\n}'),
    ('{\n  "a": 1,\n  "y": 2\n}', '{\n  "y": 2\n}'),
    ('{ // mine\n"a": 1}', "{ // mine\n}"),
    ('{\n  // mine\n  "a": 1\n}', "{\n  // mine\n  \n}"),
]


def test_an_entry_is_written_in_the_style_of_its_file():
    assert [(before, jsonc.put(before, ["m", "a"], 1)) for before, _ in PUT] == PUT
    assert [(before, jsonc.drop(before, ["a"])) for before, _ in DROPPED] == DROPPED


BROKEN = [
    ('{\n"a": {}\n\n', 2, "found the end, expecting ',' delimiter"),
    ('{\n"a" 1}', 2, "found '1}', expecting ':' delimiter"),
    ('{\n\n"a": 1 "b": 2}', 3, "expecting ',' delimiter"),
    ("{\n'a': 1}", 2, "expecting property name enclosed in double quotes"),
    ('{"a": 1}\n}', 2, "found '}', extra data"),
    ("\n[1]", 2, "expected an object"),
    ('{"a": 1,, "b": 2}', 1, "expecting property name"),
    ('{"a": [,]}', 1, "expecting value"),
    ('{"a": "two\nlines"}', 1, "invalid control character"),
    ('{"a": "' + '\\"' * 1_000_000, 1, "unterminated string"),  # read once: again and again would take for ever
    ('{"a": tru}', 1, "found 'tru}', expecting value"),
    ("/* no end", 1, "expecting value"),
    ('{"a": ' + "[" * 5000, 1, "nested too deep"),
]


def test_broken_files_are_named_with_their_line():
    for text, line, said in BROKEN:
        with pytest.raises(jsonc.BrokenText) as error:
            jsonc.put(text, ["a"], 1)
        assert (error.value.line, said in str(error.value)) == (line, True), text[:80]
    for text, line in (("a = \n", 1), ("a = 1\n[b\n", 2), ("a = 1\na = 2\n", 2)):
        with pytest.raises(jsonc.BrokenText) as error:
            tomls.put(text, TOML_KEYS, ENTRY)
        assert error.value.line == line


def test_a_value_that_holds_no_entries_is_refused():
    for value in ("[]", "null", '"x"'):
        with pytest.raises(InputError, match=r"'servers' is .*, expected an object"):
            jsonc.put(f'{{"servers": {value}}}', ["servers", "assay"], ENTRY)
    for text in ("mcp_servers = 1\n", "[[mcp_servers]]\na = 1\n"):
        with pytest.raises(InputError, match=r"'mcp_servers' is .*, expected a table"):
            tomls.put(text, TOML_KEYS, ENTRY)


PLAIN = [
    "",
    "# only this",
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
]


@pytest.mark.parametrize("text", [*PLAIN, *INLINE, *HELD])
def test_an_entry_comes_and_goes_in_toml(text: str):
    before = tomls.load(text)
    after = tomls.put(text, TOML_KEYS, ENTRY)
    assert tomls.load(after) == {**before, "mcp_servers": {**before.get("mcp_servers", {}), "assay": ENTRY}}
    assert step(text, after).undone(after) == text
    left = tomls.load(tomls.drop(after, TOML_KEYS))
    others = {name: of for name, of in before.get("mcp_servers", {}).items() if name != "assay"}
    assert {**left, "mcp_servers": left.get("mcp_servers", {})} == {**before, "mcp_servers": others}
    if text in PLAIN:
        assert after.startswith(text)
        assert tomllib.loads(after.removeprefix("\ufeff"))["mcp_servers"]["assay"] == ENTRY
        assert ("\r\n" in after) == ("\r\n" in text)
    if text in HELD:
        assert tomls.put(text, [*TOML_KEYS, "command"], "new") == text.replace('"old"', '"new"')


@settings(max_examples=20)
@given(st.dictionaries(st.text(), st.text()), st.text())
def test_any_text_may_stand_in_an_entry(env: dict[str, str], command: str):
    entry = {"command": command, "args": list(env.values())}
    assert tomls.load(tomls.put("a = 1\n", TOML_KEYS, entry)) == {"a": 1, "mcp_servers": {"assay": entry}}
