"""`assay bench`: what is measured, what is asked again, which gates fail, and who labels what nobody judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from git_repositories import WHO, git

CSV = """query,kind,result1,result2
deliver a message again when the server is busy,standard,mail/send.py:6-12:2,
does an address have a host,standard,mail/address.py:11-13:2,mail/address.py:4-6:1
find the handler of a request,hard,web/router.js:2-4:2,
"""


@pytest.fixture
def queries(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return ground truth of the project, in the folder where commands run."""
    monkeypatch.chdir(project.parent)
    file = project.parent / "queries.csv"
    file.write_text(CSV)
    return file


@pytest.fixture
def reported(assay, queries: Path):
    """Run the command with its results in one folder, and its report drawn where matplotlib is installed."""
    return lambda *arguments: assay("bench", *arguments, "--out", queries.parent / "out")


@pytest.fixture
def bench(undrawn, queries: Path):
    """Run the same without a report."""
    return lambda *arguments: undrawn("bench", *arguments, "--out", queries.parent / "out")


PYTHON = quote(sys.executable)
MEASURE = ("queries.csv", "--corpus", "postbox")


def held() -> dict:
    return json.loads(Path("out/results.json").read_text())


QUIET = """
import sys
from assay.cli.main import run
status = run(sys.argv[1:])
heavy = {"matplotlib", "ast_grep_py"} & sys.modules.keys()
sys.exit(f"loaded {sorted(heavy)}" if heavy else status)
"""


def test_ground_truth_is_measured_and_gates_decide_the_status(bench):
    ran = bench(*MEASURE)
    assert ran.status == 0, ran.err
    assert ran.out.startswith("queries: 3 queries, by line; means with 95% intervals\n  system")
    results = held()
    assert [cell["system"] for cell in results["cells"]] == ["assay", "bm25"]
    cell = results["cells"][0]
    assert set(cell["figures"]) == {"line", "function", "file", "line published"}
    assert cell["figures"]["line"]["Hit@5"][0] == 1.0
    least = {"index_s": 0, "warm_p50_ms": 0, "peak_mb": 10, "index_bytes": 1000}
    assert {name: cell["timings"][name] > each for name, each in least.items()} == dict.fromkeys(least, True)
    assert cell["groups"]["kind"]["hard"]["queries"] == 1
    assert {name: each["queries"] for name, each in cell["groups"]["folder"].items()} == {"mail": 2, "web": 1}
    text = Path("out/RESULTS.md").read_text()
    assert text.count("Lines as the published script counts them") == text.count("Lines: a result is right") == 1
    assert text.startswith("# Results\n")
    assert "by folder of the answer" in text
    assert Path("out/.gitignore").read_text() == "*\n"
    ran = bench(*MEASURE, "--fail-under", "bm25:nDCG@10=1")
    assert (ran.status, "queries: bm25 has nDCG@10 0." in ran.err) == (1, True)
    Path("baseline.json").write_bytes(Path("out/results.json").read_bytes())
    same = bench(*MEASURE, "--baseline", "baseline.json", "--fail-if-worse")
    assert (same.status, "assay nDCG@10" in same.err) == (0, True)
    assert bench(*MEASURE, "--fail-if-worse").status == 2


