"""What is measured: the matrix of sets and systems, what of it cannot be, and labels of what nobody judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import log2
from pathlib import Path

import pytest

from assay.bench import experiment, matrix, results_file
from assay.bench.answer_runs import SystemAnswer
from assay.bench.bench_report import caveats, overview_of, report_of
from assay.bench.experiment import Setting, run
from assay.bench.matrix import MEASURES, BenchPlan, SetSpec, SystemSpec, measures_of
from assay.bench.query_sets import Pairs, Prepared, Unseen, UnseenLabels, judge_unseen, prepare
from assay.bench.system import SystemCorpus
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.report.document import as_json_text
from assay.report.plain_text import as_markdown
from assay.values import Judgment

SET = "[sets.a]\ntruth = 'a.csv'\n"
WHOLE = """
k = 30
seed = 7
timeout_s = 5
measures = ["MRR", "ndcg@10"]

[sets.click]
truth = "truth/click.csv"
corpus = "$CHECKOUTS/click"
role = "dev"
published."ndcg@10" = { other = 0.5 }
commit = "b1771ba"
kinds.hard = "2-3"

[sets.own]
mine = "."

[systems.plain]
spec = "assay"
search.limit = 10
encoder.spec = "static:default"

[systems.grep]
spec = "cmd:rg {regex} {corpus}"
merge = 10

[variants.words]
search.ranking = "keywords"

[variants.paid]
needs = "SOME_KEY"
chosen_on = "test"
encoder.spec = "api:model"

