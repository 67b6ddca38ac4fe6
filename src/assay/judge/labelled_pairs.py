"""Files of labelled pairs in, the pairs out, and those of them that share no text with pairs that are held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.types import Problem


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """A pair and what a person says of it."""

    query: str
    code: str
    label: int


def read_labelled(file: Path) -> list[LabeledPair]:
    """Read the pairs of a file in any form of rows, with the fields `query` (or `doc`), `code` and `label` (0 or 1)."""
    broken: list[Problem] = []
    pairs = [_pair(fields, rows.place(file, row)) for row, fields in rows.objects(file, broken)]
    if broken or not pairs:
        raise InputError(str(broken[0]) if broken else f"'{file}' holds no labelled pair")
    return pairs


def read_sources(specs: Sequence[str], left_out: Sequence[Path] = ()) -> dict[str, list[LabeledPair]]:
    """Read sources given as `NAME=FILE`, without the pairs whose query or code is in a file that is left out."""
    held_out = [pair for file in left_out for pair in read_labelled(file)]
    sources: dict[str, list[LabeledPair]] = {}
    for spec in specs:
        name, equals, file = spec.partition("=")
        if not (name and equals and file) or name in sources:
            raise InputError(f"'{spec}' is not a source: give NAME=FILE, each name once")
        sources[name] = apart(read_labelled(Path(file).expanduser()), held_out)
        if len({pair.label for pair in sources[name]}) < 2:
            raise InputError(f"{file}: {len(sources[name]):,} pairs of one label are left; wanted matches and others")
    return sources


def apart(pairs: Sequence[LabeledPair], others: Sequence[LabeledPair]) -> list[LabeledPair]:
    """Return the pairs that share neither query nor code with the others, in any letter case and spacing."""
    queries, codes = {plain(one.query) for one in others}, {plain(one.code) for one in others}
    return [one for one in pairs if plain(one.query) not in queries and plain(one.code) not in codes]


def plain(text: str) -> str:
    """Return a text as it is compared: in lower case, without quotes around it, with single spaces."""
    return " ".join(text.lower().strip('"').split())


def _pair(fields: Mapping[str, Any], place: str) -> LabeledPair:
    query, code, label = fields.get("query", fields.get("doc")), fields.get("code"), str(fields.get("label"))
    if not isinstance(query, str) or not isinstance(code, str) or label not in {"0", "1"}:
        raise InputError(f"{place}: wanted the texts query and code, and a label of 0 or 1")
    return LabeledPair(query, code, int(label))
