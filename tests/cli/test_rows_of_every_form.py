"""Every command that reads rows reads every form with the same result, and refuses what is none in one line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Rows = list[dict[str, Any]]
CODES = ["def order(numbers):\n    return sorted(numbers)\n", 'def show(text):\n    print(text, "é")\n']
PAIRS: Rows = [
    {"query_id": f"q{n}", "query": f"how to do thing {n}", "code_id": f"c{n}", "code": code, "label": n}
    for n, code in enumerate(CODES)
]
SAMPLES: Rows = [{"task_id": "t", "id": f"s{n}", "code": code, "n": n + 1} for n, code in enumerate(CODES)]
TRUTH: Rows = [{"query": f"where is thing {n}", "result1": f"a.py:{n + 1}-9:2"} for n in range(2)]
TEXTS: Rows = [{"id": f"t{n}", "text": code} for n, code in enumerate(CODES)]
DATA: Rows = [
    {"task_id": f"t{n}", "program_id": "p", "prompt": "", "source": code, "fault": "Correct", "line": -1, "n": 2}
    for n, code in enumerate(CODES)
]
TASKS: Rows = [
    {"task_id": f"Demo/{n}", "prompt": "def f():\n", "entry_point": "f", "test": "", "canonical_solution": "    pass\n"}
    for n in range(2)
]
GENERATED: Rows = [{"task_id": "t", "tests": ["assert order([2, 1]) == [1, 2]"]}]

COMMANDS: dict[str, tuple[Rows, tuple[str, ...], str]] = {
    "rank": (SAMPLES, ("rank", "{file}", "--format", "jsonl"), ""),
    "rank mix": (DATA, ("rank", "mix", "{file}", "--out", "out.jsonl"), "out.jsonl"),
    "rank mutate": (TASKS, ("rank", "mutate", "{file}", "--out", "out.jsonl"), "out.jsonl"),
    "truth check": (TRUTH, ("truth", "check", "{file}"), ""),
    "truth audit": (TRUTH, ("truth", "audit", "{file}", "--format", "json"), ""),
    "truth convert": (TRUTH, ("truth", "convert", "{file}", "out.jsonl"), "out.jsonl"),
    "judge run": (PAIRS, ("judge", "run", "{file}", "--judge", "signals", "--out", "out.jsonl"), "out.jsonl"),
    "judge agreement": (PAIRS, ("judge", "agreement", "{file}", "{other}", "--format", "json"), ""),
    "candidates": (TEXTS, ("candidates", "{file}", "{file}", "--encoder", "hash", "--out", "out.jsonl"), "out.jsonl"),
}
"""Name to the rows it reads, its arguments, and the file in which its result stands, if not on standard output."""


def table(rows: Rows, mark: str) -> bytes:
    held = io.StringIO()
    writer = csv.DictWriter(held, list(rows[0]), delimiter=mark, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return held.getvalue().encode()


def lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows: Rows) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), held)
    return held.getvalue()


FORMS: dict[str, Callable[[Rows], bytes]] = {
    ".jsonl": lines,
    ".json": lambda rows: json.dumps(rows, indent=1).encode(),
    ".csv": lambda rows: b"\xef\xbb\xbf" + table(rows, ","),
    ".tsv": lambda rows: table(rows, "\t"),
    ".parquet": parquet,
    ".jsonl.gz": lambda rows: gzip.compress(b"\xef\xbb\xbf" + lines(rows)),
    ".csv.gz": lambda rows: gzip.compress(table(rows, ",")),
    ".parquet.gz": lambda rows: gzip.compress(parquet(rows)),
    ".tsv.zst": lambda rows: pa.compress(table(rows, "\t"), codec="zstd", asbytes=True),
}
BAD: dict[str, bytes | None] = {
    "empty.jsonl": b"",
    "missing.jsonl": None,
    "utf16.jsonl": lines(PAIRS).decode().encode("utf-16"),
    "garbage.jsonl": bytes(range(1, 256)),
    "cut.jsonl.gz": gzip.compress(lines(PAIRS), mtime=0)[:-12],
    "cut.parquet": parquet(PAIRS)[:-9],
    "broken.jsonl": b'{"query": \n',
}


@pytest.fixture
def result(assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], object]:
    """Return what a command makes of a file: all that does not tell of time or of the file's name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.jsonl").write_bytes(lines(PAIRS))

    def call(command: str, file: Path) -> object:
        _, arguments, out = COMMANDS[command]
        ran = assay(*(each.format(file=file, other="other.jsonl") for each in arguments))
        assert ran.status in {0, 1}, ran.err
        if not out:
            return ran.status, ran.out
        rows = [json.loads(line) for line in (tmp_path / out).read_text().splitlines()]
        for each in tmp_path.glob(f"{out}*"):
            each.unlink()
        return ran.status, [{key: row[key] for key in row if key not in {"seconds", "at"}} for row in rows]

    return call


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_content_gives_the_same_result(result, command: str, tmp_path: Path):
    rows, wanted = COMMANDS[command][0], None
    for ending, form in FORMS.items():
        file = tmp_path / f"rows{ending}"
        file.write_bytes(form(rows))
        found = result(command, Path(file.name))
        assert wanted in {None, str(found)}, ending
        wanted = str(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_read_as_a_file_is(result, command: str, tmp_path: Path):
    rows = COMMANDS[command][0]
    (tmp_path / "rows.jsonl").write_bytes(lines(rows))
    plain = result(command, Path("rows.jsonl"))
    (tmp_path / "rows.jsonl").unlink()
    os.mkfifo(tmp_path / "rows.jsonl")
    writer = Thread(target=(tmp_path / "rows.jsonl").write_bytes, args=(lines(rows),), daemon=True)
    writer.start()
    assert result(command, Path("rows.jsonl")) == plain
    writer.join()


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", [*COMMANDS, "exec", "exec SAMPLES"])
def test_what_cannot_be_read_is_one_line_with_the_file(
    assay, command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.jsonl").write_bytes(lines(PAIRS))
    (tmp_path / "tasks.jsonl").write_bytes(lines(TASKS))
    if (content := BAD[name]) is not None:
        (tmp_path / name).write_bytes(content)
    arguments = {"exec": ("exec", "{file}"), "exec SAMPLES": ("exec", "tasks.jsonl", "{file}")}.get(
        command
    ) or COMMANDS[command][1]
    ran = assay(*(each.format(file=name, other="other.jsonl") for each in arguments))
    assert ran.status == 2, (ran.out, ran.err)
    assert not ran.out
    assert len(ran.err.splitlines()) == 1, ran.err
    assert name in ran.err
    assert name != "broken.jsonl" or "broken.jsonl:1: not JSON" in ran.err
    assert not (tmp_path / "out.jsonl").exists()


def test_pairs_that_cannot_be_judged_are_no_success(assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(lines([{"query_id": "q", "code_id": "c"}])))
    ran = assay("judge", "run", "p.jsonl.gz", "--judge", "signals", "--out", "out.jsonl")
    assert ran.status == 1
    assert ran.out.startswith("no pair could be judged: p.jsonl.gz:1: unknown query id 'q'")
    assert "nobody" not in ran.out
    assert "written to" not in ran.err


def test_generated_tests_are_read_in_every_form(tmp_path: Path):
    from assay.rank.running.generated_tests import GeneratedTests
    from assay.types import Task

    for ending, form in FORMS.items():
        (tmp_path / f"g{ending}").write_bytes(form([{**GENERATED[0], "tests": json.dumps(GENERATED[0]["tests"])}]))
        if ".csv" in ending or ".tsv" in ending:
            ((call, count),) = GeneratedTests(tmp_path / f"g{ending}").tests(Task("t", "", "order"))
            assert (call.args, call.expected, count) == (([2, 1],), [1, 2], 1)