[variants.wide]
base = "grep"
merge = 50
"""


def load(tmp_path: Path, text: str) -> matrix.BenchPlan:
    file = tmp_path / "matrix.toml"
    file.write_text(text)
    return matrix.load(file)


def test_a_matrix_names_sets_systems_and_variants_of_the_keys_that_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CHECKOUTS", "/repos")
    plan = load(tmp_path, WHOLE)
    assert (plan.k, plan.seed, plan.timeout_s) == (30, 7, 5.0)
    assert [str(measure) for measure in plan.measures] == ["MRR", "nDCG@10"]
    click, own = plan.sets
    assert (click.truth, click.corpus, click.role) == (tmp_path / "truth/click.csv", Path("/repos/click"), "dev")
    assert (own.truth, own.corpus) == (None, tmp_path)
    assert (click.published, own.published) == ({"nDCG@10": {"other": 0.5}}, {})
    assert (click.commit, click.kinds, own.kinds) == ("b1771ba", {"hard": range(2, 4)}, {})
    systems = {system.name: system for system in plan.systems}
    assert list(systems) == ["plain", "grep", "words", "paid", "wide"]
    plain = {"search": {"limit": 10}, "encoder": {"spec": "static:default"}}
    assert systems["plain"] == SystemSpec("plain", "assay", plain)
    assert systems["words"].options == {**plain, "search": {"limit": 10, "ranking": "keywords"}}
    assert systems["paid"].options == {**plain, "encoder": {"spec": "api:model"}}
    assert (systems["paid"].base, systems["paid"].needs, systems["paid"].chosen_on) == ("plain", "SOME_KEY", "test")
    assert (systems["wide"].base, systems["wide"].options) == ("grep", {"merge": 50})


def test_what_is_left_out_has_a_default_and_only_keeps_what_matches(tmp_path: Path):
    plan = load(tmp_path, SET)
    assert tuple(map(str, plan.measures)) == MEASURES
    assert (plan.k, [system.name for system in plan.systems]) == (20, ["assay"])
    plan = load(tmp_path, f"{SET}[variants.v]\nsearch.limit = 3\n")
    assert [system.name for system in plan.systems] == ["assay", "v"]
    text = "[systems.x]\nspec='bm25'\nthreshold=0.5\n[variants.y]\nk1=1.5\n[variants.z]\nthreshold=2\n"
    plan = load(tmp_path, f"all_pairs = true\n{SET}{text}")
    assert [each.threshold for each in plan.systems] == [0.5, 0.5, 2], "that of its base unless it names one"
    assert (plan.systems[2].options, plan.all_pairs) == ({}, True)
    plan = load(tmp_path, f"{SET}[variants.rerank]\n[variants.rerank_wide]\n[variants.graph]\n")
    assert plan.only(["rerank"]).asked == {"rerank", "rerank_wide"}
    assert plan.only(["rerank?", "gr*"]).asked == {"graph"}
    assert plan.only(["rerank"]).systems == plan.systems  # the others are shown as they answered before
    assert plan.only([]) == plan
    with pytest.raises(InputError, match="no system is called like 'grpah'; did you mean 'graph'"):
        plan.only(["grpah"])


BASE = f"{SET}[systems.x]\nspec='bm25'\n"
WRONG = [
    ("", "names no set of queries"),
    ("[sets.a]\n", "wants either truth = 'FILE' or mine = 'FOLDER'"),
    ("[sets.a]\ntruth = 'a'\nmine = 'b'\n", "wants either"),
    ("[sets.a]\ntruht = 'a'\n", "unknown key 'truht' in .sets.a. of .*; did you mean 'truth'"),
    ("[sets.a]\ntruth = 3\n", "'truth' in .sets.a. of .* is 3, wanted text"),
    ("[sets.a]\ntruth = 'a'\nrole = 'train'\n", "'role' in .sets.a. of .* is 'train'; known: dev, test"),
    ("[sets.a]\ntruth = 'a'\npublished.MRR = { x = '1' }\n", "'published' in .sets.a. of .*: MRR.x is '1', wanted a"),
    ("[sets.a]\ntruth = 'a'\nkinds.hard = '9'\n", "'kinds' in .sets.a. of .*: '9', wanted rows such as"),
    ("[sets.a]\ntruth = 'a'\npublished.MRT = { x = 1 }\n", "'published' in .*: unknown measure 'MRT'; did you mean"),
    ("sets = 3\n", "'sets' in .* is 3, wanted an object"),
    ("[sest.a]\ntruth = 'a'\n", "unknown key 'sest'"),
    (f"k = 0\n{SET}", "'k' in .* is 0, wanted a whole number of at least 1"),
    (f"k = true\n{SET}", "'k' in .* is true"),
    (f"k = nan\n{SET}", "'k' in .* is nan, wanted a whole number"),
    (f"k = 0.5\n{SET}", "'k' in .* is 0.5, wanted a whole number"),
    (f"k = {'9' * 30}\n{SET}", "'k' in .* wanted a whole number"),
    (f"k = {'9' * 5000}\n{SET}", "not TOML"),
    (f"timeout_s = inf\n{SET}", "'timeout_s' in .* is inf"),
    (f"timeout_s = nan\n{SET}", "'timeout_s' in .* is nan"),
    (f"seed = -1\n{SET}", "'seed' in .* wanted a whole number of at least 0"),
    (f"a = {'[' * 5000}{']' * 5000}\n{SET}", "not TOML"),
    (f"measures = []\n{SET}", "wanted a list"),
    (f"k = 5\nmeasures = ['MRR', 'Hit@9']\n{SET}", "Hit@9 looks at 9 results, and 5 are asked for"),
    (f"measures = ['nDGC@10']\n{SET}", "did you mean 'nDCG@10'"),
    (f"{SET}[systems.x]\n", "has no spec"),
    (f"{SET}[variants.x]\nbase = 'asay'\n", "no system 'asay'; did you mean 'assay'"),
    (f"{BASE}[variants.x]\n", "both a system and a variant"),
    (f"{BASE}[variants.v]\nspec = 5\n", "'spec' in .* wanted text"),
    (f"{BASE}[variants.v]\nbase = [1]\n", "'base' in .* wanted text"),
    (f"{BASE}needs=1\n", "'needs' in .systems.x. of .* is 1, wanted text"),
    (f"{BASE}threshold='a'\n", "'threshold' in .systems.x. of .* is 'a', wanted a number"),
    ("[sets.a]\ntruth = '$NOT_THERE/a'\n", "environment variable NOT_THERE is not set"),
    (f"kind = 'ranking'\n{SET}", "kind in .* is 'ranking', wanted 'retrieval'; assay rank compare reads it"),
    (f"kind = 'any'\n{SET}", "kind in .* is 'any', wanted 'retrieval'"),
    (f"all_pairs = 1\n{SET}", "all_pairs in .* is 1; wanted true or false"),
    ("[sets", "not TOML"),
]


def test_a_wrong_matrix_is_told_where_and_why(tmp_path: Path):
    for text, said in WRONG:
        with pytest.raises(InputError, match=said):
            load(tmp_path, text)
    with pytest.raises(InputError, match="cannot read the matrix"):
        matrix.load(tmp_path / "none.toml")


def test_the_environment_fills_options_but_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MODEL", "small")
    text = f"""{SET}
        [systems.a]
        spec = "http:http://x/$MODEL"
        headers = {{ Authorization = "Bearer $TOKEN" }}
        [systems.b]
        spec = "assay"
        encoder.spec = "onnx:${{MODEL}}"
        [systems.c]
        spec = "dense:hf:$NOT_THERE"
        needs = "NOT_THERE"
        """
    a, b, c = load(tmp_path, text).systems
    assert (a.spec, a.options) == ("http:http://x/small", {"headers": {"Authorization": "Bearer $TOKEN"}})
    assert b.options == {"encoder": {"spec": "onnx:small"}}
    assert c.spec == "dense:hf:$NOT_THERE"  # it will be left out, so nothing has to be known of it
    monkeypatch.setenv("TRUTH", "own.csv")  # relative to where one stands
    monkeypatch.chdir(tmp_path)
    text = "[sets.a]\ntruth = '$TRUTH'\ncorpus = '$HERE/corpus'\n[systems.b]\nspec = 'cmd:$HERE/tool'\n"
    (tmp_path / "m.toml").write_text(text)
    plan = matrix.load(Path("m.toml"))
    assert (plan.sets[0].truth, plan.sets[0].corpus) == (Path("own.csv"), tmp_path / "corpus")
    assert plan.systems[0].spec == f"cmd:{tmp_path.resolve()}/tool"


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    first = "deliver a message again,mail/send.py:6-12:2,mail/gone.py:1-3:1\n"
    second = "is a mailbox valid,mail/address.py:11-13:2,mail/address.py:900-950:1\n"
    (tmp_path / "queries.csv").write_text(f"query,result1,result2\n{first}{second}")
    return tmp_path / "queries.csv"


def measured(truth: Path, project: Path, *names: str, of: tuple[str, ...] = ("q",)):
    said: list[str] = []
    plan = BenchPlan(
        tuple(SetSpec(name, truth, project) for name in of),
        tuple(SystemSpec(name, "bm25") for name in names),
        (parse("MRR"),),
    )
    return experiment.run(plan, experiment.Setting(truth.parent / "out", said.append)), said


def test_names_that_lead_elsewhere_and_sets_of_several_commits_are_refused(truth: Path, project: Path):
    for names in (("rg", "rg"), ("Assay", "assay")):
        with pytest.raises(InputError, match="two systems are called"):
            measured(truth, project, *names)
    for names in (("a", "A"), ("../up",), ("a/b",), ("..",)):
        with pytest.raises(InputError, match=r"two sets are called|a set cannot be called"):
            measured(truth, project, "x", of=names)
    instances = truth.with_name("instances.jsonl")
    about = {"repo": "o/r", "problem_statement": "it fails", "patch": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"}
    rows = [{"instance_id": commit, "base_commit": commit, **about} for commit in ("c1", "c2")]
    instances.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"speaks of 2 commits.*assay truth convert --split"):
        prepare(SetSpec("x", instances, project), truth.parent / "out", print)


def test_a_published_script_finds_paths_by_their_ends_and_counts_targets(tmp_path: Path):
    """Both targets of the first question end in `app.py`, so that one result finds both: semble's script gives .613."""
    for path in ("app.py", "sansio/app.py", "routes.py"):
        (tmp_path / "shop" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / path).write_text("x = 1\n" * 9)
    asked = {
        "apps": ["src/shop/app.py", "src/shop/sansio/app.py"],
        "routes": [{"path": "src/shop/routes.py", "start_line": 4, "end_line": 6}, "src/shop/app.py"],
        "gone": ["src/shop/app.py", "src/shop/gone.py"],
    }
    (tmp_path / "set.json").write_text(json.dumps([{"query": text, "relevant": each} for text, each in asked.items()]))
    (tmp_path / "repos.json").write_text('[{"name": "set", "revision": "c0ffee"}]')
    said: list[str] = []
    ready = prepare(SetSpec("x", tmp_path / "set.json", tmp_path / "shop"), tmp_path / "out", said.append)
    assert said == ["x: its corpus is not a git repository; make sure that it holds commit c0ffee"]
    assert list(map(str, ready.problems)) == ["query 3: no file ends in 'src/shop/gone.py': it is left out"]
    hits = [Span("routes.py", 1, 3), Span("app.py", 1, 2), Span("app.py", 3, 9), Span("routes.py", 6, 9)]
    found = match({"1": hits[1:], "2": hits}, ready.expected.entries, ready.expected.units[0])
    ideal, second, fourth = 1 + 1 / log2(3), 1 / log2(3), 1 / log2(5)
    assert parse("binary-nDCG@10").of(found).tolist() == pytest.approx([1 / ideal, (second + fourth) / ideal])
    assert [str(entry.span) for entry in ready.expected.entries["1"]] == ["app.py", "sansio/app.py"]


