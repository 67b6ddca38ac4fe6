"""Run code on the examples that its query shows, many pairs at a time and without a model.

A query that is the head of a program asks for a whole one, so code that breaks below it is wrong. Where a query only
calls the function, a name that is lacking may stand around the code; where it calls it something else, code that breaks
may want other arguments. Such codes count as not run.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.faults import EXECUTION, Fault
from assay.judge.pairs import Pair, not_python, tree_of
from assay.judge.records import key_of
from assay.judge.written_tests import RunnerOf, SandboxFailed
from assay.programs.execute import Execution, executions, refused
from assay.programs.shown_examples import examples_in, function_in
from assay.programs.verdict import usable_tests
from assay.runs.record import Steps
from assay.values import Call, Program, Task

State = Literal["passed", "failed", "not run", "broken"]
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)[ \t]{0,3}\(")
_DEFINED = re.compile(r"^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_OF_ITS_CLASS = frozenset({"self", "cls"})
_FORGIVEN: Mapping[str, frozenset[Fault]] = {
    "defined": frozenset(),
    "called": frozenset({Fault.NAME_ERROR}),
    "renamed": EXECUTION - {Fault.TIMEOUT},
}
"""By how the query names the function."""
_MAX_MESSAGE_CHARS = 300
"""Characters of a message that a record tells."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one pair; `broken` is the sandbox, not the code."""

    state: State
    detail: str = ""
    """Why it was not run, or how it failed."""
    examples: int = 0
    held: int = 0


@dataclass(frozen=True, slots=True)
class PosedCode:
    """A code with the examples that it has to meet."""

    task: Task
    program: Program
    forgiven: frozenset[Fault]
    """What may come of running a code by itself, and says nothing against it."""


class Trials:
    """Runs codes on the examples of their queries in a sandbox; what was run before is taken from the records."""

    def __init__(self, runner_of: RunnerOf, steps: Steps) -> None:
        self._runner_of, self._steps = runner_of, steps

    def __call__(self, pairs: Sequence[Pair]) -> list[Trial]:
        """Return what each pair showed, in their order."""
        posed = [(pair, pose(pair)) for pair in pairs]
        keyed = {_key(pair, one): (pair, one) for pair, one in posed if isinstance(one, PosedCode)}
        known = {key: step for key in keyed if (step := self._steps.get(key))}
        fresh = {key: both for key, both in keyed.items() if key not in known}
        broken = self._run(fresh, known) if fresh else ""
        return [
            Trial("not run", one) if isinstance(one, str) else read(one, known.get(_key(pair, one)), broken)
            for pair, one in posed
        ]

    def _run(self, fresh: Mapping[str, tuple[Pair, PosedCode]], known: dict[str, Mapping[str, Any]]) -> str:
        """Run these, record each before it counts, and say what of the sandbox broke."""
        tasks = [replace(one.task, id=key) for key, (_, one) in fresh.items()]
        programs = [replace(one.program, task_id=key) for key, (_, one) in fresh.items()]
        try:
            ran = list(executions(tasks, programs, self._runner_of(()), survey=True, distribution_of=str))
        except SandboxFailed as error:
            return str(error)
        made = {
            key: {"kind": "run", "pair": pair.digest, "key": key, **_step(one, shown)}
            for (key, (pair, one)), shown in zip(fresh.items(), ran, strict=True)
            if not shown.broken
        }
        self._steps.put(*made.values())
        known.update(made)
        return next((shown.outcome.detail for shown in ran if shown.broken), "")


