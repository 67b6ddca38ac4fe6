"""Programs to whether their types can be right, by a type checker: the ranker `types`, a gate before another one.

The arguments of the task's examples say what the function is given; the checker infers what it returns and what cannot
work on the way. Nothing runs. A program is 0 where the checker finds an error in it, or where no value that it may
return has the kind that is shown; every other one is 1, also where nothing could be checked. Among programs that are
equal here the next ranker decides, as in `types+consensus`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from warnings import catch_warnings

from assay.faults import Fault
from assay.programs.shown.shown_examples import examples_in
from assay.rank.consensus.parsing import parsed
from assay.rank.static_types.shown_types import annotation, may_be
from assay.rank.static_types.type_checker import TypeFindings, check_types, checker
from assay.types import Call, Program, Ranked, Task

_RULES: Final = frozenset(
    "bad-argument-type bad-argument-count bad-index bad-specialization bad-unpacking missing-argument "
    "missing-attribute no-matching-overload not-callable not-iterable unbound-name unexpected-keyword unknown-name "
    "unsupported-operation".split()
)
"""Rules whose finding makes a program wrong far more often than right."""
_MAY_BE_NONE: Final = re.compile(r"\bNone(Type)?\b")
_EXAMPLES: Final = 20


@dataclass(frozen=True, slots=True)
class ShownCalls:
    """What a task's text shows of its function."""

    arguments: tuple[str, ...]
    """A type for each, as an annotation."""
    values: tuple[object, ...]
    """What comes out, one for each example."""


class TypesRanker:
    """The ranker `types`."""

    name = "types"

    def __init__(self) -> None:
        checker()

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return 1 for programs in which no type is surely wrong, and 0 for the others."""
        shown = shown_calls(task)
        if shown is None:
            return [Ranked(program, 1.0, why={"checked": 0.0}) for program in programs]
        sources = sorted({program.source for program in programs})
        posed = {source: text for source in sources if (text := as_checked(source, task.entry_point, shown))}
        found = dict(zip(posed, check_types(list(posed.values())), strict=True))
        return [_ranked(program, found.get(program.source), task, shown) for program in programs]


def shown_calls(task: Task) -> ShownCalls | None:
    """Return what a task's examples give to its function and get from it; None where there is no example."""
    if not task.entry_point:
        return None
    calls = [test for test in examples_in(task)[:_EXAMPLES] if isinstance(test, Call)]
    if not calls:
        return None
    most = max(len(call.args) for call in calls)
    given = ([call.args[place] for call in calls if place < len(call.args)] for place in range(most))
    return ShownCalls(tuple(annotation(values) for values in given), tuple(call.expected for call in calls))


def as_checked(source: str, entry: str, shown: ShownCalls) -> str:
    """Return a program whose function is given the shown types, and a call that shows what it returns; or nothing."""
    with catch_warnings(action="ignore"):
        tree = parsed(source).tree
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry] if tree else []
    if tree is None or not functions:
        return ""
    main = functions[-1]
    main.returns, main.decorator_list = None, []
    for place, argument in enumerate((*main.args.posonlyargs, *main.args.args)):
        kind = shown.arguments[place] if place < len(shown.arguments) else ""
        argument.annotation = ast.parse(kind, mode="eval").body if kind else None
    try:
        body = ast.unparse(tree)
    except (RecursionError, ValueError):
        return ""
    named = [f"a{place}" for place in range(len(shown.arguments))]
    head = ", ".join(f"{name}: {kind}" for name, kind in zip(named, shown.arguments, strict=True))
    return f"from typing import Any\n{body}\ndef _shown({head}):\n    reveal_type({entry}({', '.join(named)}))\n"


def _ranked(program: Program, found: TypeFindings | None, task: Task, shown: ShownCalls) -> Ranked:
    if found is None:
        return Ranked(program, 1.0, why={"checked": 0.0})
    errors = [error for error in found.errors if _counts(error, task.entry_point)]
    fits = not found.revealed or any(may_be(found.revealed, value) for value in shown.values)
    why = {"checked": 1.0, "errors": float(len(errors)), "fits": float(fits)}
    if not fits:
        return Ranked(program, 0.0, Fault.OUTPUT_TYPE_ERROR, why=why)
    return Ranked(program, float(not errors), Fault.TYPE_ERROR if errors else None, why=why)


def _counts(error: tuple[str, int, str], entry: str) -> bool:
    """Whether an error counts: not what may be None and is not on the paths that are taken, nor recursive calls.

    A call of the function itself is held against types that only the examples say.
    """
    rule, _, message = error
    return rule in _RULES and not _MAY_BE_NONE.search(message) and f"in function `{entry}`" not in message
