"""Find certain faults of a program without running it.

A finding is a fault with its line: text that is not Python, a name that nothing defines, no function of the name that
the task asks for, no value returned, or only values of another kind than the task's text shows. The text is all that is
read of a task, with its examples; its tests are never looked at.
"""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, cast

from assay.faults import Fault
from assay.programs.shown_examples import examples_in, function_in
from assay.rank.canon import Canon, canon, of_text
from assay.rank.syntax import NONE, Kinds, children, kinds, names, parsed, variables_of, walk
from assay.values import Call, Task

KINDS: Final = frozenset({"bool", "int", "float", "str", "list", "tuple", "dict", "set", "None"})
_MAX_PROMPT_CHARS: Final = 20_000
"""Characters of a task's text that are looked at."""
_EXAMPLES: Final = 20
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN_SCOPE = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
_METHODS: Final = {kind.__name__: frozenset(dir(kind)) for kind in (str, int, float, bool, list, tuple, dict, set)}
_SHARED: Final = {"dict": frozenset(dir(Counter)) | frozenset(dir(OrderedDict)) | frozenset(dir(defaultdict))}
"""Attributes that dictionaries of the library have, too."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Finding = tuple[Fault | None, int]


@dataclass(frozen=True, slots=True)
class TaskWants:
    """Requirements in a task's text for its programs."""

    entry: str = ""
    arity: int = -1
    """How many arguments the function takes; -1 if the text does not say."""
    arguments: tuple[str, ...] = ()
    """The kind of each argument; empty if unknown."""
    returned: frozenset[str] = frozenset()
    """The kinds of value that may be returned; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Static facts about one program."""

    fault: Fault | None
    """How it surely fails; None where nothing shows that it does."""
    line: int
    parses: bool
    canon: Canon
    """Its normal form; where it cannot be parsed its words in a row."""
    ignores: bool = False
    """Whether the function that the task asks for uses none of its parameters: it answers everything alike."""


def wants_of(task: Task) -> TaskWants:
    """Return the requirements in a task's text for a program."""
    text = task.prompt[:_MAX_PROMPT_CHARS]
    if not task.entry_point or not text.strip():
        return TaskWants(task.entry_point)
    function = function_in(text, task.entry_point)
    calls = [test for test in examples_in(task)[:_EXAMPLES] if isinstance(test, Call)]
    return TaskWants(
        task.entry_point, _arity(function, calls), _argument_kinds(function, calls), _returned(function, calls)
    )


def _arity(function: ast.FunctionDef | None, calls: Iterable[Call]) -> int:
    if function:
        return len(function.args.posonlyargs) + len(function.args.args)
    counts = [len(call.args) for call in calls]
    return max(set(counts), key=lambda count: (counts.count(count), count), default=-1)


def _argument_kinds(function: ast.FunctionDef | None, calls: Iterable[Call]) -> tuple[str, ...]:
    hints = tuple(_kind_of(argument.annotation) for argument in function.args.args) if function else ()
    if any(hints):
        return hints
    rows = [tuple(type(value).__name__ for value in call.args) for call in calls]
    columns = [{*column} - {""} for column in zip_longest(*rows, fillvalue="")]
    return tuple(column.pop() if len(column) == 1 else "" for column in columns)


def _returned(function: ast.FunctionDef | None, calls: Iterable[Call]) -> frozenset[str]:
    """Return the kinds in the annotation and in the examples, which show whether None may be returned."""
    shown = {"None" if call.expected is None else type(call.expected).__name__ for call in calls}
    hint = _kind_of(function.returns) if function else ""
    return frozenset((shown | ({hint} - {""})) & KINDS)


def _kind_of(annotation: ast.expr | None) -> str:
    """Return the kind of value that an annotation names; empty for none of the known kinds, or several."""
    match annotation:
        case ast.Subscript(value=value):
            return "" if getattr(value, "id", "") in {"Optional", "Union"} else _kind_of(value)
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name.lower() if name.lower() in KINDS else ""
        case _:
            return ""


