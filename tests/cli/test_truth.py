"""`assay truth check`, `convert`, `audit`, `mine` and `pool` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.truth.truth_formats import read
from git_repositories import WHO, git
from json_lines import write_lines

CSV = """query,kind,result1,result2
send it,standard,mail/send.py:6-12:2,
check it,hard,mail/address.py:11-13:2,web/router.js:2-4:1
"""
AREA = "def area(width, height):\n    return width * height if width > 0 and height > 0 else None\n"


@pytest.fixture
def checkout(project: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the commit of the project, and work in the folder that it and the set are in."""
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, *WHO, "commit", "-qm", "first")
    monkeypatch.chdir(project.parent)
    return head(project)


def head(project: Path) -> str:
    return git(project, "rev-parse", "HEAD").strip()


@pytest.fixture
def truth(checkout: str) -> Path:
    Path("set.csv").write_text(CSV)
    Path("set.meta.json").write_text(json.dumps({"repo": "o/n", "commit": checkout}))
    return Path("set.csv")


CHECK = "truth check set.csv --corpus postbox".split()


def test_a_check_counts_targets_and_names_rows_with_problems(assay, truth: Path, checkout: str):
    at = checkout[:12]
    ran = assay(*CHECK)
    assert (ran.status, ran.out) == (0, f"2 queries, 3 targets: 0 problems at {at}\n")
    told = "2 queries, 3 targets: 0 problems; no file was looked at: give --corpus FOLDER\n"
    assert assay("truth", "check", truth).out == told
    marks = [{"type": "judgment", "query_id": "q", "target": "a.py", "grade": n, "judge": f"j{n}"} for n in (0, 1)]
    head = {"type": "truth", "format": 1, "name": "two"}
    write_lines("two.jsonl", [head, {"type": "query", "id": "q", "text": "a"}, *marks])
    told = assay("truth", "check", "two.jsonl").out
    assert "1 answer on which judges disagree count as right: a.py is right for j1, not for j0" in told
    truth.write_text(CSV + "more,hard,mail/send.py:6-99:2,none.py:1-x:1\n")
    ran = assay(*CHECK)
    assert ran.status == 1
    assert ran.out.splitlines() == [
        "set.csv:4: 'none.py:1-x:1': wanted path:start-end:grade",
        f"set.csv:4: mail/send.py:6-99: the file ends at line 12 at {at}",
        f"3 queries, 4 targets: 2 problems at {at}",
    ]
    told = json.loads(assay(*CHECK, "--format", "json").out)
    assert [problem["where"] for problem in told["problems"]] == ["set.csv:4", "set.csv:4"]
    assert (told["commit"], told["checked"], told["targets"]) == (checkout, True, 4)
    ran = assay("truth", "convert", truth, "out", "--to", "jsonl", "-v")
    assert "(1 problem) written" in ran.out
    assert ran.err == "assay: set.csv:4: 'none.py:1-x:1': wanted path:start-end:grade\n"


def test_drift_is_reported_and_followed(assay, project: Path, truth: Path, checkout: str):
    send, router = project / "mail" / "send.py", project / "web" / "router.js"
    send.write_text("# first\n" + send.read_text())
    router.write_text(router.read_text().replace("path) {", "path, more) {"))
    git(project, *WHO, "commit", "-qam", "x")
    ran = assay(*CHECK)
    now = head(project)
    counted = f"1 moved, 1 changed between {checkout[:12]} and HEAD {now[:12]} (-v lists them, --fix OUT follows them)"
    told = [f"2 queries, 3 targets: 0 problems at {checkout[:12]}", counted]
    assert (ran.status, ran.out.splitlines()) == (0, told)
    listed = assay(*CHECK, "-v").out
    assert "moved to mail/send.py:7-13" in listed
    assert "set.csv:3: web/router.js:2-4: changed, now web/router.js:2-4\n" in listed
    assert assay(*CHECK, "--fix", "fixed.csv").status == 0
    assert Path("fixed.csv").read_text() == CSV.replace("6-12", "7-13")
    assert json.loads(Path("fixed.meta.json").read_text()) == {"repo": "o/n", "commit": now}
    assert assay("truth", "check", "fixed.csv", "--corpus", project).out.endswith(f"0 problems at {now[:12]}\n")
    truth.with_name("set.meta.json").unlink()
    assert "at" not in assay(*CHECK).out.split("problems")[1]
    assert now[:12] in assay(*CHECK, "--commit", "HEAD").out
    assert assay(*CHECK, "--commit", "nope").status == 2


