# ruff: noqa: E402  what may be missing is asked for before it is imported
"""Training of the neural ranker: tiny models, as few steps as show what holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.datasets import Example
from assay.rank.neural_data import CLASSES, NeuralSettings, Reader, class_of, fault_of, padded
from assay.rank.neural_model import RankerModel, TorchRunner, open_base, tensors
from assay.rank.neural_ranker import NeuralRanker
from assay.rank.rankers import best_first
from assay.runs.record import read_lines, sole_writer
from assay.train import neural
from assay.train.neural import batches, class_loss, line_loss, rate_at, train, weights
from assay.values import Task

QUICK = {"window": 80, "code_least": 20, "batch": 18, "micro": 9, "rate": 5e-3, "balance": 0.0}


def quick(base: Path, **changes: object) -> NeuralSettings:
    return NeuralSettings(base=str(base), **{**QUICK, **changes})


def silent(_: str) -> None:
    pass


def test_it_learns_what_fails_and_where_and_keeps_curves_and_settings(bases, examples, tmp_path):
    settings = quick(bases["encoder"], task="E+L", steps=120, evaluate_every=60)
    found = train(examples, tmp_path, settings, silent)
    assert found["pass@1"] == found["exec@1"] == 1
    held_out = [example for example in examples if example.task_id == "t9"]
    ranked = NeuralRanker(str(tmp_path)).rank(Task("t9", held_out[0].prompt), [each.program for each in held_out])
    assert [each.program.id for each in ranked] == [example.program_id for example in held_out]
    assert {each.program.id for each in best_first(ranked)[:2]} == {"t9#0", "t9#3"}
    assert all(each.score == each.why["correct"] for each in ranked)
    broken = [(each.fault, each.line) for each in ranked if each.program.id in ("t9#2", "t9#5")]
    assert broken == [(Fault.NAME_ERROR, held_out[at].line) for at in (2, 5)]
    assert json.loads((tmp_path / "ranker.json").read_text())["reads"] == "first"
    log = list(read_lines(tmp_path / "log.jsonl"))
    assert [record["step"] for record in log if "loss" in record] == list(range(1, 121))
    looks = [record for record in log if "pass@1" in record]
    assert [record["step"] for record in looks] == [60, 120]
    assert {"pass@5", "exec@1", "macro-F1", "line", "broken line"} <= looks[0].keys()
    assert json.loads((tmp_path / "manifest.json").read_text())["settings"]["task"] == "E+L"
    assert not (tmp_path / "checkpoint.pt").exists()


def test_each_task_and_each_way_to_compute_takes_its_steps(bases, examples, tmp_path):
    plain = {"task": "T", "steps": 2, "rate": 1e-4, "evaluate_every": 2}
    losses = {}
    for name, change in (
        ("plain", {}),
        ("B", {"task": "B"}),
        ("I", {"task": "I"}),
        ("E", {"task": "E"}),
        ("vector", {"task": "E+L", "line_head": "vector"}),
        ("bf16", {"precision": "bfloat16"}),
    ):
        kind = "encoder" if "task" in change else "decoder"
        found = train(examples, tmp_path / name, quick(bases[kind], **{**plain, **change}), silent)
        assert 0 <= found["pass@1"] <= 1
        assert ("line" in found) == (name == "vector")
        about = json.loads((tmp_path / name / "ranker.json").read_text())
        assert (about["task"], about["reads"]) == (change.get("task", "T"), {"encoder": "first"}.get(kind, "last"))
        assert about["line_head"] == change.get("line_head", "")
        losses[name] = [log["loss"] for log in read_lines(tmp_path / name / "log.jsonl") if "loss" in log]
        assert len(losses[name]) == 2
        if kind == "decoder":
            assert losses[name] == pytest.approx(losses["plain"], rel=0.02), name
    assert len(NeuralRanker(str(tmp_path / "vector")).rank(Task("t", "add"), [examples[0].program])) == 1


def test_losses_are_those_of_their_formulas_and_heads_compute_in_float32(
    bases: dict[str, Path], examples: list[Example]
) -> None:
    logits, classes = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
    assert class_loss(logits, classes, torch.tensor([0.0, 3.0])).item() == pytest.approx(3 * 0.6931, abs=1e-3)
    newlines = torch.tensor([[False, True, True]])
    loss = line_loss(torch.tensor([[9.0, 0.0, 0.0]]), newlines, torch.tensor([1]), torch.ones(1))
    assert loss.item() == pytest.approx(0.6931, abs=1e-3), "only newlines can be the line"
    base = open_base(quick(bases["encoder"]))
    model = RankerModel(base.body, 3, base.reads, "mapped").eval()
    rows = Reader(base.tokenizer, base.layout).rows("add", [examples[0].source])
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        told = model(*tensors(padded(rows, base.layout.padding), "cpu"))
    assert {each.dtype for each in told} == {torch.float32}


def test_a_run_that_is_killed_within_an_epoch_ends_in_the_same_weights(bases, examples, tmp_path, monkeypatch):
    settings = quick(bases["encoder"], task="E+L", steps=9, batch=16, checkpoint_steps=2, evaluate_every=9)
    train(examples, tmp_path / "whole", settings, silent)

    def killed(_state: object, _folder: Path, progress: dict[str, int]) -> None:
        write(_state, _folder, progress)
        if progress["step"] == 6:  # of the second epoch, which has four steps like the first
            raise KeyboardInterrupt

    write = neural._write_checkpoint
    with monkeypatch.context() as patched:
        patched.setattr(neural, "_write_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            train(examples, tmp_path / "cut", settings, silent)
    assert not (tmp_path / "cut" / "ranker.json").exists()
    with pytest.raises(InputError, match="give --resume, or another folder"):
        train(examples, tmp_path / "cut", settings, silent)
    with pytest.raises(InputError, match="of another run"):
        train(examples, tmp_path / "cut", replace(settings, seed=1), silent, resume=True)
    train(examples, tmp_path / "cut", settings, silent, resume=True)
    whole, cut = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert cut.read_bytes() == whole.read_bytes()
    logs = [list(read_lines(tmp_path / name / "log.jsonl")) for name in ("whole", "cut")]
    assert [log["loss"] for log in logs[1] if "loss" in log] == [log["loss"] for log in logs[0] if "loss" in log]
    with pytest.raises(InputError, match="nothing to resume"):
        train(examples, tmp_path / "cut", settings, silent, resume=True)


def test_a_log_is_never_lost(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    settings, log = quick(bases["encoder"], steps=4, evaluate_every=2), tmp_path / "r" / "log.jsonl"

    def cut(line: str) -> None:
        if "step 4/4" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(examples, log.parent, settings, cut)
    before = log.read_bytes()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("assay.runs.record._line", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(examples, log.parent, settings, silent, resume=True)
    assert log.read_bytes() == before
    (log.parent / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"checkpoint\.pt is damaged or of an earlier version"):
        train(examples, log.parent, settings, silent, resume=True)
    (log.parent / "checkpoint.pt").unlink()
    with pytest.raises(InputError, match="holds a ranker that is finished, there is nothing to resume"):
        train(examples, log.parent, settings, silent, resume=True)
    (log.parent / "ranker.json").unlink()
    with sole_writer(log), pytest.raises(InputError, match="another run writes"):
        train(examples, log.parent, settings, silent)
    assert log.read_bytes() == before


def test_a_causal_model_in_half_precision_is_a_base(tmp_path, byte_level_tokenizer, examples):
    ends = {"eos_token": "<|end|>", "unk_token": "<|end|>"}  # nothing to begin with, nothing to pad with
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level_tokenizer, **ends).save_pretrained(
        tmp_path / "base"
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.LlamaConfig(vocab_size=257, num_key_value_heads=1, max_position_embeddings=160, **sizes)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(tmp_path / "base")
    train(examples, tmp_path / "r", quick(tmp_path / "base", task="T", steps=60, evaluate_every=30), silent)
    about = json.loads((tmp_path / "r" / "ranker.json").read_text())
    assert about["reads"] == "last"
    assert about["found"]["pass@1"] > 0.5
    ranked = NeuralRanker(str(tmp_path / "r")).rank(Task("t9", "add the numbers"), [examples[-1].program])
    assert ranked[0].score == pytest.approx(ranked[0].why["correct"])


def test_it_stops_when_nothing_gets_better(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    said: list[str] = []
    settings = quick(bases["encoder"], rate=1e-9, epochs=50, patience=2)
    train(examples, tmp_path, settings, said.append)
    assert "no better ranked pass@1 in 2 looks" in said[-1]
    assert sum("pass@1" in record for record in read_lines(tmp_path / "log.jsonl")) == 3


def test_a_base_is_read_as_far_as_it_can_and_fewer_layers_can_be_kept(bases, tmp_path, byte_level_tokenizer):
    kinds = transformers.GPTNeoConfig(
        vocab_size=300, hidden_size=16, num_layers=4, attention_types=[[["global", "local"], 2]], num_heads=2
    )
    transformers.GPTNeoModel(kinds).save_pretrained(tmp_path / "neo")
    byte_level_tokenizer.save(str(tmp_path / "neo" / "tokenizer.json"))
    kept = open_base(quick(tmp_path / "neo", layers=3)).body.config
    kept.save_pretrained(tmp_path / "kept")
    assert transformers.AutoConfig.from_pretrained(tmp_path / "kept").attention_layers == ["global", "local", "global"]
    with pytest.raises(InputError, match=r"layers = 3: .* has 2"):
        open_base(quick(bases["encoder"], layers=3))
    base = open_base(quick(bases["encoder"], layers=1, window=512))
    assert (len(base.body.encoder.layer), base.layout.window) == (1, 96)
    # RoBERTa counts positions from after the padding
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.RobertaConfig(vocab_size=300, max_position_embeddings=50, type_vocab_size=1, **sizes)
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    ends = {"cls_token": "<|end|>", "sep_token": "<|end|>", "pad_token": "<|end|>", "unk_token": "<|end|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level_tokenizer, **ends).save_pretrained(tmp_path)
    base = open_base(quick(tmp_path, window=512))
    assert (base.layout.window, base.layout.code_least, base.reads) == (48, 20, "first")
    rows = Reader(base.tokenizer, base.layout).rows("a", ["x" * 500])
    batch = padded(rows, base.layout.padding)
    assert batch.ids.shape == (1, 48)
    assert TorchRunner(RankerModel(base.body, 3, base.reads, "").eval(), "cpu").run(batch)[0].shape == (1, 3)


def test_what_is_no_base_is_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model"):
        open_base(NeuralSettings(base=str(tmp_path / "none")))
    transformers.AutoTokenizer.from_pretrained(bases["encoder"]).save_pretrained(tmp_path)
    transformers.T5Config(d_model=16, num_layers=1).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="an encoder with a decoder"):
        open_base(quick(tmp_path))


def test_batches_go_on_where_they_were_and_the_rate_rises_and_falls() -> None:
    settings = NeuralSettings(batch=4)
    whole = [list(each) for each in batches(10, settings, 0, 7)]
    assert [len(each) for each in whole] == [4, 4, 2, 4, 4, 2, 4]
    assert [list(each) for each in batches(10, settings, 4, 7)] == whole[4:]
    assert whole[:3] != whole[3:6]
    assert sorted(place for each in whole[:3] for place in each) == list(range(10))
    rates = [rate_at(step, 20, 4) for step in range(21)]
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[4:] == pytest.approx([(20 - step) / 16 for step in range(4, 21)])


TASK_OF = np.array([0] * 6 + [1] * 2)
IS_RIGHT = np.array([0, 1, 1, 1, 1, 1, 0, 1])
ONCE = np.ones(8, dtype=np.int64)


def test_classes_are_those_of_the_paper_and_weigh_the_same() -> None:
    sizes = {"B": 2, "T": 3, "I": 11, "E": 12, "E+L": 12}
    assert {task: len(classes) for task, classes in CLASSES.items()} == sizes
    assert {classes[0] for classes in CLASSES.values()} == {"correct"}
    assert class_of("T", Fault.KEY_ERROR) == CLASSES["T"].index("execution error")
    assert (fault_of("KeyError"), fault_of("wrong"), fault_of("intent error")) == (Fault.KEY_ERROR, None, None)
    assert weights(IS_RIGHT, TASK_OF, ONCE, NeuralSettings(balance=0)) == pytest.approx([2 / 3] * 6 + [2] * 2)
    made = weights(IS_RIGHT, TASK_OF, ONCE, NeuralSettings(even_tasks=False))
    assert made[IS_RIGHT == 0].sum() == pytest.approx(made[IS_RIGHT == 1].sum())
    assert made.mean() == pytest.approx(1)
    made = weights(IS_RIGHT, TASK_OF, np.array([3, 1, 1, 1, 1, 1, 1, 1]), NeuralSettings(balance=0, even_tasks=False))
    assert made[0] == pytest.approx(3 * made[1])


def test_settings_that_cannot_be_run_are_refused() -> None:
    for change, said in (
        ({"task": "X"}, "wanted one of B, T, I, E"),
        ({"batch": 0}, "'batch' is 0; wanted 1 or more"),
        ({"patience": -1}, "'patience' is -1; wanted 0 or more"),
        ({"rate": 0.0}, "'rate' is 0.0; wanted more than 0"),
        ({"line_head": "none"}, "'line_head' is 'none'; wanted one of mapped, vector"),
    ):
        with pytest.raises(InputError, match=said):
            NeuralSettings(**change)