def test_a_report_is_drawn_again_only_for_other_results(reported, queries: Path):
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    measure = (*MEASURE, "--system", "bm25")
    assert reported(*measure).status == 0
    report, cells = Path("out/report.html"), held()["cells"]
    drawn = report.stat().st_mtime_ns
    command = [sys.executable, "-c", QUIET, "bench", *measure, "--out", "out", "--fail-under", "Hit@5=0.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "loaded" in done.stderr) == (0, False), done.stderr  # nothing that answers or draws
    assert (report.stat().st_mtime_ns, held()["cells"]) == (drawn, cells)
    queries.write_text(CSV.replace("mail/send.py:6-12:2", "web/router.js:2-4:2"))
    changed = reported(*measure, "--fail-under", "Hit@1=0.9")
    assert (changed.status, "bm25 has Hit@1 0.667, below 0.9" in changed.err) == (1, True)
    assert report.stat().st_mtime_ns > drawn


SCORED = """open('marks', 'a').write('x')
print('[{"path": "mail/send.py", "start": 6, "end": 12, "score": 0.4}, '
      '{"path": "mail/address.py", "start": 11, "end": 13, "score": 0.9}]')"""


def test_a_second_run_asks_new_systems_alone(bench, project: Path):
    """A tool that gives every question the same two results is asked once a question, whatever is asked of the rest."""
    script = project.parent / "tool.py"
    script.write_text(SCORED.replace("'marks'", repr(str(project.parent / "marks"))))
    tool = (*MEASURE, "--system", f"tool=cmd:{PYTHON} {quote(str(script))} {{query}}")
    first = bench(*tool)
    assert (first.status, "MISS" in first.out) == (0, False)
    assert [len(each) for each in held()["cells"][0]["answers"]] == [2, 2, 2]
    told = bench(*tool, "-v", "--system", "bm25").out
    assert [cell["system"] for cell in held()["cells"]] == ["tool", "bm25"]
    query = "1: deliver a message again when the server is busy"
    assert f"{query}\n      wanted mail/send.py:6-12\n      tool  rank 1\n" in told
    assert "      tool  rank 2; instead mail/send.py:6-12\n" in told
    assert "      tool  MISS; instead mail/send.py:6-12, mail/address.py:11-13\n" in told
    ran = bench(*tool, "--threshold", "0.5")
    assert held()["cells"][0]["answers"] == [["mail/address.py:11-13"]] * 3
    assert "note: results of tool that score below 0.5 are left out" in ran.out
    marks = project.parent / "marks"
    assert marks.read_text() == "xxx"
    assert bench(*tool, "--fresh").status == 0
    assert marks.read_text() == "x" * 6
    (project / "mail" / "send.py").write_text("def other(): pass\n")
    bench(*tool)
    assert marks.read_text() == "x" * 9  # other files, other answers


def printing(*places: str) -> str:
    """Return a tool that answers every question with some places."""
    return f'tool=cmd:{PYTHON} -c "{"; ".join(f"print({place!r})" for place in places)}"'


def test_a_significant_loss_fails_and_systems_have_options(bench):
    rows = [f"deliver 5% of message {n},mail/send.py:6-12:1" for n in range(20)]
    Path("many.csv").write_text("query,result1\n" + "\n".join(rows) + "\n")
    many = ("many.csv", "--corpus", "postbox", "--system")
    assert bench(*many, printing("mail/send.py:6", "mail/send.py:9"), "--set", "tool.merge=10").status == 0
    assert held()["cells"][0]["answers"][0] == ["mail/send.py:6-9"]
    Path("out/results.json").rename("before.json")
    gated = ("--baseline", "before.json", "--fail-if-worse", "--format", "github")
    ran = bench(*many, printing("README.md:1-2"), *gated)
    loss = "significantly worse than the baseline: many: tool nDCG@10 1.000 -> 0.000 over 20 queries"
    moved = "1: deliver 5% of message 0: rank 1 -> none, nDCG@10 1.000 -> 0.000"
    places = "; first now: README.md:1-2; expected: mail/send.py:6-12"
    assert (ran.status, loss in ran.err) == (1, True)
    assert f"20 queries fell, the greatest change first:\nassay: - {moved}{places}\n" in ran.err
    assert "- and 10 more, in results.json" in ran.err
    assert f"::error title=Search quality::{loss}" in ran.out
    at = "::warning file=postbox/mail/send.py,line=6,title=Search quality::"
    assert at + (moved + places).replace("%", "%25") in ran.out
    assert ran.out.count(at) == 10
    text = Path("out/RESULTS.md").read_text()
    assert "Baseline: `before.json`, measured 20" in text
    assert "| 1 → none | 1.000 → 0.000 | README.md:1-2 | mail/send.py:6-12 |" in text


def test_a_target_that_is_gone_fails_a_gate(bench, queries: Path):
    queries.write_text(CSV.replace("mail/send.py:6-12:2", "mail/gone.py:6-12:2"))
    line = "a right place of queries is gone: queries.csv:2: mail/gone.py:6-12: no such file"
    for gate, status in ((), 0), (("--fail-under", "Hit@5=0.1"), 1):
        ran = bench(*MEASURE, "--system", "bm25", *gate)
        assert (ran.status, line in ran.err) == (status, bool(status)), ran.err


def test_a_matrix_with_variants_and_roles(bench):
    sets = "".join(
        f'[sets.{name}]\ntruth = "queries.csv"\ncorpus = "postbox"\nrole = "{role}"\n'
        for name, role in (("tuned", "dev"), ("unseen", "test"))
    )
    variants = '[variants.words]\nsearch.ranking = "keywords"\n[variants.paid]\nneeds = "A_KEY_THAT_NOBODY_HAS"\n'
    Path("matrix.toml").write_text(f'measures = ["MRR", "Hit@1"]\n{sets}{variants}')
    ran = bench("matrix.toml")
    assert ran.status == 0, ran.err
    assert "paid is left out: the environment has no A_KEY_THAT_NOBODY_HAS" in ran.err
    cells = [(cell["set"], cell["system"]) for cell in held()["cells"]]
    assert cells == [("tuned", "assay"), ("tuned", "words"), ("unseen", "assay"), ("unseen", "words")]
    assert "## Tuned and unseen\n" in Path("out/RESULTS.md").read_text()
    assert bench("matrix.toml", "--only", "wor*").status == 0
    assert len(held()["cells"]) == 4  # the other one as it answered before
    assert bench("matrix.toml", "--only", "nothing").status == 2


def test_a_repository_is_measured_by_its_own_history(bench, project: Path):
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, *WHO, "commit", "-qm", "Begin")
    send = project / "mail" / "send.py"
    for wait in (3, 4, 5, 6):
        send.write_text(send.read_text().replace("time.sleep(", f"time.sleep({wait} * "))
        git(project, *WHO, "commit", "-qam", f"Wait {wait} times longer before a busy server is asked again")
    ran = bench(project, "--system", "bm25")
    assert ran.status == 0, ran.err
    assert list(held()["sets"]) == ["postbox"]
    assert Path("out/truth/postbox.jsonl").exists()
    for commit in (git(project, "rev-parse", "HEAD").strip(), ""):
        bench(*MEASURE, "--system", "bm25")
        assert held()["sets"]["queries"]["commit"] == commit
        send.write_text("def other(): ...\n")


