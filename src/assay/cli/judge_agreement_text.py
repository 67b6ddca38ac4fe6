"""What was found of agreement in, text for people or plain data for JSON out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isnan
from typing import Any

from assay.cli.workspaces import counted
from assay.errors import printable
from assay.judge.agreement import Agreement, Difference
from assay.judge.labels import Key
from assay.measure.agreement import Figure

Reasons = Mapping[str, Mapping[Key, str]]
Texts = Mapping[Key, tuple[str, str]]
MARKS = {1: "match", 0: "no match", None: "undecided"}
_LINES, _WIDEST = 8, 110
_FIGURES = ("accuracy", "of_all", "precision", "recall", "f1", "kappa")


def as_dict(found: Agreement, reasons: Reasons, texts: Texts) -> dict[str, Any]:
    """Return all of it as JSON has it; what is not defined is null."""
    plain = nulled(asdict(found))
    for told, difference in zip(plain["differences"], found.differences, strict=True):
        told["query_id"], told["code_id"] = told.pop("key")
        told["query"], told["code"] = texts.get(difference.key, (None, None))
        why = {name: reasons[name].get(difference.key) for name in difference.said}
        told["reasons"] = {name: reason for name, reason in why.items() if reason}
    return dict(plain)


def as_text(found: Agreement, reasons: Reasons, texts: Texts, *, show: int, problems: int) -> Iterator[str]:
    """Yield lines for people."""
    yield f"{counted(found.pairs, 'pair')} of {counted(found.queries, 'query')}" + (
        f"; {problems:,} rows cannot be used" if problems else ""
    )
    width = max(len(printable(name)) for name in (*found.counts, "(the truth)")) + 2
    yield ""
    yield f"{'annotator':<{width}}{'match':>9}{'no match':>10}{'undecided':>11}{'absent':>8}"
    for name, counts in (("(the truth)", found.true), *found.counts.items()):
        if counts:
            numbers = f"{counts.match:>9,}{counts.non_match:>10,}{counts.undecided:>11,}{counts.absent:>8,}"
            yield f"{printable(name):<{width}}{numbers}"
    if found.true:
        yield ""
        yield from _against(found, width)
    if found.kappas:
        yield ""
        yield from _together(found)
    yield ""
    yield from _differences(found, reasons, texts, show)


def figure(one: Figure) -> str:
    """Return a value with its interval."""
    return "\N{EN DASH}" if isnan(one.value) else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _against(found: Agreement, width: int) -> Iterator[str]:
    of = " and ".join(map(printable, found.truth)) if len(found.truth) < 3 else f"{len(found.truth)} annotators"
    yield f"against {'the majority of ' if len(found.truth) > 1 else ''}{of}"
    if found.truth_alpha:
        yield f"alpha of those: {figure(found.truth_alpha)}"
    heads = ("accuracy", "of all pairs", "precision", "recall", "F1", "kappa")
    yield f"{'':<{width}}{'decided':>9}  " + "".join(f"{head:<23}" for head in heads).rstrip()
    for name, one in found.against.items():
        cells = "".join(f"{figure(getattr(one, each)):<23}" for each in _FIGURES).rstrip()
        yield f"{printable(name):<{width}}{one.decided:>9,}  {cells}"


def _together(found: Agreement) -> Iterator[str]:
    names = max(len(f"{printable(two.a)}, {printable(two.b)}") for two in found.kappas)
    for two in found.kappas:
        same = f"{two.same / two.pairs:.1%} of {two.pairs:,} pairs the same" if two.pairs else "no pair in common"
        yield f"kappa  {f'{printable(two.a)}, {printable(two.b)}':<{names}}  {figure(two.kappa)}  {same}"
    yield f"alpha of all  {figure(found.alpha)}  over {found.labelled_twice:,} pairs with two labels or more"


def _differences(found: Agreement, reasons: Reasons, texts: Texts, show: int) -> Iterator[str]:
    total = len(found.differences)
    yield f"{total:,} pairs are labelled in two ways" + (f"; the first {show:,}:" if total > show > 0 else "")
    for difference in found.differences[:show]:
        yield ""
        yield from _side_by_side(difference, reasons, texts)


def _side_by_side(difference: Difference, reasons: Reasons, texts: Texts) -> Iterator[str]:
    query, code = texts.get(difference.key, ("", ""))
    yield f"{', '.join(map(printable, difference.key))}  {_cut(query)}".rstrip()
    for name, label in difference.said.items():
        yield _cut(f"    {MARKS[label]:<10}{printable(name)}  {printable(reasons[name].get(difference.key, ''))}")
    lines = [line for line in code.splitlines() if line.strip()]
    for line in lines[:_LINES]:
        yield _cut(f"    | {_shown(line)}")
    if len(lines) > _LINES:
        yield f"    | … {len(lines) - _LINES:,} more lines"


def _cut(text: str) -> str:
    text = text if text.startswith("    ") else printable(text)
    return (text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…").rstrip()


def _shown(line: str) -> str:
    """Return a line of code in which nothing moves a cursor."""
    return "".join(letter if letter.isprintable() else "·" for letter in line.expandtabs(4))


def nulled(value: Any) -> Any:
    """Return plain data in which what is not a number is null."""
    if isinstance(value, dict):
        return {key: nulled(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [nulled(inner) for inner in value]
    return None if isinstance(value, float) and isnan(value) else value
