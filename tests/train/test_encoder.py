"""Transformers tuned on judged pairs."""
# ruff: noqa: E402  what may be missing is asked for before it is imported

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("accelerate", reason="the train extra is not installed")
pytest.importorskip("datasets", reason="the train extra is not installed")
torch = pytest.importorskip("torch", reason="the train extra is not installed")

from assay.encode.hf import HfEncoder
from assay.encode.models import Recipe
from assay.encode.onnx import OnnxEncoder
from assay.errors import InputError
from assay.train.card import base_of
from assay.train.encoder import examples_of, tune_encoder
from assay.train.pairs import TrainingPair
from assay.train.run import look_arguments
from assay.train.settings import TuneSettings

WORDS = "where are retries handled send mail letter box price".split()
SMALL = TuneSettings(batch=16, epochs=1, rate=1e-2, looks=4, patience=0, valid=0.2, test=0.2)
LEARNING = replace(SMALL, epochs=24)


def pair(query: str, code: str, grade: int = 1) -> TrainingPair:
    return TrainingPair(query, code, "mine", "given", grade)


def learnable() -> list[TrainingPair]:
    """Return pairs whose code says another word for each of the query; the wrong code of each says the same ones."""
    other = dict(zip(WORDS, [*WORDS[1:], WORDS[0]], strict=True))
    pairs = []
    for number, words in enumerate(combinations(WORDS, 3)):
        query = " ".join(words)
        right = " ".join(other[word] for word in words)
        pairs += [pair(query, f"a n{number} {right}"), pair(query, f"passage n{number} {query}", 0)]
    return pairs


def tune(folder: Path, base: Path, settings: TuneSettings = SMALL, say=lambda _: None, **plan):
    return tune_encoder(learnable(), str(base), folder, settings, say, **plan)


def test_examples_are_right_pairs_some_with_wrong_codes_of_their_query() -> None:
    pairs = [pair("q", "c"), pair("q", "w", 0), pair("r", "d", 3), pair("s", "c", 0), pair("t", "x", 0)]
    examples = examples_of(pairs, Recipe("mean", "Q ", "C "), SMALL)
    assert examples["right"] == [{"query": "Q r", "code": "C d"}]
    assert examples["wrong_codes"] == [{"query": "Q q", "code": "C c", "wrong_0": "C w", "wrong_1": "C w"}]
    assert not examples_of(pairs, Recipe("mean"), replace(SMALL, negatives=0))["wrong_codes"]


def test_it_learns_says_what_it_is_worth_and_is_read_by_hf_and_onnx(tiny_bert: Path, tmp_path: Path) -> None:
    out, texts, lines = tmp_path / "out", ["where mail", "price"], list[str]()
    record = tune(out, tiny_bert, LEARNING, lines.append, onnx=True)
    for figures in record["figures"].values():
        assert figures["after"][0] > figures["before"][0] + 0.2
        assert figures["difference"][1] > 0
    assert lines[1] == "examples: 0 right pairs alone, 50 with wrong codes"
    assert record["looks"][0]["mrr"] < max(look["mrr"] for look in record["looks"])
    looks = [json.loads(line) for line in (out / "training/looks.jsonl").read_text().splitlines()]
    assert len(looks) == len(record["looks"]) > 3
    assert not list((out / "training").glob("checkpoint-*"))
    page = (out / "README.md").read_text()
    assert f"| nDCG@10 | {figures['before'][0]:.3f} [" in page
    assert "does not show" not in page
    tuned = HfEncoder(str(out))
    assert tuned.name == f"hf:{out}"
    library = pytest.importorskip("sentence_transformers").SentenceTransformer(str(out), device="cpu")
    np.testing.assert_allclose(library.encode(texts), tuned.encode(texts, "query"), atol=1e-4)

    assert record["onnx"]
    assert lines[-1] == f"exported to {out / 'onnx'}"
    assert json.loads((out / "training.json").read_text()) == record
    whole = OnnxEncoder(str(out / "onnx")).encode(texts, "query")
    assert ((whole * tuned.encode(texts, "query")).sum(1) > 0.95).all()
    assert tune(out, tiny_bert, LEARNING, lines.append, onnx=True) == record
    assert lines[-1] == f"{out} was trained so before; --fresh trains it again"
    with pytest.raises(InputError, match=r"of another run: rate \(0.01, now 0.001\) differ; give another --out"):
        tune(out, tiny_bert, replace(LEARNING, rate=1e-3))


class Killed(Exception):
    """Stands for the end of a process."""


def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(tiny_bert: Path, tmp_path: Path) -> None:
    settings = replace(SMALL, rate=3e-3, at_once=8)
    whole = tune(tmp_path / "whole", tiny_bert, settings)

    def die(line: str) -> None:
        if line.startswith("step 3 of"):
            raise Killed

    with pytest.raises(Killed):
        tune(tmp_path / "killed", tiny_bert, settings, die)
    torn = tmp_path / "killed/training/checkpoint-999"
    torn.mkdir()
    (torn / "weights.pt").write_bytes(b"PK")
    lines: list[str] = []
    again = tune(tmp_path / "killed", tiny_bert, settings, lines.append)
    assert "going on after step 2" in lines
    assert (again["looks"], again["figures"]) == (whole["looks"], whole["figures"])
    vectors = [HfEncoder(str(tmp_path / name)).encode(["where mail", "price"], "query") for name in ("whole", "killed")]
    assert np.array_equal(*vectors)


def test_it_stops_where_looks_get_no_better_and_says_so(tiny_bert: Path, tmp_path: Path) -> None:
    said: list[str] = []
    settings = replace(SMALL, epochs=5, rate=1e-12, looks=18, patience=2)
    record = tune(tmp_path / "out", tiny_bert, settings, said.append)
    assert (len(record["looks"]), record["figures"]["MRR"]["difference"]) == (4, [0, 0, 0])
    assert "**This does not show that the training helped.**" in (tmp_path / "out/README.md").read_text()
    assert any(line.startswith("no step is better than the base, whose MRR is ") for line in said), said
    assert sum("(best so far)" in line for line in said) == 1, "the base's own"


def test_a_recipe_goes_with_the_folder_and_one_of_something_else_is_left_alone(tiny_bert: Path, tmp_path: Path) -> None:
    tune_encoder(learnable(), f"{tiny_bert}?pooling=pooler&length=7", tmp_path / "out", SMALL, print)
    tuned = HfEncoder(str(tmp_path / "out"))
    assert tuned.recipe == Recipe("pooler", max_tokens=7)
    assert not (tmp_path / "out/modules.json").exists()
    told = [look_arguments(tmp_path, replace(SMALL, bf16=bf16), 4)["bf16"] for bf16 in ("auto", "no", "yes")]
    assert told == [torch.cuda.is_available() and torch.cuda.is_bf16_supported(), False, True]
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something that no training put there; give another --out"):
        tune(tmp_path, tiny_bert)
    with pytest.raises(InputError, match="--base is 'static:default'; wanted hf: and a folder or a name on the hub"):
        base_of("static:default")
