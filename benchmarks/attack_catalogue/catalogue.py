"""Every attack, group by group: those of `tests/cage/attacks`, which the tests run too, and all others.

The others are the cases of the files `*.cases` here (`cases.py` says how they are written), and a few whose text is
computed. A case is `like` the maker that it is handed to; each of its fields is an argument of that. Where a field is
the name of a test, a judge, limits or a text, it is looked up among the parts of `tests/cage/attacks`, of `makers.py`,
and the cases of its file that are `like: text`.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import attacks.catalogue
from attacks import hiding, model, poison, state, verdict, wrong
from attacks.model import Attack
from cases import Case, read_cases

from assay.values import Script
from attack_catalogue import computed, makers
from attack_catalogue.special import SPECIAL

__all__ = ["ATTACKS", "SPECIAL"]

_ROOMS: tuple[ModuleType, ...] = (hiding, poison, state, verdict, wrong, makers, model)
_PARTS: dict[str, Any] = {name: part for room in _ROOMS for name, part in vars(room).items()}
_NAMED = ("escaped", "first", "setup", "tests")
"""Fields that name a part."""
_TESTS_ARE_TEXT = ("shadows", "used_up")
"""Makers that take the text of the tests."""


def read_attacks(path: Path) -> list[Attack]:
    """Return the attacks of a file."""
    cases = read_cases(path)
    texts = {case.name: _source(case.fields, {}) for case in cases if case.fields["like"] == "text"}
    return [_attack(case, _PARTS | texts) for case in cases if case.name not in texts]


def _attack(case: Case, parts: dict[str, Any]) -> Attack:
    fields = dict(case.fields)
    like = fields.pop("like")
    if like != "Attack":
        fields.pop("group", None)
    source = _source(fields, parts)
    given = {name: _value(name, text, parts) for name, text in fields.items() if name not in _SOURCE}
    if "tests" in fields and like in _TESTS_ARE_TEXT:
        given["tests"] = fields["tests"]
    return parts[like](name=case.name, **given, **({"source": source} if source else {}))


_SOURCE = ("begins", "body", "source", "ends")


def _source(fields: dict[str, str], parts: dict[str, Any]) -> str:
    begins, ends = (parts[fields[name]] if name in fields else "" for name in ("begins", "ends"))
    return begins + (fields.get("body") or fields.get("source", "")) + ends


def _value(name: str, text: str, parts: dict[str, Any]) -> Any:
    """Return what a field stands for."""
    if name == "again":
        words = text.split(", ")
        return tuple((parts[word.removeprefix("not ")], not word.startswith("not ")) for word in words)
    if name == "limits":
        return json.loads(text) if text.startswith("{") else parts[text]
    if name == "modules":
        return tuple(text.split())
    if name in {"bare", "crashes"}:
        return text == "yes"
    if name == "tests" and "\n" in text:
        return (Script(text),)
    return parts[text] if name in _NAMED else text


_OTHERS = [attack for path in sorted(Path(__file__).parent.glob("*.cases")) for attack in read_attacks(path)]
_OTHERS += computed.ATTACKS
ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for tested in attacks.catalogue.GROUPS
    for attack in (*tested.ATTACKS, *(other for other in _OTHERS if other.group == tested.GROUP))
)
