from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CSV = """query,kind,result1,result2
deliver a message again when the server is busy,standard,mail/send.py:6-12:2,
does an address have a host,standard,mail/address.py:11-13:2,mail/address.py:4-6:1
find the handler of a request,hard,web/router.js:2-4:2,
"""


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    file = tmp_path / "queries.csv"
    file.write_text(CSV)
    return file


@pytest.fixture
def bench(assay, tmp_path: Path):
    """Run the command with its results in one folder."""
    return lambda *arguments: assay("bench", *arguments, "--out", tmp_path / "out")


def held(tmp_path: Path) -> dict:
    return json.loads((tmp_path / "out" / "results.json").read_text())


def test_ground_truth_is_measured(bench, project: Path, queries: Path, tmp_path: Path):
    ran = bench(queries, "--corpus", project)
    assert ran.status == 0, ran.err
    assert ran.out.startswith("queries: 3 queries, by line; means with 95% intervals\n  system")
    results = held(tmp_path)
    assert [cell["system"] for cell in results["cells"]] == ["assay", "bm25"]
    figures = results["cells"][0]["figures"]
    assert set(figures) == {"line", "function", "file", "line published"}
    assert figures["line"]["Hit@5"][0] == 1.0
    told = results["cells"][0]["timings"]
    assert told["index_s"] > 0
    assert told["warm_p50_ms"] > 0
    assert told["peak_mb"] > 10
    assert told["index_bytes"] > 1000
    assert results["cells"][0]["groups"]["kind"]["hard"]["queries"] == 1
    assert (tmp_path / "out" / "RESULTS.md").read_text().startswith("# Results\n")


def test_a_second_run_asks_nothing_again_and_adds_what_is_new(bench, project: Path, queries: Path, tmp_path: Path):
    marks = tmp_path / "marks"
    script = tmp_path / "tool.py"
    script.write_text(f"open({str(marks)!r}, 'a').write('x')\nprint('mail/send.py:6-12')\n")
    tool = f"tool=cmd:{sys.executable} {script} {{query}}"
    assert bench(queries, "--corpus", project, "--system", tool).status == 0
    assert marks.read_text() == "xxx"
    assert bench(queries, "--corpus", project, "--system", tool, "--system", "bm25").status == 0
    assert marks.read_text() == "xxx"
    assert [cell["system"] for cell in held(tmp_path)["cells"]] == ["tool", "bm25"]
    assert bench(queries, "--corpus", project, "--system", tool, "--fresh").status == 0
    assert marks.read_text() == "xxxxxx"
    (project / "mail" / "send.py").write_text("def other(): pass\n")
    bench(queries, "--corpus", project, "--system", tool)
    assert marks.read_text() == "x" * 9  # other files, other answers


SCORED = """print('[{"path": "mail/send.py", "start": 6, "end": 12, "score": 0.4}, '
      '{"path": "mail/address.py", "start": 11, "end": 13, "score": 0.9}]')"""


def scored(tmp_path: Path) -> str:
    """Return a tool that answers every question with the same two results."""
    script = tmp_path / "scored.py"
    script.write_text(f"open({str(tmp_path / 'marks')!r}, 'a').write('x')\n{SCORED}\n")
    return f"tool=cmd:{sys.executable} {script} {{query}}"


def test_a_threshold_leaves_out_what_scores_below_it_and_asks_nothing_again(
    bench, project: Path, queries: Path, tmp_path: Path
):
    assert bench(queries, "--corpus", project, "--system", scored(tmp_path)).status == 0
    assert [len(each) for each in held(tmp_path)["cells"][0]["answers"]] == [2, 2, 2]
    ran = bench(queries, "--corpus", project, "--system", scored(tmp_path), "--threshold", "0.5")
    assert ran.status == 0, ran.err
    assert held(tmp_path)["cells"][0]["answers"] == [["mail/address.py:11-13"]] * 3
    assert (tmp_path / "marks").read_text() == "xxx"
    assert "note: results of tool that score below 0.5 are left out" in ran.out


QUIET = """
import sys
from assay.cli.main import run
status = run(sys.argv[1:])
heavy = {"matplotlib", "ast_grep_py", "assay.bench.scores"} & sys.modules.keys()
sys.exit(f"loaded {sorted(heavy)}" if heavy else status)
"""


