from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.encode.model_options import ModelOptions, split_model
from assay.encode.recipes import RECIPES, Recipe, recipe_of, spec_of
from assay.errors import InputError

NONE = ModelOptions()


def nothing(_: str) -> Path | None:
    return None


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


def finder(folder: Path):
    return lambda file: folder / file if (folder / file).is_file() else None


MODULES = [
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def test_known_models_are_used_as_their_authors_say() -> None:
    assert used("intfloat/e5-small-v2").query == "query: "
    assert used("nomic-ai/CodeRankEmbed?remote_code=yes").query.startswith("Represent this query")
    assert used("microsoft/unixcoder-base").opening == ("<encoder-only>", "</s>")
    assert used("jinaai/jina-embeddings-v3?remote_code=yes").tasks == ("retrieval.query", "retrieval.passage")
    assert used("Salesforce/codet5p-110m-embedding?remote_code=yes").remote_code


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


def test_codebert_is_pooled_by_its_own_layer_as_its_code_search_does() -> None:
    assert used("microsoft/codebert-base").pooling == "pooler"
    assert used("microsoft/graphcodebert-base").pooling == "pooler"
    assert used("my/checkpoint?pooling=pooler").pooling == "pooler"


def test_names_in_the_table_are_found_in_any_letter_case() -> None:
    assert all(name == name.lower() for name in RECIPES)


def test_unknown_models_are_pooled_by_mean_and_say_so() -> None:
    assert used("someone/some-model") == Recipe("mean")
    assert named("someone/some-model") == "hf:someone/some-model?pooling=mean"


def test_the_name_of_an_unknown_model_makes_it_again() -> None:
    assert named("someone/some-model?pooling=mean") == "hf:someone/some-model?pooling=mean"
    assert named("someone/some-model?length=99&batch=3") == "hf:someone/some-model?pooling=mean&length=99"


def test_what_changes_no_vector_is_not_in_the_name() -> None:
    assert named("intfloat/e5-small-v2?device=cpu&batch=9") == "hf:intfloat/e5-small-v2"
    assert named("intfloat/e5-small-v2?batch=9&length=64&dtype=bf16") == "hf:intfloat/e5-small-v2?dtype=bf16&length=64"
    assert used("intfloat/e5-small-v2?length=64") == Recipe("mean", "query: ", "passage: ", 64)


def test_asked_pooling_overrules_the_table() -> None:
    assert used("microsoft/codebert-base?pooling=mean").pooling == "mean"


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ("pooling=", "option 'pooling' of hf:some/model has no value"),
        ("pooling=max", "option 'pooling' of hf:some/model is 'max'; wanted mean, cls, last or pooler"),
        ("pool=cls", "unknown option 'pool=cls' of hf:some/model; did you mean 'pooling'?"),
        ("x", "unknown option 'x' of hf:some/model; known: pooling, device, dtype, batch, length"),
        ("dtype=int8", "option 'dtype' of hf:some/model is 'int8'; wanted fp32, bf16 or fp16"),
        ("batch=0", "option 'batch' of hf:some/model is '0'; wanted a whole number from 1 to 100,000"),
        ("batch=2&batch=3", "option 'batch' of hf:some/model is given twice"),
        ("length=1.5", "option 'length' of hf:some/model is '1.5'; wanted a whole number"),
        ("", "unknown option '' of hf:some/model"),
    ],
)
def test_unknown_options_and_bad_values_are_refused(option: str, error: str) -> None:
    with pytest.raises(InputError) as refused:
        split_model(f"some/model?{option}")
    assert str(refused.value).startswith(error)


def test_models_with_a_configuration_bring_pooling_length_and_prefixes(tmp_path: Path) -> None:
    folder_with(
        tmp_path,
        modules_json=MODULES,
        sentence_bert_config_json={"max_seq_length": 99},
        config_sentence_transformers_json={"prompts": {"query": "Q: ", "document": "D: "}},
        **{"1_Pooling__config_json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}},
    )
    recipe = used(str(tmp_path), finder(tmp_path))
    assert recipe == Recipe("cls", "Q: ", "D: ", 99)
    assert named(str(tmp_path), finder(tmp_path)) == f"hf:{tmp_path}"


def test_modules_that_are_not_ours_go_to_the_library(tmp_path: Path) -> None:
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    folder_with(tmp_path, modules_json=[*MODULES, dense])
    assert used(str(tmp_path), finder(tmp_path)).pooling == "library"


def test_two_poolings_at_once_go_to_the_library(tmp_path: Path) -> None:
    both = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    folder_with(tmp_path, modules_json=MODULES, **{"1_Pooling__config_json": both})
    assert used(str(tmp_path), finder(tmp_path)).pooling == "library"


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(InputError, match=r"modules\.json cannot be read"):
        used(str(tmp_path), finder(tmp_path))