@pytest.mark.usefixtures("undrawn")
def test_places_that_the_corpus_does_not_have_are_told(truth: Path, project: Path):
    held, said = measured(truth, project, "x")
    assert [each for each in held.sets["q"].problems if "not found" in each] == [
        "queries.csv:2: mail/gone.py:1-3: no such file in the corpus, so that it counts as not found",
        "queries.csv:3: mail/address.py:900-950: the file ends at line 14; it counts as not found",
    ]
    assert any("mail/gone.py" in each for each in said)
    assert (held.asked, len(held.sets["q"].queries)) == ((("q", "x"),), 2)


UNSEEN_TRUTH = """query,result1
deliver a message,mail/send.py:1-3:1
say whether an address is valid,mail/address.py:2-3:1
"""


class Careful:
    """A judge that has an opinion on some places, and remembers what it was asked."""

    def __init__(self, opinions: Mapping[str, int], stopped: str = "") -> None:
        self.opinions, self.stopped = opinions, stopped
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, pairs: Pairs, file: Path, watch: object) -> UnseenLabels:
        assert watch is None
        file.write_text("kept\n")
        self.asked += [(query.text, code.id, code.language) for query, code in pairs]
        known = [(query.id, code.id) for query, code in pairs if code.id in self.opinions]
        return UnseenLabels([Judgment(q, c, self.opinions[c], "model x", "why") for q, c in known], self.stopped)