def pose(pair: Pair) -> PosedCode | str:
    """Return a code with the examples of its query, or why it is not run."""
    query, code = pair.query.text, pair.code.text
    if pair.code.language not in ("", "python"):
        return not_python(pair.code)
    last = next(iter(_DEFINED.findall(query)[::-1]), "")
    head = last if last and function_in(query, last) else ""
    if head and (head in _DEFINED.findall(code)):
        return _posed(pair, (head, head), _below(query, head, code), _FORGIVEN["defined"])
    if why := not_python(pair.code):
        return why
    defined = {function.name for function in _functions(code)}
    if name := next((name for name in _CALLED.findall(query) if name in defined), ""):
        return _posed(pair, (name, name), code, _FORGIVEN["called"])
    if not (name := _only(code)):
        return "no function of the code is clearly the one that is asked for"
    other = next((called for called in _CALLED.findall(query) if not hasattr(builtins, called)), name)
    return _posed(pair, (head or other, name), code, _FORGIVEN["renamed"])


def _posed(pair: Pair, names: tuple[str, str], source: str, forgiven: frozenset[Fault]) -> PosedCode | str:
    """Pose the examples of a query, which may call the function by another name than the code."""
    asked, name = names
    examples = examples_in(Task(pair.id, pair.query.text, asked))
    task = Task(pair.id, "", name)
    usable = usable_tests(task, [test for test in examples if asked == name or isinstance(test, Call)])
    if not usable:
        return "the query shows no example"
    posed = PosedCode(replace(task, tests=usable), Program(task.id, source, task.id), forgiven)
    cannot = refused(posed.task, posed.program)
    return cannot.detail if cannot else posed


def _below(query: str, head: str, code: str) -> str:
    """Return a code below what its query gives it: imports and helpers, each of which it may define anew."""
    if "from __future__" in code or "\0" in code:
        return code
    function = function_in(query, head)
    lines = query.splitlines()[: function.lineno - 1 - len(function.decorator_list)] if function else []
    return "\n".join([*lines, code])


def _only(code: str) -> str:
    """Return the one function of a code that no other of its functions uses; empty where there is not one."""
    functions = _functions(code)
    named = ((each.name, node) for each in functions for node in ast.walk(each) if isinstance(node, ast.Name))
    used = {node.id for name, node in named if node.id != name}
    tops = [function.name for function in functions if function.name not in used]
    return tops[0] if len(tops) == 1 else ""


def _functions(code: str) -> list[ast.FunctionDef]:
    """Return the functions at the top of a code that stand by themselves."""
    tree = tree_of(code)
    functions = [node for node in getattr(tree, "body", ()) if isinstance(node, ast.FunctionDef)]
    return [each for each in functions if not any(arg.arg in _OF_ITS_CLASS for arg in each.args.args[:1])]


def _key(pair: Pair, posed: PosedCode) -> str:
    return key_of(pair.digest, "run", posed.task.entry_point, repr(posed.task.tests), posed.program.source)


def _step(posed: PosedCode, step: Execution) -> dict[str, Any]:
    """Return what a run showed, as records have it."""
    outcome = step.outcome
    got, expected = outcome.got[:_MAX_MESSAGE_CHARS], outcome.expected[:_MAX_MESSAGE_CHARS]
    values = f": {got}, wanted {expected}" if got or expected else ""
    return {
        "part": "examples",
        "fault": outcome.fault and str(outcome.fault),
        "held": min(len(step.passed), len(posed.task.tests)),
        "detail": outcome.detail[:_MAX_MESSAGE_CHARS] + values,
        "missing": outcome.missing,
        "seconds": round(outcome.seconds, 3),
    }


def read(posed: PosedCode, step: Mapping[str, Any] | None, broken: str = "") -> Trial:
    """Return what a run means for its pair; without one, the sandbox broke."""
    if step is None:
        return Trial("broken", broken or "the run is not recorded")
    count = len(posed.task.tests)
    fault = Fault(step["fault"]) if step["fault"] else None
    if fault is Fault.CORRECT:
        return Trial("passed", "", count, count)
    if step["missing"] or fault is None:
        lacks = f"no module {step['missing']}" if step["missing"] else step["detail"]
        return Trial("not run", lacks or "nothing came of it", count)
    detail = step["detail"] or str(fault)
    if fault in posed.forgiven:
        return Trial("not run", f"does not run by itself: {detail}", count)
    return Trial("failed", detail, count, step["held"])
