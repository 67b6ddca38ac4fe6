# ruff: noqa: E402  what may be missing is asked for before it is imported
"""The neural ranker and `assay rank train`: what is ranked, what is refused, and what is loaded for that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

for library in ("torch", "transformers"):
    pytest.importorskip(library, reason="the hf extra is not installed")

import json
import os

from assay.errors import InputError
from assay.protocols import ManyRanker, Ranker
from assay.rank.datasets import Example, write
from assay.rank.neural_data import NeuralSettings
from assay.rank.neural_ranker import NeuralRanker
from assay.rank.rankers import ranked_pools
from assay.train.neural import train
from assay.values import Program, Task

TASK = Task("t9", "add the numbers")
ODD = ["", "def f(a):\n    return a\n", "def", "\n" * 400, "x = 1\n" * 300, "not python at all ((", "é\u2028\x0c\r\n"]
ODD.append("\ud800\0")


@pytest.fixture(scope="module")
def folders(
    bases: dict[str, Path], examples: list[Example], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Return rankers of both kinds."""
    made = {}
    for kind, task in (("encoder", "E+L"), ("decoder", "T")):
        made[kind] = tmp_path_factory.mktemp("ranker")
        settings = NeuralSettings(
            base=str(bases[kind]), task=task, window=80, code_least=20, batch=27, micro=9, steps=1
        )
        train(examples, made[kind], settings, lambda _: None)
    return made


def programs(sources: list[str]) -> list[Program]:
    return [Program("t9", source, str(at)) for at, source in enumerate(sources)]


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_every_program_is_ranked_whatever_it_is(folders: dict[str, Path], kind: str) -> None:
    ranker = NeuralRanker(str(folders[kind]))
    assert isinstance(ranker, Ranker)
    assert ranker.name == f"neural:{folders[kind]}"
    asked = programs([*ODD, ODD[1]])
    ranked = ranker.rank(TASK, asked)
    assert [each.program for each in ranked] == asked
    assert all(sum(each.why.values()) == pytest.approx(1, abs=1e-5) for each in ranked)
    assert ranked[1].score == ranked[-1].score
    assert ranker.rank(TASK, []) == []
    assert ranker.rank(TASK, asked[1:2])[0].score == pytest.approx(ranked[1].score, abs=1e-5)


def test_tasks_that_are_asked_about_together_are_ranked_as_alone(folders: dict[str, Path]) -> None:
    ranker = NeuralRanker(str(folders["encoder"]))
    other = Task("t8", "return the numbers")
    pools = [(TASK, programs(ODD)), (other, programs(ODD[:3])), (TASK, programs(ODD[1:2])), (TASK, [])]
    assert isinstance(ranker, ManyRanker)
    together = list(ranked_pools(ranker, pools))
    for (task, of), ranked in zip(pools, together, strict=True):
        alone = ranker.rank(task, of)
        assert [each.program for each in ranked] == of
        assert [each.score for each in ranked] == pytest.approx([each.score for each in alone], abs=1e-5)
    assert together[0][1].score == together[2][0].score != together[1][1].score


