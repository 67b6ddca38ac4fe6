"""What stands behind a model's name, as in `hf:NAME?dtype=bf16&batch=256`, to checked values: how that model is run.

Pooling, precision and length change the vectors and belong to the name that an index remembers; device and batch do
not, since the same index is read on other machines.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal, cast

from assay.errors import InputError, nearest

Precision = Literal["", "fp32", "bf16", "fp16"]
POOLINGS = ("mean", "cls", "last", "pooler")
PRECISIONS = ("fp32", "bf16", "fp16")
_CHANGE_VECTORS = ("pooling", "dtype", "length")
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is run; what is empty or 0 is chosen by the model and the machine."""

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
        """Return those that change the vectors, as they stand in a name; empty where none was given."""
        given = asdict(self)
        return "&".join(f"{name}={given[name]}" for name in _CHANGE_VECTORS if given[name])


def split_model(spec: str, known: Sequence[str] = (), kind: str = "hf") -> tuple[str, ModelOptions]:
    """Return the model and the options of a spec `MODEL?key=value&key=value`, of those that are known to its kind."""
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
    """Tell whether a text can only be a path: names on the hub are `NAME` or `OWNER/NAME`."""
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
    if not (value.isascii() and value.isdecimal()) or not 1 <= int(value) <= _LONGEST:
        raise InputError(f"option '{name}' of {model} is '{value}'; wanted a whole number from 1 to {_LONGEST:,}")
    return int(value)