def facts(source: str, task: TaskWants, *, is_finished: bool = True) -> Facts:
    """Return the static facts of a program; an unfinished one may still get what it lacks."""
    read = parsed(source)
    if read.tree is None:
        return Facts(None if read.unread else Fault.SYNTAX_ERROR, read.line, parses=False, canon=of_text(source))
    part = _relevant(read.tree, task.entry)
    fault, line = _finding(read.tree, part, task) if is_finished else _finding_so_far(read.tree, part, task)
    ignores = is_finished and part.main is not None and _ignores(part.main, part.main_nodes)
    return Facts(fault, line, parses=True, canon=canon(part.roots, task.entry, part.nodes), ignores=ignores)


@dataclass(frozen=True, slots=True)
class _Relevant:
    """The part of a program that answers the task."""

    main: _Function | None
    """The function that the task asks for; None where the whole program is meant."""
    roots: tuple[ast.stmt, ...]
    nodes: tuple[ast.AST, ...]
    """Every node of the roots, root by root."""
    main_nodes: tuple[ast.AST, ...] = ()


def _relevant(tree: ast.Module, entry: str) -> _Relevant:
    """Return the function of a name and the top-level definitions that it reaches, or else the whole program."""
    main = _main(tree, entry) if entry else None
    if main is None:
        return _Relevant(None, tuple(tree.body), tuple(chain.from_iterable(map(walk, tree.body))))
    at_top = {name: node for node in tree.body for name in _defines(node)}
    reached: dict[int, list[ast.AST]] = {}
    todo: list[ast.stmt] = [main]
    while todo:
        node = todo.pop()
        if id(node) in reached:
            continue
        reached[id(node)] = below = walk(node)
        used = {each.id for each in below if isinstance(each, ast.Name)}
        todo += [at_top[name] for name in sorted(used) if name in at_top and at_top[name] is not main]
    parts = sorted(reached.values(), key=lambda nodes: cast("ast.stmt", nodes[0]).lineno)
    roots = tuple(cast("ast.stmt", nodes[0]) for nodes in parts)
    return _Relevant(main, roots, tuple(chain.from_iterable(parts)), tuple(reached[id(main)]))


def _main(tree: ast.Module, entry: str) -> _Function | None:
    """Return the last top-level function of a name, or else the first one anywhere, such as a method."""
    at_top = [node for node in tree.body if isinstance(node, _FUNCTIONS) and node.name == entry]
    if at_top:
        return at_top[-1]
    inside = (node for each in tree.body if isinstance(each, ast.ClassDef) for node in each.body)
    return next((node for node in inside if isinstance(node, _FUNCTIONS) and node.name == entry), None)


