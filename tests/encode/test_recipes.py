"""How each model is used: by the table, by its own configuration, or as the user says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.encode.models import RECIPES, Recipe, recipe_of, spec_of, split_model
from assay.errors import InputError

MODULES = [
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def nothing(_: str) -> Path | None:
    return None


def finder(folder: Path):
    return lambda file: folder / file if (folder / file).is_file() else None


def used(spec: str, find=nothing) -> Recipe:
    """Return the recipe of a spec."""
    model, options = split_model(spec)
    return recipe_of(model, options, find)


def named(spec: str, find=nothing) -> str:
    """Return the name of an encoder made from a spec."""
    model, options = split_model(spec)
    return spec_of(model, used(spec, find), options, find)


def folder_with(folder: Path, **files: object) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def test_known_models_are_used_as_their_authors_say() -> None:
    assert used("intfloat/e5-small-v2").query == "query: "
    assert used("nomic-ai/CodeRankEmbed?remote_code=yes").query.startswith("Represent this query")
    assert used("microsoft/unixcoder-base").opening == ("<encoder-only>", "</s>")
    assert used("jinaai/jina-embeddings-v3?remote_code=yes").tasks == ("retrieval.query", "retrieval.passage")
    assert used("Salesforce/codet5p-110m-embedding?remote_code=yes").remote_code
    assert used("microsoft/codebert-base").pooling == used("microsoft/graphcodebert-base").pooling == "pooler"
    assert all(name == name.lower() for name in RECIPES)  # they are found in any letter case


def test_code_of_a_model_runs_only_by_a_word_that_the_user_typed(tmp_path: Path) -> None:
    custom = [{"path": "", "type": "custom_st.Transformer"}, {"path": "1", "type": "sentence_transformers.Dense"}]
    folder_with(tmp_path / "a" / "CodeRankEmbed")
    folder_with(tmp_path / "b", assay_json={"pooling": "mean", "remote_code": True})
    folder_with(tmp_path / "c", assay_json={"pooling": "library", "remote_code": False}, modules_json=custom)
    folder_with(tmp_path / "d", modules_json=custom)
    for model in ("nomic-ai/CodeRankEmbed", "anybody/CodeRankEmbed", *map(str, tmp_path.glob("[bcd]"))):
        find = finder(Path(model))
        with pytest.raises(InputError, match=r"brings Python code that has to run.*remote_code=yes"):
            used(model, find)
        assert used(f"{model}?remote_code=yes", find).remote_code
        assert "remote_code" not in named(f"{model}?remote_code=yes", find)
    assert not used("intfloat/e5-small-v2").remote_code


def test_a_name_holds_what_changes_vectors_and_makes_the_encoder_again() -> None:
    assert used("someone/some-model") == Recipe("mean")
    names = {
        "someone/some-model": "hf:someone/some-model?pooling=mean",
        "someone/some-model?pooling=mean": "hf:someone/some-model?pooling=mean",
        "someone/some-model?length=99&batch=3": "hf:someone/some-model?pooling=mean&length=99",
        "intfloat/e5-small-v2?device=cpu&batch=9": "hf:intfloat/e5-small-v2",
        "intfloat/e5-small-v2?batch=9&length=64&dtype=bf16": "hf:intfloat/e5-small-v2?dtype=bf16&length=64",
    }
    assert {spec: named(spec) for spec in names} == names
    assert used("intfloat/e5-small-v2?length=64") == Recipe("mean", "query: ", "passage: ", 64)
    assert used("microsoft/codebert-base?pooling=mean").pooling == "mean"
    assert used("my/checkpoint?pooling=pooler").pooling == "pooler"


def test_unknown_options_and_bad_values_are_refused() -> None:
    for option, error in (
        ("pooling=", "option 'pooling' of hf:some/model has no value"),
        ("pooling=max", "option 'pooling' of hf:some/model is 'max'; wanted mean, cls, last or pooler"),
        ("pool=cls", "unknown option 'pool=cls' of hf:some/model; did you mean 'pooling'?"),
        ("x", "unknown option 'x' of hf:some/model; known: pooling, device, dtype, batch, length"),
        ("dtype=int8", "option 'dtype' of hf:some/model is 'int8'; wanted fp32, bf16 or fp16"),
        ("batch=0", "option 'batch' of hf:some/model is '0'; wanted a whole number from 1 to 100,000"),
        ("batch=2&batch=3", "option 'batch' of hf:some/model is given twice"),
        ("length=1.5", "option 'length' of hf:some/model is '1.5'; wanted a whole number"),
        ("", "unknown option '' of hf:some/model"),
    ):
        with pytest.raises(InputError) as refused:
            split_model(f"some/model?{option}")
        assert str(refused.value).startswith(error)


def test_a_configuration_brings_pooling_length_and_prefixes_or_goes_to_the_library(tmp_path: Path) -> None:
    cls = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    folder_with(
        tmp_path,
        modules_json=MODULES,
        sentence_bert_config_json={"max_seq_length": 99},
        config_sentence_transformers_json={"prompts": {"query": "Q: ", "document": "D: "}},
        **{"1_Pooling__config_json": cls},
    )
    assert used(str(tmp_path), finder(tmp_path)) == Recipe("cls", "Q: ", "D: ", 99)
    assert named(str(tmp_path), finder(tmp_path)) == f"hf:{tmp_path}"
    folder_with(tmp_path, **{"1_Pooling__config_json": {**cls, "pooling_mode_mean_tokens": True}})
    assert used(str(tmp_path), finder(tmp_path)).pooling == "library"  # two poolings at once
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    folder_with(tmp_path, modules_json=[*MODULES, dense], **{"1_Pooling__config_json": cls})
    assert used(str(tmp_path), finder(tmp_path)).pooling == "library"
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(InputError, match=r"modules\.json cannot be read"):
        used(str(tmp_path), finder(tmp_path))
