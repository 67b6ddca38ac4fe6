from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.encode.recipes import RECIPES, Recipe, recipe_of, spec_of
from assay.errors import InputError


def nothing(_: str) -> Path | None:
    return None


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
    assert recipe_of("intfloat/e5-small-v2", nothing)[1].query == "query: "
    assert recipe_of("nomic-ai/CodeRankEmbed", nothing)[1].query.startswith("Represent this query")
    assert recipe_of("microsoft/unixcoder-base", nothing)[1].opening == ("<encoder-only>", "</s>")
    assert recipe_of("jinaai/jina-embeddings-v3", nothing)[1].tasks == ("retrieval.query", "retrieval.passage")
    assert recipe_of("Salesforce/codet5p-110m-embedding", nothing)[1].remote_code


def test_codebert_is_pooled_by_its_own_layer_as_its_code_search_does() -> None:
    assert recipe_of("microsoft/codebert-base", nothing)[1].pooling == "pooler"
    assert recipe_of("microsoft/graphcodebert-base", nothing)[1].pooling == "pooler"
    assert recipe_of("my/checkpoint?pooling=pooler", nothing)[1].pooling == "pooler"


def test_names_in_the_table_are_found_in_any_letter_case() -> None:
    assert all(name == name.lower() for name in RECIPES)


def test_unknown_models_are_pooled_by_mean_and_say_so() -> None:
    plain, recipe = recipe_of("someone/some-model", nothing)
    assert (plain, recipe.pooling) == ("someone/some-model", "mean")
    assert spec_of("someone/some-model", recipe, nothing) == "hf:someone/some-model?pooling=mean"


def test_the_name_of_an_unknown_model_makes_it_again() -> None:
    plain, recipe = recipe_of("someone/some-model?pooling=mean", nothing)
    assert spec_of("someone/some-model?pooling=mean", recipe, nothing) == "hf:someone/some-model?pooling=mean"
    assert plain == "someone/some-model"


def test_asked_pooling_overrules_the_table() -> None:
    assert recipe_of("microsoft/codebert-base?pooling=mean", nothing)[1].pooling == "mean"


@pytest.mark.parametrize("option", ["pooling=", "pooling=max", "pool=cls", "x"])
def test_unknown_options_are_refused(option: str) -> None:
    with pytest.raises(InputError, match="wanted pooling=mean"):
        recipe_of(f"someone/some-model?{option}", nothing)


def test_models_with_a_configuration_bring_pooling_length_and_prefixes(tmp_path: Path) -> None:
    folder_with(
        tmp_path,
        modules_json=MODULES,
        sentence_bert_config_json={"max_seq_length": 99},
        config_sentence_transformers_json={"prompts": {"query": "Q: ", "document": "D: "}},
        **{"1_Pooling__config_json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}},
    )
    recipe = recipe_of(str(tmp_path), finder(tmp_path))[1]
    assert recipe == Recipe("cls", "Q: ", "D: ", 99)
    assert spec_of(str(tmp_path), recipe, finder(tmp_path)) == f"hf:{tmp_path}"


def test_modules_that_are_not_ours_go_to_the_library(tmp_path: Path) -> None:
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    folder_with(tmp_path, modules_json=[*MODULES, dense])
    assert recipe_of(str(tmp_path), finder(tmp_path))[1].pooling == "library"


def test_two_poolings_at_once_go_to_the_library(tmp_path: Path) -> None:
    both = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    folder_with(tmp_path, modules_json=MODULES, **{"1_Pooling__config_json": both})
    assert recipe_of(str(tmp_path), finder(tmp_path))[1].pooling == "library"


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(InputError, match=r"modules\.json cannot be read"):
        recipe_of(str(tmp_path), finder(tmp_path))