def test_a_gate_over_saved_answers_loads_nothing_that_answers_or_draws(project: Path, queries: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")

    def gate(least: str) -> subprocess.CompletedProcess[str]:
        out = ["--out", str(tmp_path / "out"), "--fail-under", f"Hit@1={least}"]
        command = [sys.executable, "-c", QUIET, "bench", str(queries), "--corpus", str(project), *out]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert "loaded" in gate("0.9").stderr
    report = tmp_path / "out" / "report.html"
    drawn, first = report.stat().st_mtime_ns, held(tmp_path)
    done = gate("0.9")
    assert (done.returncode, "loaded" in done.stderr) == (0, False), done.stderr
    assert report.stat().st_mtime_ns == drawn
    assert held(tmp_path)["cells"] == first["cells"]
    queries.write_text(CSV.replace("mail/send.py:6-12:2", "web/router.js:2-4:2"))
    changed = gate("0.9")
    assert "assay has Hit@1 0.667, below 0.9" in changed.stderr
    assert report.stat().st_mtime_ns > drawn


def test_each_question_is_told_with_its_rank_and_what_stood_before(bench, project: Path, queries: Path, tmp_path: Path):
    quiet = bench(queries, "--corpus", project, "--system", scored(tmp_path))
    assert "MISS" not in quiet.out
    told = bench(queries, "--corpus", project, "--system", scored(tmp_path), "-v").out
    assert (
        "1: deliver a message again when the server is busy\n      wanted mail/send.py:6-12\n      tool  rank 1\n"
        in told
    )
    assert "      tool  rank 2; instead mail/send.py:6-12\n" in told
    assert "      tool  MISS; instead mail/send.py:6-12, mail/address.py:11-13\n" in told


def test_questions_are_grouped_by_the_folder_of_their_answer(bench, project: Path, queries: Path, tmp_path: Path):
    bench(queries, "--corpus", project, "--system", "bm25")
    groups = held(tmp_path)["cells"][0]["groups"]["folder"]
    assert {name: told["queries"] for name, told in groups.items()} == {"mail": 2, "web": 1}
    assert "by folder of the answer" in (tmp_path / "out" / "RESULTS.md").read_text()


def test_gates_decide_the_status(bench, project: Path, queries: Path, tmp_path: Path):
    assert bench(queries, "--corpus", project, "--fail-under", "Hit@5=0.9").status == 0
    ran = bench(queries, "--corpus", project, "--fail-under", "bm25:nDCG@10=1")
    assert ran.status == 1
    assert "queries: bm25 has nDCG@10 0." in ran.err
    baseline = tmp_path / "baseline.json"
    (tmp_path / "out" / "results.json").rename(baseline)
    same = bench(queries, "--corpus", project, "--baseline", baseline, "--fail-if-worse")
    assert same.status == 0
    assert "assay nDCG@10" in same.err
    assert bench(queries, "--corpus", project, "--fail-if-worse").status == 2


def test_a_significant_loss_fails(bench, project: Path, tmp_path: Path):
    file = tmp_path / "many.csv"
    rows = [f"deliver a message {n},mail/send.py:6-12:1" for n in range(30)]
    file.write_text("query,result1\n" + "\n".join(rows) + "\n")
    right = f"tool=cmd:{sys.executable} -c \"print('mail/send.py:6-12')\""
    wrong = f"tool=cmd:{sys.executable} -c \"print('README.md:1-2')\""
    assert bench(file, "--corpus", project, "--system", right).status == 0
    (tmp_path / "out" / "results.json").rename(tmp_path / "before.json")
    ran = bench(file, "--corpus", project, "--system", wrong, "--baseline", tmp_path / "before.json", "--fail-if-worse")
    assert ran.status == 1
    assert "significantly worse than the baseline: many: tool nDCG@10 1.000 -> 0.000 over 30 queries" in ran.err


def test_a_matrix_with_variants_and_roles(bench, project: Path, queries: Path, tmp_path: Path):
    matrix = tmp_path / "matrix.toml"
    matrix.write_text(
        f"""
        measures = ["MRR", "Hit@1"]
        [sets.tuned]
        truth = "{queries.name}"
        corpus = "{project}"
        role = "dev"
        [sets.unseen]
        truth = "{queries.name}"
        corpus = "{project}"
        role = "test"
        [variants.words]
        search.ranking = "keywords"
        [variants.paid]
        needs = "A_KEY_THAT_NOBODY_HAS"
        """
    )
    ran = bench(matrix)
    assert ran.status == 0, ran.err
    assert "paid is left out: the environment has no A_KEY_THAT_NOBODY_HAS" in ran.err
    results = held(tmp_path)
    assert [(c["set"], c["system"]) for c in results["cells"]] == [
        ("tuned", "assay"),
        ("tuned", "words"),
        ("unseen", "assay"),
        ("unseen", "words"),
    ]
    assert "## Tuned and unseen\n" in (tmp_path / "out" / "RESULTS.md").read_text()
    assert bench(matrix, "--only", "wor*").status == 0
    assert len(held(tmp_path)["cells"]) == 4  # the other one as it answered before
    assert bench(matrix, "--only", "nothing").status == 2


def test_a_repository_is_measured_by_its_own_history(bench, project: Path, tmp_path: Path):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]

    def commit(subject: str) -> None:
        subprocess.run(["git", "-C", project, "add", "-A"], check=True)
        subprocess.run(["git", *who, "-C", project, "commit", "-qm", subject], check=True)

    subprocess.run(["git", "-C", project, "init", "-q"], check=True)
    commit("Begin")
    send = project / "mail" / "send.py"
    for wait in (3, 4, 5, 6):
        send.write_text(send.read_text().replace("time.sleep(", f"time.sleep({wait} * "))
        commit(f"Wait {wait} times longer before a busy server is asked again")
    ran = bench(project)
    assert ran.status == 0, ran.err
    assert list(held(tmp_path)["sets"]) == ["postbox"]
    assert (tmp_path / "out" / "truth" / "postbox.jsonl").exists()


