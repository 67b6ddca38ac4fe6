"""`assay bench agent` and `assay bench freshness`: transcripts that are replayed, changes that are seen or are not."""

from __future__ import annotations

import gzip
import json
import shlex
import sys
from pathlib import Path
from shutil import copytree

import pytest

from assay.bench.transcripts import step_of
from git_repositories import repository

FILES = {
    "mail/send.py": "def deliver(message):\n    return server.retry(message)\n",
    "mail/address.py": "def is_valid(mailbox):\n    return '@' in mailbox\n",
    "README.md": "# Postbox\n\nDelivers mail.\n",
}
MATRIX = "[systems.bm25]\nspec = 'bm25'\n"


def claude(folder: Path, session: str, *turns: tuple, **more: object) -> str:
    """Return a session as Claude Code writes it: a prompt is a text, a call a tool, its input and its result."""
    records = [{"type": "file-history-snapshot", "messageId": "m"}]
    for at, turn in enumerate(turns):
        about = {"sessionId": session, "cwd": str(folder), "timestamp": f"2099-01-01T00:00:{at:02}.000Z", **more}
        if isinstance(turn, str):
            records.append({"type": "user", "message": {"role": "user", "content": turn}, **about})
            continue
        tool, given, result, *last = turn
        call = {"type": "tool_use", "id": f"{session}{tool}{at}", "name": tool, "input": given}
        back = {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        records.append({"type": "assistant", "message": {"role": "assistant", "content": [call]}, **about})
        records.append({"type": "user", "message": {"role": "user", "content": [back]}, **about, **dict(*last)})
    return "".join(f"{json.dumps(each)}\n" for each in records)


def codex(folder: Path, *calls: tuple[str, object, str]) -> str:
    """Return a rollout as Codex writes it."""
    items = [("session_meta", {"id": "c", "cwd": str(folder), "git": {"commit_hash": "0" * 40}})]
    text = {"type": "input_text", "text": "check the host of an address"}
    items.append(("response_item", {"type": "message", "role": "user", "content": [text]}))
    for at, (name, given, output) in enumerate(calls):
        custom = isinstance(given, str)
        item = {"input": given} if custom else {"arguments": json.dumps(given)}
        kind = "custom_tool_call" if custom else "function_call"
        items.append(("response_item", {"type": kind, "name": name, "call_id": f"{at}", **item}))
        items.append(("response_item", {"type": f"{kind}_output", "call_id": f"{at}", "output": output}))
    items.append(("world_state", {}))
    lines = [{"timestamp": "2099-01-02T00:00:00Z", "type": kind, "payload": item} for kind, item in items]
    return "".join(f"{json.dumps(each)}\n" for each in lines)


@pytest.fixture
def transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a session of each agent, about a repository beside it, where commands run."""
    monkeypatch.chdir(tmp_path)
    root = repository(tmp_path / "postbox", FILES)
    folder = tmp_path / "transcripts"
    folder.mkdir()
    edit = {"file_path": f"{root}/mail/send.py", "old_string": "retry", "new_string": "again"}
    session = claude(
        root,
        "s",
        "deliver a message again when the server is busy",
        ("Grep", {"pattern": r"is_valid\(|mailbox", "path": str(root)}, f"{root}/mail/address.py:1:def is_valid"),
        ("mcp__assay__search", {"query": "where is mail retried"}, [{"type": "text", "text": "1. mail/send.py:1-2"}]),
        ("Write", {"file_path": f"{root}/new.py", "content": ""}, "ok", {"toolUseResult": {"type": "create"}}),
        ("Edit", edit, "updated"),
        ("Edit", {**edit, "file_path": "/etc/passwd"}, "updated"),
        "thanks",
        ("Bash", {"command": "rg -n Delivers . | head"}, "README.md:3:Delivers mail."),
        ("Edit", {**edit, "file_path": f"{root}/README.md"}, "updated"),
    )
    (folder / "s.jsonl").write_text(session)
    looked = ("Grep", {"pattern": "retry"}, "mail/send.py:2:    return server.retry(message)")
    (folder / "agent-1.jsonl").write_text(claude(root, "s", looked, isSidechain=True) + session)
    patch = "*** Begin Patch\n*** Update File: mail/address.py\n@@\n-x\n+y\n*** Add File: other.py\n*** End Patch\n"
    search = ("exec_command", {"cmd": "rg -n 'mailbox' mail", "workdir": str(root)}, "mail/address.py\n")
    with gzip.open(folder / "rollout-c.jsonl.gz", "wt") as file:
        file.write(codex(root, search, ("apply_patch", patch, "Success")))
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return folder


def test_questions_are_replayed_at_the_commit_before_the_session(assay, transcripts: Path):
    ran = assay("bench", "agent", transcripts, "--systems", "matrix.toml", "--format", "json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    told = found["transcripts"]
    assert told["sessions"] == {"claude-code": 1, "codex": 1}
    assert told["tools"] == {"Grep": [1, 2], "mcp__assay__search": [1, 1], "rg": [2, 2]}
    assert {name: mean[0] for name, mean in told["before_edits"]["codex"].items()} == {
        "calls": 1, "tokens": 6, "returned": 1, "opened": 0,
    }  # fmt: skip
    assert told["before_edits"]["claude-code"]["calls"][0] == 2.5  # four calls, one of them a subagent's, then one
    replayed = found["replay"]
    assert replayed["questions"] == {"prompt": 2, "search": 5}
    own, bm25 = replayed["systems"]["transcript"], replayed["systems"]["bm25"]
    assert own["found search"][0] == pytest.approx((3 / 4 + 1) / 2)
    assert bm25["found"][0] == pytest.approx((4 / 5 + 1 / 2) / 2)  # not what `is_valid` and the prompt of codex ask
    assert replayed["differences"][0]["a"] == "bm25"
    assert found["skipped"] == {"file-history-snapshot": 3, "session_meta": 1, "world_state": 1}
    (transcripts.parent / "postbox" / "mail" / "send.py").unlink()
    text = assay("bench", "agent", transcripts, "--repo", "postbox", "--systems", "matrix.toml").out
    assert "2 prompts and 5 searches of 2 sessions, replayed" in text
    assert "bm25 - transcript: found -0.250 [" in text


def test_clones_of_one_name_and_commit_are_sets_of_their_own(assay, transcripts: Path, tmp_path: Path):
    clone = tmp_path / "clones" / "postbox"
    copytree(tmp_path / "postbox", clone)
    text = (transcripts / "s.jsonl").read_text().replace(str(tmp_path / "postbox"), str(clone)).replace('"s', '"t')
    (transcripts / "t.jsonl").write_text(text)
    ran = assay("bench", "agent", transcripts, "--systems", "matrix.toml", "--format", "json")
    assert json.loads(ran.out)["replay"]["sessions"] == 3


def test_a_bad_transcript_is_a_message(assay, transcripts: Path, tmp_path: Path):
    whole = (transcripts / "s.jsonl").read_text()
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "cut.jsonl").write_text(whole[:-40])
    (bad / "odd.jsonl").write_bytes(b"\x00\xff\x1b[31m\n" * 9)
    long = claude(tmp_path, "l", ("Grep", {"pattern": "x"}, "a" * 300_000), ("Bash", {"command": "-A " * 900}, "y"))
    (bad / "long.jsonl").write_text(long)  # which a path that is looked for at every letter would take minutes to read
    (bad / "rows.jsonl").write_text('{"query": "a"}\n')
    other = claude(tmp_path / ("elsewhere" * 30), "e", "look", ("\x1b[2JGrep", {"pattern": "x"}, "y"))
    (bad / "elsewhere.jsonl").write_text(other + '{"type": ["odd"], "sessionId": 7}\n{"type": "user", "message": 3}\n')
    ran = assay("bench", "agent", bad, "--no-replay", "-v")
    assert ran.status == 0
    assert "\x1b" not in ran.out + ran.err
    assert "cut.jsonl:17: not JSON" in ran.err
    assert ran.err.count("not a transcript of Claude Code or Codex") == 2
    assert "2 sessions not replayed: their folder is not a git repository of this machine" in ran.out
    assert assay("bench", "agent", bad / "elsewhere.jsonl").status == 1
    assert assay("bench", "agent", bad / "rows.jsonl").status == 2


@pytest.mark.parametrize(
    ("command", "kind", "text", "paths"),
    [
        (r"grep -rn 'foo\|Bar\b' src | head", "search", "foo Bar", ()),
        ("cd /x && git grep -n -e needle", "search", "needle", ()),
        ('rg -A 3 -g "*.py" "class \\w+Set" src', "search", "class Set", ()),
        ("grep -n foo src/a.py", "search", "", ()),
        ("find . -name '*.py'", "search", "", ()),
        ("make test 2>&1 | grep FAIL", "other", "", ()),
        ("sed -n '1,20p' a.py", "read", "", ("a.py",)),
        ("sed -i s/a/b/ a.py", "edit", "", ("a.py",)),
        (["bash", "-lc", "apply_patch <<'X'\n*** Update File: b.py\nX"], "edit", "", ("b.py",)),
    ],
)
def test_a_shell_command_searches_reads_or_edits(command: object, kind: str, text: str, paths: tuple):
    step = step_of("shell", {"command": command})
    assert (step.kind, step.text, step.paths) == (kind, text, paths)


PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def freshness(assay):
    def run(*systems: str, **options: str):
        named = [word for each in systems for word in ("--system", each)]
        more = [word for key, value in options.items() for word in (f"--{key}", value)]
        ran = assay("bench", "freshness", *named, "--format", "json", *more)
        figures = json.loads(ran.out) if ran.status < 2 else []
        return ran, {each["change"]: each for each in figures}

    return run


def test_a_system_that_reads_the_files_is_fresh_and_one_of_old_files_is_stale(freshness):
    ran, figures = freshness("grep=cmd:grep -rnw {query} {corpus} --include=*.py")
    assert ran.status == 0, ran.err
    changes = "start,new file,edit,revert,rename,delete,branch switch,branch switched back,worktree start"
    assert [*figures] == changes.split(",")
    assert {(each["answers"], each["stale"]) for each in figures.values()} == {(1, 0)}
    # Its answers name every file that there was at the beginning.
    places = " ".join(f"src/{name}.py:1" for name in ("renamed", "deleted", "branch", "kept"))
    ran, figures = freshness(f"old=cmd:printf %s\\\\n {places}", limit="0.1")
    assert ran.status == 1
    assert {name for name, each in figures.items() if each["stale"]} == {"rename", "delete", "branch switched back"}
    assert figures["new file"]["seconds"] is None


def test_what_cannot_be_started_is_said_and_git_is_needed(freshness, monkeypatch):
    ran, _ = freshness("gone=py:nosuchmodule:make")
    assert (ran.status, "gone: no Python module 'nosuchmodule'" in ran.err) == (2, True)
    ends = "http:http://127.0.0.1:9/?q={query}"
    ran, _ = freshness(f"web={ends}", set=f"web.serve={PYTHON} -c pass")
    assert (ran.status, "ended with 0 before it accepted a connection" in ran.err) == (2, True)
    monkeypatch.setenv("PATH", "/nonexistent")
    ran, _ = freshness("grep=cmd:grep {query}")
    assert (ran.status, "git" in ran.err) == (2, True)
