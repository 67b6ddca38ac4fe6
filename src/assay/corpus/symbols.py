"""A chunk in, the names that it calls by a cheap pattern out, where any language will do and none has to be parsed.

Names, not resolved targets: `references` reads calls from the grammar, and `resolve` says what they mean.
"""

from __future__ import annotations

import re

from assay.corpus.grammars import words
from assay.types import Chunk

_CALL = re.compile(r"([A-Za-z_$][\w$]*)[!?]?(?:::<[^<>()]*>|<[\w ,.]*>)?\(")
_NOT_CALLS = words("""
    if for while switch match return catch and or not in is elif except with assert function func fn def lambda sizeof
    typeof instanceof new await async yield throw super this self print unless until when case else do try using lock
    foreach let var const use pub impl struct enum class interface where as from import raise del void int string bool
    Some Ok Err None
""")


def calls(chunk: Chunk) -> tuple[str, ...]:
    """Return the names called inside a chunk, each once, in order, without its own."""
    own = set(chunk.symbol.split(", "))
    return tuple(name for name in dict.fromkeys(_CALL.findall(chunk.text)) if name not in _NOT_CALLS | own)