def _defines(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case _:
            return ()


def _finding(tree: ast.Module, part: _Relevant, task: TaskWants) -> _Finding:
    """Return the certain fault of a finished program, and its line."""
    known = names(tree)
    if task.entry and part.main is None and task.entry not in known.top:
        return Fault.FUNCTION_NOT_FOUND, -1
    idle = _idle(tree, part)
    for _, line in known.undefined:
        if not any(line in lines for lines in idle):
            return Fault.NAME_ERROR, line
    return (None, -1) if part.main is None else _finding_in(part.main, part.main_nodes, task)


def _finding_so_far(tree: ast.Module, part: _Relevant, task: TaskWants) -> _Finding:
    """Return the certain fault of an unfinished program, and its line.

    A function that is missing, a return and a name that is called may all follow; a name that is only read may not.
    """
    found = _finding(tree, part, task)
    if found[0] not in {Fault.FUNCTION_NOT_FOUND, Fault.NONE_ERROR, Fault.OUTPUT_TYPE_ERROR, Fault.NAME_ERROR}:
        return found
    called = {
        (node.func.id, node.lineno)
        for node in walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    lost = [line for name, line in names(tree).undefined if (name, line) not in called]
    return (Fault.NAME_ERROR, lost[0]) if lost else (None, -1)


def _idle(tree: ast.Module, part: _Relevant) -> list[range]:
    """Return the lines of functions that the entry point never reaches, whose faults have no effect."""
    if part.main is None:
        return []
    used = set(map(id, part.roots))
    idle = [node for node in tree.body if isinstance(node, _FUNCTIONS) and id(node) not in used]
    return [range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1) for node in idle]


def _finding_in(main: _Function, nodes: Sequence[ast.AST], task: TaskWants) -> _Finding:
    """Return the certain fault of the task's function: in its parameters, its methods or its results."""
    arguments = [argument for argument in (*main.args.posonlyargs, *main.args.args) if argument.arg != "self"]
    if not _fits(main, len(arguments), task):
        return Fault.TYPE_ERROR, main.lineno
    argument_kinds = dict(zip((argument.arg for argument in arguments), task.arguments, strict=False))
    own = _own_nodes(nodes)
    known = {each.arg: argument_kinds.get(each.arg) or _kind_of(each.annotation) for each in arguments}
    variables = variables_of(nodes, {name: frozenset({kind}) if kind else NONE for name, kind in known.items()})
    if (line := _wrong_method(own, variables)) > 0:
        return Fault.EXECUTION_OTHER, line
    return _wrong_return(own, variables, task.returned), -1


def _ignores(main: _Function, nodes: Sequence[ast.AST]) -> bool:
    every = (*main.args.posonlyargs, *main.args.args, *main.args.kwonlyargs, main.args.vararg, main.args.kwarg)
    names = {argument.arg for argument in every if argument} - {"self", "cls"}
    return bool(names) and not any(isinstance(node, ast.Name) and node.id in names | _ALL_NAMES for node in nodes)


_ALL_NAMES: Final = frozenset({"locals", "vars", "eval", "exec"})


def _fits(main: _Function, arity: int, task: TaskWants) -> bool:
    """Say whether the function can take as many arguments as the task has, if that is known."""
    least = arity - len(main.args.defaults)
    return task.arity < 0 or (least <= task.arity and (arity >= task.arity or main.args.vararg is not None))


def _own_nodes(nodes: Sequence[ast.AST]) -> Sequence[ast.AST]:
    """Return the nodes of a function, itself first, without those of inner functions and classes."""
    every = nodes[1:]
    if not any(isinstance(node, _OWN_SCOPE) for node in every):
        return every
    found: list[ast.AST] = []
    todo = children(nodes[0])
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, _OWN_SCOPE):
            todo += children(node)
    return found


def _wrong_method(nodes: Sequence[ast.AST], variables: Mapping[str, Kinds]) -> int:
    """Return the first line that reads a missing attribute of a value; -1 without one."""
    lines = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = kinds(node.value, variables)
            if of and all(
                kind in _METHODS and node.attr not in _METHODS[kind] | _SHARED.get(kind, frozenset()) for kind in of
            ):
                lines.append(node.lineno)
    return min(lines, default=-1)


def _wrong_return(own: Sequence[ast.AST], variables: Mapping[str, Kinds], expected: Kinds) -> Fault | None:
    """Return the fault of a function that returns no value, or none of an expected kind."""
    returns = [node for node in own if isinstance(node, ast.Return)]
    valued = [node.value for node in returns if node.value is not None]
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own)
    if not (valued or yields) and expected != {"None"}:
        return Fault.NONE_ERROR
    if expected & {"int", "float", "bool"}:
        expected = expected | {"int", "float"} | (frozenset({"bool"}) & expected)
    found = [kinds(value, variables) for value in valued]
    wrong = sum(bool(each) and not each & expected for each in found)
    return Fault.OUTPUT_TYPE_ERROR if expected and wrong >= max(len(returns), 1) else None