def test_bad_rows_and_failing_systems_are_reported_and_the_rest_counts(bench, queries: Path):
    queries.write_text(CSV + "broken range,standard,mail/send.py:9-3:2,\n")
    Path("half.py").write_text("import sys\nif 'host' in sys.argv[1]: sys.exit('broken')\nprint('mail/send.py:6-12')\n")
    garbage = ("--system", f"garbage=cmd:{PYTHON} -c print('nothing_of_use')")
    half = ("--system", f"half=cmd:{PYTHON} {quote(str(Path('half.py').absolute()))} {{query}}")
    ran = bench(*MEASURE, *garbage, *half, "--system", "bm25")
    assert ran.status == 0, ran.err
    assert "queries.csv:5" in ran.err
    assert "note: garbage answered no query of queries and is left out there:" in ran.out
    assert "half had errors on 1 query of queries; what it did answer counts" in ran.out
    cell, other = held()["cells"]
    assert (cell["system"], other["system"]) == ("half", "bm25")
    assert cell["values"]["line"]["Hit@5"] == [1.0, 0.0, 0.0]
    assert bench(*MEASURE, *garbage, "--fresh").status == 2  # and nothing else was measured


@pytest.mark.usefixtures("queries")
def test_a_mistake_is_refused_in_one_line(refuses):
    Path("empty").mkdir()
    measure = "bench queries.csv --corpus postbox --out out"
    refuses([
        (f"{measure} --system assya", "unknown system 'assya'; did you mean 'assay'?"),
        (f"{measure} --measure Hit@99", "Hit@99 looks at 99 results"),
        (f"{measure} --system 'x=cmd:no-such-tool {{query}}'", "there is no program"),
        ("bench none.csv", "no such file or folder: 'none.csv'"),
        ("bench queries.csv --out out", "nothing could be measured"),
        ("bench queries.csv --corpus empty --out out", "no set could be used"),
        (f"{measure} --fail-under Hit@5", "--fail-under takes MEASURE=NUMBER"),
        (f"{measure} --system bm25 --set bm52.merge=10", "not 'bm52.merge=10'; did you mean 'bm25'?"),
        (f"{measure} --system bm25 --judge-unseen nobody", "no judge 'nobody'; wanted signals"),
        (f"{measure} --system bm25 --judge-unseen all:", "no judge 'all:'"),
        (f"{measure} --judge-unseen signals --judge-budget 1usd", "asks no model and costs nothing"),
        (f"{measure} --judge-unseen signals --judge-install", "installs nothing"),
        (f"{measure} --judge-budget 1usd", "give both"),
    ], lines=9)  # fmt: skip


@pytest.mark.parametrize("judge", ["signals", "agents"])
def test_unjudged_results_are_judged_once_and_told_apart(bench, judge: str):
    code = "def order(n):\n    return sorted(n)"
    Path("tiny.json").write_text(json.dumps([{"idx": "q", "doc": "sort numbers", "code": code, "label": 1}]))
    reply, replies = {"value": {"reason": "both are about numbers", "label": 1}, "name": "single"}, Path("r.jsonl")
    replies.write_text(json.dumps(reply) + "\n")
    measure, chosen = {
        "signals": ((*MEASURE, "--system", "bm25"), ("signals", "--judge-depth", "3")),
        "agents": (("tiny.json", "--system", "dense:hash"), (f"single:scripted:{replies}", "--judge-budget", "1usd")),
    }[judge]
    ran = bench(*measure, "--judge-unseen", *chosen)
    assert ran.status == 0, ran.err
    cell = held()["cells"][0]
    assert cell["judged"]["figures"].keys() == cell["figures"].keys()
    before = {file: file.read_bytes() for file in Path("out/unseen").glob("*/*.jsonl")}
    replies.write_text('{"error": "nobody is to ask again", "name": "single"}\n')
    assert bench(*measure, "--judge-unseen", *chosen, "--fresh").status == 0
    assert before == {file: file.read_bytes() for file in before}, "a judged result is not judged again"
    assert bench(*measure).status == 0
    assert "judged" not in held()["cells"][0]
