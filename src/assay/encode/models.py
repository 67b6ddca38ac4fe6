"""Read how transformer models must be used: their pooling, prefixes and lengths.

Wrong pooling or a missing prefix costs more than a weaker model (leaving out CodeRankEmbed's prefix: .074 nDCG), so
nothing here is guessed: a model is in the table, or brings a sentence-transformers configuration, or is pooled by
mean and says so in its name. Options stand behind a name, as in `hf:NAME?dtype=bf16&batch=256`: pooling, precision and
length change the vectors and belong to the name that an index remembers; device and batch do not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePath
from typing import Any, Literal, cast

from assay.errors import InputError, nearest

Precision = Literal["", "fp32", "bf16", "fp16"]
POOLINGS = ("mean", "cls", "last", "pooler")
PRECISIONS = ("fp32", "bf16", "fp16")
_CHANGE_VECTORS = ("pooling", "dtype", "length")
_MAX_COUNT = 100_000


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a model; empty or 0 leaves the choice to the model and the machine."""

    pooling: str = ""
    device: str = ""
    """`cpu`, `cuda`, `cuda:1`, as torch calls them."""
    dtype: Precision = ""
    batch: int = 0
    """Texts at a time."""
    length: int = 0
    """Tokens of a text that are read, at most."""
    remote_code: bool = False
    """Whether Python code that the model brings may run: `remote_code=yes`, typed for this very model."""

    def name_part(self) -> str:
        """Return the options that change the vectors, as part of a name; empty without such options."""
        given = asdict(self)
        return "&".join(f"{name}={given[name]}" for name in _CHANGE_VECTORS if given[name])


def split_model(spec: str, known: Sequence[str] = (), kind: str = "hf") -> tuple[str, ModelOptions]:
    """Return the model and the options of a spec `MODEL?key=value&key=value`; its kind knows the options `known`."""
    model, question, asked = spec.partition("?")
    called = f"{kind}:{model}"
    known = known or [field.name for field in fields(ModelOptions)]
    values: dict[str, str] = {}
    for one in asked.split("&") if question else ():
        key, _, value = one.partition("=")
        if key not in known:
            raise InputError(f"unknown option '{one}' of {called}; {nearest(key, known)}")
        if not value or key in values:
            raise InputError(f"option '{key}' of {called} {'is given twice' if key in values else 'has no value'}")
        values[key] = value
    return model, ModelOptions(
        pooling=_one_of(values, "pooling", POOLINGS, called),
        device=values.get("device", ""),
        dtype=cast(Precision, _one_of(values, "dtype", PRECISIONS, called)),
        batch=_count(values, "batch", called),
        length=_count(values, "length", called),
        remote_code=_one_of(values, "remote_code", ("yes", "no"), called) == "yes",
    )


def is_path(model: str) -> bool:
    """Say whether a text can only be a path: names on the hub are `NAME` or `OWNER/NAME`."""
    return not model or model[0] in "./~" or model.count("/") > 1 or (os.sep != "/" and os.sep in model)


def _one_of(values: dict[str, str], name: str, known: tuple[str, ...], model: str) -> str:
    value = values.get(name, "")
    if value and value not in known:
        raise InputError(f"option '{name}' of {model} is '{value}'; wanted {', '.join(known[:-1])} or {known[-1]}")
    return value


def _count(values: dict[str, str], name: str, model: str) -> int:
    value = values.get(name, "")
    if not value:
        return 0
    if not (value.isascii() and value.isdecimal()) or not 1 <= int(value) <= _MAX_COUNT:
        raise InputError(f"option '{name}' of {model} is '{value}'; wanted a whole number from 1 to {_MAX_COUNT:,}")
    return int(value)


Pooling = Literal["mean", "cls", "last", "pooler", "output", "library"]
"""How token vectors become one.

`pooler`: the model's own layer over the first token; `output`: the model gives it; `library`: sentence-transformers
runs its modules.
"""


USE = "assay.json"
"""What a folder that Assay wrote says of its use."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one model must be used."""

    pooling: Pooling
    query: str = ""
    """Written before a query."""
    code: str = ""
    """Written before what is searched."""
    max_tokens: int = 512
    opening: tuple[str, ...] = ()
    """Tokens after the first special token, for models with modes."""
    tasks: tuple[str, str] | None = None
    """The adapters for query and code, for models that have several."""
    remote_code: bool = False
    """The model brings Python that has to run, which only the user can allow."""


_E5 = Recipe("mean", "query: ", "passage: ")
_BGE = Recipe("cls", "Represent this sentence for searching relevant passages: ")
_UNIXCODER = Recipe("mean", opening=("<encoder-only>", "</s>"))