def test_bad_rows_are_told_and_the_rest_counts(bench, project: Path, queries: Path, tmp_path: Path):
    queries.write_text(CSV + "broken range,standard,mail/send.py:9-3:2,\n")
    ran = bench(queries, "--corpus", project, "--system", "bm25")
    assert ran.status == 0
    assert "queries.csv:5" in ran.err
    assert len(held(tmp_path)["sets"]["queries"]["queries"]) == 3


def test_a_system_that_fails_is_counted_and_the_others_go_on(bench, project: Path, queries: Path, tmp_path: Path):
    garbage = f"garbage=cmd:{sys.executable} -c print('nothing_of_use')"
    ran = bench(queries, "--corpus", project, "--system", garbage, "--system", "bm25")
    assert ran.status == 0, ran.err
    assert "note: garbage answered no query of queries and is left out there:" in ran.out
    assert [cell["system"] for cell in held(tmp_path)["cells"]] == ["bm25"]
    assert bench(queries, "--corpus", project, "--system", garbage).status == 2  # and nothing else was measured


def test_a_system_that_fails_now_and_then_counts_what_it_answered(bench, project: Path, queries: Path, tmp_path: Path):
    script = tmp_path / "half.py"
    script.write_text("import sys\nif 'host' in sys.argv[1]: sys.exit('broken')\nprint('mail/send.py:6-12')\n")
    ran = bench(queries, "--corpus", project, "--system", f"half=cmd:{sys.executable} {script} {{query}}")
    assert ran.status == 0, ran.err
    assert "half had errors on 1 query of queries; what it did answer counts" in ran.out
    (cell,) = held(tmp_path)["cells"]
    assert cell["values"]["line"]["Hit@5"] == [1.0, 0.0, 0.0]
    assert cell["timings"]["index_s"] is None


def test_options_of_a_system_are_set_by_its_name(bench, project: Path, queries: Path, tmp_path: Path):
    tool = f"tool=cmd:{sys.executable} -c \"print('mail/send.py:6'); print('mail/send.py:9')\""
    assert bench(queries, "--corpus", project, "--system", tool, "--set", "tool.merge=10").status == 0
    (cell,) = held(tmp_path)["cells"]
    assert cell["answers"][0] == ["mail/send.py:6-9"]
    ran = bench(queries, "--corpus", project, "--system", tool, "--set", "tol.merge=10")
    assert ran.status == 2
    assert "--set takes NAME.KEY=VALUE, not 'tol.merge=10'; did you mean 'tool'?" in ran.err