def test_convert_counts_what_it_wrote_and_refuses_a_loss(assay, refuses, truth: Path):
    ran = assay("truth", "convert", truth, "set.jsonl")
    told = "2 queries, 3 judgments, 0 documents (0 problems) written to set.jsonl\n"
    assert (ran.status, ran.out) == (0, told)
    assert assay("truth", "convert", "set.jsonl", "back.csv").status == 0
    assert Path("back.csv").read_text() == CSV
    assert Path("back.meta.json").exists()
    Path("bad.csv").write_text("query,result1\nq,x\n")
    nothing = "has no usable query: bad.csv:2: 'x': wanted path:start-end:grade (and 1 more)"
    refuses([
        ("truth convert set.csv set.qrels", "trec cannot hold the tags kind: drop them with --lossy"),
        ("truth convert set.jsonl x.csv --from trec", "set.jsonl"),
        ("truth convert bad.csv out.jsonl", nothing),
        ("truth check bad.csv", nothing),
    ])  # fmt: skip
    assert not Path("set.qrels").exists()
    ran = assay("truth", "convert", truth, "set.qrels", "--lossy")
    assert (ran.status, ran.err) == (0, "assay: dropped: the tags kind\n")


def test_convert_replaces_symbols_by_their_lines(assay, refuses, checkout: str):
    targets = ("mail/send.py::send_mail", "mail/address.py::Address.is_valid", "mail/send.py::gone")
    rows = [{"type": "truth", "commit": checkout}, {"type": "query", "id": "1", "text": "send it"}]
    rows += [{"type": "judgment", "query_id": "1", "target": target, "grade": 2} for target in targets]
    write_lines("symbols.jsonl", rows)
    said = "symbols (3): make symbols lines with --corpus FOLDER, drop them with --lossy"
    refuses([("truth convert symbols.jsonl out.csv", said)])
    ran = assay(*"truth convert symbols.jsonl out.csv --corpus postbox -v".split())
    assert ran.status == 0, ran.err
    assert "symbols.jsonl:5: mail/send.py::gone: no such symbol at" in ran.err
    told = "query,result1,result2\nsend it,mail/send.py:6-12:2,mail/address.py:11-13:2\n"
    assert Path("out.csv").read_text() == told


def test_convert_splits_by_repository_and_commit(assay, tmp_path: Path):
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    rows = [
        {"instance_id": f"i{at}", "repo": repo, "base_commit": "c1", "problem_statement": "it fails", "patch": patch}
        for at, repo in enumerate(("o/a", "o/b", "o/a"))
    ]
    file, parts = write_lines(tmp_path / "test.jsonl", rows), tmp_path / "parts"
    assert assay("truth", "convert", file, parts, "--split").status == 0
    assert sorted(path.name for path in parts.iterdir()) == ["o__a-c1.jsonl", "o__b-c1.jsonl"]
    assert "2 queries" in assay("truth", "check", parts / "o__a-c1.jsonl").out
    assert assay("truth", "convert", file, file, "--split").status == 2


def test_an_audit_counts_findings_with_examples_and_collapses_twins(assay, project: Path, tmp_path: Path):
    folder, out = tmp_path / "set", tmp_path / "out.jsonl"
    (folder / "qrels").mkdir(parents=True)
    texts = {"a": AREA, "b": AREA, "c": "def add(x, y): return x + y", "d": AREA.replace("None", "0")}
    write_lines(folder / "corpus.jsonl", ({"_id": name, "title": "", "text": text} for name, text in texts.items()))
    queries = {"1": "compute the area of a rectangle", "2": "add two numbers", "3": "install numpy quickly"}
    write_lines(folder / "queries.jsonl", ({"_id": name, "text": text} for name, text in queries.items()))
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t1\n3\tc\t0\n")
    ran = assay("truth", "audit", folder)
    assert ran.status == 1, ran.err
    assert ran.out.startswith("set: 3 queries, 4 judgments, 4 documents\ngrades   0: 2  1: 2\n")
    assert "        1 of 4 (25.0%)  texts that equal an earlier one\n          a = b\n" in ran.out
    assert "equal texts judged differently for one query\n          1: a=1 b=0\n" in ran.out
    assert ran.out.index("findings") < ran.out.index("hints: none")
    told = json.loads(assay("truth", "audit", folder, "--format", "json", "--examples", "0").out)
    counts = {finding["name"]: finding["count"] for finding in told["findings"]}
    assert counts["equal texts"] == counts["unanswered queries"] == 1
    assert not any(finding["examples"] for finding in told["findings"])
    ran = assay("truth", "audit", folder, "--collapse", out, "-v")
    assert f"4 documents made 3, written to {out}\n" in ran.out
    assert "1: a (its twin b) is judged 1 and 0; 1 stays\n" in ran.out
    again = json.loads(assay("truth", "audit", out, "--format", "json").out)
    assert again["documents"] == 3
    assert not {finding["name"] for finding in again["findings"]} & {"equal texts", "twins judged differently"}
    (tmp_path / "clean.csv").write_text("query,result1\ndeliver a message again when busy,mail/send.py:6-12:2\n")
    for options in ([], ["--corpus", project]):
        ran = assay("truth", "audit", tmp_path / "clean.csv", *options)
        assert (ran.status, "findings: none" in ran.out) == (0, True), ran.err


