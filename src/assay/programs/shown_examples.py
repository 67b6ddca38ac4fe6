"""Find the examples in a task's text: calls of a function, and samples of standard input and output.

Doctests, asserts, `f(x) == y` and the like in prose, calls with their value on the next line, and `[1, 2] -> 3` or
`Input: … Output: …` where the text never calls the function by name. Examples that contradict one another are left out;
a value that is not plain is left to the sandbox (a doctest of an expression) or left out. Nothing runs here.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from assay.programs.shown_doctests import doctests_in
from assay.programs.shown_samples import samples
from assay.programs.tasks.task_file import parsed
from assay.programs.text_literals import ATOL, MAX_EXAMPLES, arguments_at, value_at
from assay.programs.unnamed_calls import unnamed_calls_in
from assay.values import Call, Script, Task, Test

MAX_PROMPT_CHARS: Final = 100_000
"""Characters of a prompt that are looked at."""
_MAX_CALLS: Final = 500
_MAX_NAMES: Final = 10
_BUILT_IN: Final = frozenset(dir(builtins))
_SAYS: Final = (
    r"(?:(?:should|must|will|would) )?(?:be|return|equal|output|give|yield|evaluate to)s?"
    r"|is equal to|evaluates? to|returns?|outputs?|equals?|gives?|yields?|is"
    r"|(?:the )?(?:output|result|answer) (?:is|(?:should|will|would|must) be)"
)
_RELATION: Final = re.compile(
    r"[ \t`*]{0,8}(?:[#,;]|//|--)?[ \t]{0,8}"
    rf"(?:(?P<sign>[=-]{{1,3}}>|===?|[➞→⇒⟹⟶↦➡]|=|#|//|:)|(?P<word>{_SAYS}))[ \t`*:]{{0,8}}"
)
_BELOW: Final = re.compile(
    r"[ \t`*;]{0,8}\r?\n[ \t]{0,40}(?:(?:[=-]{1,3}>|[➞→⇒⟹#]|//|[Rr]eturns?:?|[Oo]utput:?|==)[ \t]{0,8})?(?=\S)"
)
_GOES_ON: Final = re.compile(r"[ \t]{0,8}(?:[+*/%<>=^&|\[]|-[ \t]?\d|(?:if|or|for|and not|to)\b)|\w")
_STOPS: Final = re.compile(r"[ \t`*]{0,8}(?:$|[\n.,;)!#]|//|\"\"\"|and\b|because\b|since\b|but\b)")
_END_OF_LINE: Final = re.compile(r"[ \t`*.]{0,8}(?:\r?\n|$|#|//)")
_SUM: Final = re.compile(r"[-\d \t+*/().]{1,80}=[ \t]{0,8}(?=[-\d])")
_OTHER: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w{2,60})(?=\()")
_BUSY: Final = "+-*/%=<>([{."


def examples_in(task: Task) -> tuple[Test, ...]:
    """Return the examples in the text of a task, each a test."""
    text = text_of(task)
    if not task.entry_point:
        return samples(text)
    spared, tests = doctests_in(text, task.entry_point)
    calls: list[Call | Script] = [*tests, *_calls(spared, task.entry_point)]
    width = parameters(task)
    if not calls:
        calls += _renamed(spared, width)
    if not calls:
        calls += unnamed_calls_in(text, width)
    return _drop_contradictions(calls)


def text_of(task: Task) -> str:
    """Return the prose of a prompt: the docstring of its function, or else the whole prompt."""
    prompt = task.prompt[:MAX_PROMPT_CHARS]
    function = function_in(prompt, task.entry_point)
    return (function and ast.get_docstring(function)) or prompt


def parameters(task: Task) -> int | None:
    """Return how many parameters the function has in the prompt; None if it does not say."""
    function = function_in(task.prompt[:MAX_PROMPT_CHARS], task.entry_point)
    return len(function.args.args) if function else None


def function_in(source: str, name: str) -> ast.FunctionDef | None:
    """Return the last top-level function of a name in a program or prompt; None without one."""
    bodies = (parsed(source + tail).body for tail in ("", "\n    pass\n"))
    found = (node for body in bodies for node in reversed(body) if isinstance(node, ast.FunctionDef))
    return next((node for node in found if node.name == name), None)


def _calls(text: str, name: str) -> Iterator[Call]:
    """Yield each call of the function with a value in the text."""
    called = re.compile(rf"(?<![\w.]){re.escape(name)}[ \t]{{0,3}}(?=\()")
    for match in islice(called.finditer(text), _MAX_CALLS):
        args = arguments_at(text, match.end()) if _free(text, match.start()) else None
        value = args and _value_after(text, args[1])
        if args and value:
            yield Call(args[0], value[0], ATOL)


def _renamed(text: str, width: int | None) -> list[Call]:
    """Return the calls of the first other name with values in the text, for functions that were renamed later."""
    names = [match[1] for match in islice(_OTHER.finditer(text), _MAX_CALLS)]
    for name in list(dict.fromkeys(names))[:_MAX_NAMES]:
        if name not in _BUILT_IN and (calls := [call for call in _calls(text, name) if len(call.args) == (width or 1)]):
            return calls
    return []


def _free(text: str, start: int) -> bool:
    """Say whether the text before a call does not change its value."""
    line = text[max(0, start - 40) : start].rpartition("\n")[2]
    before = line.rstrip(" \t`")
    if before.endswith(("def", "not", "lambda")):
        return False
    if before.endswith(("=>", "->", "==>", "- ", "* ")) or before.strip(" \t*->`") == "":
        return True
    if before.endswith("("):
        return not before[:-1].strip() or before[-2:-1].isspace()
    return not before.endswith(tuple(_BUSY))


def _value_after(text: str, end: int) -> tuple[Any, int] | None:
    """Return the stated value of a call, or the value alone on the next line."""
    below = _BELOW.match(text, end)
    if below:
        value = value_at(text, below.end())
        return value if value and _END_OF_LINE.match(text, value[1]) else None
    relation = _RELATION.match(text, end)
    value = relation and value_at(text, relation.end())
    if not relation or not value:
        return None
    if _GOES_ON.match(text, value[1]):
        total = _SUM.match(text, relation.end())
        return value_at(text, total.end()) if total else None
    strict = relation["word"] or relation["sign"] in {"=", "#", "//", ":"}
    return value if not strict or _STOPS.match(text, value[1]) else None


def _drop_contradictions(tests: list[Call | Script]) -> tuple[Test, ...]:
    """Return each test once, without calls that have contradictory values."""
    expected: dict[str, set[str]] = {}
    for test in tests:
        if isinstance(test, Call):
            expected.setdefault(repr(test.args), set()).add(repr(test.expected))
    clear = (test for test in tests if isinstance(test, Script) or len(expected[repr(test.args)]) == 1)
    return tuple({repr(test): test for test in clear}.values())[:MAX_EXAMPLES]
