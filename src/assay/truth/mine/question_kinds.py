"""A question and its answers to its kind: one that names them, one that shares no word with them, or neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from assay.terms import WORD, parts
from assay.truth.mine.subjects import telling
from assay.types import Chunk

_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w")
_MARKED = re.compile(r"`([^`]+)`|\b([A-Za-z_]\w*)\(|[.#:](\w+)\b")


def kind_of(text: str, answers: Sequence[Chunk]) -> str:
    """Return `symbol` for a question that names an answer, `hard` for one without a word of any, else `standard`."""
    if _identifiers_in(text) & {name for answer in answers for name in _names(answer)}:
        return "symbol"
    return "standard" if any(telling(text) & words_of(answer) for answer in answers) else "hard"


def words_of(answer: Chunk) -> frozenset[str]:
    """Return the words by which an answer could be found without reading it: its path, names and signature."""
    stem = str(PurePosixPath(answer.path).with_suffix(""))
    return telling(" ".join((stem.replace("/", " "), answer.parent, answer.symbol, answer.signature)))


def _identifiers_in(text: str) -> set[str]:
    """Return the identifiers that a text spells out: marked as code, or written as nobody writes a word."""
    marked = {word for groups in _MARKED.findall(text) for word in WORD.findall(" ".join(groups))}
    return {word for word in marked if len(word) > 2} | {word for word in WORD.findall(text) if _CODE_LIKE.search(word)}


def _names(answer: Chunk) -> set[str]:
    names = set(answer.symbol.replace("::", ", ").replace(".", ", ").split(", "))
    return names | {answer.parent.rpartition(".")[2]} if len(parts(answer.parent.rpartition(".")[2])) > 1 else names
