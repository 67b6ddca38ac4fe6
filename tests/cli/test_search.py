"""`assay search`: what it prints in each form, what its options do, what it says beside its answer."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from itertools import product
from pathlib import Path

import pytest

from assay.operations.hits import Answer, FoundUnit
from endpoint_server import Play, serving
from git_repositories import repository


def text_of(root: Path, hit: dict) -> str:
    """Return what stands at the place of a hit."""
    lines = (root / hit["path"]).read_text().splitlines(keepends=True)
    return "".join(lines[hit["start_line"] - 1 : hit["end_line"]])


def test_a_question_finds_the_function_that_answers_it(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    ran = assay("search", "where is mail sent again when the server is busy", project, "--explain")
    assert ran.status == 0
    assert ran.out.splitlines()[0] == f"{project}/mail/send.py:6  function send_mail"
    assert '    7      """Deliver a message, trying again when the server is busy."""' in ran.out
    assert "    score " in ran.out
    monkeypatch.chdir(project)
    ran = assay("search", "send_mail")
    assert ran.out.startswith("mail/send.py:6  function send_mail\n")  # where one stands
    assert "    score " not in ran.out


def test_json_is_one_object_of_the_documented_shape(assay, project: Path):
    answer = json.loads(assay("search", "send mail", project, "--format", "json", "--explain").out)
    assert list(answer) == [each.name for each in fields(Answer)]
    assert (answer["root"], answer["relevant"]) == (str(project), True)
    hit = answer["hits"][0]
    assert list(hit) == [each.name for each in fields(FoundUnit)]
    facts = (hit["path"], hit["symbol"], hit["kind"], hit["language"])
    assert facts == ("mail/send.py", "send_mail", "function", "python")
    assert hit["text"] == text_of(project, hit)
    assert hit["score"] > 0
    assert hit["why"]


def test_each_json_line_of_nonsense_is_marked_as_not_relevant(assay, project: Path):
    ran = assay("search", "xylophone zebra quantum", project, "--format", "jsonl")
    assert (ran.status, ran.err) == (1, "assay: probably nothing relevant here; these are only the nearest\n")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [(list(row)[:2], row["relevant"]) for row in rows] == [(["path", "relevant"], False)] * len(rows)


def test_editors_and_people_get_the_same_line(assay, project: Path):
    words = " ".join(f"word{number}" for number in range(60))
    body = "\n".join(f"    # line {number}\n    x{number} = {number}" for number in range(40))
    (project / "long.py").write_text(f"def long_one():\n{body}\n    # the mailbox is full: {words}\n    return 1\n")
    question = ("search", "mailbox is full", project, "--limit", "5")
    hits, _, _ = assay(*question).out.partition("\nDocumentation\n")
    shown = re.findall(r"^(/.+?:\d+)  ", hits, re.MULTILINE)
    places = [":".join(row.split(":")[:2]) for row in assay(*question, "--format", "vimgrep").out.splitlines()]
    assert (len(places) > 1, places) == (True, shown)


NOTES = {
    "where is mail delivred": ("spelling corrected: 'where is mail delivered'\n", True),
    "wo wird die Nachricht verschickt, wenn der Server antwortet": ("read as German: 'wo message sent, server", True),
    "메일은 어디서 보내나요": ("questions in Korean are not read: ask in English, Chinese, French", False),
    'where is "zebra crossing" sent': ('no searched text contains "zebra crossing" exactly', False),
    '"send_mail"': ("assay grep lists them", True),
}


@pytest.mark.parametrize("question", NOTES)
def test_how_a_question_was_read_is_noted(assay, project: Path, question: str):
    said, relevant = NOTES[question]
    ran = assay("search", question, project)
    assert said in ran.err
    answer = json.loads(assay("search", question, project, "--format", "json").out)
    assert (answer["relevant"], ran.status) == (relevant, int(not relevant))
    assert (answer["corrected"] != []) == said.startswith(("spelling", "read as"))
    assert not assay("search", "where is mail delivered", project, "-k", "5").err


def away() -> str:
    """Return the spec of a reranker at an address where nobody listens."""
    return "search.reranker=rerank:m@http://127.0.0.1:1/v1"


def test_a_reranker_orders_the_hits(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    with serving() as server:
        monkeypatch.setenv("ASSAY_API_BASE", server.base)
        question = ("search", "seconds mailbox", project, "--mode", "all", "--format", "json", "--explain")
        ran = assay(*question, "--set", "search.reranker=rerank:m")
    answer = json.loads(ran.out)
    assert ran.err == ""
    assert answer["notes"] == []
    assert [set(hit["why"]) <= {"reranker"} for hit in answer["hits"]] == [True] * len(answer["hits"])
    assert len(server.questions) == 1


def test_without_its_reranker_an_answer_has_a_note(assay, project: Path):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    question = ("search", "where is mail sent", project)
    plain, ran = assay(*question), assay(*question, "--set", away())
    assert (ran.status, ran.out) == (0, plain.out)
    note = "not reranked by 'rerank:m@http://127.0.0.1:1/v1': http://127.0.0.1:1/v1/rerank failed 2 times"
    assert ran.err.startswith(f"assay: {note}")
    (said,) = json.loads(assay(*question, "--set", away(), "--format", "json").out)["notes"]
    assert (said.startswith(note), said.endswith("leave search.reranker empty")) == (True, True)
    nonsense = assay("search", "xylophone zebra quantum", project, "--set", away())
    assert (nonsense.status, "nothing relevant here" in nonsense.err) == (1, True)
    with serving(lambda _: Play(body=b'{"results": []}')) as server:
        ran = assay("search", "mail", project, "--set", f"search.reranker=rerank:m@{server.base}")
    assert (ran.status, ran.out, "rerank:m" in ran.err) == (2, "", True)
    assert "scored 0 texts, not each of the" in ran.err


def test_lines_are_chosen_by_the_words_that_were_searched_for(assay, project: Path):
    rows = "".join(f"    x{number} = {number}\n" for number in range(30))
    (project / "long.py").write_text(f"def long_one():\n{rows}    password = check(1)\n    return 1\n")
    ran = assay("search", "wo wird das Passwort überprüft", project, "--limit", "3")
    assert "password = check(1)" in ran.out


def test_without_a_writable_cache_the_index_is_in_memory(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    ran = assay("search", "send_mail", project, "-k", "5")
    assert (ran.status, ran.err.count("\n")) == (0, 1), ran.err
    assert ran.out.startswith(f"{project}/mail/send.py:6  function send_mail\n")
    assert "give another place with --index; until then each index is built in memory" in ran.err
    kept = assay("index", project)
    assert (kept.status, "give another place with --index" in kept.err) == (2, True), "an index in memory is none"


def test_the_limit_is_that_of_the_option_then_the_file(assay, project: Path):
    def count(*arguments: str) -> int:
        return assay("search", "mail server message", project, "--format", "jsonl", *arguments).out.count("\n")

    assert count() > 2
    assert count("-k", "1") == 1
    assert count("--set", "search.limit=2") == 2
    (project / "assay.toml").write_text("[search]\nlimit = 1\n")
    assert count() == 1
    assert count("-k", "2") == 2


def test_a_budget_is_kept_in_whole_lines(assay, project: Path):
    for form, budget in product(("text", "json", "jsonl"), ("600", "800", "3000")):
        ran = assay("search", "send mail", project, "--format", form, "--budget", budget)
        assert 0 < len(ran.out) / 3 <= int(budget), (form, budget)
        for hit in map(json.loads, ran.out.splitlines() if form == "jsonl" else ()):
            if "matches" not in hit:
                assert hit["text"].rstrip("\n") == text_of(project, hit).rstrip("\n")


BOX = "class Box:\n" + "".join(
    f'    def drop_{name}(self):\n        """Drop the parcel at the {name}."""\n        return [{number}] * 9\n\n'
    for number, name in enumerate(("door", "gate", "desk", "shed", "roof"))
)


def test_members_and_overloads_of_one_type_are_one_entry_of_text(assay, project: Path):
    (project / "box.py").write_text(BOX + "\n    filler = 1\n" * 40)
    question = ("search", "drop the parcel", project, "-k", "10")
    rows = assay(*question).out.splitlines()
    assert sum("box.py:" in row for row in rows) == 1
    (more,) = [row.strip() for row in rows if row.strip().startswith("+")]
    assert re.fullmatch(r"\+\d in Box: (\w+:\d+, )+\w+:\d+", more)
    for flat in (("--no-group",), ("--format", "vimgrep")):
        assert assay(*question, *flat).out.count("box.py:") > 4, flat
    assert assay(*question, "--format", "json").out.count('"box.py"') > 4
    body = "".join(f"    parcel.mark({number});\n" for number in range(20))
    methods = "".join(f"  int drop({kind} parcel) {{\n{body}    return 1;\n  }}\n" for kind in ("A", "B", "C"))
    (project / "Bag.java").write_text(f"class Bag {{\n{methods}}}\n")
    question = ("search", "Bag.drop", project, "--kind", "method")
    others = json.loads(assay(*question, "--format", "json").out)["hits"][0]["others"]
    assert [(place["path"], place["symbol"]) for place in others] == [("Bag.java", "drop")] * 2
    assert " more of drop at lines " in assay(*question).out


def test_files_are_listed_with_their_best_places(assay, project: Path):
    question = ("search", "deliver mail to the mailbox", project, "--by", "file")
    out = assay(*question).out
    paths = [row for row in out.splitlines() if row.startswith("/")]
    assert len(set(paths)) == len(paths) > 1
    assert f"{project}/mail/send.py\n     6  function send_mail\n" in out
    rows = [json.loads(row) for row in assay(*question, "--format", "jsonl").out.splitlines()]
    assert [f"{project}/{row['path']}" for row in rows] == paths
    assert all(1 <= len(row["places"]) <= 3 for row in rows)
    assert list(rows[0]["places"][0])[:5] == ["start_line", "end_line", "score", "symbol", "kind"]
    assert len(assay(*question, "--limit", "1", "--format", "jsonl").out.splitlines()) == 1
    assert len(assay(*question, "--budget", "60").out) < 60 * 3
    assert "a budget of 3 tokens is too small for the best file" in assay(*question, "--budget", "3").err
    refused = assay(*question, "--format", "vimgrep")
    assert (refused.status, "--by file has no --format vimgrep: use text or jsonl" in refused.err) == (2, True)


def test_a_query_may_come_from_standard_input(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"send_mail \xff")))
    assert assay("search", "-").out.startswith("mail/send.py:6  function send_mail\n")
    end = b'Traceback (most recent call last):\n  File "x.py", line 1\nMailError: send_mail: server is busy\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"compiled web/router.js\n" * 1000 + end)))
    ran = assay("search", "-")
    assert ran.out.startswith("mail/send.py:6  function send_mail\n")
    assert f"only {len(end)} are searched, from 'Traceback (most recent call last):' on" in ran.err


def test_less_likely_places_are_left_out_of_text_and_counted(assay, project: Path):
    few, every = (assay("search", "send_mail", project, "--detail", "names", *more) for more in ((), ("-k", "10")))
    rows = every.out.splitlines()
    assert rows[0] == f"{project}/mail/send.py:6  function send_mail  def send_mail(server, message, attempts=3)"
    assert 3 == few.out.count("\n") < len(rows)
    assert few.err == f"assay: {len(rows) - 3} less likely places not shown; --limit 10 shows all\n"
    assert not every.err


def test_a_file_is_searched_alone_in_the_index_around_it(assay, project: Path, monkeypatch: pytest.MonkeyPatch):
    assay("index", project)
    monkeypatch.chdir(project / "mail")
    rows = [json.loads(row) for row in assay("search", "mail", "send.py", "--format", "jsonl").out.splitlines()]
    assert {row["path"] for row in rows} == {"mail/send.py"}
    assert assay("search", "send_mail", "send.py").out.startswith("../mail/send.py:6  function send_mail\n")


def test_a_git_url_is_searched_like_a_folder(assay, project: Path, tmp_path: Path):
    origin = repository(tmp_path / "origin", {"mail/send.py": (project / "mail" / "send.py").read_text()})
    ran = assay("search", "send_mail", origin.as_uri())
    assert (ran.status, "/mail/send.py:6  function send_mail\n" in ran.out) == (0, True)


def test_a_search_sees_changes_unless_no_refresh_is_given(assay, project: Path):
    assert "parse_header" not in assay("search", "parse_header", project).out
    (project / "mail" / "header.py").write_text("def parse_header(line):\n    return line.split(':')\n")
    assert "parse_header" not in assay("search", "parse_header", project, "--no-refresh").out
    assert "mail/header.py:1  function parse_header" in assay("search", "parse_header", project).out


def test_a_name_of_any_bytes_can_be_printed(project: Path):
    (project / os.fsdecode(b"m\xe4il.py")).write_text("def unusual_name_here():\n    return 1\n")
    for form in ("text", "json"):
        command = [sys.executable, "-m", "assay", "search", "unusual_name_here", "--format", form]
        done = subprocess.run(command, cwd=project, capture_output=True, check=False)
        assert (done.returncode, "il.py" in done.stdout.decode("utf-8")) == (0, True), done.stderr


def test_query_words_filter_and_one_with_a_minus_may_stand_alone(assay, project: Path):
    ran = assay("search", "sym:send_mail", project, "--format", "jsonl")
    assert json.loads(ran.out.splitlines()[0])["symbol"] == "send_mail"
    found = json.loads(assay("search", "/def \\w+/ lang:py -file:tests", project, "--format", "json").out)
    assert {hit["language"] for hit in found["hits"]} == {"python"}
    assert found["matches"] >= found["matched_files"] > 0
    assert assay("search", '"zebra crossing"', project).status == 1
    ran = assay("search", "send mail", "-file:mail", project, "-lang:js,md", "--format", "jsonl")
    assert ran == assay("search", "send mail -file:mail -lang:js,md", project, "--format", "jsonl")


def test_letters_and_their_accents_are_found_however_they_are_written(assay, project, monkeypatch):
    monkeypatch.chdir(project)
    forms = {"one": "caf\u00e9", "two": "cafe\u0301"}
    for form, other in (("one", "two"), ("two", "one")):
        Path(f"{form}.py").write_text(f"def {forms[form]}_{form}():\n    return 1\n")
        Path(f"{form}.md").write_text(f"# {forms[form]} {form}\n\nWhere it opens.\n")
        typed = f"{forms[other]}_{form}"
        assert assay("search", typed).out.startswith(f"{form}.py:1"), form
        assert assay("search", f"sym:{typed}").out.startswith(f"{form}.py:1"), form
        assert assay("read", f"{form}.py", "--name", typed).status == 0
        assert assay("search", f"{forms[other]} {form}", "--mode", "docs").out.startswith(f"{form}.md:1"), form
        assert assay("search", f'"{forms[form]}_{form}"').out.startswith(f"{form}.py:1"), form


def test_matching_files_that_are_not_indexed_are_named_once(assay, project, monkeypatch):
    monkeypatch.chdir(project)
    Path("library.min.js").write_text("var zebraStripes=1;" * 900)
    Path("made.py").write_text("# Code generated by a tool. DO NOT EDIT.\nzebraStripes = 2\n")
    Path("large.csv").write_bytes(b"a,b\n" * 300_000 + "zebraStripes,größe".encode("cp1252"))
    named = "3 files that match are not indexed: large.csv (1.2 MB), library.min.js (minified), made.py (generated)"
    for question in ("zebraStripes", '"zebraStripes"'):
        ran = assay("search", question)
        assert ran.err.count("not indexed") == 1, question
        assert f"{named}; assay grep reads them" in ran.err
    notes = json.loads(assay("search", '"zebraStripes"', "--format", "json").out)["notes"]
    assert sum(note.startswith(named) for note in notes) == 1
    assert "1 file that matches is not indexed: large.csv" in assay("search", '"größe"').err
    for question in ("send_mail", "where is zebraStripes", '"nothing of the kind"', "mail"):
        assert "not indexed" not in assay("search", question).err, question


def test_quoted_text_is_found_in_files_of_other_encodings(assay, project, monkeypatch):
    monkeypatch.chdir(project)
    for name, comment, encoding in (("two.h", "取得用户信息", "gbk"), ("six.py", "領収書", "utf-16-be")):
        mark = "#" if name.endswith("py") else "//"
        Path(name).write_bytes(f"\n{mark} {comment}\nint rest(int a);\n".encode(encoding))
        for question in (f'"{comment[:4]}"', f"/{comment[:2]}./"):
            ran = assay("search", question)
            assert (ran.status, ran.out.startswith(f"{name}:")) == (0, True), question
        assert assay("grep", "-l", comment[1:4]).out == f"{name}\n", name
