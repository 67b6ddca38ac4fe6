"""What is to be asked about a unit, as a text that says all of it and can be read back from a record.

An order names the unit, so that a question can be checked against the unit's names wherever the record is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast, get_args

from assay.errors import StorageError
from assay.types import Chunk

UnitSort = Literal["function", "type", "constant", "documentation"]
QuestionKind = Literal["standard", "hard", "issue"]
SORTS: tuple[UnitSort, ...] = get_args(UnitSort)
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
_LINES = ("sort", "kind", "path", "parent", "symbol", "signature")


@dataclass(frozen=True, slots=True)
class QuestionOrder:
    """One question that is wanted.

    >>> order_of(QuestionOrder("function", "hard", "mail/send.py", "", "send_mail").text).symbol
    'send_mail'
    """

    sort: UnitSort
    kind: QuestionKind
    """`standard` as a colleague asks, `hard` without a word of the unit's names, `issue` as trouble is reported."""
    path: str
    parent: str = ""
    symbol: str = ""
    signature: str = ""

    @property
    def text(self) -> str:
        """All of it, a line each."""
        return "\n".join(f"{name}: {' '.join(str(getattr(self, name)).split())}" for name in _LINES)

    @property
    def unit(self) -> Chunk:
        """The unit by its names alone."""
        return Chunk("", "", path=self.path, symbol=self.symbol, parent=self.parent, signature=self.signature)


def order_of(text: str) -> QuestionOrder:
    """Return the order that a text says."""
    parted = (line.partition(":") for line in text.split("\n"))
    said = {name: value.removeprefix(" ") for name, _, value in parted}
    if tuple(said) != _LINES or said["sort"] not in SORTS or said["kind"] not in KINDS:
        raise StorageError(f"'{text[:60]}' is no order for a question; give another --records, or --fresh")
    sort, kind, *names = said.values()
    return QuestionOrder(cast(UnitSort, sort), cast(QuestionKind, kind), *names)
