"""What a model wrote to the one object in it that fits a schema, or to what the model has to mend.

Models put answers into fences, after thoughts, between sentences. An answer is taken only where a single object
stands in the text: with two of them, one may be quoted from the material under judgment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from assay.llm.schema import problems

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_MOST_STARTS = 1000  # braces that are tried; prose has few
_MOST_PROBLEMS = 5  # that a model is told at once


def read(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the answer and no problem, or no answer and what is wrong with it."""
    found = _objects(_THOUGHTS.sub("", text))
    if not found:
        return None, "it holds no JSON object"
    if len(found) > 1:
        return None, f"it holds {len(found)} JSON objects, wanted one and nothing else"
    wrong = list(problems(found[0], schema))
    more = f"; and {len(wrong) - _MOST_PROBLEMS} more" if len(wrong) > _MOST_PROBLEMS else ""
    return (None, "; ".join(wrong[:_MOST_PROBLEMS]) + more) if wrong else (found[0], "")


def _objects(text: str) -> list[dict[str, Any]]:
    """Return the outermost objects of a text, in order."""
    decode = json.JSONDecoder(parse_constant=_no_json).raw_decode
    found, at = [], text.find("{")
    for _ in range(_MOST_STARTS):
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
    raise ValueError(f"{name} is no JSON")
