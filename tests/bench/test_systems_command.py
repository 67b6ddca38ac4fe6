from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.command_system import CommandSystem
from assay.errors import AssayError, InputError
from assay.types import Query

Tool = Callable[..., str]


def ask(command: str, corpus: SystemCorpus, text: str = "send mail", k: int = 5, **options: Any) -> list[str]:
    searcher = CommandSystem(command).prepare(corpus, options)
    return [hit.chunk.id for hit in searcher.search([Query("1", text)], k)[0]]


def told(command: str, corpus: SystemCorpus, **options: Any) -> str:
    """Return what the searcher notes about an answer."""
    searcher: Any = CommandSystem(command).prepare(corpus, options)
    searcher.search([Query("1", "x")], 5)
    return searcher.note


def alive(pid: int) -> bool:
    try:
        return (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]) != "Z"
    except OSError:
        return False


def gone_soon(file: Path) -> bool:
    """Say whether the process that wrote its number there ends within a moment."""
    pid = int(file.read_text())
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_tool_that_prints_json(postbox: SystemCorpus, tool: Tool):
    lines = 'print(json.dumps({"results": [{"path": "mail/send.py", "start_line": 1, "end_line": 3}]}))'
    assert ask(tool(lines), postbox) == ["mail/send.py:1-3"]


def test_a_tool_that_prints_lines(postbox: SystemCorpus, tool: Tool):
    assert ask(tool('print("mail/send.py:2:x"); print("README.md:3")'), postbox, k=1) == ["mail/send.py:2-2"]


def test_paths_are_mapped_however_they_are_printed(postbox: SystemCorpus, tool: Tool):
    root = postbox.root
    paths = [f"{root}/README.md", "./README.md", "mail/../README.md", "postbox/README.md", f"file://{root}/README.md"]
    found = ask(tool(f"for path in {paths!r}: print(path + ':1')"), postbox)
    assert found == ["README.md:1-1"] * 5


def test_paths_of_the_working_folder_are_mapped(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = 'print(os.path.relpath(sys.argv[1]) + "/README.md:1")'
    assert ask(tool(lines, "{corpus}"), postbox, location=str(tmp_path / "elsewhere")) == ["README.md:1-1"]


def test_paths_outside_are_left_out_and_told(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    (tmp_path / "secret.py").write_text("x\n")
    (postbox.root / "link.py").symlink_to(tmp_path / "secret.py")
    lines = 'print("/etc/passwd:1"); print("../secret.py:1"); print("README.md:1"); print("nowhere.py:3")'
    assert ask(tool(lines), postbox) == ["README.md:1-1"]
    assert told(tool(lines), postbox).startswith("3 of 4 results name no file of the corpus: /etc/passwd, ../secret.py")
    assert told(tool('print("README.md:1")'), postbox) == ""


def test_lines_that_count_from_0_are_counted_from_1(postbox: SystemCorpus, tool: Tool):
    assert ask(tool('print("README.md:0-2")'), postbox, first_line=0) == ["README.md:1-3"]


EVIL = [
    "x; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "a | b > pwned && c",
    '" -rf "',
    "' ; touch pwned ; '",
    "{corpus} {k}",
    "two\nlines",
    "nul\0byte",
    "\udc80 lone",
    "ümlaut ✓",
]


@pytest.mark.parametrize("text", EVIL)
def test_a_query_is_one_argument_whatever_it_says(postbox: SystemCorpus, tool: Tool, tmp_path: Path, text: str):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(json.dumps(sys.argv[1:])); print("README.md:1")'
    ask(tool(lines, "--limit {k} --query={query} {query}"), postbox, text)
    plain = text.replace("\0", " ").replace("\udc80", "?")
    assert json.loads((tmp_path / "got").read_text()) == ["--limit", "5", f"--query={plain}", plain]
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("text", ["--output=pwned", "-rf", "- -", "--"])
def test_a_query_is_never_an_option(postbox: SystemCorpus, tool: Tool, text: str):
    lines = 'import argparse; p = argparse.ArgumentParser(); p.add_argument("query"); p.add_argument("--output")\n'
    lines += 'a = p.parse_args(); print("README.md:1" if a.output is None and a.query.strip() else "pwned:1")'
    assert ask(tool(lines), postbox, text) == ["README.md:1-1"]


def test_a_regex_holds_the_telling_words_escaped(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(sys.argv[1]); print("README.md:1")'
    ask(tool(lines, "{regex}"), postbox, "where is the (message) parse_args sent.*?")
    assert (tmp_path / "got").read_text() == "message|parse|args|sent"
    with pytest.raises(InputError, match="no word"):
        ask(tool(lines, "{regex}"), postbox, "?!")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "is empty"),
        ("{query} x", "name the program"),
        ("x 'y", "no command"),
        ("rg {regexp}", "did you mean 'regex'"),
    ],
)
def test_commands_that_cannot_be_are_refused(command: str, said: str):
    with pytest.raises(InputError, match=said):
        CommandSystem(command)


