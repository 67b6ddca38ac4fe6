from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

PAIRS = [
    {
        "query": f"{verb} the {thing} of a {owner}",
        "code": f"def {verb}_{thing}({owner}): {verb} {owner} {thing}",
        "source": source,
    }
    for source, owner in [("a", "user"), ("b", "order"), ("c", "letter"), ("d", "parcel"), ("e", "invoice")]
    for verb in ("read", "write", "check", "remove")
    for thing in ("name", "address", "price", "date")
]


def test_nothing_to_learn_from_is_said(assay, tmp_path: Path):
    ran = assay("train", "encoder", "--out", tmp_path / "out")
    assert ran.status == 2
    assert ran.err == ("assay: nothing to learn from: give --from-environment, --repository PATH or --pairs FILE\n")


def test_an_encoder_is_trained_and_can_be_searched_with(assay, project: Path, tmp_path: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    file, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    small = ["dimension=16", "fit_epochs=1", "epochs=1", "batch=16", 'held_out=["e"]']
    settings = [argument for change in small for argument in ("--set", change)]
    ran = assay(
        "train", "encoder", "--pairs", file, "--repository", project, "--teacher", "hash:32", "--out", out, *settings
    )
    assert ran.status == 0, ran.err
    assert ran.out.startswith("held out          MRR    95% interval\n")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["settings"]["dimension"] == 16
    assert manifest["corpus"]
    found = assay("search", "send_mail", project, "--encoder", f"static:{out}")
    assert found.out.startswith(f"{project}/mail/send.py:6")


def test_pairs_that_were_judged_wrong_are_not_learned_as_right(assay, tmp_path: Path):
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps({**pair, "label": at % 2}) + "\n" for at, pair in enumerate(PAIRS)))
    for kind, what in (("encoder", "a table"), ("reranker", "a reranker")):
        ran = assay("train", kind, "--pairs", file, "--out", tmp_path / "out")
        wanted = f"assay: of 80 pairs 40 have label 0, and {what} learns from right pairs alone: take them out, or "
        assert (ran.status, ran.err) == (2, f"{wanted}train a transformer on both with assay train encoder --base\n")
    assert not (tmp_path / "out").exists()


