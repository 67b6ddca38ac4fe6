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

from json_lines import read_lines

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

COMMANDS: dict[str, tuple[Rows, tuple[str, ...], str]] = {
    "rank": (SAMPLES, ("rank", "{file}", "--format", "jsonl"), ""),
    "rank mix": (DATA, ("rank", "mix", "{file}", "--out", "out.jsonl"), "out.jsonl"),
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
    ".tsv.zst": lambda rows: pa.compress(table(rows, "\t"), codec="zstd", asbytes=True),
    ".parquet.gz": lambda rows: gzip.compress(parquet(rows)),
}
"""Each kind of table and of packing once; tests/io has all."""
BAD: dict[str, bytes | None] = {
    "missing.jsonl": None,
    "cut.jsonl.gz": gzip.compress(lines(PAIRS), mtime=0)[:-12],
    "broken.jsonl": b'{"query": \n',
}


def result(assay, command: str, file: str) -> object:
    """Return what a command makes of a file: all that does not tell of time or of the file's name."""
    _, arguments, out = COMMANDS[command]
    ran = assay(*(each.format(file=file, other="other.jsonl") for each in arguments))
    assert ran.status in {0, 1}, ran.err
    if not out:
        return ran.status, ran.out
    rows = read_lines(out)
    for each in Path().glob(f"{out}*"):
        each.unlink()
    return ran.status, [{key: row[key] for key in row if key not in {"seconds", "at"}} for row in rows]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("other.jsonl").write_bytes(lines(PAIRS))
    Path("tasks.jsonl").write_bytes(lines(TASKS))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_form_of_the_same_rows_gives_the_same_result(assay, command: str):
    rows, found = COMMANDS[command][0], {}
    for ending, form in FORMS.items():
        Path(f"rows{ending}").write_bytes(form(rows))
        found[ending] = str(result(assay, command, f"rows{ending}"))
    Path("rows.jsonl").unlink()
    os.mkfifo("rows.jsonl")
    writer = Thread(target=Path("rows.jsonl").write_bytes, args=(lines(rows),), daemon=True)
    writer.start()
    found["pipe"] = str(result(assay, command, "rows.jsonl"))
    writer.join()
    assert [ending for ending, each in found.items() if each != found[".jsonl"]] == []


def test_an_unreadable_file_is_named_in_one_line(refuses, folder: Path):
    for name, content in BAD.items():
        if content is not None:
            Path(name).write_bytes(content)
    commands = [arguments for _, arguments, _ in COMMANDS.values()]
    commands += [("exec", "{file}"), ("exec", "tasks.jsonl", "{file}")]
    refuses(
        (tuple(each.format(file=name, other="other.jsonl") for each in arguments), said)
        for arguments in commands
        for name, said in zip(BAD, ("missing.jsonl", "cut.jsonl.gz", "broken.jsonl:1: not JSON"), strict=True)
    )
    assert not (folder / "out.jsonl").exists()


@pytest.mark.usefixtures("folder")
def test_pairs_that_cannot_be_judged_are_status_1(assay):
    Path("p.jsonl.gz").write_bytes(gzip.compress(lines([{"query_id": "q", "code_id": "c"}])))
    ran = assay("judge", "run", "p.jsonl.gz", "--judge", "signals", "--out", "out.jsonl")
    assert ran.status == 1
    assert ran.out.startswith("no pair could be judged: p.jsonl.gz:1: unknown query id 'q'")
    assert "written to" not in ran.err