@pytest.mark.usefixtures("truth")
def test_a_mistake_is_refused_in_one_line(refuses):
    Path("quick.run").write_text("1 Q0 mail/address.py:11-13 1 9 q\n")
    refuses([
        ("truth audit none.csv", "none.csv"),
        ("truth audit set.csv --collapse out.jsonl", "no documents to merge"),
        ("truth audit set.csv --corpus nowhere", "is not a folder"),
        ("truth audit set.csv --from csvv", "unknown format"),
        ("truth mine nowhere", "is not a folder"),
        ("truth mine https://example.org/a/b.git", "clone it with all its history"),
        ("truth mine postbox --at nothing", "has no commit nothing"),
        ("truth mine postbox --out a.what", "does not say what format"),
        ("truth mine postbox --limit 0", "--limit"),
        ("truth mine postbox --from dreams", "dreams"),
    ])  # fmt: skip
    assert not Path("out.jsonl").exists()


def test_mined_questions_read_back(assay, refuses, project: Path, checkout: str):
    send = project / "mail" / "send.py"
    send.write_text(send.read_text().replace("2**attempt", "3**attempt"))
    git(project, *WHO, "commit", "-qam", "Wait longer between deliveries")
    ran = assay(*"truth mine postbox --from history --out none.jsonl --at HEAD".split())
    assert (ran.status, "no commit after the pin" in ran.err, Path("none.jsonl").exists()) == (1, True, False)
    ran = assay("truth", "mine", project, "--out", "post.jsonl", "--at", checkout)
    assert ran.status == 0
    assert ran.out.startswith("written to post.jsonl\n")
    assert "history: 1 query (1 hard)" in ran.out
    found = read(Path("post.jsonl")).truth
    assert (found.commit, bool(found.hidden)) == (checkout, True)
    assert {query.tags["source"] for query in found.queries} == {"history", "docs"}
    refuses([("truth mine postbox --from docs --out post.csv", "--lossy")], lines=9)
    assert not Path("post.csv").exists()
    ran = assay(*"truth mine postbox --from docs --out post.csv --lossy".split())
    assert (ran.status, "dropped: " in ran.err) == (0, True)
    assert read(Path("post.csv")).truth.queries


@pytest.mark.usefixtures("checkout")
def test_messages_and_names_are_mined_on_request(assay, project: Path):
    (project / "mail" / "limits.py").write_text(
        '''def check_limit(size, most):
    """Say whether a message is small enough."""

    def over():
        """Return how much there is too much."""
        return size - most

    if size > most:
        raise ValueError(f"message of {size} bytes is too large, by {over()}")
'''
    )
    git(project, "add", "-A")
    git(project, *WHO, "commit", "-qm", "limits")
    ran = assay(*"truth mine postbox --from messages --from names --out typed.jsonl".split())
    assert (ran.status, " left out: documentation\n" in ran.out) == (0, True)
    found = read(Path("typed.jsonl")).truth
    answers = {each.query_id: each.target for each in found.judgments}
    asked = {query.text: answers[query.id] for query in found.queries}
    assert asked["check_limit"] == "mail/limits.py:1-9"
    [message] = [text for text, place in asked.items() if place == "mail/limits.py:9"]
    assert message.startswith("message of ")
    assert "{" not in message
    assert not [text for text in asked if "small enough" in text or "too much" in text]
