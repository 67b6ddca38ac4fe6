"""Read the arguments of `assay grep` as GNU grep reads its own, and write them as click takes them.

Long names may be cut, numbers are options, `--color` needs no value, and of options that contradict one another the
last counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

from assay.errors import InputError

_MATCHERS = ("-G", "-E", "-F", "-P")
_LAST_COUNTS = (
    ("-i", "-y", "--no-ignore-case"),
    ("-H", "-h"),
    ("-l", "-L"),
    ("-a", "-I", "--binary-files"),
    ("--group-separator", "--no-group-separator"),
    ("-d", "-r"),
)
_LEFT_OUT = "!"
"""Marks a value of --exclude in the list of --include; the last match in that list decides."""


def as_click_takes(arguments: Sequence[str], options: Sequence[click.Parameter]) -> list[str]:
    """Return arguments with each option on its own, by its first name, followed by all other arguments."""
    known = {name: each for each in options for name in each.opts if isinstance(each, click.Option)}
    pairs, others = list[tuple[str, str | None]](), list[str]()
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            others += rest
        elif argument.startswith("--"):
            pairs.append(_long(argument, known, rest))
        elif argument.startswith("-") and argument != "-":
            pairs += _short(argument[1:], known, rest)
        else:
            others.append(argument)
    _check_matchers([name for name, _ in pairs])
    kept = [(name, value) for at, (name, value) in enumerate(pairs) if not _is_contradicted(name, pairs[at + 1 :])]
    return [*(name if value is None else f"{_long_name(name, known)}={value}" for name, value in kept), "--", *others]


def _long(argument: str, options: dict[str, click.Option], rest: Iterator[str]) -> tuple[str, str | None]:
    """Return a long option, whose name may be abbreviated, and its value."""
    typed, equals, value = argument.partition("=")
    matching = {each.opts[0]: each for name, each in options.items() if name.startswith(typed)}
    option = options.get(typed) or (next(iter(matching.values())) if len(matching) == 1 else None)
    if option is None:
        return typed, value if equals else None  # which click refuses
    name = option.opts[0]
    if typed in {"--color", "--colour"} and not equals:
        return name, "auto"
    if not option.is_flag and not equals:
        value, equals = next(rest, ""), "="
    if typed.startswith("--exc") and name == "--include":
        value = f"{_LEFT_OUT}{value}"
    return name, value if equals else None


def _short(letters: str, options: dict[str, click.Option], rest: Iterator[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the options of one argument, of which the last may have a value; digits are lines of context."""
    at = 0
    while at < len(letters):
        number = re.match(r"\d*", letters[at:])[0]  # type: ignore[index]  # it always matches
        option = options.get(f"-{letters[at]}")
        name = option.opts[0] if option else f"-{letters[at]}"
        at += len(number) or 1
        if number:
            yield "-C", number
        elif option and not option.is_flag:
            yield name, letters[at:] or next(rest, "")
            return
        else:
            yield name, None


def _check_matchers(names: Sequence[str]) -> None:
    """Refuse patterns of two kinds, as grep does."""
    asked = sorted({*names}.intersection(_MATCHERS))
    if len(asked) > 1:
        raise InputError(f"conflicting matchers specified: {' and '.join(asked)}; give one of them")


def _is_contradicted(name: str, later: Sequence[tuple[str, str | None]]) -> bool:
    """Return whether a later option of the same kind overrides this one."""
    names = {each for each, _ in later}
    return any(name in group and not names.isdisjoint({*group} - {name}) for group in _LAST_COUNTS)


def _long_name(name: str, options: dict[str, click.Option]) -> str:
    return next((each for each in options[name].opts if each.startswith("--")), name) if name in options else name
