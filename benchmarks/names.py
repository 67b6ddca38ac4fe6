"""How often the declaration of a name that a repository declares once is the first answer.

    python benchmarks/names.py CHECKOUT... [--names 24] [--json FILE]

From each checkout functions, types and constants are drawn by a fixed seed, outside of tests, examples and asides. Each
is typed in several ways: the name; *where is X defined*; `class X` for types; `Owner.name` for methods, those too whose
bare name others share; in lower case; without its underscores. Right is the hit that shows the first line of the
declaration. Prints a row a way with its 95% interval, and the names that were missed.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import assay
from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import Skipped, read
from assay.measure.compare import interval
from assay.search.declared_names import fold, innermost_name
from assay.search.filters import traits_of
from assay.types import CALLABLE_KINDS, TYPE_KINDS, Chunk

DRAWN = TYPE_KINDS | CALLABLE_KINDS - {"constructor"} | {"constant"}


def main() -> None:
    """Ask, and print a row a way of typing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    options.add_argument("--names", type=int, default=24, help="drawn from each checkout")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    right: dict[str, list[bool]] = defaultdict(list)
    missed = []
    for checkout in given.checkouts:
        index = assay.Index(checkout)
        for way, typed, chunk in ways(drawn(list(chunks_of(checkout)), given.names, checkout.name)):
            first = next(iter(index.search(typed, k=1)), None)
            found = first is not None and shows(first.chunk, chunk)
            right[way].append(found)
            if not found:
                missed.append(f"{checkout.name}: {typed} ({chunk.path}:{chunk.start_line})")
    for way, values in right.items():
        low, high = interval(np.array(values, float))
        print(f"{way:<22} {len(values):>5}  {np.mean(values):.3f} [{low:.3f}, {high:.3f}]")
    print(*missed, sep="\n")
    if given.json:
        given.json.write_text(json.dumps(right) + "\n", "utf-8")


def chunks_of(root: Path) -> Iterator[Chunk]:
    """Yield the chunks of a checkout."""
    for entry in walk(root).files:
        text = read(root, entry)
        if not isinstance(text, Skipped):
            yield from parse(entry.path, text).chunks


def shows(found: Chunk, wanted: Chunk) -> bool:
    """Say whether a hit shows the first line of a declaration."""
    return found.path == wanted.path and found.start_line <= wanted.start_line <= found.end_line


def drawn(chunks: Sequence[Chunk], most: int, seed: str) -> list[tuple[Chunk, bool]]:
    """Return declarations that are the only one of their name, and methods whose name others share."""
    heads: dict[str, dict[object, Chunk]] = defaultdict(dict)
    for chunk in chunks:
        if chunk.kind in DRAWN | {"constructor"}:
            unit = (chunk.path, chunk.parent, chunk.signature if chunk.kind in CALLABLE_KINDS else "")
            for symbol in chunk.symbol.split(", "):
                known = heads[symbol].setdefault(unit, chunk)
                heads[symbol][unit] = min(known, chunk, key=lambda one: one.start_line)
    dice = random.Random(seed)  # noqa: S311  a sample, not a secret
    once, shared = [], defaultdict(list)
    for symbol, units in sorted(heads.items()):
        for chunk in units.values():
            plain = (
                symbol == chunk.symbol and symbol.isidentifier() and len(symbol) > 3 and not any(traits_of(chunk.path))
            )
            if plain and chunk.kind in DRAWN and len(units) == 1:
                once.append(chunk)
            elif plain and chunk.kind == "method" and chunk.parent:
                shared[innermost_name(chunk.parent), symbol].append(chunk)
    dice.shuffle(once)
    types, others = ([one for one in once if (one.kind in TYPE_KINDS) == wanted] for wanted in (True, False))
    alone = [units[0] for units in shared.values() if len(units) == 1]
    dice.shuffle(alone)
    return [(one, True) for one in types[: most // 2] + others[: most // 2]] + [
        (one, False) for one in alone[: most // 3]
    ]


def ways(names: Sequence[tuple[Chunk, bool]]) -> Iterator[tuple[str, str, Chunk]]:
    """Yield how a name is typed, what is typed, and where it is declared."""
    for chunk, is_only in names:
        name = chunk.symbol
        if chunk.kind == "method" and chunk.parent:
            yield "Owner.name", f"{innermost_name(chunk.parent)}.{name}", chunk
        if is_only:
            yield "name", name, chunk
            yield "name, a type" if chunk.kind in TYPE_KINDS else "name, no type", name, chunk
            yield "where is X defined", f"where is {name} defined", chunk
            if chunk.kind in TYPE_KINDS:
                yield "class X", f"{chunk.kind} {name}", chunk
            if name != name.lower():
                yield "in lower case", name.lower(), chunk
            if "_" in name.strip("_"):
                yield "without underscores", fold(name), chunk


if __name__ == "__main__":
    main()
