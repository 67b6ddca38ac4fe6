# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.dataset.examples import Example
from assay.rank.neural.batches import Reader, padded
from assay.rank.neural.model import TorchRunner, start
from assay.rank.neural.neural_ranker import NeuralRanker
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.train_neural import batches, rate_at, train
from assay.rank.order import best_first
from assay.runs.record import read_lines
from assay.types import Task

QUICK = {"window": 80, "code_least": 20, "batch": 18, "micro": 9, "rate": 5e-3, "balance": 0.0}


def quick(base: Path, **changes: object) -> NeuralSettings:
    return NeuralSettings(base=str(base), **{**QUICK, **changes})


def silent(_: str) -> None:
    pass


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_it_learns_what_fails_and_where(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path, kind: str
) -> None:
    settings = quick(bases[kind], task="E+L", steps=120, evaluate_every=30, patience=9)
    found = train(examples, tmp_path / "r", settings, silent)
    assert found["pass@1"] == 1
    held_out = [example for example in examples if example.task_id == "t9"]
    ranker = NeuralRanker(str(tmp_path / "r"))
    ranked = ranker.rank(Task("t9", held_out[0].prompt), [example.program for example in held_out])
    assert [each.program.id for each in ranked] == [example.program_id for example in held_out]
    assert {each.program.id for each in best_first(ranked)[:2]} == {"t9#0", "t9#3"}
    assert all(each.score == each.why["correct"] for each in ranked)
    broken = [(each.fault, each.line) for each in ranked if each.program.id in ("t9#2", "t9#5")]
    assert [fault for fault, _ in broken] == [Fault.NAME_ERROR] * 2
    if kind == "encoder":
        assert [line for _, line in broken] == [held_out[2].line, held_out[5].line]
    about = json.loads((tmp_path / "r" / "ranker.json").read_text())
    assert about["reads"] == {"encoder": "first", "decoder": "last"}[kind]


@pytest.mark.parametrize("task", ["B", "T", "I", "E"])
def test_each_task_is_trained(bases: dict[str, Path], examples: list[Example], tmp_path: Path, task: str) -> None:
    found = train(examples, tmp_path, quick(bases["encoder"], task=task, steps=60, evaluate_every=20), silent)
    assert found["pass@1"] == 1
    assert found["exec@1"] == 1
    assert "line" not in found


@pytest.mark.parametrize("ranking", ["pairwise", "listwise"])
def test_a_ranking_loss_trains_too(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path, ranking: str
) -> None:
    settings = quick(bases["encoder"], task="B", steps=60, evaluate_every=20, ranking=ranking)
    assert train(examples, tmp_path, settings, silent)["pass@1"] == 1


