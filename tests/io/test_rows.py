"""One content in every form is the same rows; what is broken is told with its place, and bounded."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from assay.errors import InputError
from assay.io import rows
from assay.values import Problem

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [{"id": "a", "text": 'x, y\n"z"'}, {"id": "b", "text": "café"}]


def table(mark: str, end: str = "\n") -> bytes:
    held = io.StringIO()
    writer = csv.writer(held, delimiter=mark, lineterminator=end)
    writer.writerow(ROWS[0])
    writer.writerows(each.values() for each in ROWS)
    return held.getvalue().encode()


def parquet() -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{**each, "none": None} for each in ROWS]), held)
    return held.getvalue()


LINES = "".join(json.dumps(each) + "\n" for each in ROWS).encode()
FORMS = {
    "a.jsonl": LINES, "bom.jsonl": b"\xef\xbb\xbf" + LINES, "crlf.jsonl": LINES.replace(b"\n", b"\r\n"),
    "untold": LINES, "a.json": json.dumps(ROWS, indent=1).encode(), "a.csv": table(","),
    "semicolon.csv": table(";"), "bom.csv": b"\xef\xbb\xbf" + table(",", "\r\n"), "a.tsv": table("\t"),
    "header": table(","), "a.parquet": parquet(), "misnamed.jsonl": parquet(),
}  # fmt: skip
PACKERS = {"": lambda data: data, ".gz": gzip.compress, " misnamed": gzip.compress}
PACKERS[".zst"] = lambda data: pa.compress(data, codec="zstd", asbytes=True)


def read(path: Path) -> tuple[list[dict[str, Any]], list[Problem]]:
    problems: list[Problem] = []
    return [dict(fields) for _, fields in rows.objects(path, problems)], problems


def test_every_form_plain_or_packed_is_the_same_rows(tmp_path: Path):
    wrong = []
    for name, content in FORMS.items():
        for ending, pack in PACKERS.items():
            path = tmp_path / f"{name}{ending}"
            path.write_bytes(pack(content))
            if rows.sample(path, []) != ROWS or read(path) != (ROWS, []):
                wrong.append(path.name)
    assert wrong == []


def test_a_sample_is_the_first_rows_and_a_table_may_lack_last_cells(tmp_path: Path):
    for name, content in (("a.jsonl", b'{"id": 1}\n' * 30), ("a.csv", b"id,more\n" + b"1\n" * 30)):
        (tmp_path / name).write_bytes(content)
        found = rows.sample(tmp_path / name, [])
        assert (len(found), {str(each["id"]) for each in found}) == (20, {"1"})


def test_a_pipe_is_a_file_that_is_looked_at_twice(tmp_path: Path):
    for packed in ("", ".gz"):
        for name in ("a.jsonl", "a.json", "a.tsv", "a.parquet"):
            pipe = tmp_path / f"{packed}{name}"
            os.mkfifo(pipe)
            writer = Thread(target=pipe.write_bytes, args=(PACKERS[packed](FORMS[name]),))
            writer.start()
            form = rows.form_of(pipe)
            assert (form, read(pipe), read(pipe)) == (form, (ROWS, []), (ROWS, [])), pipe.name
            writer.join()


def test_standard_input_is_a_file_and_what_was_kept_of_it_goes(tmp_path: Path):
    script = (
        "from pathlib import Path\nfrom assay.io import rows\n"
        "for name in ('-', '/dev/stdin'):\n    print([row for row, _ in rows.objects(Path(name), [])])\n"
    )
    command, environment = [sys.executable, "-c", script], {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, input=gzip.compress(LINES), capture_output=True, check=True, env=environment)
    assert done.stdout == b"[1, 2]\n" * 2
    assert not list(tmp_path.iterdir())


BAD_ROWS = [
    ("a.jsonl", b"{\n", "a.jsonl:2: not JSON: Expecting property name"),
    ("a.jsonl", b"{} x\n", "a.jsonl:2: not JSON: Extra data"),
    ("a.jsonl", b"[1]\n", "a.jsonl:2: wanted a JSON object, found list '[1]'"),
    ("a.jsonl", b'{"id": "\xff"}\n', "a.jsonl:2: not UTF-8: byte 0xff at column 9"),
    ("a.jsonl", b'{"id": "\0"}\n', "a.jsonl:2: a NUL byte"),
    ("a.jsonl", b'{"id": ' + b"9" * 5000 + b"}\n", "a.jsonl:2: not JSON: Exceeds the limit"),
    ("a.jsonl", b"[" * 100_000 + b"\n", "a.jsonl:2: not JSON: maximum recursion"),
    ("a.csv", b'"open,cell\n', "a.csv:2: not a row of CSV: unexpected end of data"),
    ("a.csv", b"1,2,3\n", "a.csv:2: 3 cells, wanted 2"),
    ("a.csv", b"q\xff,1\n", "a.csv:2: not UTF-8: byte 0xff at column 2"),
]


def test_a_bad_row_is_told_with_its_place_and_the_rest_counts(tmp_path: Path):
    for name, bad, told in BAD_ROWS:
        first, rest = (LINES, LINES) if name == "a.jsonl" else (b"id,text\n", b"c,d\n")
        (tmp_path / name).write_bytes(first.split(b"\n")[0] + b"\n" + bad + rest)
        found, problems = read(tmp_path / name)
        assert [str(each).startswith(told) for each in problems] == [True], (told, problems)
        assert len(found) == (3 if name == "a.jsonl" else 1), told


def test_a_list_is_read_up_to_where_it_breaks(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(b'[{"id": 1},\n7,\n{"id": "\xff"},\n{"id": 2},\n{"id": 3')
    found, problems = read(tmp_path / "a.json")
    assert found == [{"id": 1}, {"id": 2}]
    assert [problem.where for problem in problems] == ["a.json:2", "a.json:3", "a.json:5"]
    assert problems[2].what.endswith("nothing after it is read")


def test_a_file_that_cannot_be_read_at_all_is_one_error(tmp_path: Path):
    for content, told in (
        (b"", "a.jsonl is empty"),
        (b"\xef\xbb\xbf \n\n", "a.jsonl is empty"),
        (LINES.decode().encode("utf-16"), "a.jsonl is UTF-16, wanted UTF-8: convert it"),
        (gzip.compress(LINES, mtime=0)[:-9], "a.jsonl is a damaged gzip file"),
        (PACKERS[".zst"](LINES)[:-5], "a.jsonl is a damaged zstd file: Truncated"),
        (b"PAR1" + b"x" * 100, "cannot read .*a.jsonl as parquet"),
    ):
        (tmp_path / "a.jsonl").write_bytes(content)
        with pytest.raises(InputError, match=told):
            read(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=r"no such file or folder: '.*none\.jsonl'"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="is a folder, wanted a file"):
        read(tmp_path)


def test_what_a_packed_file_holds_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "bomb.jsonl").write_bytes(gzip.compress(b"{}\n" * 1_100_000))
    (tmp_path / "line.jsonl").write_bytes(gzip.compress(b" " * 4_000_000))
    (tmp_path / "list.json").write_bytes(gzip.compress(b"[" + b" " * 4_000_000))
    (tmp_path / "a.parquet").write_bytes(gzip.compress(FORMS["a.parquet"] + b"\0" * 4_000_000))
    monkeypatch.setattr(rows, "MAX_UNPACKED_BYTES", 3_000_000)
    monkeypatch.setattr(rows, "MAX_LINE_BYTES", 2_000_000)
    monkeypatch.setattr(rows, "MAX_TEXT_BYTES", 2_000_000)
    bounds = {
        "bomb.jsonl": "more than",
        "line.jsonl": "a line",
        "list.json": "one text",
        "a.parquet": "has more than",
    }
    for name, told in bounds.items():
        with pytest.raises(InputError, match=told):
            read(tmp_path / name)


def test_objects_are_cells_and_cells_are_objects(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"query": "q", "n": 1}\n\n{"query": "r", "more": ["x"]}\n')
    wanted = [(1, ["query", "n", "more"]), (1, ["q", "1", ""]), (3, ["r", "", '["x"]'])]
    assert list(rows.cells(tmp_path / "a.jsonl", [])) == wanted
    (tmp_path / "a.csv").write_text("query,n\nq,1\n\nr,\n")
    assert list(rows.cells(tmp_path / "a.csv", [])) == [(1, ["query", "n"]), (2, ["q", "1"]), (4, ["r", ""])]