@pytest.fixture
def ready(postbox: SystemCorpus, tmp_path: Path) -> Prepared:
    (tmp_path / "set.csv").write_text(UNSEEN_TRUTH)
    return prepare(SetSpec("set", tmp_path / "set.csv", postbox.root), tmp_path / "out", print)


def answers(*found: tuple[str, int, int]) -> dict[str, SystemAnswer]:
    spans = tuple(Span(*place) for place in found)
    return {name: SystemAnswer(name, spans, tuple(1.0 for _ in spans), 0.1) for name in ("1", "2")}


def test_only_what_nobody_judged_within_the_depth_is_judged_and_once(ready: Prepared, tmp_path: Path):
    judge = Careful({"README.md": 0})
    one = answers(("mail/send.py", 1, 3), ("README.md", 0, 0))
    two = answers(("README.md", 0, 0), ("mail/address.py", 1, 3))
    told = judge_unseen(ready, {"one": one, "two": two}, Unseen("j", judge), tmp_path).counts
    assert sorted(judge.asked) == [
        ("deliver a message", "README.md", "markdown"),
        ("deliver a message", "mail/address.py:1-3", "python"),
        ("say whether an address is valid", "README.md", "markdown"),
        ("say whether an address is valid", "mail/send.py:1-3", "python"),
    ]
    assert (told.asked, told.right, told.wrong, told.undecided) == (4, 0, 2, 2)
    judge = Careful({})
    found = answers(("mail/send.py", 1, 3), ("README.md", 0, 0))
    judge_unseen(ready, {"one": found}, Unseen("j", judge, depth=1), tmp_path)
    assert [target for _, target, _ in judge.asked] == ["mail/send.py:1-3"]
    judge = Careful({})
    judged = judge_unseen(ready, {"one": {"1": found["1"]}}, Unseen("j", judge, depth=1), tmp_path)
    assert (judge.asked, judged.counts.asked) == ([], 0)


def test_labels_join_those_of_people_for_the_second_figures_alone(ready: Prepared, tmp_path: Path):
    judge = Careful({"README.md": 1})
    judged = judge_unseen(ready, {"one": answers(("README.md", 0, 0))}, Unseen("all:m", judge), tmp_path)
    added = [entry for entry in judged.expected.entries["1"] if entry.span == Span("README.md")]
    assert [entry.grade for entry in added] == [1]
    assert not [entry for entry in ready.expected.entries["1"] if entry.span == Span("README.md")]
    labels = tmp_path / "unseen" / "set" / "all_m.labels.jsonl"
    assert '"judge": "all:m"' in labels.read_text(), "for people to check"


