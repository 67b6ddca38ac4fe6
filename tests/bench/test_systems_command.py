"""Tools that are run by their command line, once a query, and how what they print is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.bench.system import SystemCorpus
from assay.bench.systems.tool_answers import Keys, PrintedResult, ordered, parse, reach
from assay.bench.systems.tool_systems import CommandSystem
from assay.errors import AssayError, InputError
from assay.values import Query
from waiting import is_gone, until

Tool = Callable[..., str]
ONE = 'print("README.md:1")'
FOUND = ["README.md:1-1"]


def answered(command: str, corpus: SystemCorpus, text: str = "x", k: int = 5, **options: Any) -> tuple[list[str], str]:
    """Return what a tool found, and what is noted about its answer."""
    searcher: Any = CommandSystem(command).prepare(corpus, options)
    return [hit.chunk.id for hit in searcher.search([Query("1", text)], k)[0]], searcher.note


def ask(command: str, corpus: SystemCorpus, text: str = "send mail", k: int = 5, **options: Any) -> list[str]:
    return answered(command, corpus, text, k, **options)[0]


def test_tools_print_json_or_lines_with_paths_of_any_kind(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = 'print(json.dumps({"results": [{"path": "mail/send.py", "start_line": 1, "end_line": 3}]}))'
    assert ask(tool(lines), postbox) == ["mail/send.py:1-3"]
    assert ask(tool('print("mail/send.py:2:x"); print("README.md:3")'), postbox, k=1) == ["mail/send.py:2-2"]
    assert ask(tool('print("README.md:0-2")'), postbox, first_line=0) == ["README.md:1-3"]
    rows = '[{"path": "README.md", "line": 1, "score": NaN}, {"path": "README.md", "line": 3, "score": 2}]'
    assert ask(tool(f"print({rows!r})"), postbox, order="score") == ["README.md:3-3", "README.md:1-1"]
    root = postbox.root
    paths = [f"{root}/README.md", "./README.md", "mail/../README.md", "postbox/README.md", f"file://{root}/README.md"]
    assert ask(tool(f"for path in {paths!r}: print(path + ':1')"), postbox) == FOUND * 5
    lines = 'print(os.path.relpath(sys.argv[1]) + "/README.md:1")'
    assert ask(tool(lines, "{corpus}"), postbox, location=str(tmp_path / "elsewhere")) == FOUND


def test_what_names_no_place_of_the_corpus_is_left_out_and_told(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    (tmp_path / "secret.py").write_text("x\n")
    no_file, no_line = "1 of 2 results name no file of the corpus: ", "1 of 2 results name no line: "
    for printed, wrong in (
        ("/etc/passwd:1", f"{no_file}/etc/passwd"),
        ("../secret.py:1", f"{no_file}../secret.py"),
        ("nowhere.py:3", f"{no_file}nowhere.py"),
        ('[{"path": "a\\u0000b", "line": 1}', no_file),
        ('[{"path": "\\ud800", "line": 1}', no_file),
        ('[{"path": "' + "x" * 100_000 + '", "line": 1}', no_file),
        ('[{"path": "README.md", "line": -3}', no_line),
        ('[{"path": "README.md", "line": 1' + "0" * 30 + "}", no_line),
        ('[{"path": "README.md", "line": 1, "end_line": 1' + "0" * 30 + "}", no_line),
    ):
        good = ', {"path": "README.md", "line": 1}]' if printed.startswith("[") else "\nREADME.md:1"
        found, note = answered(f"{tool(f'print({printed + good!r})')}", postbox)
        assert found == FOUND
        assert note.startswith(wrong)
        assert len(note) < 500
    assert answered(tool(ONE), postbox) == (FOUND, "")
    assert ask(tool(f"print('mail/send.py:' + '9' * 5000); {ONE}"), postbox) == FOUND


def test_a_query_is_one_argument_and_never_an_option(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(json.dumps(sys.argv[1:])); {ONE}'
    command = tool(lines, "--limit {k} --query={query} {query} '[a-z]{2}' '{{query}}'")
    shell = ("x; touch pwned", "$(touch pwned)", "`touch pwned`", "a | b > pwned && c", "' ; touch pwned ; '")
    for text in (*shell, '" -rf "', "{corpus} {k}", "two\nlines", "nul\0byte", "\udc80 lone", "ümlaut ✓"):
        ask(command, postbox, text)
        plain = text.replace("\0", " ").replace("\udc80", "?")
        told = ["--limit", "5", f"--query={plain}", plain, "[a-z]{2}", "{query}"]
        assert json.loads((tmp_path / "got").read_text()) == told
    assert not list(tmp_path.rglob("pwned"))
    lines = 'import argparse; p = argparse.ArgumentParser(); p.add_argument("query"); p.add_argument("--output")\n'
    lines += 'a = p.parse_args(); print("README.md:1" if a.output is None and a.query.strip() else "pwned:1")'
    command = tool(lines)
    for text in ("--output=pwned", "-rf", "- -", "--"):
        assert ask(command, postbox, text) == FOUND


def test_a_regex_holds_the_telling_words_escaped(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(sys.argv[1]); {ONE}'
    ask(tool(lines, "{regex}"), postbox, "where is the (message) parse_args sent.*?")
    assert (tmp_path / "got").read_text() == "message|parse|args|sent"
    with pytest.raises(InputError, match="no word"):
        ask(tool(lines, "{regex}"), postbox, "?!")


def test_commands_and_options_that_cannot_be_are_refused(postbox: SystemCorpus, tool: Tool):
    for command, options, said in (
        ("", {}, "is empty"),
        ("{query} x", {}, "name the program"),
        ("x 'y", {}, "invalid command"),
        ("rg {regexp}", {}, "did you mean 'regex'"),
        ("nosuchtool {query}", {}, "no program 'nosuchtool'"),
        (tool(ONE), {"tiemout_s": 3}, "did you mean 'timeout_s'"),
        (tool(ONE), {"merge": "x"}, "wanted a whole number"),
        (tool(ONE), {"order": "size"}, "known"),
        (tool(ONE), {"cwd": "home"}, "known: scratch, corpus"),
    ):
        with pytest.raises(InputError, match=said):
            ask(command, postbox, **options)


def test_what_is_no_answer_is_an_error_with_its_reason(postbox: SystemCorpus, tool: Tool):
    for lines, said in (
        ("pass", "nothing at all"),
        ('print("hello there")', "path:line"),
        ('sys.exit("no index: run index first\\nmore")', "no index: run index first"),
        (f"{ONE}; sys.exit(3)", "ended with 3: it said nothing"),
        ('print("warming up", file=sys.stderr)', "warming up"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ):
        with pytest.raises(AssayError, match=said):
            ask(tool(lines), postbox)
    assert ask(tool("sys.exit(1)"), postbox) == []  # as grep finds nothing
    assert ask(tool("pass"), postbox, empty="nothing") == []


LEAVES_A_CHILD = """
p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({child!r}, "w").write(str(p.pid))
"""


def test_a_slow_tool_or_a_flood_is_stopped_with_all_that_was_started(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    late, left = tmp_path / "late", tmp_path / "left"
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" + LEAVES_A_CHILD.format(child=str(late))
    with pytest.raises(AssayError, match=r"did not end within 3 s"):
        ask(tool(f"{stubborn}time.sleep(600)"), postbox, timeout_s=3)
    assert ask(tool(LEAVES_A_CHILD.format(child=str(left)) + ONE), postbox) == FOUND
    for child in (late, left):
        pid = int(child.read_text())
        assert until(lambda pid=pid: is_gone(pid), "the child of a tool ended")
    with pytest.raises(AssayError, match="more than 100,000 bytes"):
        ask(tool('while True: print("README.md:1" * 100)'), postbox, output_bytes=100_000)
    assert ask(tool(f'sys.stderr.write("x" * 3_000_000); {ONE}'), postbox) == FOUND


def test_environment_and_standard_input_hold_only_what_is_named(
    postbox: SystemCorpus, tool: Tool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SECRET_KEY", "s")
    monkeypatch.setenv("TOOL_MODEL", "m")
    lines = f"""
