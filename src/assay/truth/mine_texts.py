"""Mine queries that users type and paste: names of declarations, and printed messages with values filled in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from random import Random

from assay.corpus.code_strings import joined_strings
from assay.protocols import Progress
from assay.terms import STOP_WORDS, WORD
from assay.truth import minable
from assay.values import Chunk, Judgment, Query

VALUES = ("foo", "/tmp/data.bin", "42", "api-server-7", "users")  # noqa: S108  a text, no file
"""What fills the holes of messages."""
MIN_WORDS, MIN_TELLING = 3, 2
_MAX_CHARS = 300


def ask_messages(
    files: minable.Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None
) -> minable.MinedQueries:
    """Mine messages of some files with their holes filled; the answer is the line of the string.

    A message that stands in several places has several answers.
    """
    told, dice = minable.MinedQueries(), Random(seed)  # noqa: S311  a draw that can be repeated
    places = defaultdict[tuple[str, ...], list[tuple[Chunk, int]]](list)
    for at, path in enumerate(paths, 1):
        for pieces, unit, line in _messages_of(files, path, told.left_out):
            places[pieces].append((unit, line))
        if progress:
            progress("messages", at, len(paths))
    drawn = sorted(places)
    dice.shuffle(drawn)
    for pieces in minable.at_most(drawn, limit, told.left_out):
        text = pieces[0] + "".join(dice.choice(VALUES) + piece for piece in pieces[1:])
        units = [unit for unit, _ in places[pieces]]
        name = minable.query_id("messages", units)
        tags = {"kind": "message", "source": "messages", "split": minable.split_of(units[0].path)}
        told.queries.append(Query(f"{name}-{len(told.queries)}", " ".join(text.split()), "code", tags=tags))
        for unit, line in places[pieces][: minable.MAX_PLACES]:
            target = f"{unit.path}:{line}"
            told.judgments.append(Judgment(told.queries[-1].id, target, 2, "messages", unit.symbol))
    return told


def _messages_of(
    files: minable.Files, path: str, left_out: Counter[str]
) -> Iterator[tuple[tuple[str, ...], Chunk, int]]:
    """Yield the messages of a file, each with its unit and its line."""
    for unit in files.functions(path):
        for start, pieces in joined_strings(unit.text):
            said = "".join(pieces)
            if _is_documentation(unit, start, said):
                left_out["documentation"] += 1
                continue
            every = WORD.findall(said.lower())
            telling = sum(word.isalpha() and word not in STOP_WORDS for word in every)
            is_text = " " in said.strip() and said.strip()[:1].isalpha() and len(said) <= _MAX_CHARS
            if len(every) < MIN_WORDS or telling < MIN_TELLING or not is_text or "://" in said or "\n" in said:
                left_out["a string that is not a message"] += 1
                continue
            yield tuple(pieces), unit, unit.start_line + unit.text.count("\n", 0, start)


def _is_documentation(unit: Chunk, start: int, string: str) -> bool:
    """Say whether a string of a unit documents the code: a docstring, also of an inner function."""
    is_alone = not unit.text[:start].rpartition("\n")[2].strip(" \trRuUbB")
    return (is_alone and unit.text.startswith(('"""', "'''"), start)) or string.strip() == unit.doc


def ask_names(
    files: minable.Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None
) -> minable.MinedQueries:
    """Mine names of units that are declared once; the answer is the declaration."""
    told, dice = minable.MinedQueries(), Random(seed)  # noqa: S311  a draw that can be repeated
    declared = defaultdict[str, list[Chunk]](list)
    for at, path in enumerate(paths, 1):
        for unit in files.units(path):
            if unit.symbol.isidentifier() and not minable.is_prose(path):
                declared[unit.symbol].append(unit)
        if progress:
            progress("names", at, len(paths))
    once = sorted(name for name, units in declared.items() if len(units) == 1)
    told.left_out["a name that is declared several times"] += len(declared) - len(once)
    dice.shuffle(once)
    for symbol in minable.at_most(once, limit, told.left_out):
        unit = declared[symbol][0]
        name = minable.query_id("names", [unit])
        tags = {"kind": "name", "source": "names", "split": minable.split_of(unit.path)}
        told.queries.append(Query(name, symbol, "code", tags=tags))
        told.judgments.append(Judgment(name, minable.target_of(unit), 2, "names", unit.symbol))
    return told
