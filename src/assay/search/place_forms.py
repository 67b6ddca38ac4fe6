"""Read the forms in which programs name a line of a file, from the table beside this module."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).with_name("place_forms.toml")


class PlaceForm(NamedTuple):
    """How a line of a file is named."""

    name: str
    pattern: re.Pattern[str]
    examples: Mapping[str, tuple[str, str, int]]
    """By the program that prints it: what it prints, the path and the line."""


@cache
def place_forms() -> tuple[PlaceForm, ...]:
    """Return every form; of two that match at a place the first is meant."""
    table = tomllib.loads(_TABLE.read_text("utf-8"))
    parts = table["parts"]

    def pattern(text: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"<([A-Z]+)>", lambda part: parts[part[1]], text), re.MULTILINE)

    return tuple(PlaceForm(form["name"], pattern(form["pattern"]), form["examples"]) for form in table["forms"])