def test_a_transformer_is_tuned_on_judged_pairs_and_can_be_searched_with(assay, tiny_bert, project, tmp_path: Path):
    pytest.importorskip("peft", reason="the train extra is not installed")
    file, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    rows = [{**pair, "query": f"{pair['query']} {pair['source']}", "label": at % 2} for at, pair in enumerate(PAIRS)]
    file.write_text("".join(json.dumps(row) + "\n" for row in [{"query": "q"}, *rows]))
    small = ("--set", "epochs=1", "--set", "batch=16", "--set", "looks=1")
    command = ("train", "encoder", "--base", f"hf:{tiny_bert}", "--pairs", file, "--out", out, "--lora", "2", *small)
    ran = assay(*command)
    assert ran.status == 0, ran.err
    assert "assay: pairs.jsonl:1: no field 'code'\n" in ran.err
    assert "\nstep 0 of " in ran.err
    shown = ran.out.splitlines()
    assert [line.split("  ")[0] for line in shown[2:4]] == ["base", "fine-tuned"]
    assert shown[-1] == f"written to {out}; use it with --encoder hf:{out}"
    again = assay(*command)
    assert (again.status, again.out) == (0, ran.out)
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    assert assay(*command, "--curve", tmp_path / "curve.svg").status == 0
    assert "MRR on the validation part" in (tmp_path / "curve.svg").read_text()
    assert "was trained so before; --fresh trains it again" in again.err
    other = assay(*command, "--set", "rate=1e-3")
    assert (other.status, "rate differ; give another --out, or --fresh" in other.err) == (2, True)
    found = assay("search", "send_mail", project, "--encoder", f"hf:{out}")
    assert "mail/send.py" in found.out
    assert assay(*command, "--set", "rate=1e-3", "--fresh").status == 0
    assert (tmp_path / "out.old/training.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--lora", "4"], "--lora is about a transformer: add --base hf:NAME, or leave it out"),
        (["--onnx"], "--onnx is about a transformer: add --base hf:NAME, or leave it out"),
        (
            ["--base", "hf:x", "--teacher", "hash:9"],
            "--teacher is about a table, and --base fine-tunes a transformer: ",
        ),
        (["--base", "x", "--pairs", "pairs.jsonl"], "--base is 'x'; wanted hf: and a folder or a name on the hub"),
        (["--base", "hf:x", "--set", "epoch=1"], "unknown setting 'epoch' in --set; did you mean 'epochs'?"),
    ],
)
def test_what_no_transformer_can_be_tuned_with_is_said(assay, tmp_path: Path, monkeypatch, arguments, error: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.jsonl").write_text('{"query": "q", "code": "c"}\n')
    ran = assay("train", "encoder", "--out", "out", *arguments)
    assert (ran.status, ran.err.count("\n")) == (2, 1), ran.err
    assert ran.err.startswith(f"assay: {error}")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    tokens = "read write check remove name address price date user order letter parcel invoice".split()
    np.savez(tmp_path / "words.npz", tokens=tokens, vectors=np.random.default_rng(0).integers(-9, 9, (len(tokens), 24)))
    return tmp_path / "words.npz"


def test_words_are_joined_to_the_shipped_table(assay, project: Path, tmp_path: Path, words: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    file, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    small = ["dimension=16", "batch=16", "held_out_one_in=0", 'held_out=["e"]']
    settings = [argument for change in small for argument in ("--set", change)]
    ran = assay("train", "encoder", "--join", words, "--pairs", file, "--out", out, *settings)
    assert ran.status == 0, ran.err
    assert [line.split("  ")[0] for line in ran.out.splitlines()[1:-1]] == [
        "BM25",
        "before",
        "joined",
        "tuned",
        "mean of the two",
    ]
    about = json.loads((out / "encoder.json").read_text())
    assert about["before"]["version"]
    assert about["joined"] == {"name": "words", "words": 13, "dimension": 24, "known": 13}
    assert json.loads((out / "manifest.json").read_text())["settings"]["weight"] == 0.7
    found = assay("search", "send_mail", project, "--encoder", f"static:{out}")
    assert found.out.startswith(f"{project}/mail/send.py:6")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--join", "words.npz", "--teacher", "hash:32"], "--join starts from a table and reads no teacher: leave out"),
        (["--from", "static:default"], "--from names the table that --join starts from: add --join FILE, or leave"),
        (["--join", "words.npz", "--from", "hash:32"], "'hash:32' is not a table that Assay trained: give --from "),
        (["--join", "none.npz"], "cannot read word vectors from none.npz: "),
        (["--join", "words.npz"], "nothing to learn from: give --from-environment, --repository PATH or --pairs FILE"),
        (["--join", "words.npz", "--set", "entries=3"], "unknown setting 'entries' in --set"),
    ],
)
def test_what_cannot_be_joined_is_refused(assay, words: Path, monkeypatch, arguments: list[str], error: str):
    monkeypatch.chdir(words.parent)
    ran = assay("train", "encoder", "--out", "out", *arguments)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(f"assay: {error}")
    assert not Path("out").exists()