def test_a_run_that_was_cut_off_ends_as_if_it_had_not_been(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    settings = quick(bases["encoder"], steps=12, evaluate_every=4, patience=99)

    def cut(line: str) -> None:
        if "step 8/12" in line:
            raise KeyboardInterrupt

    train(examples, tmp_path / "whole", settings, silent)
    with pytest.raises(KeyboardInterrupt):
        train(examples, tmp_path / "cut", settings, cut)
    with pytest.raises(InputError, match="give --resume, or another folder"):
        train(examples, tmp_path / "cut", settings, silent)
    with pytest.raises(InputError, match="of another run"):
        train(examples, tmp_path / "cut", replace(settings, seed=1), silent, resume=True)
    train(examples, tmp_path / "cut", settings, silent, resume=True)
    logs = [list(read_lines(tmp_path / name / "log.jsonl")) for name in ("whole", "cut")]
    assert [record["step"] for record in logs[1]] == [record["step"] for record in logs[0]]
    assert [log["loss"] for log in logs[1] if "loss" in log] == pytest.approx(
        [log["loss"] for log in logs[0] if "loss" in log], rel=1e-5
    )
    with pytest.raises(InputError, match="nothing to resume"):
        train(examples, tmp_path / "cut", settings, silent, resume=True)


def test_it_stops_when_nothing_gets_better(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    said: list[str] = []
    settings = quick(bases["encoder"], rate=1e-9, epochs=50, patience=2)
    train(examples, tmp_path, settings, said.append)
    assert "no better ranked pass@1 in 2 looks" in said[-1]
    assert sum("pass@1" in record for record in read_lines(tmp_path / "log.jsonl")) == 3


def test_the_log_has_curves_and_the_manifest_the_settings(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    train(examples, tmp_path, quick(bases["encoder"], task="E+L", steps=6, evaluate_every=3), silent)
    log = list(read_lines(tmp_path / "log.jsonl"))
    assert [record["step"] for record in log if "loss" in record] == [1, 2, 3, 4, 5, 6]
    looks = [record for record in log if "pass@1" in record]
    assert [record["step"] for record in looks] == [3, 6]
    assert {"pass@5", "exec@1", "macro-F1", "line", "broken line"} <= looks[0].keys()
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["settings"]["task"] == "E+L"
    assert not (tmp_path / "checkpoint.pt").exists()


def test_data_that_show_nothing_are_refused(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    settings = quick(bases["encoder"])
    with pytest.raises(InputError, match="no row of split 'valid'"):
        train([replace(each, split="train") for each in examples], tmp_path, settings, silent)
    leaked = [replace(each, task_id="t1", split="valid") for each in examples[:1]]
    with pytest.raises(InputError, match="1 tasks are in more than one split, 't1' first"):
        train([*examples, *leaked], tmp_path, settings, silent)


def test_a_base_model_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model"):
        start(NeuralSettings(base=str(tmp_path / "none")))


def test_fewer_layers_can_be_kept(bases: dict[str, Path]) -> None:
    model, _, layout, _ = start(quick(bases["encoder"], layers=1, window=512))
    assert len(model.body.encoder.layer) == 1
    assert layout.window == 96


def test_a_model_that_counts_positions_from_after_the_padding_is_read_that_far(
    tmp_path: Path, byte_level_tokenizer: object
) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.RobertaConfig(vocab_size=300, max_position_embeddings=50, type_vocab_size=1, **sizes)
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    ends = {"cls_token": "<|end|>", "sep_token": "<|end|>", "pad_token": "<|end|>", "unk_token": "<|end|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level_tokenizer, **ends).save_pretrained(tmp_path)
    model, tokenizer, layout, reads = start(quick(tmp_path, window=512))
    assert (layout.window, layout.code_least, reads) == (48, 20, "first")
    rows = Reader(tokenizer, layout).rows("a", ["x" * 500])
    batch = padded(rows, layout.padding)
    assert batch.ids.shape == (1, 48)
    assert TorchRunner(model.eval(), "cpu").run(batch)[0].shape == (1, 3)


def test_an_encoder_with_a_decoder_is_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    transformers.AutoTokenizer.from_pretrained(bases["encoder"]).save_pretrained(tmp_path)
    transformers.T5Config(d_model=16, num_layers=1).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="an encoder with a decoder"):
        start(quick(tmp_path))


def test_the_rate_rises_and_falls() -> None:
    rates = [rate_at(step, 20, 0.2) for step in range(21)]
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[4:] == pytest.approx([(20 - step) / 16 for step in range(4, 21)])


def test_batches_go_on_where_they_were() -> None:
    tasks = torch.arange(10).numpy()
    settings = NeuralSettings(batch=4)
    whole = [list(each) for each in batches(tasks, settings, 0, 7)]
    assert [len(each) for each in whole] == [4, 4, 2, 4, 4, 2, 4]
    assert [list(each) for each in batches(tasks, settings, 4, 7)] == whole[4:]
    assert whole[:3] != whole[3:6]
    assert sorted(place for each in whole[:3] for place in each) == list(range(10))