@pytest.fixture
def seen_plan(postbox: SystemCorpus, tmp_path: Path) -> BenchPlan:
    (tmp_path / "set.csv").write_text(UNSEEN_TRUTH)
    lines = "".join(f"{query} Q0 README.md 1 2 r\n{query} Q0 mail/send.py:1-3 2 1 r\n" for query in (1, 2))
    (tmp_path / "saved.run").write_text(lines)
    sets = (SetSpec("set", tmp_path / "set.csv", postbox.root),)
    return BenchPlan(sets, (SystemSpec("saved", f"run:{tmp_path / 'saved.run'}"),), measures_of(("Hit@1", "MRR"), 20))


@pytest.mark.usefixtures("undrawn")
def test_figures_stand_beside_those_of_people(seen_plan: BenchPlan, tmp_path: Path):
    said: list[str] = []
    plain = run(seen_plan, Setting(tmp_path / "plain", said.append))
    judge = Careful({"README.md": 1}, stopped="the budget is spent")
    held = run(seen_plan, Setting(tmp_path / "out", said.append, unseen=Unseen("all:m", judge)))
    (cell,), (other,) = held.cells, plain.cells
    assert (cell.figures, cell.values, cell.unjudged) == (other.figures, other.values, other.unjudged)
    assert (cell.figures["line"]["Hit@1"].mean, cell.judged.figures["line"]["Hit@1"].mean) == (0.0, 1.0)
    assert cell.judged.unjudged < cell.unjudged
    assert other.judged is None
    assert held.sets["set"].unseen.stopped == "the budget is spent"
    assert any("all:m stopped: the budget is spent" in line for line in said)
    text = as_markdown(overview_of(held))
    assert "With labels of all:m on what nobody judged of the first 10 of any system (3 pairs: 2 right" in text
    assert "1 undecided, stopped early" in text
    assert "With labels" not in as_markdown(overview_of(plain))
    assert "With labels of all:m on what nobody judged" in as_json_text(report_of(held))
    assert "With labels" not in as_json_text(report_of(plain))


@pytest.mark.usefixtures("undrawn")
def test_a_judge_of_words_is_warned_of_and_results_of_strangers_are_checked(seen_plan: BenchPlan, tmp_path: Path):
    for judge, warned in (("signals", True), ("all:m", False)):
        held = run(seen_plan, Setting(tmp_path / judge, print, unseen=Unseen(judge, Careful({}))))
        assert any("favour systems that rank by these" in line for line in caveats(held)) is warned
    plain = json.loads(results_file.as_text(held))
    assert results_file.read_results(plain, "it") == held
    for wrong, what in (
        ({"figures": {"line": {"MRR": [1, 1, 1]}}, "unjudged": "x"}, "unjudged"),
        ({"figures": {"line": {"MRR": [1]}}, "unjudged": 0}, r"wanted a list of mean, low, high"),
        ({"figures": {"line": {"MRR": [1, 1, 1]}}, "unjudged": 0}, "other units"),
        ({}, "judged has no"),
    ):
        cell = {**plain["cells"][0], "judged": wrong}
        with pytest.raises(InputError, match=what):
            results_file.read_results({**plain, "cells": [cell]}, "it")


def test_documents_are_judged_by_their_ids(tmp_path: Path):
    (tmp_path / "set.json").write_text(
        '[{"idx": "a", "doc": "sort numbers", "code": "def order(n): return sorted(n)", "label": 1},'
        ' {"idx": "b", "doc": "show a date", "code": "def show(d): print(d)", "label": 1}]'
    )
    ready = prepare(SetSpec("set", tmp_path / "set.json"), tmp_path / "out", print)
    judge = Careful({"b": 1})
    found = {"a": SystemAnswer("a", (Span(ready.corpus.documents[1].path),), (1.0,), 0.1)}
    judged = judge_unseen(ready, {"one": found}, Unseen("j", judge), tmp_path)
    assert judge.asked == [("sort numbers", "b", "python")]
    assert [str(entry.span) for entry in judged.expected.entries["a"]] == ["a", "b"]