def test_braces_that_are_no_names_stay(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(json.dumps(sys.argv[1:])); print("README.md:1")'
    ask(tool(lines, "'[a-z]{2}' '{{query}}'"), postbox)
    assert json.loads((tmp_path / "got").read_text()) == ["[a-z]{2}", "{query}"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("pass", "nothing at all"),
        ('print("hello there")', "path:line"),
        ('sys.exit("no index: run index first\\nmore")', "no index: run index first"),
        ('print("README.md:1"); sys.exit(3)', "ended with 3: it said nothing"),
        ('print("warming up", file=sys.stderr)', "warming up"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_what_is_no_answer_is_an_error_with_its_reason(postbox: SystemCorpus, tool: Tool, lines: str, said: str):
    with pytest.raises(AssayError, match=said):
        ask(tool(lines), postbox)


def test_a_program_that_is_not_there_is_named(postbox: SystemCorpus):
    with pytest.raises(InputError, match="no program 'nosuchtool'"):
        ask("nosuchtool {query}", postbox)


def test_grep_finding_nothing_is_an_answer(postbox: SystemCorpus, tool: Tool):
    assert ask(tool("sys.exit(1)"), postbox) == []
    assert ask(tool("pass"), postbox, empty="nothing") == []


def test_a_tool_that_takes_too_long_is_stopped_with_its_children(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    child = tmp_path / "child"
    lines = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(child)!r}, "w").write(str(p.pid))
time.sleep(600)"""
    with pytest.raises(AssayError, match=r"did not end within 4 s"):
        ask(tool(lines), postbox, timeout_s=4)
    assert gone_soon(child)


def test_what_a_tool_leaves_running_is_stopped_and_not_waited_for(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    child = tmp_path / "child"
    lines = f"""
p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(child)!r}, "w").write(str(p.pid))
print("README.md:1")"""
    assert ask(tool(lines), postbox) == ["README.md:1-1"]
    assert gone_soon(child)


def test_waiting_is_not_charged_to_the_tool(postbox: SystemCorpus):
    searcher = CommandSystem("echo README.md:1").prepare(postbox, {})
    assert searcher.search([Query("1", "x")], 5)[0]
    taken = least(lambda: searcher.search([Query("1", "x")], 5))
    python = least(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))
    assert taken < 2 * python + 0.001, "an interpreter starts sooner"


def least(work: Callable[[], object]) -> float:
    """Return the least time that some work took: whatever else runs, some of these are alone."""
    taken = []
    for _ in range(9):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def test_a_flood_is_stopped(postbox: SystemCorpus, tool: Tool):
    with pytest.raises(AssayError, match="more than 100,000 bytes"):
        ask(tool('while True: print("README.md:1" * 100)'), postbox, output_bytes=100_000)


def test_a_flood_of_complaints_stops_nothing(postbox: SystemCorpus, tool: Tool):
    assert ask(tool('sys.stderr.write("x" * 3_000_000); print("README.md:1")'), postbox) == ["README.md:1-1"]


def test_the_environment_is_small_and_named(postbox: SystemCorpus, tool: Tool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_KEY", "s")
    monkeypatch.setenv("TOOL_MODEL", "m")
    lines = """
assert "SECRET_KEY" not in os.environ and "PYTHONPATH" not in os.environ
assert os.environ["TOOL_MODEL"] == "m" and os.environ["TOOL_MODE"] == "fast"
print("README.md:1")"""
    assert ask(tool(lines), postbox, environment=["TOOL_MODEL", "TOOL_MODE=fast", "NOT_SET"]) == ["README.md:1-1"]


def test_a_tool_runs_in_a_folder_of_its_own_unless_told(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    lines = f'open({str(tmp_path / "got")!r}, "w").write(os.getcwd()); print("README.md:1")'
    ask(tool(lines), postbox)
    assert not (tmp_path / "got").read_text().startswith(str(postbox.root))
    ask(tool(lines), postbox, location=str(tmp_path / "scratch"))
    assert Path((tmp_path / "got").read_text()).parent == tmp_path / "scratch"
    ask(tool(lines), postbox, cwd="corpus")
    assert (tmp_path / "got").read_text() == str(postbox.root)
    with pytest.raises(InputError, match="known: scratch, corpus"):
        ask(tool(lines), postbox, cwd="home")


def test_an_index_is_made_once_before_the_first_query(postbox: SystemCorpus, tool: Tool, tmp_path: Path):
    index = tool(
        'open(sys.argv[1] + "/index", "a").write("i" * 10); print(os.listdir(sys.argv[2]))', "{location} {corpus}"
    )
    search = tool('assert len(open(sys.argv[1] + "/index").read()) == 10; print("README.md:1")', "{location} {query}")
    system = CommandSystem(search)
    searcher = system.prepare(postbox, {"index": index, "location": str(tmp_path / "ix")})
    for _ in range(2):
        assert searcher.search([Query("1", "x")], 3)[0]
    assert system.index_bytes() == 10
    with pytest.raises(AssayError, match="no disk"):
        CommandSystem(search).prepare(postbox, {"index": tool('sys.exit("no disk")', "")})


def test_what_is_listening_on_standard_input_gets_none(postbox: SystemCorpus, tool: Tool):
    assert ask(tool('assert sys.stdin.read() == ""; print("README.md:1")'), postbox) == ["README.md:1-1"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tiemout_s": 3}, "did you mean 'timeout_s'"),
        ({"merge": "x"}, "wanted a whole number"),
        ({"order": "size"}, "known"),
    ],
)
def test_options_that_cannot_be_are_refused(postbox: SystemCorpus, tool: Tool, options: dict[str, Any], said: str):
    with pytest.raises(InputError, match=said):
        ask(tool('print("README.md:1")'), postbox, **options)


def test_ripgrep_with_merged_matches(postbox: SystemCorpus):
    if not any((Path(folder) / "rg").exists() for folder in os.environ["PATH"].split(":")):
        pytest.skip("ripgrep is not installed")
    found = ask("rg -n -i -w -e {regex} {corpus}", postbox, "server message", merge=3, order="count")
    assert found == ["mail/send.py:1-3"]
