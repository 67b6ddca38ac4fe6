"""What sort of unit a question names, against what a candidate is: *which struct*, *the default of*, *what enum*.

Words that people use for a sort of unit in any language of programs, not those of one repository. Nothing is left out
for being of another sort: the ranking learns what it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.search.lexical import Array
from assay.types import CALLABLE_KINDS, TYPE_KINDS, Chunk

KIND_FEATURES = (
    "type",
    "type_asked",
    "kind_asked",
    "constant",
    "constant_asked",
    "block_asked",
    "type_not_callable",
)

_RECORDS = frozenset(("struct", "class", "type"))
_CONTRACTS = frozenset(("interface", "trait", "type", "class"))
_NAMED: Mapping[str, frozenset[str]] = {
    "struct": _RECORDS,
    "structur": _RECORDS,
    "record": _RECORDS,
    "object": _RECORDS,
    "class": frozenset(("class", "struct")),
    "interfac": _CONTRACTS,
    "protocol": _CONTRACTS,
    "trait": _CONTRACTS,
    "enum": frozenset(("enum",)),
    "enumer": frozenset(("enum",)),
    "variant": frozenset(("enum",)),
    "union": frozenset(("type", "enum", "struct")),
    "alias": frozenset(("type",)),
    "alia": frozenset(("type",)),
    "typedef": frozenset(("type", "struct")),
    "type": _RECORDS | _CONTRACTS | {"enum"},
}
"""The kinds of unit that a stem in a question stands for."""
_CONSTANTS = frozenset(
    "constant default config configur set limit maximum minimum max min tabl valu list map option flag environ "
    "variabl number size timeout mani long mask prefix version".split()
)
"""Stems that ask for a value rather than for what is done with it."""
_TYPES = TYPE_KINDS | {"impl"}
_BLOCKS = frozenset(("block", "module", ""))


def kind_features(terms: Sequence[str], chunks: Sequence[Chunk]) -> Array:
    """Return what each chunk is and whether a question's stems ask for it, shape `(chunks, len(KIND_FEATURES))`."""
    named = [_NAMED[term] for term in terms if term in _NAMED]
    value = not _CONSTANTS.isdisjoint(terms)
    rows = [_row(chunk.kind, frozenset().union(*named), value=value) for chunk in chunks]
    return np.array(rows, dtype=np.float32).reshape(len(chunks), len(KIND_FEATURES))


def _row(kind: str, named: frozenset[str], *, value: bool) -> tuple[bool, ...]:
    return (
        kind in _TYPES,
        kind in _TYPES and bool(named),
        kind in named,
        kind == "constant",
        kind == "constant" and value,
        kind in _BLOCKS and value,
        kind in CALLABLE_KINDS and bool(named),
    )
