"""The ranker `prefix`: programs that are still being written, ordered by what their finished parts show.

It is the static gate and the centrality of `consensus` alone: its trees were grown on whole programs. What a program
has not come to yet is no fault of it: a function that is missing, a return, a name that is called (its function may
follow). A name that is read, and that nothing so far defines, is one, and so is what is no Python.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assay.faults import Fault
from assay.rank.consensus.facts import Facts, facts
from assay.rank.consensus.parsing import parsed
from assay.rank.consensus.pool_facts import centrality, look
from assay.rank.consensus.scopes import names
from assay.rank.consensus.task_wants import TaskWants
from assay.rank.prefix.finished_part import finished_part
from assay.types import Program, Ranked, Task

_YET_TO_COME: Final = frozenset({Fault.FUNCTION_NOT_FOUND, Fault.NONE_ERROR, Fault.OUTPUT_TYPE_ERROR})


class PrefixRanker:
    """Ranks beginnings of programs without running them."""

    name = "prefix"

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how good each beginning is: 1 for one that shows no fault, and how central it is among the others."""
        if not programs:
            return []
        parts = {program.source: finished_part(program.source) for program in programs}
        counts: dict[str, int] = {}
        for program in programs:
            counts[parts[program.source]] = counts.get(parts[program.source], 0) + max(program.n, 1)
        sources = sorted(counts)
        seen = look(task, sources, [counts[source] for source in sources], facts_so_far)
        gate, central = seen.passing.astype(float).tolist(), centrality(seen.rows).tolist()
        place = {source: at for at, source in enumerate(sources)}
        return [
            Ranked(
                program,
                gate[at] + central[at],
                seen.facts[at].fault,
                seen.facts[at].line,
                {"gate": gate[at], "central": central[at]},
            )
            for program in programs
            for at in (place[parts[program.source]],)
        ]


def facts_so_far(source: str, task: TaskWants) -> Facts:
    """Return what can be seen in the finished part of a program, without what may still come."""
    found = facts(source, task)
    if found.fault in _YET_TO_COME or found.fault is Fault.NAME_ERROR:
        line = _undefined_line(source)
        return replace(found, fault=Fault.NAME_ERROR if line > 0 else None, line=line)
    return found


def _undefined_line(source: str) -> int:
    """Return the line of the first name that is read and that nothing defines so far, -1 without one."""
    tree = parsed(source).tree
    if tree is None:
        return -1
    called = {(node.func.id, node.lineno) for node in ast.walk(tree) if _calls_name(node)}  # type: ignore[attr-defined]
    return next((line for name, line in names(tree).undefined if (name, line) not in called), -1)


def _calls_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