def test_a_setting_that_training_does_not_have_is_said(assay, project: Path, tmp_path: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    ran = assay("train", "encoder", "--repository", project, "--out", tmp_path / "out", "--set", "epoch=1")
    assert (ran.status, ran.err) == (2, "assay: unknown setting 'epoch' in --set; did you mean 'epochs'?\n")


JUDGED = {
    "checkouts/mail/send.py": 'def send_mail(letter):\n    """Send a letter again when busy."""\n    return letter\n',
    "checkouts/mail/box.py": "def open_box(name):\n    return name\n",
    "checkouts/shop/cart.py": 'def add_to_cart(item):\n    """Put an item into the cart."""\n    return item\n',
    "checkouts/shop/price.py": "def total_price(cart):\n    return sum(cart)\n",
    "mail.csv": "query,kind,result1\nsend a letter again,standard,send.py:1-3:2\nopen a box,hard,box.py:1-2:2\n",
    "shop.csv": "query,kind,result1\nput an item into the cart,standard,cart.py:1-3:2\nprice,standard,price.py:1-2:2\n",
}


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    for name, text in JUDGED.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_ranking_is_trained_and_can_be_searched_with(assay, judged: Path, project: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    out = judged / "weights"
    files = ("--checkouts", judged / "checkouts", "--out", out, "--set", "steps=5", "--ablate")
    ran = assay("train", "ranking", judged / "mail.csv", judged / "shop.csv", *files)
    assert ran.status == 0, ran.err
    assert ran.out.startswith(
        "code: 4 queries of 2 repositories, cross-validated\n            mean   95% interval\nHit@5 "
    )
    assert "\nwithout token similarity: Hit@5 " in ran.out
    assert ran.out.endswith(f"written to {out}; use it with --set search.weights={out}\n")
    assert ran.err == "mail: 2 chunks\nshop: 2 chunks\ncode: learning from 4 queries\n"
    found, shipped = (
        json.loads(assay("search", "send_mail", project, "--format", "json", *more).out)["hits"][0]
        for more in (("--set", f"search.weights={out}"), ())
    )
    assert found["path"] == shipped["path"] == "mail/send.py"
    assert found["why"] != shipped["why"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["mail.csv", "shop.csv"], "'mail.csv' speaks of the repository 'mail', and there is no folder 'nowhere/mail'"),
        (["none.csv"], "'none.csv' speaks of the repository 'none', and there is no folder 'nowhere/none'"),
    ],
)
def test_a_ranking_without_its_checkouts_is_refused(assay, judged: Path, monkeypatch, arguments, error):
    monkeypatch.chdir(judged)
    ran = assay("train", "ranking", *arguments, "--checkouts", "nowhere", "--out", "weights")
    assert (ran.status, ran.err) == (2, f"assay: {error}\n")
    assert not (judged / "weights").exists()


def test_weights_that_are_not_there_are_refused(assay, project: Path, tmp_path: Path):
    ran = assay("search", "send mail", project, "--set", f"search.weights={tmp_path}/none")
    assert ran.status == 2
    assert ran.err == f"assay: search.weights is '{tmp_path}/none', not a folder; make one with assay train ranking\n"
    ran = assay("search", "send mail", project, "--set", f"search.weights={tmp_path}")
    assert ran.status == 2
    assert ran.err == f"assay: no ranking weights '{tmp_path}/code.json': train them with assay train ranking\n"


@pytest.fixture
def reranker(assay, tiny_bert: Path, judged: Path) -> Path:
    """Return the folder of a reranker that was trained for a few steps on pairs and judged questions."""
    pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")
    file, out = judged / "pairs.jsonl", judged / "reranker"
    file.write_text("".join(json.dumps({**pair, "source": pair["source"] in "abc"}) + "\n" for pair in PAIRS))
    small = ["layers=1", "tokens=24", "negatives=2", "epochs=1", "looks=2", "held_out_one_in=0"]
    settings = [argument for change in [*small, 'held_out=["True", "mail"]'] for argument in ("--set", change)]
    truths = ["--questions", judged / "mail.csv", "--questions", judged / "shop.csv"]
    files = ["--checkouts", judged / "checkouts", "--pairs", file, "--base", f"hf:{tiny_bert}", "--out", out]
    ran = assay("train", "reranker", *truths, *files, *settings)
    assert ran.status == 0, ran.err
    assert ran.out.endswith(f"written to {out}; use it with --set search.reranker=cross:{out}\n")
    assert "step 0: loss 0.0000, MRR " in ran.err
    return out


def test_a_reranker_is_trained_and_can_be_searched_with(assay, reranker: Path, project: Path):
    assert {file.name for file in reranker.iterdir()} == {
        "README.md",
        "manifest.json",
        "model.onnx",
        "reranker.json",
        "tokenizer.json",
    }
    record = json.loads((reranker / "reranker.json").read_text())
    assert record["held_out_figures"]["kind"] == "judged"
    assert record["held_out"].keys() == {"True", "mail"}
    assert record["version"] in (reranker / "README.md").read_text()
    asked = ("search", "send mail", project, "--format", "json", "--set")
    plain = json.loads(assay(*asked, "search.limit=9").out)
    first, again = (json.loads(assay(*asked, f"search.reranker=cross:{reranker}").out) for _ in "12")
    assert first["hits"] == again["hits"]
    assert first["relevant"] == plain["relevant"]
    assert {hit["path"] for hit in first["hits"]} == {hit["path"] for hit in plain["hits"]}
    assert all({"ranking", "reranker"} <= hit["why"].keys() for hit in first["hits"])
    assert all(0 <= hit["score"] <= 1 for hit in first["hits"])


