"""A tokenizer to the layout of its rows: which tokens stand around prompt and code, and which close a line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from assay.errors import InputError
from assay.rank.neural.batches import COLUMNS, Reader, TokenLayout
from assay.rank.neural.model_folder import TOKENIZER, required_file

NEWLINE, INDENT = "[NEWLINE]", "[INDENT]"


def open_reader(folder: Path, layout: TokenLayout) -> Reader:
    """Return what turns programs into rows the way they were when the ranker was trained."""
    file = required_file(folder, TOKENIZER)
    try:
        return Reader(Tokenizer.from_file(str(file)), layout)
    except Exception as error:  # the library raises nothing narrower
        raise InputError(f"{file} is no tokenizer: {error}; copy the whole folder again, or train again") from error


def layout_of(tokenizer: Tokenizer, special: Mapping[str, str], *, window: int, code_least: int) -> TokenLayout:
    """Return how to lay out rows for a tokenizer, adding the tokens it lacks; `special` gives a role its token."""

    def known(*roles: str) -> list[int]:
        ids = (tokenizer.token_to_id(special[role]) for role in roles if special.get(role))
        return [place for place in ids if place is not None]

    newline, indent = _newline(tokenizer, special.get("unk_token", "")), _indent(tokenizer)
    closing = (known("sep_token", "eos_token") or [newline])[0]
    padding = (known("pad_token", "eos_token") or [0])[0]
    opening = tuple(known("cls_token", "bos_token")[:1])
    return TokenLayout(opening, closing, closing, padding, newline, indent, window, min(code_least, window // 2))


def _newline(tokenizer: Tokenizer, unknown: str) -> int:
    """Return the token of a lone line break, an added one where there is none."""
    own: Any = tokenizer.encode("\n", add_special_tokens=False)
    return own.ids[0] if len(own.ids) == 1 and own.tokens[0] != unknown else _added(tokenizer, NEWLINE)


def _indent(tokenizer: Tokenizer) -> int:
    """Return the token of an indentation, -1 where blanks are kept."""
    flat, deep = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", " " * COLUMNS + "a"))
    return _added(tokenizer, INDENT) if flat == deep else -1


def _added(tokenizer: Tokenizer, token: str) -> int:
    tokenizer.add_special_tokens([AddedToken(token, special=True)])
    place = tokenizer.token_to_id(token)
    assert place is not None, "it was just added"
    return int(place)
