"""Write what is related to a unit as text, JSON, JSON lines, or places for editors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.cli.workspaces import about
from assay.errors import InputError, printable
from assay.io.terminal import dumps
from assay.operations.answer import RelatedAnswer
from assay.operations.workspace import Workspace
from assay.search.related import GROUPS, RelatedCode, RelatedPlace, related_text
from assay.terms import tokens

if TYPE_CHECKING:
    from assay.cli.related import RelatedOptions


def related_output(answer: RelatedAnswer, place: str, opened: Sequence[Workspace], given: RelatedOptions) -> str:
    """Return what to print; with a budget, as many places of each group as that holds."""
    code, budget = answer.code, given.budget
    most = max(map(len, code.groups.values()))
    for count in range(most, 0, -1):
        groups = {name: places[:count] for name, places in code.groups.items()}
        found = _written(replace(code, groups=groups), place, opened, given)
        if budget is None or tokens(found) <= budget:
            return found
    if most:
        raise InputError(f"a budget of {budget} tokens does not hold one place of each group; give it more")
    return _written(code, place, opened, given)


def _written(code: RelatedCode, place: str, opened: Sequence[Workspace], given: RelatedOptions) -> str:
    if given.form == "text":
        return related_text(code, explain=given.explained)
    if given.form == "json":
        groups = {str(group): list(map(_as_dict, code.groups[group])) for group in GROUPS}
        first: dict[str, Any] = {"place": place, "subject": _as_dict(code.subject), **groups, "total": code.total}
        note = {"note": code.note} if code.note else {}
        return dumps({**first, **note, "index": about(opened, brief=given.budget is not None)}) + "\n"
    every = [each for group in GROUPS for each in code.groups[group]]
    if given.form == "jsonl":
        return "".join(dumps({"group": each.group, **_as_dict(each)}) + "\n" for each in every)
    return "".join(f"{printable(each.path)}:{each.line}:1:{each.group}: {_place_remark(each)}\n" for each in every)


def _place_remark(place: RelatedPlace) -> str:
    name = place.name or place.kind
    among = f" (one of {place.among} definitions of that name)" if place.among > 1 else ""
    return f"{printable(name)}{among}: {printable(place.text)}" if place.text else f"{printable(name)}{among}"


def _as_dict(place: RelatedPlace) -> dict[str, Any]:
    """Return a place as JSON has it (docs/formats.md)."""
    fields = ("path", "line", "end_line", "name", "kind", "language", "text")
    return {
        **{name: getattr(place, name) for name in fields},
        **({"lines": list(place.lines)} if place.lines else {}),
        **({"among": place.among} if place.among > 1 else {}),
        **({"score": round(place.score, 3)} if place.score else {}),
    }
