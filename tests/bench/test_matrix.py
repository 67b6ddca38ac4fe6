from __future__ import annotations

from pathlib import Path

import pytest

from assay.bench import matrix
from assay.bench.plan import MEASURES, SystemSpec
from assay.errors import InputError

WHOLE = """
k = 30
seed = 7
timeout_s = 5
measures = ["MRR", "ndcg@10"]

[sets.click]
truth = "truth/click.csv"
corpus = "$CHECKOUTS/click"
role = "dev"

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


def load(tmp_path: Path, text: str) -> matrix.Plan:
    file = tmp_path / "matrix.toml"
    file.write_text(text)
    return matrix.load(file)


def test_a_matrix_says_it_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHECKOUTS", "/repos")
    plan = load(tmp_path, WHOLE)
    assert (plan.k, plan.seed, plan.timeout_s) == (30, 7, 5.0)
    assert [str(measure) for measure in plan.measures] == ["MRR", "nDCG@10"]
    click, own = plan.sets
    assert (click.truth, click.corpus, click.role) == (tmp_path / "truth/click.csv", Path("/repos/click"), "dev")
    assert (own.truth, own.corpus) == (None, tmp_path)


def test_a_variant_changes_the_keys_it_names_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHECKOUTS", "/repos")
    systems = {system.name: system for system in load(tmp_path, WHOLE).systems}
    assert list(systems) == ["plain", "grep", "words", "paid", "wide"]
    plain = {"search": {"limit": 10}, "encoder": {"spec": "static:default"}}
    assert systems["plain"] == SystemSpec("plain", "assay", plain)
    assert systems["words"].options == {**plain, "search": {"limit": 10, "ranking": "keywords"}}
    assert systems["paid"].options == {**plain, "encoder": {"spec": "api:model"}}
    assert (systems["paid"].base, systems["paid"].needs, systems["paid"].chosen_on) == ("plain", "SOME_KEY", "test")
    assert (systems["wide"].base, systems["wide"].options) == ("grep", {"merge": 50})


def test_what_is_left_out_has_a_default(tmp_path: Path):
    plan = load(tmp_path, "[sets.a]\ntruth = 'a.csv'\n")
    assert tuple(map(str, plan.measures)) == MEASURES
    assert (plan.k, [system.name for system in plan.systems]) == (20, ["assay"])
    plan = load(tmp_path, "[sets.a]\ntruth = 'a.csv'\n[variants.v]\nsearch.limit = 3\n")
    assert [system.name for system in plan.systems] == ["assay", "v"]


def test_only_keeps_what_matches(tmp_path: Path):
    plan = load(tmp_path, "[sets.a]\ntruth = 'a.csv'\n[variants.rerank]\n[variants.rerank_wide]\n[variants.graph]\n")
    assert plan.only(["rerank"]).asked == {"rerank", "rerank_wide"}
    assert plan.only(["rerank?", "gr*"]).asked == {"graph"}
    assert plan.only(["rerank"]).systems == plan.systems  # the others are shown as they answered before
    assert plan.only([]) == plan
    with pytest.raises(InputError, match="no system is called like 'grpah'; did you mean 'graph'"):
        plan.only(["grpah"])


def test_a_variant_has_the_threshold_of_its_base_unless_it_names_one(tmp_path: Path):
    text = "[systems.x]\nspec='bm25'\nthreshold=0.5\n[variants.y]\nk1=1.5\n[variants.z]\nthreshold=2\n"
    plan = load(tmp_path, f"all_pairs = true\n{SET}{text}")
    assert [each.threshold for each in plan.systems] == [0.5, 0.5, 2]
    assert plan.systems[2].options == {}
    assert plan.all_pairs


SET = "[sets.a]\ntruth = 'a.csv'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no set of queries"),
        ("[sets.a]\n", "wants either truth = 'FILE' or mine = 'FOLDER'"),
        ("[sets.a]\ntruth = 'a'\nmine = 'b'\n", "wants either"),
        ("[sets.a]\ntruht = 'a'\n", "unknown key 'truht' in .sets.a. of .*; did you mean 'truth'"),
        ("[sets.a]\ntruth = 3\n", "'truth' in .sets.a. of .* is 3; wanted text"),
        ("[sets.a]\ntruth = 'a'\nrole = 'train'\n", "role in .sets.a. of .* is 'train'; wanted dev or test"),
        ("sets = 3\n", "sets in .* is 3; wanted a table"),
        ("[sest.a]\ntruth = 'a'\n", "unknown key 'sest'"),
        (f"k = 0\n{SET}", "k in .* is 0; wanted a whole number from 1"),
        (f"k = true\n{SET}", "k in .* is True"),
        (f"measures = []\n{SET}", "wanted a list"),
        (f"k = 5\nmeasures = ['MRR', 'Hit@9']\n{SET}", "Hit@9 looks at 9 results, and 5 are asked for"),
        (f"measures = ['nDGC@10']\n{SET}", "did you mean 'nDCG@10'"),
        (f"{SET}[systems.x]\n", "has no spec"),
        (f"{SET}[variants.x]\nbase = 'asay'\n", "no system 'asay'; did you mean 'assay'"),
        (f"{SET}[systems.x]\nspec='bm25'\n[variants.x]\n", "both a system and a variant"),
        (f"{SET}[systems.x]\nspec='bm25'\nneeds=1\n", "'needs' in .systems.x. of .* is 1; wanted text"),
        ("[sets.a]\ntruth = '$NOT_THERE/a'\n", "environment variable NOT_THERE is not set"),
        (f"kind = 'ranking'\n{SET}", "kind in .* is 'ranking', wanted 'retrieval'; assay rank compare reads it"),
        (f"kind = 'any'\n{SET}", "kind in .* is 'any', wanted 'retrieval'"),
        (f"all_pairs = 1\n{SET}", "all_pairs in .* is 1; wanted true or false"),
        (
            f"{SET}[systems.x]\nspec='bm25'\nthreshold='a'\n",
            "'threshold' in .systems.x. of .* is 'a'; wanted the least",
        ),
        ("[sets", "not TOML"),
    ],
)
def test_a_wrong_matrix_is_told_where_and_why(tmp_path: Path, text: str, said: str):
    with pytest.raises(InputError, match=said):
        load(tmp_path, text)


def test_a_matrix_that_is_not_there(tmp_path: Path):
    with pytest.raises(InputError, match="cannot read the matrix"):
        matrix.load(tmp_path / "none.toml")


def test_options_are_filled_but_secrets_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
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


def test_what_the_environment_names_is_relative_to_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRUTH", "own.csv")
    plan = load(tmp_path, "[sets.a]\ntruth = '$TRUTH'\ncorpus = '$HERE/corpus'\n")
    assert (plan.sets[0].truth, plan.sets[0].corpus) == (Path("own.csv"), tmp_path / "corpus")