RECIPES: dict[str, Recipe] = {
    # The pooler's output: evaluateMMRR/model.py of github.com/DeepSoftwareAnalytics/CoSQA_Plus for CodeBERT,
    # GraphCodeBERT/codesearch/model.py of github.com/microsoft/CodeBERT
    "microsoft/codebert-base": Recipe("pooler"),
    "microsoft/graphcodebert-base": Recipe("pooler"),
    # UniXcoder/README.md of github.com/microsoft/CodeBERT: the mode in front, the mean of all tokens
    "microsoft/unixcoder-base": _UNIXCODER,
    "microsoft/unixcoder-base-nine": _UNIXCODER,
    "microsoft/unixcoder-base-unimodal": _UNIXCODER,
    # each model's card on huggingface.co, and sentence_bert_config.json for how many tokens it reads
    "salesforce/codet5p-110m-embedding": Recipe("output", remote_code=True),
    "jinaai/jina-embeddings-v3": Recipe(
        "library", tasks=("retrieval.query", "retrieval.passage"), max_tokens=1024, remote_code=True
    ),
    "jinaai/jina-embeddings-v2-base-code": Recipe("mean", max_tokens=1024, remote_code=True),
    "nomic-ai/coderankembed": Recipe(
        "cls", "Represent this query for searching relevant code: ", max_tokens=1024, remote_code=True
    ),
    "nomic-ai/nomic-embed-text-v1.5": Recipe("mean", "search_query: ", "search_document: ", 1024, remote_code=True),
    **{f"intfloat/{kind}{size}": _E5 for kind in ("e5-", "multilingual-e5-") for size in ("small", "base", "large")},
    **{f"intfloat/e5-{size}-v2": _E5 for size in ("small", "base", "large")},
    **{f"baai/bge-{size}-en-v1.5": _BGE for size in ("small", "base", "large")},
    "baai/bge-m3": Recipe("cls", max_tokens=1024),
    "sentence-transformers/all-minilm-l6-v2": Recipe("mean", max_tokens=256),
    "sentence-transformers/all-minilm-l12-v2": Recipe("mean", max_tokens=128),
    "sentence-transformers/all-mpnet-base-v2": Recipe("mean", max_tokens=384),
}

_TABLE_BY_FOLDER = {name.rpartition("/")[2]: recipe for name, recipe in RECIPES.items()}
"""For a copy of a model in a folder of its name, as machines without the hub have them."""

Find = Callable[[str], Path | None]
"""Returns the file of that name in the model's folder or repository, or None."""


def recipe_of(model: str, options: ModelOptions, find: Find) -> Recipe:
    """Return how a model must be used; requested pooling and length overrule everything else.

    Raises InputError for a model that needs code of its own and was named without `remote_code=yes`.
    """
    recipe = documented_recipe(model, find) or Recipe("mean")
    if not options.remote_code and (recipe.remote_code or (recipe.pooling == "library" and _brings_modules(find))):
        raise InputError(
            f"the model '{model}' brings Python code that has to run: read it, and if you trust it, "
            f"name the model as hf:{model}?remote_code=yes"
        )
    recipe = replace(recipe, remote_code=options.remote_code)
    if options.pooling:
        recipe = replace(recipe, pooling=cast(Pooling, options.pooling))
    return replace(recipe, max_tokens=options.length) if options.length else recipe


def documented_recipe(model: str, find: Find) -> Recipe | None:
    """Return the recipe beside a trained folder, or else that of the table, or else that of its modules."""
    trained = find(USE)
    if trained is not None and "pooling" in (use := _json(trained)):
        known = {field.name for field in fields(Recipe)} - {"tasks"}
        return Recipe(**{**{key: use[key] for key in known & use.keys()}, "opening": tuple(use.get("opening", ()))})
    listed = RECIPES.get(model.lower()) or _TABLE_BY_FOLDER.get(PurePath(model).name.lower())
    modules = None if listed else find("modules.json")
    return listed or (_own_recipe(modules, find) if modules is not None else None)


def spec_of(model: str, recipe: Recipe, options: ModelOptions, find: Find) -> str:
    """Return the spec that names this use of the model; undocumented pooling is spelled out."""
    if not options.pooling and documented_recipe(model, find) is None:
        options = replace(options, pooling=recipe.pooling)
    asked = options.name_part()
    return f"hf:{model}?{asked}" if asked else f"hf:{model}"


def _own_recipe(modules: Path, find: Find) -> Recipe:
    """Read the sentence-transformers configuration beside a model."""
    kinds = [str(module["type"]).rpartition(".")[2] for module in _json(modules)]
    pooling = next((str(module["path"]) for module in _json(modules) if str(module["type"]).endswith("Pooling")), "")
    modes = _optional_json(find(f"{pooling}/config.json"))
    length = _optional_json(find("sentence_bert_config.json")).get("max_seq_length")
    prompts = _optional_json(find("config_sentence_transformers.json")).get("prompts") or {}
    plain = set(kinds) <= {"Transformer", "Pooling", "Normalize"}
    return Recipe(
        pooling=_pooling_of(modes) if plain else "library",
        query=prompts.get("query", ""),
        code=prompts.get("document", prompts.get("passage", "")),
        max_tokens=int(length or 512),
    )


def _brings_modules(find: Find) -> bool:
    """Say whether a model has modules of its own, which would be imported from its folder."""
    modules = _optional_json(find("modules.json")) or []
    return not all(str(module["type"]).startswith("sentence_transformers.") for module in modules)


def _pooling_of(modes: dict[str, object]) -> Pooling:
    """Return the one pooling that a configuration turns on; other poolings are left to the library."""
    named = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "last": "pooling_mode_lasttoken"}
    on = [key for key, value in modes.items() if key.startswith("pooling_mode_") and value]
    for pooling, key in named.items():
        if on == [key] or modes.get("pooling_mode") == pooling:
            return cast(Pooling, pooling)
    return "library"


def _optional_json(path: Path | None) -> Any:
    return _json(path) if path is not None else {}


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"the model's {path.name} cannot be read: {error}; download it again") from error