def test_a_reranker_stops_in_time_and_says_so(assay, reranker: Path, project: Path):
    for number in range(20):
        (project / f"mail/more{number}.py").write_text(f"def send_mail_{number}(letter):\n    return letter\n")
    asked = ("search", "send mail", project, "--set", f"search.reranker=cross:{reranker}", "--set")
    late = assay(*asked, "search.rerank_ms=1", "--format", "json")
    (note,) = json.loads(late.out)["notes"]
    assert note.startswith("the reranker had no time to read ")
    assert note.endswith(" a search.rerank_ms of more than 1 gives it more")
    assert note in late.err
    assert "notes" not in json.loads(assay(*asked, "search.rerank_ms=0", "--format", "json").out)


def test_a_reranker_that_adds_to_probabilities_needs_some(assay, reranker: Path, project: Path):
    ran = assay(
        "search", "mail", project, "--set", f"search.reranker=cross:{reranker}", "--set", "search.ranking=keywords"
    )
    assert ran.status == 2
    assert "adds to the probabilities of the learned ranking, and search.ranking is 'keywords'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "nothing to learn from: give --from-environment, --repository PATH, --pairs FILE or --questions TRUTH"),
        (["--questions", "mail.csv"], "--questions and --checkouts need one another: give both, or leave out both"),
        (["--checkouts", "."], "--questions and --checkouts need one another: give both, or leave out both"),
        (["--base", "minilm"], "--base is 'minilm'; wanted hf: and a folder or a name on the hub"),
    ],
)
def test_what_no_reranker_can_be_trained_with_is_said(assay, arguments: list[str], error: str):
    ran = assay("train", "reranker", "--out", "out", *arguments)
    assert (ran.status, ran.err) == (2, f"assay: {error}\n")


def test_a_reranker_that_is_not_there_is_named_with_what_makes_it(assay, project: Path):
    ran = assay("search", "mail", project, "--set", "search.reranker=cross:./none")
    assert ran.status == 0
    assert "mail/send.py" in ran.out
    assert "not reranked by 'cross:./none': no folder './none': assay train reranker" in ran.err


def test_a_judge_is_trained_and_judges_with_its_weights(assay, tmp_path: Path):
    sources = []
    for name, verb, things in (("mails", "send", "mail letter parcel"), ("files", "close", "file socket stream")):
        rows = [
            {"query_id": f"{asked} {thing}", "query": f"{asked} a {thing}", "code_id": thing}
            | {"code": f"def {verb}_{thing}(it):\n    it.{verb}()\n", "label": int(asked == verb)}
            for thing in things.split()
            for asked in (verb, f"{name} of")
        ]
        sources.append(f"{name}={tmp_path / name}.jsonl")
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "weights"
    ran = assay("train", "judge", *sources, "--out", out, "--set", "steps=20", "--encoder", "hash:16")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("held out    pairs  AUC")
    assert ran.out.endswith(f"use it with --judge signals:{out} --encoder hash:16\n")
    assert "| mails | 6 | 0.500 |" in (out / "README.md").read_text()
    records = ("--out", tmp_path / "records.jsonl", "--judge", f"signals:{out}")
    refused = assay("judge", "run", tmp_path / "mails.jsonl", *records)
    assert "give --encoder SPEC" in refused.err
    ran = assay("judge", "run", tmp_path / "mails.jsonl", *records, "--encoder", "hash:16", "--prior", "0.3")
    assert ran.status == 0, ran.err
    other = assay("judge", "run", tmp_path / "mails.jsonl", *records, "--encoder", "hash:16", "--prior", "0.4")
    assert other.status == 2
    assert "prior differ" in other.err
    assert assay("judge", "replay", tmp_path / "records.jsonl").status == 0


def test_a_source_of_a_judge_needs_a_name(assay, tmp_path: Path):
    ran = assay("train", "judge", tmp_path / "labels.jsonl", "--out", tmp_path / "weights")
    assert (ran.status, ran.err) == (
        2,
        f"assay: '{tmp_path / 'labels.jsonl'}' is not a source: give NAME=FILE, each name once\n",
    )
