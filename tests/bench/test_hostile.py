"""What strangers hand over: none of it leaves its folder, stays behind, or costs more than its own place in a table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import plugins
from assay.bench import answer_runs, matrix
from assay.bench.system_corpus import SystemCorpus, corpus_of, lines_of
from assay.bench.systems.saved_system import SavedSystem
from assay.errors import InputError, StorageError
from assay.io import leash
from assay.measure.line_spans import Span
from assay.truth import truth_formats
from assay.truth.ground_truth import Truth
from assay.types import Chunk, Query

Tool = Callable[..., str]
QUERY = '{"type": "query", "id": "1", "text": "send"}\n'


def answered(spec: str, corpus: SystemCorpus, **options: Any) -> tuple[list[str], str]:
    """Return what a system found, and what it noted."""
    searcher: Any = plugins.make("system", spec).prepare(corpus, options)
    return [hit.chunk.id for hit in searcher.search([Query("1", "send")], 5)[0]], searcher.note


@pytest.mark.parametrize("name", ["../../up", "/etc/x", "a/b", "..", "x" * 300, "\0", "\udcff"])
def test_the_name_of_a_ground_truth_leads_nowhere(project: Path, tmp_path: Path, name: str):
    cache = tmp_path / "deep" / "er" / "cache"
    for truth in (
        Truth(name, (), (), hidden=("mail/send.py:1-1",)),
        Truth(name, (), (), (Chunk("d", "x", "", "d"),)),
    ):
        assert corpus_of(truth, project, cache).root.parent == cache


def test_hidden_files_are_emptied_and_odd_names_too(tmp_path: Path):
    root = tmp_path / "odd"
    root.mkdir()
    (root / "whole.py").write_text("a\nb\nc")
    (root / os.fsdecode(b"n\xff.py")).write_text("question\nb")
    truth = Truth("t", (), (), hidden=("whole.py", "n\\xff.py:1-1"))
    corpus = corpus_of(truth, root, tmp_path / "cache")
    assert lines_of(corpus, "whole.py") == ["", "", ""]
    assert lines_of(corpus, "n\\xff.py") == ["", "b"]


def test_lines_are_read_below_the_corpus_alone(postbox: SystemCorpus, tmp_path: Path):
    (tmp_path / "secret").write_text("s")
    (postbox.root / "link").symlink_to(tmp_path / "secret")
    (postbox.root / "round").symlink_to("round")
    os.mkfifo(postbox.root / "pipe")
    assert lines_of(postbox, "README.md")
    for path in ("../secret", str(tmp_path / "secret"), "link", "round", "pipe", "/dev/zero", "a\0b", "x" * 5000, ""):
        assert lines_of(postbox, path) == []


def test_what_holds_the_questions_can_be_left_out(project: Path, tmp_path: Path):
    (project / "bench").mkdir()
    (project / "bench" / "results.json").write_text("{}")
    (project / "bench.py").write_text("x = 1\n")
    left_out = (project / "bench", project / "q.csv", tmp_path / "elsewhere")
    first = corpus_of(Truth("t", (), ()), project, tmp_path / "cache", without=left_out)
    (project / "q.csv").write_text("query,result1\nsend mail,mail/send.py:1-2:1\n")
    (project / "bench" / "RESULTS.md").write_text("# Results\n")
    again = corpus_of(Truth("t", (), ()), project, tmp_path / "cache", without=left_out)
    assert again.digest == first.digest
    assert {"bench", "q.csv"}.isdisjoint(each.name for each in again.root.iterdir())
    assert (again.root / "bench.py").exists()


def test_a_corpus_that_cannot_be_written_is_an_error_of_its_set(project: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the corpus cannot be written"):
        corpus_of(Truth("t", (), (), hidden=("a:1-1",)), project, tmp_path / "file" / "cache")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", f"query,result1\nq,a.py:1-{'9' * 5000}:1\nok,a.py:1-2:1\n", "beyond the end of any file"),
        ("a.csv", f"query,result1\nq,{'a/' * 3000}b.py:1-2:1\nok,a.py:1-2:1\n", "longer than a path may be"),
        ("a.qrels", f"1 0 a.py:{'9' * 5000} 1\n1 0 a.py:1-2 1\n", "beyond the end of any file"),
        (
            "a.jsonl",
            f'{QUERY}{{"type": "judgment", "query_id": "1", "target": "a.py:1-2", "grade": {"9" * 400}}}\n',
            "'grade' is of the wrong type",
        ),
        ("a.jsonl", f'{QUERY}{{"type": ["query"]}}\n', "unknown type"),
        ("a.jsonl", f'{QUERY}{{"type": "document", "id": "d", "text": "x", "kind": "no such"}}\n', "field 'kind'"),
        (
            "a.jsonl",
            f'{QUERY}{{"type": "judgment", "query_id": "1", "target": "a.py", "grade": 1001}}\n',
            "beyond any scale",
        ),
    ],
)
def test_numbers_and_names_beyond_all_bounds_are_told(tmp_path: Path, name: str, text: str, said: str):
    (tmp_path / name).write_text(text)
    reading = truth_formats.read(tmp_path / name)
    assert said in " ".join(map(str, reading.problems))
    assert len(reading.truth.queries) == 1


def test_a_hundred_thousand_columns_take_a_moment(tmp_path: Path, growth):
    def read(count: int) -> None:
        names = ",".join(f"resul{n}" for n in range(count))
        (tmp_path / "a.csv").write_text(f"query,result1,{names}\nq,a.py:1-2:1\n")
        assert len(truth_formats.read(tmp_path / "a.csv").truth.queries) == 1

    assert growth(read, 12_500) < 24


@pytest.mark.parametrize(
    ("printed", "wrong"),
    [
        ('[{"path": "a\\u0000b", "line": 1}', "1 of 2 results name no file"),
        ('[{"path": "\\ud800", "line": 1}', "1 of 2 results name no file"),
        ('[{"path": "' + "x" * 100_000 + '", "line": 1}', "1 of 2 results name no file"),
        ('[{"path": "README.md", "line": -3}', "1 of 2 results name no line"),
        ('[{"path": "README.md", "line": 1' + "0" * 30 + "}", "1 of 2 results name no line"),
        ('[{"path": "README.md", "line": 1, "end_line": 1' + "0" * 30 + "}", "1 of 2 results name no line"),
    ],
)
def test_one_misfit_does_not_cost_the_answer(postbox: SystemCorpus, tool: Tool, printed: str, wrong: str):
    printed += ', {"path": "mail/send.py", "line": 2}]'
    found, note = answered(f"cmd:{tool(f'print({printed!r})')}", postbox)
    assert found == ["mail/send.py:2-2"]
    assert note.startswith(wrong)
    assert len(note) < 500


def test_lines_with_numbers_too_long_are_no_results(postbox: SystemCorpus, tool: Tool):
    lines = "print('mail/send.py:' + '9' * 5000); print('README.md:1')"
    found, _ = answered(f"cmd:{tool(lines)}", postbox)
    assert found == ["README.md:1-1"]


def test_a_score_that_is_no_number_is_none(postbox: SystemCorpus, tool: Tool):
    lines = (
        """print('[{"path": "README.md", "line": 1, "score": NaN}, {"path": "README.md", "line": 3, "score": 2}]')"""
    )
    assert answered(f"cmd:{tool(lines)}", postbox, order="score")[0] == ["README.md:3-3", "README.md:1-1"]


def test_a_server_on_a_leash_ends_with_whoever_started_it(tmp_path: Path):
    note = tmp_path / "pid"
    server = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    command = [sys.executable, "-I", "-S", leash.__file__, sys.executable, "-c", server]
    starter = f"import subprocess, time; subprocess.Popen({command!r}, start_new_session=True); time.sleep(60)"
    worker = subprocess.Popen([sys.executable, "-c", starter])
    pid = int(_soon(lambda: note.read_text() if note.exists() else ""))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert _soon(lambda: "gone" if not _alive(pid) else "")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(status.strip()) and not status.startswith("Z")


def _soon(look: Callable[[], str]) -> str:
    ends = time.monotonic() + 10
    while not (found := look()) and time.monotonic() < ends:
        time.sleep(0.05)
    return found


def test_two_runs_do_not_write_one_file(tmp_path: Path):
    with answer_runs.RunFile(tmp_path / "run", "key", {}) as one:
        one.add(answer_runs.SystemAnswer("1", (Span("a.py"),), (1.0,), 0.1))
        with pytest.raises(InputError, match="another run writes"):
            answer_runs.RunFile(tmp_path / "run", "another key", {})
    assert answer_runs.RunFile(tmp_path / "run", "key", {}).answers.keys() == {"1"}


BROKEN = (
    {"query": 1, "found": [], "seconds": 0.1},
    {"query": "1", "found": 5, "seconds": 0.1},
    {"query": "1", "found": [["a.py", 1, 2]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", "1", 2, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", 3, 2, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [["a.py", 1, 10**30, 1.0]], "seconds": 0.1},
    {"query": "1", "found": [], "seconds": "soon"},
    {},
)


@pytest.mark.parametrize("record", [*BROKEN, {"prepared": {}}, {"prepared": 5}])
def test_a_file_of_answers_that_holds_something_else_says_so(tmp_path: Path, record: dict[str, Any]):
    (tmp_path / "run").write_text('{"key": "k"}\n' + json.dumps(record) + "\n")
    with pytest.raises(StorageError, match="holds what is no answer"):
        answer_runs.RunFile(tmp_path / "run", "k", {})


@pytest.mark.parametrize("record", BROKEN)
def test_a_saved_run_with_bad_rows_keeps_the_others(tmp_path: Path, record: dict[str, Any]):
    good = {"query": "2", "found": [["a.py", 1, 2, 1.0]], "seconds": 0.1}
    (tmp_path / "run").write_text("".join(json.dumps(each) + "\n" for each in ({"key": "k"}, record, good)))
    read, problems = answer_runs.read_any(tmp_path / "run")
    assert read == {"2": [(Span("a.py", 1, 2), 1.0)]}
    assert [problem.where for problem in problems] == ["run:2"]


def test_a_thousand_bad_rows_are_not_told_one_by_one(tmp_path: Path, postbox: SystemCorpus):
    (tmp_path / "run").write_text("1 Q0 README.md:1 1 1.0 x\n" + "bad row\n" * 1000)
    system = SavedSystem(str(tmp_path / "run"))
    system.prepare(postbox, {})
    assert len(system.problems) < 50
    assert system.problems[-1] == "980 more rows are no use"


def test_a_parquet_file_of_few_bytes_and_endless_text_is_refused(tmp_path: Path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    many = arrow.DictionaryArray.from_arrays(arrow.array([0] * 3000, arrow.int32()), arrow.array(["x" * 3_000_000]))
    rows = arrow.table({"_id": [f"d{n}" for n in range(3000)], "text": many})
    parquet.write_table(rows, tmp_path / "corpus.parquet", compression="zstd")
    parquet.write_table(arrow.table({"_id": ["1"], "text": ["send"]}), tmp_path / "queries.parquet")
    pairs = {"query-id": ["1"], "corpus-id": ["d1"], "score": [1]}
    parquet.write_table(arrow.table(pairs), tmp_path / "test.parquet")
    assert (tmp_path / "corpus.parquet").stat().st_size < 100_000
    with pytest.raises(InputError, match="more than 8 GB of text"):
        truth_formats.read(tmp_path)


SET = "[sets.s]\ntruth = 'q.csv'\n[systems.a]\nspec = 'bm25'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"k = nan\n{SET}", "k in .* is nan; wanted a whole number"),
        (f"k = 0.5\n{SET}", "k in .* is 0.5; wanted a whole number"),
        (f"k = {'9' * 30}\n{SET}", "k in .* wanted a whole number from 1 to"),
        (f"k = {'9' * 5000}\n{SET}", "not TOML"),
        (f"timeout_s = inf\n{SET}", "timeout_s in .* is inf"),
        (f"timeout_s = nan\n{SET}", "timeout_s in .* is nan"),
        (f"seed = -1\n{SET}", "seed in .* wanted a whole number from 0"),
        (f"a = {'[' * 5000}{']' * 5000}\n{SET}", "not TOML"),
        (f"{SET}[variants.v]\nspec = 5\n", "'spec' in .* wanted text"),
        (f"{SET}[variants.v]\nbase = [1]\n", "'base' in .* wanted text"),
    ],
)
def test_a_matrix_of_wrong_types_says_which(tmp_path: Path, text: str, said: str):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        matrix.load(tmp_path / "m.toml")


def test_the_folder_of_a_matrix_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "m.toml").write_text(f"{SET}[systems.b]\nspec = 'cmd:$HERE/tool'\n")
    monkeypatch.chdir(tmp_path)
    assert matrix.load(Path("m.toml")).systems[1].spec == f"cmd:{tmp_path.resolve()}/tool"


@pytest.mark.parametrize("limit", ["x", float("nan"), float("inf"), -1, 0, True])
def test_a_limit_that_is_none_is_refused(ask_all: Callable[..., Any], postbox: SystemCorpus, limit: object):
    with pytest.raises(InputError, match="timeout_s of 'bm25'"):
        ask_all("bm25", {"timeout_s": limit}, postbox, [])
