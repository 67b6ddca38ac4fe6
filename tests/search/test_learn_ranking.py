"""A ranking is learned from judged queries: what an example is, what training writes, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")


from assay.errors import InputError
from assay.measure.line_spans import Entry, Span
from assay.search.features import FEATURES
from assay.search.hybrid import LearnedSearcher
from assay.search.ranking import load_ranking
from assay.train.ranking import cross_validated, train_all
from assay.train.ranking_examples import gather, judged_queries, worth_of
from assay.train.ranking_figures import measured
from assay.train.settings import RankingSettings
from assay.values import Query
from git_repositories import WHO, git

SMALL = RankingSettings(encoder="hash:64", steps=5, seeds=1, hidden_code=2)


@pytest.fixture(scope="module")
def queries(judged):
    return judged_queries(*judged)


@pytest.fixture(scope="module")
def examples(judged, queries, encoder):
    notes = []
    found = gather(queries, judged[1], encoder, frozenset, notes.append)
    assert any("zoo: 3 chunks" in note for note in notes)
    return found


@pytest.fixture(scope="module")
def trained(examples, tmp_path_factory):
    """Return where a ranking was written, and what was learned and measured."""
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, train_all(examples, out, SMALL, print)


def test_candidates_are_right_where_an_answer_is_and_each_query_is_put_to_a_foreign_repository(queries, examples):
    assert {one.repository for one in queries} == {"mail", "shop", "zoo"}
    assert {one.repository for one in queries if one.query.mode == "docs"} == {"mail", "shop"}
    for example in examples.own:
        assert len(example.rows) == len(example.spans) == len(example.targets)
        right = {span.path for span, target in zip(example.spans, example.targets, strict=True) if target}
        assert right <= {entry.span.path for entry in example.judged.entries}
    assert any(example.targets.any() for example in examples.own)
    asked, foreign = ([one.judged.query.text for one in some] for some in (examples.own, examples.foreign))
    assert sorted(asked) == sorted(foreign)
    assert not any(one.targets.any() for one in examples.foreign)
    code, docs = examples.of("code"), examples.of("docs")
    assert len(code.own) + len(docs.own) == len(examples.own)
    assert {one.judged.query.mode for one in docs.own} == {"docs"}


def test_a_question_about_all_of_a_repository_is_an_example_of_each_side(judged, encoder):
    (first, *others), checkouts = judged
    both = first.with_name("mail_both.csv")
    both.write_text("query,kind,writer,result1,result2\nbusy server,standard,A,send.py:1-3:2,README.md:1-3:2\n")
    queries = judged_queries([first, both, *others], checkouts)
    (asked,) = (one for one in queries if one.query.text == "busy server")
    assert (asked.repository, asked.query.mode, asked.group) == ("mail", "all", "writer A")
    examples = gather(queries, checkouts, encoder, frozenset, print).own
    sides = [one for one in examples if one.judged.query.text == "busy server"]
    found = [(one.ranking, {span.path for span in one.spans}) for one in sides]
    assert found == [("code", {"send.py"}), ("docs", {"README.md"})]
    assert all(one.targets.any() for one in sides)
    assert {one.judged.group for one in examples} == {"mail", "shop", "zoo", "writer A"}


def test_long_chunks_do_not_pay():
    for answers, target in (
        ([Entry(Span("a.py", 11, 20), 2)], 2.0), ([Entry(Span("a.py", 1, 100), 2)], 2.0), ([], 0.0),
        ([Entry(Span("a.py"), 1)], 1.0), ([Entry(Span("a.py", 20, 40), 1)], 0.1**0.5),
        ([Entry(Span("a.py", 1, 11), 2), Entry(Span("a.py", 11, 15), 1)], 2 * 0.5**0.5),
        ([Entry(Span("a.py", 11, 20), 0)], 0.0),
        ([Entry(Span("b.py", 11, 20), 2), Entry(Span("a.py", 21, 30), 2)], 0.0),
    ):  # fmt: skip
        assert worth_of(Span("a.py", 11, 20), answers) == pytest.approx(target), answers


def test_truths_that_nothing_can_be_learned_from_are_refused(judged, examples, tmp_path: Path):
    truths, checkouts = judged
    with pytest.raises(InputError, match=r"names the repository 'mail', and there is no folder"):
        judged_queries(truths, tmp_path / "elsewhere")
    moved = shutil.copytree(checkouts, tmp_path / "checkouts")
    (moved / "zoo" / "animals.py").write_text("one = 1\n")
    with pytest.raises(InputError, match=r"zoo\.csv:3: .*the file ends at line 1.*\(\d such targets in 'zoo\.csv'\)"):
        judged_queries(truths, moved)
    with pytest.raises(InputError, match="judged queries of 'zoo' alone; give the ground truths of two"):
        judged_queries([file for file in truths if file.stem == "zoo"], checkouts)
    one = [example for example in examples.own if example.judged.repository == "zoo"]
    with pytest.raises(InputError, match="the code queries are all of 'zoo': give those of a second repository"):
        cross_validated(one, "code", SMALL)
    with pytest.raises(InputError, match="setting 'folds' is 1; wanted 2 or more"):
        RankingSettings(folds=1)


def test_what_is_trained_can_be_searched_with_and_says_how_it_came_about(trained, snapshot_of, encoder):
    out, (code, docs) = trained
    assert (code.name, docs.name) == ("code", "docs")
    files = {"README.md", "code.json", "docs.json", "functions.json", "manifest.json"}
    assert {file.name for file in out.iterdir()} == files
    stored = load_ranking("code", out, reads_order=False)
    assert stored.first.hidden.shape[1] == 2
    assert stored.second.linear == pytest.approx(code.ranking.second.linear, abs=1e-4)
    assert 0 < stored.floor < 1
    assert LearnedSearcher(snapshot_of([]), encoder, weights=out).search([Query("1", "retry")], 1) == [[]]
    page = (out / "README.md").read_text("utf-8")
    assert f"### code: {code.queries} queries of 3 repositories" in page
    assert f"| MRR | {code.figures[1].value:.3f} |" in page
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["settings"]["steps"] == 5
    assert manifest["corpus"]


def test_a_second_run_writes_the_same_and_a_name_without_queries_keeps_the_weights_that_ship(
    trained, examples, tmp_path: Path
):
    before, out = trained[0], tmp_path / "out"
    (only,) = train_all(examples.of("code"), out, SMALL, print)
    assert only.name == "code"
    assert (out / "code.json").read_bytes() == (before / "code.json").read_bytes()
    assert load_ranking("docs", out, reads_order=False).scale == load_ranking("docs", reads_order=False).scale
    assert load_ranking("code", out, reads_order=False).scale != load_ranking("code", reads_order=False).scale


def test_every_third_query_is_asked_without_a_history(judged, encoder, tmp_path: Path):
    truths, checkouts = judged
    moved = shutil.copytree(checkouts, tmp_path / "checkouts")
    git(moved / "mail", "init", "--quiet")
    queries = [one for one in judged_queries(truths, moved) if one.query.mode == "code"]
    for one in queries:  # each asks what a commit says
        (moved / "mail" / "notes.txt").write_text(one.query.text)
        git(moved / "mail", "add", "--all")
        git(moved / "mail", *WHO, "commit", "--quiet", "-m", one.query.text)
    first = next(one for one in queries if one.repository == "mail")
    mail = [first] * 6 + [one for one in queries if one.repository != "mail"]
    own = gather(mail, moved, encoder, frozenset, print).of("code").own
    votes = [one.rows[:, FEATURES.index("file_votes")].any() for one in own if one.judged.repository == "mail"]
    assert votes == [True, True, False] * 2


def test_what_commits_ask_is_learned_from_and_not_measured(examples, judged, tmp_path: Path):
    truths, checkouts = judged
    first = {"type": "truth", "format": 1, "name": "zoo", "commit": "0" * 40}
    tags = {"source": "history", "commit": "1" * 12}
    rows = [first, {"type": "query", "id": "q", "text": "feed the animals", "mode": "code", "tags": tags}]
    rows += [{"type": "query", "id": "r", "text": "count them", "mode": "code", "tags": {**tags, "commit": "2" * 12}}]
    rows += [{"type": "judgment", "query_id": each, "target": "animals.py", "grade": 2} for each in "qr"]
    (tmp_path / "zoo.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mined = [one for one in judged_queries([*truths, tmp_path / "zoo.jsonl"], checkouts) if one.is_mined]
    assert [one.query.text for one in mined] == ["feed the animals", "count them"]
    code = examples.of("code")
    tagged = {**code.own[0].judged.query.tags, "source": "history"}
    asked = replace(code.own[0].judged, query=replace(code.own[0].judged.query, tags=tagged))
    both = replace(code, own=(*code.own, replace(code.own[0], judged=asked)))
    (trained,) = train_all(both, tmp_path / "out", SMALL, print)
    assert (trained.queries, trained.mined) == (len(code.own), 1)
    assert "repositories, and 1 that commits ask" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_each_query_is_scored_by_weights_that_did_not_see_its_repository(examples):
    """Poisoning the targets of one repository changes the scores of the others, never its own."""
    own = examples.of("code").own
    poisoned = [
        replace(one, targets=one.targets[::-1].copy()) if one.judged.repository == "zoo" else one for one in own
    ]
    before, after = (cross_validated(some, "code", SMALL) for some in (own, poisoned))
    for one, other in zip(before, after, strict=True):
        same = sorted(one.scores.tolist()) == pytest.approx(sorted(other.scores.tolist()), abs=1e-6)
        assert same == (one.example.judged.repository == "zoo")
    values = measured(before)
    assert set(values) == {"Hit@5", "MRR", "nDCG@10", "lines@5", "hard Hit@5"}
    assert all(((one >= 0) & (one <= 1)).all() for name, one in values.items() if name != "lines@5")
    assert len(values["hard Hit@5"]) == 1
