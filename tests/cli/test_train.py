from __future__ import annotations

import json
from pathlib import Path

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


@pytest.mark.torch
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
    assert ran.out.startswith("held out    MRR    95% interval\n")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["settings"]["dimension"] == 16
    assert manifest["corpus"]
    found = assay("search", "send_mail", project, "--encoder", f"static:{out}")
    assert found.out.startswith(f"{project}/mail/send.py:6")


@pytest.mark.torch
def test_a_setting_that_training_does_not_have_is_said(assay, project: Path, tmp_path: Path):
    ran = assay("train", "encoder", "--repository", project, "--out", tmp_path / "out", "--set", "epoch=1")
    assert (ran.status, ran.err) == (2, "assay: unknown setting 'epoch' in --set; did you mean 'epochs'?\n")
