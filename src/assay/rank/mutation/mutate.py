"""Programs that are right in, the same programs and wrong ones made of them out.

Originals and mutants are parsed and written out again by the same code, so that neither comments nor spaces tell one
from the other. An operator is drawn first and then one of its edits, so that operators with many edits do not take
all. Equal seeds give equal mutants. What a mutant does is found out by running it: some are as right as their original,
and get the label of their outcome like any program.

Ranking on mutants alone does not carry over: in a first study their skill stayed with mutants (34.1 against 9.5 at
random) and was no gain on samples of models.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from warnings import catch_warnings

from assay.errors import InputError, nearest
from assay.rank.mutation.operators import OPERATORS
from assay.types import Program

ORIGINAL = "original"
_TRIES = 8
"""Draws for each mutant that is wanted; small programs have not enough different ones."""


@dataclass(frozen=True, slots=True)
class Mutants:
    """What was made of one program."""

    original: Program
    mutants: tuple[Program, ...]


def mutate(program: Program, count: int, *, seed: int = 0, operators: Collection[str] = ()) -> Mutants | None:
    """Return the program rewritten and at most `count` different mutants of it; None where it does not parse."""
    names = checked(operators)
    source = rewritten(program.source)
    if source is None:
        return None
    lots = random.Random(_key(program, seed))  # noqa: S311  no secret hangs on it
    found: dict[str, str] = {}
    for _ in range(count * _TRIES):
        if len(found) == count:
            break
        operator = lots.choice(names)
        text = _mutant(source, operator, lots)
        if text is not None and text != source:
            found.setdefault(text, operator)
    name = program.id or f"{program.task_id}#{_key(program, 0)[-8:]}"
    return Mutants(_mutant_of(program, source, name, ORIGINAL), tuple(_numbered(program, name, found)))


def rewritten(source: str) -> str | None:
    """Return a program as Python itself writes its tree, without comments; None where it cannot be."""
    try:
        with catch_warnings(action="ignore"):
            return ast.unparse(ast.parse(source)) + "\n"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def checked(operators: Collection[str]) -> list[str]:
    """Return the operators asked for, all of them where none is."""
    for name in operators:
        if name not in OPERATORS:
            raise InputError(f"unknown operator '{name}'; {nearest(name, list(OPERATORS))}")
    return [name for name in OPERATORS if not operators or name in operators]


def _mutant(source: str, operator: str, lots: random.Random) -> str | None:
    """Return a program with one edit, None where the operator finds nothing or makes what cannot be written."""
    with catch_warnings(action="ignore"):
        tree = ast.parse(source)
    edits = list(OPERATORS[operator](tree))
    if not edits:
        return None
    lots.choice(edits)()
    try:
        return rewritten(ast.unparse(tree))
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None


def _numbered(program: Program, name: str, found: dict[str, str]) -> Iterator[Program]:
    for number, (text, operator) in enumerate(found.items(), 1):
        yield _mutant_of(program, text, f"{name}~{number}", operator)


def _mutant_of(program: Program, source: str, name: str, operator: str) -> Program:
    return Program(program.task_id, source, name, tags={"model": "mutator", "config": operator})


def _key(program: Program, seed: int) -> str:
    text = f"{seed}\0{program.task_id}\0{program.source}".encode("utf-8", "backslashreplace")
    return blake2b(text, digest_size=8).hexdigest()
