# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.dataset.dataset_formats import write
from assay.rank.dataset.examples import Example
from assay.rank.neural import train_neural
from assay.rank.neural.batches import Reader, padded
from assay.rank.neural.model import RankerModel, TorchRunner, open_base, tensors
from assay.rank.neural.neural_ranker import NeuralRanker
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.train_neural import train
from assay.rank.neural.training_steps import batches, rate_at
from assay.rank.order import best_first
from assay.runs.record import read_lines, sole_writer
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
    settings = quick(bases[kind], task="E+L", steps=120, evaluate_every=120)
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
    assert [log["loss"] for log in logs[1] if "loss" in log] == [log["loss"] for log in logs[0] if "loss" in log]
    with pytest.raises(InputError, match="nothing to resume"):
        train(examples, tmp_path / "cut", settings, silent, resume=True)


def test_a_run_that_is_killed_within_an_epoch_ends_in_the_same_weights(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = quick(bases["encoder"], task="E+L", steps=9, batch=16, checkpoint_steps=2, evaluate_every=9)
    digest = "of these examples"
    train(examples, tmp_path / "whole", settings, silent, data=digest)

    def killed(_state: object, _folder: Path, progress: dict[str, int]) -> None:
        write(_state, _folder, progress)
        if progress["step"] == 6:  # of the second epoch, which has four steps like the first
            raise KeyboardInterrupt

    write = train_neural._write_checkpoint
    with monkeypatch.context() as patched:
        patched.setattr(train_neural, "_write_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            train(examples, tmp_path / "cut", settings, silent, data=digest)
    assert not (tmp_path / "cut" / "ranker.json").exists()
    train(iter(()), tmp_path / "cut", settings, silent, resume=True, data=digest)  # its tokens are still there
    whole, cut = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert cut.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "cut" / "tokens").exists()


def test_a_checkpoint_of_another_kind_is_refused(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"checkpoint\.pt is damaged or of an earlier version"):
        train(examples, tmp_path, quick(bases["encoder"]), silent, resume=True)


@pytest.mark.parametrize("change", [{"gradient_checkpointing": True}, {"precision": "bfloat16"}])
def test_ways_to_compute_come_to_nearly_the_same(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path, change: dict[str, object]
) -> None:
    losses = []
    for name, more in (("plain", {}), ("other", change)):
        train(examples, tmp_path / name, quick(bases["decoder"], steps=2, rate=1e-4, **more), silent)
        losses.append([log["loss"] for log in read_lines(tmp_path / name / "log.jsonl") if "loss" in log])
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


def test_messages_are_learned(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    said = {Fault.NAME_ERROR: "NameError: name 'boom' is not defined"}
    told = [replace(each, message=said.get(each.fault, "")) for each in examples]
    settings = quick(bases["encoder"], task="M", steps=60, evaluate_every=60, message_least=2)
    with pytest.raises(InputError, match="no row to learn from has one"):
        train(examples, tmp_path / "none", settings, silent)
    found = train(told, tmp_path / "r", settings, silent)
    assert found["pass@1"] == 1
    ranker = NeuralRanker(str(tmp_path / "r"))
    (ranked,) = ranker.rank(Task("t9", "add the numbers"), [told[-4].program])
    assert max(ranked.why, key=ranked.why.get) == "NameError: name '…' is not defined"
    assert ranked.fault is Fault.NAME_ERROR


def test_the_head_of_the_paper_finds_lines_too(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    settings = quick(bases["encoder"], task="E+L", steps=4, line_head="vector")
    train(examples, tmp_path, settings, silent)
    assert json.loads((tmp_path / "ranker.json").read_text())["line_head"] == "vector"
    assert len(NeuralRanker(str(tmp_path)).rank(Task("t", "add"), [examples[0].program])) == 1


def test_a_causal_model_in_half_precision_is_a_base(
    tmp_path: Path, byte_level_tokenizer: object, examples: list[Example]
) -> None:
    transformers = pytest.importorskip("transformers")
    ends = {"eos_token": "<|end|>", "unk_token": "<|end|>"}  # nothing to begin with, nothing to pad with
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level_tokenizer, **ends).save_pretrained(
        tmp_path / "base"
    )
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.LlamaConfig(vocab_size=257, num_key_value_heads=1, max_position_embeddings=160, **sizes)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(tmp_path / "base")
    train(examples, tmp_path / "r", quick(tmp_path / "base", task="T", steps=60, evaluate_every=20), silent)
    about = json.loads((tmp_path / "r" / "ranker.json").read_text())
    assert about["reads"] == "last"
    assert about["found"]["pass@1"] > 0.5
    ranked = NeuralRanker(str(tmp_path / "r")).rank(Task("t9", "add the numbers"), [examples[-1].program])
    assert ranked[0].score == pytest.approx(ranked[0].why["correct"])


def test_two_processes_come_to_the_losses_of_one(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    write(tmp_path / "rows.jsonl", examples)
    asked = (
        f"-m assay rank train {tmp_path}/rows.jsonl --base {bases['decoder']} --task T --set window=80 --set micro=5"
    )
    small = "--set code_least=20 --set batch=16 --set steps=6 --set evaluate_every=3"
    launch = "-m torch.distributed.run --standalone --nproc_per_node 2"
    logs = []
    for name, how in (("one", ""), ("two", launch)):
        command = f"{how} {asked} {small} --out {tmp_path}/{name}".split()
        ran = subprocess.run(
            [sys.executable, *command],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.count("written to") == 1
        logs.append(list(read_lines(tmp_path / name / "log.jsonl")))
    losses, tokens = ([[line[what] for line in log if what in line] for log in logs] for what in ("loss", "tokens"))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert tokens[1] == tokens[0]
    assert [line["pass@1"] for line in logs[1] if "pass@1" in line] == [
        line["pass@1"] for line in logs[0] if "pass@1" in line
    ]


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
        open_base(NeuralSettings(base=str(tmp_path / "none")))


def test_fewer_layers_can_be_kept(bases: dict[str, Path]) -> None:
    base = open_base(quick(bases["encoder"], layers=1, window=512))
    assert len(base.body.encoder.layer) == 1
    assert base.layout.window == 96


def test_a_model_that_counts_positions_from_after_the_padding_is_read_that_far(
    tmp_path: Path, byte_level_tokenizer: object
) -> None:
    transformers = pytest.importorskip("transformers")
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


def test_an_encoder_with_a_decoder_is_refused(bases: dict[str, Path], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    transformers.AutoTokenizer.from_pretrained(bases["encoder"]).save_pretrained(tmp_path)
    transformers.T5Config(d_model=16, num_layers=1).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="an encoder with a decoder"):
        open_base(quick(tmp_path))


def test_the_rate_rises_and_falls() -> None:
    rates = [rate_at(step, 20, 4) for step in range(21)]
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
    (log.parent / "checkpoint.pt").unlink()
    with pytest.raises(InputError, match="holds a ranker that is finished, there is nothing to resume"):
        train(examples, log.parent, settings, silent, resume=True)
    (log.parent / "ranker.json").unlink()
    with sole_writer(log), pytest.raises(InputError, match="another run writes"):
        train(examples, log.parent, settings, silent)
    assert log.read_bytes() == before


def test_heads_compute_in_float32_whatever_the_base_does(bases: dict[str, Path], examples: list[Example]) -> None:
    base = open_base(quick(bases["encoder"]))
    model = RankerModel(base.body, 3, base.reads, "mapped").eval()
    rows = Reader(base.tokenizer, base.layout).rows("add", [examples[0].source])
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        told = model(*tensors(padded(rows, base.layout.padding), "cpu"))
    assert {each.dtype for each in told} == {torch.float32}
