"""`assay train`: each kind learns a little, says what came of it, and what it wrote is used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from json_lines import write_lines

PAIRS = [
    {"query": f"{verb} the {thing} of a {owner}", "code": f"def {verb}_{thing}({owner}): {verb} {owner} {thing}"}
    | {"source": source}
    for source, owner in [("a", "user"), ("b", "order"), ("c", "letter"), ("d", "parcel"), ("e", "invoice")]
    for verb in ("read", "write", "check", "remove")
    for thing in ("name", "address", "price", "date")
]
FROM = "give --from-environment, --repository PATH or --pairs FILE"


def settings(*changes: str) -> list[str]:
    return [argument for change in changes for argument in ("--set", change)]


@pytest.mark.usefixtures("words")
def test_a_mistake_is_refused_in_one_line(refuses, judged: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("torch", reason="the train extra is not installed")
    monkeypatch.chdir(judged)
    Path("pairs.jsonl").write_text('{"query": "q", "code": "c"}\n')
    mixed = write_lines(Path("mixed.jsonl"), ({**pair, "label": at % 2} for at, pair in enumerate(PAIRS)))
    rule = "learns from right pairs alone: take them out, or train a transformer on both with assay train encoder"
    refuses([
        (f"train {line} --out out", f"assay: {said}")
        for line, said in (
            ("encoder", f"nothing to learn from: {FROM}"),
            (f"encoder --pairs {mixed}", f"of 80 pairs 40 have label 0, and a table {rule}"),
            ("encoder --onnx", "--onnx is for a transformer: add --base hf:NAME, or leave it out"),
            ("encoder --base hf:x --teacher hash:9", "--teacher is for a table, and --base fine-tunes a transform"),
            ("encoder --base x --pairs pairs.jsonl", "--base is 'x'; wanted hf: and a folder or a name on the hub"),
            ("encoder --base hf:x --set epoch=1", "unknown setting 'epoch' in --set; did you mean 'epochs'?"),
            ("encoder --repository . --set epoch=1", "unknown setting 'epoch' in --set; did you mean 'epochs'?"),
            (
                "encoder --join words.npz --teacher hash:32",
                "--join starts from a table and reads no teacher: leave out",
            ),
            ("encoder --from static:default", "--from names the table that --join starts from: add --join FILE, or "),
            ("encoder --join words.npz --from hash:32", "'hash:32' is not a table that Assay trained: give --from "),
            ("encoder --join none.npz", "cannot read word vectors from none.npz: "),
            ("encoder --join words.npz", f"nothing to learn from: {FROM}"),
            ("encoder --join words.npz --set entries=3", "unknown setting 'entries' in --set"),
            (
                "ranking mail.csv shop.csv --checkouts nowhere",
                "'mail.csv' names the repository 'mail', and there is no folder 'nowhere/mail'",
            ),
            (
                "ranking none.csv --checkouts nowhere",
                "'none.csv' names the repository 'none', and there is no folder 'nowhere/none'",
            ),
            ("judge labels.jsonl", "'labels.jsonl' is not a source: give NAME=FILE, each name once"),
        )
    ])  # fmt: skip
    assert not Path("out").exists()
    none = "; make one with assay train ranking"
    refuses([
        ("search mail . --set search.weights=none", f"assay: search.weights is 'none', not a folder{none}"),
        ("search mail . --set search.weights=.", "no ranking weights 'code.json': train them with assay train ranking"),
    ])  # fmt: skip


def test_an_encoder_is_trained_and_can_be_searched_with(assay, project: Path, tmp_path: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    file, out = write_lines(tmp_path / "pairs.jsonl", PAIRS), tmp_path / "out"
    small = settings("dimension=16", "fit_epochs=1", "epochs=1", "batch=16", 'held_out=["e"]')
    learn = ("--pairs", file, "--repository", project, "--teacher", "hash:32")
    ran = assay("train", "encoder", *learn, "--out", out, *small)
    assert ran.status == 0, ran.err
    assert ran.out.startswith("held out          MRR    95% interval\n")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["settings"]["dimension"] == 16
    assert manifest["corpus"]
    found = assay("search", "send_mail", project, "--encoder", f"static:{out}")
    assert found.out.startswith(f"{project}/mail/send.py:6")


def test_a_transformer_is_tuned_on_judged_pairs_and_can_be_searched_with(assay, tiny_bert, project, tmp_path: Path):
    pytest.importorskip("accelerate", reason="the train extra is not installed")
    out = tmp_path / "out"
    rows = [{**pair, "query": f"{pair['query']} {pair['source']}", "label": at % 2} for at, pair in enumerate(PAIRS)]
    file = write_lines(tmp_path / "pairs.jsonl", [{"query": "q"}, *rows])
    small = settings("epochs=1", "batch=16", "looks=1")
    command = ("train", "encoder", "--base", f"hf:{tiny_bert}", "--pairs", file, "--out", out, "--onnx", *small)
    ran = assay(*command)
    assert ran.status == 0, ran.err
    assert "assay: pairs.jsonl:1: no field 'code'\n" in ran.err
    assert "\nstep 0 of " in ran.err
    shown = ran.out.splitlines()
    assert [line.split("  ")[0] for line in shown[1:7]] == "MRR,base,fine-tuned,difference,nDCG@10,base".split(",")
    assert shown[-2] == f"written to {out}; use it with --encoder hf:{out}"
    again = assay(*command)
    assert (again.status, again.out) == (0, ran.out)
    assert "was trained so before; --fresh trains it again" in again.err
    other = assay(*command, "--set", "rate=1e-3")
    assert (other.status, "rate (" in other.err) == (2, True)
    assert "differ; give another --out, or --fresh" in other.err
    for encoder in (f"hf:{out}", f"onnx:{out}/onnx"):
        assert "mail/send.py" in assay("search", "send_mail", project, "--encoder", encoder).out
    assert assay(*command, "--set", "rate=1e-3", "--fresh").status == 0
    assert (tmp_path / "out.old/training.json").is_file()


@pytest.fixture
def words(tmp_path: Path) -> Path:
    tokens = "read write check remove name address price date user order letter parcel invoice".split()
    np.savez(tmp_path / "words.npz", tokens=tokens, vectors=np.random.default_rng(0).integers(-9, 9, (len(tokens), 24)))
    return tmp_path / "words.npz"


def test_words_are_joined_to_the_shipped_table(assay, project: Path, tmp_path: Path, words: Path):
    pytest.importorskip("torch", reason="the train extra is not installed")
    file, out = write_lines(tmp_path / "pairs.jsonl", PAIRS), tmp_path / "out"
    small = settings("dimension=16", "batch=16", "held_out_one_in=0", 'held_out=["e"]')
    ran = assay("train", "encoder", "--join", words, "--pairs", file, "--out", out, *small)
    assert ran.status == 0, ran.err
    shown = [line.split("  ")[0] for line in ran.out.splitlines()[1:-1]]
    assert shown == ["BM25", "before", "joined", "tuned", "mean of the two"]
    about = json.loads((out / "encoder.json").read_text())
    assert about["before"]["version"]
    assert about["joined"] == {"name": "words", "words": 13, "dimension": 24, "known": 13}
    assert json.loads((out / "manifest.json").read_text())["settings"]["weight"] == 0.7
    found = assay("search", "send_mail", project, "--encoder", f"static:{out}")
    assert found.out.startswith(f"{project}/mail/send.py:6")


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
    files = ("--checkouts", judged / "checkouts", "--out", out, "--set", "steps=5")
    ran = assay("train", "ranking", judged / "mail.csv", judged / "shop.csv", *files)
    assert ran.status == 0, ran.err
    head = "code: 4 queries of 2 repositories, cross-validated\n            mean   95% interval\nHit@5 "
    assert ran.out.startswith(head)
    assert ran.out.endswith(f"written to {out}; use it with --set search.weights={out}\n")
    assert ran.err == "mail: 2 chunks\nshop: 2 chunks\ncode: learning from 4 queries\n"
    found, shipped = (
        json.loads(assay("search", "send_mail", project, "--format", "json", "--explain", *more).out)["hits"][0]
        for more in (("--set", f"search.weights={out}"), ())
    )
    assert found["path"] == shipped["path"] == "mail/send.py"
    assert found["why"] != shipped["why"]


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
        write_lines(tmp_path / f"{name}.jsonl", rows)
    out = tmp_path / "weights"
    ran = assay("train", "judge", *sources, "--out", out, "--set", "penalty=0.2", "--encoder", "hash:16")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("held out    pairs  AUC")
    assert ran.out.endswith(f"use it with --judge signals:{out} --encoder hash:16\n")
    assert "| mails | 6 | 0.500 |" in (out / "README.md").read_text()
    records = ("--out", tmp_path / "records.jsonl", "--judge", f"signals:{out}")
    refused = assay("judge", "run", tmp_path / "mails.jsonl", *records)
    assert "give that one with --encoder SPEC" in refused.err
    ran = assay("judge", "run", tmp_path / "mails.jsonl", *records, "--encoder", "hash:16", "--prior", "0.3")
    assert ran.status == 0, ran.err
    other = assay("judge", "run", tmp_path / "mails.jsonl", *records, "--encoder", "hash:16", "--prior", "0.4")
    assert other.status == 2
    assert "prior (0.3, now 0.4) differ" in other.err
