# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
transformers = pytest.importorskip("transformers", reason="the train extra is not installed")
pytest.importorskip("onnxruntime", reason="the onnx extra is not installed")

from assay.encode.cross_model import start
from assay.encode.cross_training import reciprocal_rank, split_lists, train
from assay.encode.onnx_cross import OnnxPairs
from assay.encode.question_lists import QuestionList
from assay.encode.reranker_folder import version_of
from assay.encode.reranker_settings import RerankerSettings
from assay.errors import InputError

SMALL = RerankerSettings(layers=2, tokens=16, negatives=2, batch=4, rate=2e-2, epochs=6, looks=3, held_out=("held",))


def lists(count: int = 40) -> list[QuestionList]:
    """Return lists in which a word tells the right text, whose place changes."""
    wrong = ("send mail", "a letter box", "where price")
    return [
        QuestionList(
            "query passage",
            (*wrong[: n % 4], f"retries {wrong[n % 3]}", *wrong[n % 4 :]),
            tuple(float(at == n % 4) for at in range(4)),
            (0.0, -1.0, -2.0, -3.0),
            "held" if n % 5 == 0 else f"source{n % 3}",
            "doc",
        )
        for n in range(count)
    ]


def test_it_learns_what_tells_right_from_wrong_and_searches_without_torch(tiny_bert: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    data, looks = train(lists(), str(tiny_bert), tmp_path / "out", replace(SMALL, held_out_one_in=0), lines.append)
    assert (len(data.learned), len(data.held_out)) == (32, 8)
    assert [look.step for look in looks] == [0, 16, 32, 48]
    assert looks[-1].mrr == 1.0
    assert looks[-1].loss < looks[1].loss
    assert lines[0] == "32 lists to learn, 8 held out, 8 of them to choose by"
    assert lines[1] == "MRR of the ranking there 0.521"
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"model.onnx", "tokenizer.json"}
    pairs = OnnxPairs(tmp_path / "out", SMALL.tokens)
    for one in data.held_out:
        assert reciprocal_rank(pairs.scores(one.question, one.texts), one.targets) == 1.0


def test_two_runs_of_one_seed_write_the_same_model(tiny_bert: Path, tmp_path: Path) -> None:
    short = replace(SMALL, epochs=1, held_out_one_in=0)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(lists(), str(tiny_bert), tmp_path / name, replace(short, seed=seed), print)
    assert version_of(tmp_path / "a") == version_of(tmp_path / "b") != version_of(tmp_path / "c")


def test_before_anything_is_learned_it_is_the_cosine_of_two_texts_read_alone(tiny_bert: Path, tmp_path: Path) -> None:
    model = start(str(tiny_bert), tmp_path, SMALL)
    torch.nn.init.ones_(model.network.worth)
    base = transformers.AutoModel.from_pretrained(tiny_bert)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    pairs = [("where are retries", "a passage : mail"), ("price", "send")]
    with torch.inference_mode():
        scores = model.network.eval() and model.scores(pairs)
        for (question, text), score in zip(pairs, scores, strict=True):
            first = base(**tokenizer(question, return_tensors="pt")).last_hidden_state[0].mean(0)
            ids = tokenizer(text, return_tensors="pt")["input_ids"][:, 1:]  # the second of a pair opens with nothing
            other = base(input_ids=ids).last_hidden_state[0].mean(0)
            assert float(score) == pytest.approx(float(torch.cosine_similarity(first, other, 0)), abs=1e-4)


def test_the_base_stays_as_it_is(tiny_bert: Path, tmp_path: Path) -> None:
    network = start(str(tiny_bert), tmp_path, replace(SMALL, layers=1)).network
    assert len(network.base.encoder.layer) == len(network.together) == 1
    assert {name.partition(".")[0] for name, weight in network.named_parameters() if weight.requires_grad} == {
        "together",
        "side",
        "head",
        "worth",
    }
    with pytest.raises(InputError, match=r"is a bert of 1 layers; wanted a bert of 2 or more"):
        start(str(tiny_bert), tmp_path, replace(SMALL, layers=1, together=2))


def test_padding_changes_nothing(tiny_bert: Path, tmp_path: Path) -> None:
    model = start(str(tiny_bert), tmp_path, SMALL)
    model.network.eval()
    torch.nn.init.normal_(model.network.head.weight)
    short, long = ("price", "send mail"), ("where are retries handled", "query passage : a letter box price")
    with torch.inference_mode():
        assert float(model.scores([short])[0]) == pytest.approx(float(model.scores([short, long])[0]), abs=1e-4)


def test_lists_without_a_source_to_hold_out_are_refused() -> None:
    with pytest.raises(InputError, match="40 lists to learn, 0 held out: too few"):
        split_lists(lists(), replace(SMALL, held_out=(), held_out_one_in=0))


def test_judged_lists_come_first_among_those_held_out() -> None:
    mixed = [replace(one, kind="judged" if n > 30 else "doc") for n, one in enumerate(lists())]
    assert split_lists(mixed, SMALL).held_out[0].kind == "judged"


def test_a_base_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no model .* give a folder, or a name on the hub"):
        train(lists(), str(tmp_path / "none"), tmp_path / "out", SMALL, print)


@pytest.mark.parametrize(
    ("scores", "targets", "wanted"),
    [([3, 2, 1], [0, 1, 1], 0.5), ([1, 1, 0], [0, 1, 0], 0.5), ([1, 2], [0, 0], 0.0), ([1, 2], [0, 0.3], 1.0)],
)
def test_ties_count_against_the_model(scores: list[float], targets: list[float], wanted: float) -> None:
    assert reciprocal_rank(np.array(scores), targets) == wanted


@pytest.mark.parametrize("change", [{"negatives": 0}, {"together": 0}])
def test_settings_that_nothing_can_be_learned_with_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(InputError, match="wanted"):
        replace(SMALL, **change)