def test_results_hide_themselves_from_git(bench, project: Path, queries: Path, tmp_path: Path):
    bench(queries, "--corpus", project, "--system", "bm25")
    assert (tmp_path / "out" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{queries}", "--corpus", "{project}", "--system", "assya"], "unknown system 'assya'; did you mean 'assay'?"),
        (["{queries}", "--corpus", "{project}", "--measure", "Hit@99"], "Hit@99 looks at 99 results"),
        (["{queries}", "--corpus", "{project}", "--system", "x=cmd:no-such-tool {{query}}"], "there is no program"),
        (["none.csv"], "no such file or folder: 'none.csv'"),
        (["{queries}"], "nothing could be measured"),
        (["{queries}", "--corpus", "{project}", "--measure", "nDGC@10"], "did you mean 'nDCG@10'"),
        (["{queries}", "--corpus", "{project}", "--fail-under", "Hit@5"], "--fail-under takes MEASURE=NUMBER"),
        (["{queries}", "--corpus", "{project}", "--baseline", "none.json"], "cannot read the results none.json"),
        (["{queries}", "--corpus", "{project}/none"], "nothing could be measured"),
    ],
)
def test_bad_input_leaves_with_2(bench, project: Path, queries: Path, arguments: list[str], said: str):
    ran = bench(*(each.format(queries=queries, project=project) for each in arguments))
    assert ran.status == 2
    assert said in ran.err


def test_what_nobody_judged_is_judged_and_told_apart(bench, project: Path, queries: Path, tmp_path: Path):
    arguments = (queries, "--corpus", project, "--system", "bm25", "--judge-unseen", "signals", "--judge-depth", "3")
    ran = bench(*arguments)
    assert ran.status == 0, ran.err
    assert "With labels of signals on what nobody judged of the first 3 of any system (" in ran.out
    first = held(tmp_path)
    assert first["cells"][0]["judged"]["figures"].keys() == first["cells"][0]["figures"].keys()
    kept = tmp_path / "out" / "unseen" / "queries" / "signals.jsonl"
    before = kept.read_bytes()
    assert bench(*arguments, "--fresh").status == 0
    assert kept.read_bytes() == before  # what was judged is not judged again
    assert bench(queries, "--corpus", project, "--system", "bm25").status == 0
    assert "judged" not in held(tmp_path)["cells"][0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--judge-unseen", "nobody"), "no judge 'nobody'; wanted signals"),
        (("--judge-unseen", "all:"), "no judge 'all:'"),
        (("--judge-unseen", "signals", "--judge-budget", "1usd"), "asks no model and costs nothing"),
        (("--judge-unseen", "signals", "--judge-install"), "installs nothing"),
        (("--judge-install",), "give both"),
        (("--judge-budget", "1usd"), "give both"),
    ],
)
def test_a_judge_that_is_none_is_named(bench, project: Path, queries: Path, options: tuple[str, ...], said: str):
    ran = bench(queries, "--corpus", project, "--system", "bm25", *options)
    assert ran.status == 2
    assert said in ran.err


def test_agents_label_what_nobody_judged_and_are_paid_once(bench, tmp_path: Path):
    codes = {
        "sort numbers": "def order(n):\n    return sorted(n)",
        "reverse numbers": "def back(n):\n    return n[::-1]",
    }
    rows = [{"idx": f"q{n}", "doc": query, "code": code, "label": 1} for n, (query, code) in enumerate(codes.items())]
    (tmp_path / "tiny.json").write_text(json.dumps(rows))
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"value": {"reason": "both are about numbers", "label": 1}, "name": "single"}\n')
    arguments = (tmp_path / "tiny.json", "--system", "dense:hash", "--judge-unseen", f"single:scripted:{replies}")
    assert bench(*arguments, "--judge-budget", "1usd").status == 0
    told = held(tmp_path)["sets"]["tiny"]["unseen"]
    assert (told["asked"], told["right"], told["undecided"]) == (2, 2, 0)
    assert held(tmp_path)["cells"][0]["judged"]["figures"]["file"]["Recall@5"][0] == 1.0
    replies.write_text('{"error": "nobody is to ask again", "name": "single"}\n')
    assert bench(*arguments, "--judge-budget", "1usd").status == 0
    assert held(tmp_path)["sets"]["tiny"]["unseen"]["right"] == 2
