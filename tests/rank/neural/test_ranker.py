# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

for library in ("torch", "transformers", "onnx", "onnxruntime"):
    pytest.importorskip(library, reason="the hf and onnx extras are not installed")

from assay.errors import InputError
from assay.protocols import ManyRanker, Ranker
from assay.rank.dataset.examples import Example
from assay.rank.neural.export_ranker import export
from assay.rank.neural.neural_ranker import NeuralRanker
from assay.rank.neural.neural_settings import NeuralSettings
from assay.rank.neural.train_neural import train
from assay.rank.ranked_pools import ranked_pools
from assay.types import Program, Task

TASK = Task("t9", "add the numbers")
ODD = [
    "",
    "def f(a):\n    return a\n",
    "def",
    "\n" * 400,
    "x = 1\n" * 300,
    "not python at all ((",
    "é\u2028\x0c\r\n",
    "\ud800\0",
]


def trained(base: Path, examples: list[Example], folder: Path, task: str) -> Path:
    settings = NeuralSettings(base=str(base), task=task, window=80, code_least=20, batch=27, micro=9, steps=4)
    train(examples, folder, settings, lambda _: None)
    return folder


@pytest.fixture(scope="module")
def folders(
    bases: dict[str, Path], examples: list[Example], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Return rankers of both kinds."""
    return {
        kind: trained(bases[kind], examples, tmp_path_factory.mktemp("ranker"), task)
        for kind, task in (("encoder", "E+L"), ("decoder", "T"))
    }


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


@pytest.mark.parametrize(("asked", "off"), [("dtype=fp32", 1e-5), ("dtype=bf16&batch=2", 0.05), ("device=cpu", 1e-5)])
def test_options_choose_precision_device_and_batch(folders: dict[str, Path], asked: str, off: float) -> None:
    wanted = NeuralRanker(str(folders["encoder"])).rank(TASK, programs(ODD))
    ranker = NeuralRanker(f"{folders['encoder']}?{asked}")
    assert ranker.name == f"neural:{folders['encoder']}?{asked}"
    found = ranker.rank(TASK, programs(ODD))
    assert [each.score for each in found] == pytest.approx([each.score for each in wanted], abs=off)


@pytest.mark.parametrize("asked", ["length=3", "dtype=int8", "batch=0", "device=moon"])
def test_options_that_it_has_not_are_refused(folders: dict[str, Path], asked: str) -> None:
    with pytest.raises(InputError, match=f"{asked.partition('=')[0]}.* of neural:"):
        NeuralRanker(f"{folders['encoder']}?{asked}")


def test_an_exported_model_gives_way_to_options_of_torch(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    (folder / "model.onnx").write_bytes(b"not read")
    assert NeuralRanker(f"{folder}?dtype=fp32").rank(TASK, programs(ODD[:1]))


def test_a_folder_of_an_earlier_version_is_read(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    about = json.loads((folder / "ranker.json").read_text())
    assert about.pop("line_head") == "mapped"
    (folder / "ranker.json").write_text(json.dumps({**about, "format": 1}))
    wanted = NeuralRanker(str(folders["encoder"])).rank(TASK, programs(ODD))
    assert NeuralRanker(str(folder)).rank(TASK, programs(ODD)) == wanted


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_an_exported_ranker_says_the_same_without_torch(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    folder = Path(shutil.copytree(folders[kind], tmp_path / kind))
    wanted = NeuralRanker(str(folder)).rank(TASK, programs(ODD))
    assert export(folder) <= 1e-3
    got = NeuralRanker(str(folder)).rank(TASK, programs(ODD))
    for one, two in zip(wanted, got, strict=True):
        assert dict(two.why) == pytest.approx(dict(one.why), abs=1e-3)
        assert (two.fault, two.line) == (one.fault, one.line)
    code = (
        "import sys; from assay.rank.neural.neural_ranker import NeuralRanker; from assay.types import Program, Task;"
        f"NeuralRanker({str(folder)!r}).rank(Task('t', 'add'), [Program('t', 'def f(a): return a')]);"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_weights_of_8_bits_are_near(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    export(folder)
    whole = (folder / "model.onnx").stat().st_size
    assert 0 < export(folder, int8=True) < 0.2
    assert (folder / "model.onnx").stat().st_size < whole


def test_a_folder_that_is_no_ranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no folder .*none; train a ranker with 'assay rank train'"):
        NeuralRanker(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"holds no ranker\.json"):
        NeuralRanker(str(tmp_path))
    with pytest.raises(InputError, match="neural:PATH"):
        NeuralRanker()


@pytest.mark.parametrize("missing", ["tokenizer.json", "config.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_is_refused(folders: dict[str, Path], tmp_path: Path, missing: str) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    (folder / missing).unlink()
    with pytest.raises(InputError, match=f"no {missing} in"):
        NeuralRanker(str(folder))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 9}', '{"format": 1, "classes": [], "task": "T"}'])
def test_a_damaged_description_is_refused(folders: dict[str, Path], tmp_path: Path, text: str) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    (folder / "ranker.json").write_text(text)
    with pytest.raises(InputError, match="train again"):
        NeuralRanker(str(folder))


@pytest.mark.parametrize("file", ["model.safetensors", "model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused(folders: dict[str, Path], tmp_path: Path, file: str) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    (folder / file).write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"again"):
        NeuralRanker(str(folder))


@pytest.mark.parametrize(("library", "extra"), [("torch", "hf"), ("onnxruntime", "onnx"), ("tokenizers", "onnx")])
def test_a_library_that_is_not_there_is_told_with_its_extra(
    folders: dict[str, Path], tmp_path: Path, library: str, extra: str
) -> None:
    folder = Path(shutil.copytree(folders["encoder"], tmp_path / "r"))
    if extra == "onnx":
        (folder / "model.onnx").write_bytes(b"any")
    code = f"""
import sys
sys.modules[{library!r}] = None
from assay.rank.neural.neural_ranker import NeuralRanker
from assay.errors import MissingExtra
try:
    NeuralRanker({str(folder)!r})
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"needs {library}: pip install 'assay[{extra}]'" in done.stdout
