"""What is related to a unit, to what is printed: text, JSON, JSON lines, or places for editors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.assemble.answer import RelatedAnswer
from assay.assemble.workspace import Workspace
from assay.cli.workspaces import about
from assay.errors import InputError, printable
from assay.io.terminal import dumps
from assay.search.related import GROUPS, RelatedPlace, related_text
from assay.terms import tokens


@dataclass(frozen=True, slots=True)
class RelatedOutput:
    """An answer, what was asked, the index that answered, and how many tokens there are room for."""

    answer: RelatedAnswer
    place: str
    opened: Sequence[Workspace]
    budget: int | None = None
    explain: bool = False

    def written(self, form: str) -> str:
        """Return what to print; with a budget, as many places of each group as that holds."""
        write = {"text": self._text, "json": self._json, "jsonl": self._lines, "vimgrep": self._places}[form]
        most = max(map(len, self.answer.code.groups.values()))
        for count in range(most, 0, -1):
            found = write(self._first(count))
            if self.budget is None or tokens(found) <= self.budget:
                return found
        if most:
            raise InputError(f"a budget of {self.budget} tokens does not hold one place of each group; give it more")
        return write(self.answer)

    def _first(self, count: int) -> RelatedAnswer:
        code = self.answer.code
        return replace(
            self.answer, code=replace(code, groups={name: places[:count] for name, places in code.groups.items()})
        )

    def _text(self, answer: RelatedAnswer) -> str:
        return related_text(answer.code, explain=self.explain)

    def _json(self, answer: RelatedAnswer) -> str:
        groups = {group: [_as_dict(place) for place in answer.of(group)] for group in GROUPS}
        note = {"note": answer.note} if answer.note else {}
        index = about(self.opened, brief=self.budget is not None)
        subject = _as_dict(answer.subject)
        return (
            dumps(
                {"place": self.place, "subject": subject, **groups, "total": answer.code.total, **note, "index": index}
            )
            + "\n"
        )

    def _lines(self, answer: RelatedAnswer) -> str:
        return "".join(dumps({"group": place.group, **_as_dict(place)}) + "\n" for place in answer)

    def _places(self, answer: RelatedAnswer) -> str:
        return "".join(f"{printable(each.path)}:{each.line}:1:{each.group}: {_place_remark(each)}\n" for each in answer)


def _place_remark(place: RelatedPlace) -> str:
    name = place.name or place.kind
    among = f" (one of {place.among} definitions of that name)" if place.among > 1 else ""
    return f"{printable(name)}{among}: {printable(place.text)}" if place.text else f"{printable(name)}{among}"


def _as_dict(place: RelatedPlace) -> dict[str, Any]:
    """Return a place as JSON has it (docs/formats.md)."""
    return {
        "path": place.path,
        "line": place.line,
        "end_line": place.end_line,
        "name": place.name,
        "kind": place.kind,
        "language": place.language,
        "text": place.text,
        **({"lines": list(place.lines)} if place.lines else {}),
        **({"among": place.among} if place.among > 1 else {}),
        **({"score": round(place.score, 3)} if place.score else {}),
    }
