"""A pattern and a replacement in, files whose matches are replaced out; nothing is written here.

The holes of the pattern stand in the replacement as they were in the source, with what separated several of them. Of
matches inside one another the outer one is replaced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.corpus.code_pattern import HOLE, Pattern
from assay.errors import InputError, nearest


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What matches of a pattern become."""

    pattern: Pattern
    replacement: str

    def __post_init__(self) -> None:
        """Refuse a hole that the pattern does not have: nothing could stand there."""
        for hole in HOLE.finditer(self.replacement):
            if hole[1] not in self.pattern.holes:
                known = sorted(self.pattern.holes)
                wanted = nearest(hole[1] or "", known) if known else "it has none"
                if (hole[1] or "").startswith("_"):
                    wanted = "what a hole stands for whose name begins with _ is not kept: name it without"
                raise InputError(f"the replacement has '{hole[0]}', which is no hole of the pattern; {wanted}")

    def rewrite(self, text: str) -> tuple[str, int]:
        """Return a file with its matches replaced, and how many there were."""
        pieces, last, count = list[str](), 0, 0
        for start, end, holes in sorted(self.pattern.spans(text), key=lambda span: (span[0], -span[1])):
            if start < last:
                continue
            before = text[text.rfind("\n", 0, start) + 1 : start]
            indent = before[: len(before) - len(before.lstrip())]
            pieces += [text[last:start], self._fill_holes(holes, indent, "\r\n" if "\r\n" in text else "\n")]
            last, count = end, count + 1
        return "".join((*pieces, text[last:])), count

    def _fill_holes(self, holes: dict[str, str], indent: str, newline: str) -> str:
        first, *rest = self.replacement.replace("\r\n", "\n").split("\n")
        template = newline.join((first, *(f"{indent}{line}" if line else "" for line in rest)))
        try:
            return re.sub(HOLE, lambda hole: holes[hole[1]], template)
        except KeyError as error:
            raise InputError(
                f"${error.args[0]} of the pattern stands for nothing, as in a string: leave it out of the replacement"
            ) from error