assert "SECRET_KEY" not in os.environ and "PYTHONPATH" not in os.environ
assert os.environ["TOOL_MODEL"] == "m" and os.environ["TOOL_MODE"] == "fast"
assert sys.stdin.read() == ""
{ONE}"""
    assert ask(tool(lines), postbox, environment=["TOOL_MODEL", "TOOL_MODE=fast", "NOT_SET"]) == FOUND


def test_a_tool_runs_in_a_folder_of_its_own_unless_told(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    command = tool(f'open({str(tmp_path / "got")!r}, "w").write(os.getcwd()); {ONE}')
    ask(command, postbox)
    assert not (tmp_path / "got").read_text().startswith(str(postbox.root))
    ask(command, postbox, location=str(tmp_path / "scratch"))
    assert Path((tmp_path / "got").read_text()).parent == tmp_path / "scratch"
    ask(command, postbox, cwd="corpus")
    assert (tmp_path / "got").read_text() == str(postbox.root)


def test_an_index_is_made_once_before_the_first_query(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    make = 'open(sys.argv[1] + "/index", "a").write("i" * 10); print(os.listdir(sys.argv[2]))'
    search = tool(f'assert len(open(sys.argv[1] + "/index").read()) == 10; {ONE}', "{location} {query}")
    system = CommandSystem(search)
    options = {"index": tool(make, "{location} {corpus}"), "location": str(tmp_path / "ix")}
    searcher = system.prepare(postbox, options)
    for _ in range(2):
        assert searcher.search([Query("1", "x")], 3)[0]
    assert system.index_bytes() == 10
    with pytest.raises(AssayError, match="no disk"):
        CommandSystem(search).prepare(postbox, {"index": tool('sys.exit("no disk")', "")})


def test_lines_of_a_grep_and_of_a_search():
    text = "src/a.py:12:    return x\nsrc/b.py:3-9\n--\n1. src/c.py:4-5 (0.8)\n- d.py:7:2: found\n"
    assert parse(text) == [
        PrintedResult("src/a.py", 12, 12),
        PrintedResult("src/b.py", 3, 9),
        PrintedResult("src/c.py", 4, 5),
        PrintedResult("d.py", 7, 7),
    ]


def test_json_is_read_by_the_usual_keys_or_by_named_ones():
    flat = {"query": "x", "results": [{"file_path": "a.py", "start_line": 3, "end_line": 5, "score": 0.5}]}
    assert parse(json.dumps(flat)) == parse(json.dumps(flat["results"])) == [PrintedResult("a.py", 3, 5, 0.5)]
    nested = {"data": {"hits": [{"score": "2", "chunk": {"path": "b.py", "startLine": 1, "endLine": 4}}]}}
    assert parse(json.dumps(nested)) == [PrintedResult("b.py", 1, 4, 2.0)]
    assert parse('{"file": "c.py", "line": 7}') == [PrintedResult("c.py", 7, 7)]
    text = '{"path": "a.py", "line": 1}\n{"path": "b.py", "line": 2}\n'
    assert parse(text) == parse(text, "jsonl") == [PrintedResult("a.py", 1, 1), PrintedResult("b.py", 2, 2)]
    for empty in ('{"results": []}', "[]", '{"query": "x", "answer": {"hits": []}}'):
        assert parse(empty) == []
    text = json.dumps({"groups": [{"hits": [{"at": {"uri": "a.py"}, "lines": [3, 8]}]}, {"hits": []}]})
    where = Keys("groups.*.hits", "at.uri", "lines.0", "lines.1")
    assert parse(text, "json", where) == [PrintedResult("a.py", 3, 8)]
    ripgrep = '{"type":"begin"}\n{"type":"match","data":{"path":{"text":"a.py"},"line_number":3}}\n'
    where = Keys(path="data.path.text", start="data.line_number")
    assert parse(ripgrep, "jsonl", where) == [PrintedResult("a.py", 3, 3)]
    no_lines = json.dumps({"results": [{"doc": "a.txt", "score": 1}]})
    assert parse(no_lines, "json", Keys(path="doc")) == [PrintedResult("a.txt", 0, 0, 1.0)]
    assert parse('{"hits": []}', "json", Keys("hits")) == []
    assert parse('{"groups": []}', "json", Keys("groups.*.hits")) == []


def test_garbage_is_an_error_and_not_nothing():
    for text, said in (
        ("Segmentation fault", "no line of the output"),
        ('{"error": "no index"}', "no index"),
        ('{"status": "ok"}', "names a file"),
        ('{"results": [{"name": "f"}]}', "names a file"),
        ('{"results": [{"doc": "a.txt", "score": 1}]}', "names a file"),
        ('{"results": [', "not JSON"),
        ('[{"path": "a.py"}]', "names a file"),
        ("[" * 100_000, "not JSON"),
    ):
        with pytest.raises(AssayError, match=said):
            parse(text)
    with pytest.raises(AssayError, match="no 'hits'"):
        parse('{"results": []}', "json", Keys("hits"))
    with pytest.raises(InputError, match="did you mean 'json'"):
        parse("x", "jsn")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda s: st.lists(s) | st.dictionaries(st.text(max_size=5), s),
    max_leaves=12,
)


@given(ANY, st.text(max_size=200))
@settings(max_examples=30)
def test_nothing_that_is_printed_breaks_the_reader(value: object, text: str):
    with suppress(AssayError):
        assert all(isinstance(one, PrintedResult) for one in parse(json.dumps(value), "json"))
    with suppress(AssayError):
        assert all(one.path and one.end >= 0 for one in parse(text))


def test_reach_takes_keys_positions_and_all():
    value = {"a": [{"b": 1}, {"b": 2}, {}], "c": {"x": 3, "y": 4}}
    assert (list(reach(value, "a.*.b")), list(reach(value, "a.1.b"))) == ([1, 2], [2])
    assert (list(reach(value, "c.*")), list(reach(value, "a.7"))) == ([3, 4], [])


def test_near_matches_become_one_range_and_the_fullest_comes_first():
    places = (("b.py", 40), ("a.py", 1), ("a.py", 9), ("a.py", 12))
    found = [PrintedResult(path, line, line) for path, line in places]
    assert ordered(found, 5, "count") == [
        PrintedResult("a.py", 9, 12, 2.0),
        PrintedResult("b.py", 40, 40, 1.0),
        PrintedResult("a.py", 1, 1, 1.0),
    ]
    assert [one.start for one in ordered(found, 0, "printed")] == [40, 1, 9, 12]
    assert [(one.path, one.start) for one in ordered(found, 10, "printed")] == [("b.py", 40), ("a.py", 1)]
    found = [PrintedResult("a.py", 1, 2, 0.1), PrintedResult("b.py", 1, 2, 0.9)]
    assert [one.path for one in ordered(found, 0, "score")] == ["b.py", "a.py"]
    assert len(ordered([PrintedResult("a.py", 1, 1)] * 2, 0, "printed")) == 2
