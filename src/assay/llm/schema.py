"""Check values against the flat JSON schemas of prompts, and find the answer in a model's text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from assay.errors import InputError, nearest

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
LENGTHS = ("maxLength", "maxItems")
_KEYWORDS = (
    *("type", "properties", "required", "additionalProperties", "items", "enum", "minimum", "maximum"),
    *LENGTHS,
    *("title", "description", "default", "examples"),
)
_MAX_VALUE_CHARS = 80  # characters of a wrong value in a message


def problems(value: Any, schema: Mapping[str, Any], where: str = "the answer") -> Iterator[str]:
    """Yield what a model has to correct for its answer to fit the schema."""
    wanted = schema.get("type")
    if wanted is not None and not _is(value, wanted):
        yield f"{where} is {_value_text(value)}, wanted {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {_value_text(value)}, wanted one of {_value_text(schema['enum'])}"
    if isinstance(value, int | float):
        if value < schema.get("minimum", -math.inf):
            yield f"{where} is {_value_text(value)}, wanted {schema['minimum']} or more"
        if value > schema.get("maximum", math.inf):
            yield f"{where} is {_value_text(value)}, wanted {schema['maximum']} or less"
    elif isinstance(value, dict):
        yield from _of_object(value, schema, where)
    else:
        yield from _of_length(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from problems(item, schema["items"], f"{where}[{place}]")


def _of_length(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    for kind, name, what in ((str, "maxLength", "characters"), (list, "maxItems", "items")):
        if isinstance(value, kind) and len(value) > schema.get(name, math.inf):
            yield f"{where} has {len(value):,} {what}, wanted {schema[name]:,} or fewer"


def check(schema: Mapping[str, Any], where: str = "the schema") -> None:
    """Refuse a schema with a keyword that would be ignored."""
    for keyword in schema:
        if keyword not in _KEYWORDS:
            raise InputError(f"{where} has the keyword '{keyword}'; {nearest(keyword, sorted(_KEYWORDS))}")
    if schema.get("type", "object") not in [*_TYPES] or {*map(type, schema.get("enum", ()))} - {str, int}:
        raise InputError(f"{where} needs one type of {', '.join(_TYPES)}, and in an enum texts or whole numbers")
    if any(type(schema.get(name, 0)) is not int or schema.get(name, 0) < 0 for name in LENGTHS):
        raise InputError(f"{where} has a {' or '.join(LENGTHS)} that is not a whole number of 0 or more")
    if not isinstance(schema.get("additionalProperties", True), bool):
        raise InputError(f"{where} has an additionalProperties that is neither true nor false")
    for name, below in schema.get("properties", {}).items():
        check(below, f"{where}.{name}")
    if "items" in schema:
        check(schema["items"], f"{where}[]")


_CHARACTERS_A_TOKEN = 2
"""Of what a model writes, at least: prose and code have three to five, Chinese one to two."""
_PUNCTUATION = 8
"""Tokens of a name's quotes, its colon and comma, and of spaces."""


def most_tokens(schema: Mapping[str, Any]) -> float:
    """Return roughly the most tokens of an answer that fits; infinite if a part is unbounded."""
    if "enum" in schema:
        return max(len(str(each)) for each in schema["enum"]) / _CHARACTERS_A_TOKEN + _PUNCTUATION
    match schema.get("type", "object"):
        case "string":
            return float(schema.get("maxLength", math.inf)) / _CHARACTERS_A_TOKEN + _PUNCTUATION
        case "array":
            each = most_tokens(schema.get("items", {"type": "object"}))
            return float(schema.get("maxItems", math.inf) * each + _PUNCTUATION)
        case "object":
            if schema.get("additionalProperties") is not False:
                return math.inf
            each_name = schema.get("properties", {}).items()
            return sum(len(name) + _PUNCTUATION + most_tokens(below) for name, below in each_name)
        case _:
            return 3 * _PUNCTUATION


def without_lengths(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without length bounds, for endpoints that refuse these."""
    kept = {name: value for name, value in schema.items() if name not in LENGTHS}
    if "properties" in kept:
        kept["properties"] = {name: without_lengths(below) for name, below in kept["properties"].items()}
    return {**kept, "items": without_lengths(kept["items"])} if "items" in kept else kept


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Say whether endpoints can enforce a schema while a model writes: all properties required, and no others."""
    if "items" in schema and not is_strict(schema["items"]):
        return False
    if schema.get("type") != "object":
        return True
    properties = schema.get("properties", {})
    closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(properties)
    return closed and all(map(is_strict, properties.values()))


def _of_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} has no '{name}'"
    for name, below in value.items():
        if name in known:
            yield from problems(below, known[name], f"{where}.{name}")
        elif not schema.get("additionalProperties", True):
            yield f"{where} has an unknown {_value_text(name)}; known: {', '.join(known)}"


def _is(value: Any, name: str) -> bool:
    """Say whether a value has a type; true is not a number, 1.0 is an integer, 1e999 is not a number."""
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, float) and name in {"integer", "number"}:
        return value.is_integer() if name == "integer" else math.isfinite(value)
    return isinstance(value, _TYPES[name])


def _value_text(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MAX_VALUE_CHARS else text[:_MAX_VALUE_CHARS] + "…"


_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_MAX_BRACES = 1000  # braces that are tried; prose has few
_MAX_PROBLEMS = 5  # that a model is told at once


def read(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the answer and an empty problem, or None and the problem."""
    found = _objects(_THOUGHTS.sub("", text))
    if not found:
        return None, _broken(text) or "it holds no JSON object"
    if len(found) > 1:
        return None, f"it holds {len(found)} JSON objects, wanted one and nothing else"
    wrong = list(problems(found[0], schema))
    more = f"; and {len(wrong) - _MAX_PROBLEMS} more" if len(wrong) > _MAX_PROBLEMS else ""
    return (None, "; ".join(wrong[:_MAX_PROBLEMS]) + more) if wrong else (found[0], "")


def _broken(text: str) -> str:
    """Say where the JSON object in a text is broken; empty if there is none."""
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or end <= start:
        return ""
    try:
        json.loads(text[start:end], parse_constant=_no_json)
    except json.JSONDecodeError as error:
        return f"its JSON is broken at line {error.lineno}, column {error.colno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return f"its JSON is broken: {error}"
    return ""


def _objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost objects of a text, in order."""
    decode = json.JSONDecoder(parse_constant=_no_json).raw_decode
    found, at = [], text.find("{")
    for _ in range(_MAX_BRACES):
        if at < 0:
            break
        try:
            value, end = decode(text, at)
            found.append(value)
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return found


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")