def test_options_choose_precision_device_and_batch(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    wanted = NeuralRanker(str(folder)).rank(TASK, programs(ODD))
    for asked, off in (("dtype=fp32", 1e-5), ("dtype=bf16&batch=2", 0.05), ("device=cpu", 1e-5)):
        ranker = NeuralRanker(f"{folder}?{asked}")
        assert ranker.name == f"neural:{folder}?{asked}"
        found = ranker.rank(TASK, programs(ODD))
        assert [each.score for each in found] == pytest.approx([each.score for each in wanted], abs=off)
    for asked in ("length=3", "dtype=int8", "batch=0", "device=moon"):
        with pytest.raises(InputError, match=f"{asked.partition('=')[0]}.* of neural:"):
            NeuralRanker(f"{folder}?{asked}")


def test_a_folder_that_is_no_ranker_or_damaged_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    for spec, said in (
        (str(tmp_path / "none"), r"no folder .*none; train a ranker with 'assay rank train'"),
        (str(tmp_path), r"has no ranker\.json"),
        ("", "neural:PATH"),
    ):
        with pytest.raises(InputError, match=said):
            NeuralRanker(spec)
    damages = [(name, None, f"no {name} in") for name in ("tokenizer.json", "config.json", "model.safetensors")]
    damages += [(name, "nothing", "again") for name in ("model.safetensors", "tokenizer.json")]
    texts = ("{", "[]", '{"format": 9}', '{"format": 2, "classes": [], "task": "T"}')
    damages += [("ranker.json", text, "train again") for text in texts]
    for number, (file, text, said) in enumerate(damages):
        folder = Path(shutil.copytree(folders["encoder"], tmp_path / str(number)))
        (folder / file).unlink() if text is None else (folder / file).write_text(text)
        with pytest.raises(InputError, match=said):
            NeuralRanker(str(folder))


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from assay.rank.neural_ranker import NeuralRanker
from assay.errors import MissingExtra
try:
    NeuralRanker(sys.argv[2])
except MissingExtra as error:
    print(error)
"""


def test_a_library_that_is_not_there_is_told_with_its_extra(folders: dict[str, Path]) -> None:
    for library in ("torch", "tokenizers"):
        command = [sys.executable, "-c", WITHOUT, library, str(folders["encoder"])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"needs {library}: " in done.stdout
        assert "[hf]" in done.stdout


SMALL = [word for each in ("window=80", "code_least=20", "steps=2", "batch=9") for word in ("--set", each)]


def test_a_file_of_rows_becomes_a_ranker_and_a_recipe_stands_before_single_settings(assay, bases, examples, tmp_path):
    rows, out = tmp_path / "rows.jsonl", tmp_path / "ranker"
    write(rows, examples)
    with rows.open("a") as file:
        file.write('{"task_id": "t0"}\n' * 7)
    done = assay("rank", "train", rows, "--out", out, "--base", bases["encoder"], "--task", "B", *SMALL)
    assert done.status == 0, done.err
    told = done.out + done.err
    for said in ("held out: pass@1", "rows.jsonl:73: ", "2 more problems (-v shows them)", f"--ranker neural:{out}"):
        assert said in told
    (ranked,) = NeuralRanker(str(out)).rank(Task("t", "add"), [Program("t", "def f(a): return a")])
    assert set(ranked.why) == {"correct", "wrong"}
    base = f"hf:{bases['encoder']}"
    done = assay("rank", "train", rows, "--base", base, "--recipe", "paper", *SMALL, "--out", tmp_path / "r")
    assert done.status == 0, done.err
    settings = json.loads((tmp_path / "r" / "manifest.json").read_text())["settings"]
    assert (settings["even_tasks"], settings["patience"], settings["line_head"]) == (False, 0, "vector")
    assert (settings["window"], settings["batch"], settings["base"]) == (80, 9, str(bases["encoder"]))


def test_rows_of_something_else_are_refused(assay, bases, tmp_path):
    parquet = pytest.importorskip("assay.io.parquet", reason="pyarrow is not installed")
    rows = tmp_path / "rows.parquet"
    asked = ("rank", "train", rows, "--base", bases["encoder"], "--out", tmp_path / "r")
    for row, said in (
        ({"prompt": "add", "code": "x"}, "has no usable row: rows.parquet:1: no field 'fault'"),
        ({"fault": "correct", "task_id": "t"}, "rows.parquet:1: no field 'source'"),
    ):
        parquet.write(rows, [row])
        done = assay(*asked)
        assert (done.status, said in done.err) == (2, True), done.err
        assert done.err.endswith("'assay rank data' writes such rows\n")


UNLOADED = """
import sys
from assay.cli.main import run
status = run(sys.argv[1:])
print(status, {"torch", "transformers"} & set(sys.modules))
"""


def test_a_base_model_that_cannot_be_had_is_told_before_anything_is_loaded(examples, tmp_path):
    write(tmp_path / "rows.jsonl", examples)
    done = subprocess.run(
        [sys.executable, "-c", UNLOADED, *"rank train rows.jsonl --base nobody/nothing --out r".split()],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2 set()\n"
    assert done.stderr.startswith("assay: no model 'nobody/nothing': not in the cache of the hub")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "r").exists()
