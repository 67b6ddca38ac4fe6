"""Find the examples that a task's text shows: of a function, and of standard input and output.

A line is a heading when nothing but `Input`, `Output`, `Sample Input 2`, `Examples`, `Note` … stands on it between
dashes, stars, hashes and colons. A bare `Input` counts as a sample only below a heading that says example or sample:
above it, it describes the form, unless no sample is shown and what stands there is data. An output ends at its first
blank line, for prose follows it.

Nothing is evaluated: brackets and quotes are matched by hand, in one pass that gives up after `MAX_LITERAL_CHARS`, and
`ast.literal_eval` reads what they enclose. Prose writes `true`, `false` and `null` for the constants.

A call of plain values becomes a call; any other expression becomes an assert for the sandbox, after the statements that
stand before it. What is shown to raise, or to print what is no value, makes no test.

Only where a whole line reads that way, and only where as many values stand on its left as the function has parameters.

Doctests, asserts, `f(x) == y` and its likes in prose, calls with their value on the next line, and `[1, 2] -> 3`
or `Input: … Output: …` where the text never calls the function by name. What contradicts itself is left out; what is
no plain value is left to the sandbox (a doctest of an expression) or left out. Nothing runs here.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import dropwhile, islice, takewhile
from typing import Any, Final, NamedTuple

from assay.programs.tasks.task_file import parsed
from assay.values import Call, Script, Stdin, Task, Test

_MAX_IN_OUT_EXAMPLES: Final = 50
_MAX_HEADING_CHARS: Final = 60
_AROUND: Final = " \t-*#:=_`>"
_SIDE: Final = re.compile(
    r"(sample|example)?s? ?(?:test ?)?(?:case ?)?(?:#?\d+ ?)?(?:standard ?)?(in|out)put(?:s|\(s\))?"
    r"(?: ?(?:for|of) .{1,20})? ?#?\d*(?: ?\(?(?:std(?:in|out))?\)?)?"
)
_SECTION: Final = re.compile(
    r"(?P<shows>(?:sample|example)s?(?: (?:test ?cases?|tests?|i/?o|input/output|input and output))?(?: ?#?\d*))"
    r"|notes?|explanations?(?: .{1,30})?|constraints?.{0,20}|scoring|hints?|limits?|subtasks?|remarks?|clarifications?"
    r"|(?:input|output) (?:format|specification|description)s?"
)
_INLINE: Final = re.compile(
    r"[ \t*]{0,8}(sample|example)? ?(in|out)put ?\d{0,2}[* ]{0,3}:[* ]{0,3}(?=\S)", re.IGNORECASE
)
_ENDS: Final = re.compile(r"[ \t*]{0,8}(?:explanation|note|constraints)s?[ \d]{0,4}[*:]", re.IGNORECASE)


def samples(text: str) -> tuple[Stdin, ...]:
    """Return what the text shows a program reads and prints."""
    bare = ((side, block) for side, block in _blocks(text, shows=True) if _is_data(block))
    return _samples(_blocks(text)) or _samples(bare)


def _samples(blocks: Iterable[tuple[str, str]]) -> tuple[Stdin, ...]:
    found: dict[str, str] = {}
    read: str | None = None
    for side, block in blocks:
        if side == "in":
            read = block
        elif read is not None:
            if block:
                found.setdefault(read, block)
            read = None
        if len(found) >= _MAX_IN_OUT_EXAMPLES:
            break
    return tuple(Stdin(given, printed) for given, printed in found.items())


def _is_data(block: str) -> bool:
    """Say whether a block is what a program reads or prints, rather than what is said about it."""
    lines = block.splitlines()
    return any(map(str.isdigit, block)) and not any(len(_WORD.findall(line)) > _MAX_LINE_WORDS for line in lines)


_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_MAX_LINE_WORDS: Final = 2


def _blocks(text: str, *, shows: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what stands below each heading of a sample, with its side; all headings do where samples are shown."""
    side = ""
    lines: list[str] = []
    for line in text.splitlines():
        heading = _heading(line, shows=shows)
        if heading is None:
            lines.append(line)
            continue
        if side:
            yield side, _content(lines, side)
        shows, side = heading.shows, heading.side
        lines = [heading.rest] if heading.rest else []
    if side:
        yield side, _content(lines, side)


class _Heading(NamedTuple):
    shows: bool
    """Whether samples are shown from here on."""
    side: str = ""
    rest: str = ""
    """What of the block stands on this line already."""


def _heading(line: str, *, shows: bool) -> _Heading | None:
    inline = _INLINE.match(line)
    if inline and (shows or inline[1]):
        return _Heading(True, inline[2].lower(), line[inline.end() :])
    if _ENDS.match(line):
        return _Heading(shows=False)
    if not line.strip() or len(line) > _MAX_HEADING_CHARS:
        return None
    bare = line.strip(_AROUND).lower()
    side = _SIDE.fullmatch(bare)
    if side:
        now = shows or bool(side[1])
        return _Heading(now, side[2] if now else "")
    section = _SECTION.fullmatch(bare)
    return _Heading(section["shows"] is not None) if section and bare else None


def _content(lines: list[str], side: str) -> str:
    plain = (line.rstrip() for line in lines if not line.strip().startswith(("```", "-----")))
    kept = dropwhile(lambda line: not line, plain)
    text = "\n".join(takewhile(bool, kept) if side == "out" else kept).rstrip("\n")
    return f"{text}\n" if text else ""


MAX_LITERAL_CHARS: Final = 2000
"""Characters of one literal."""
_CLOSES: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTED: Final = re.compile(r"[bBrRuU]{0,2}(['\"])")
_STRING: Final = re.compile(
    r"""('{3}|"{3})(?:\\.|(?!\1)[^\\])*\1|(?!'{3}|"{3})(['"])(?:\\.|(?!\2)[^\\\n])*\2""", re.DOTALL
)
_PLAIN: Final = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w)|\w+")
_CONSTANTS: Final = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_IN_JSON: Final = re.compile(r"\b(?:true|false|null)\b")

Found = tuple[Any, int]
"""A value and the place behind it."""


def value_at(text: str, start: int) -> Found | None:
    """Return the value that begins at a place, None where none does."""
    char = text[start : start + 1]
    if char in _CLOSES or _QUOTED.match(text, start):
        end = closing(text, start)
        return _read(text[start:end], end) if end > 0 else None
    plain = _PLAIN.match(text, start, start + MAX_LITERAL_CHARS)
    if plain is None:
        return None
    if plain[0] in _CONSTANTS:
        return _CONSTANTS[plain[0]], plain.end()
    return _read(plain[0], plain.end()) if plain[0][-1].isdecimal() else None


def arguments_at(text: str, start: int) -> Found | None:
    """Return the arguments, all of them values, of the parentheses that open at a place."""
    end = closing(text, start)
    if end < 0:
        return None
    inner = text[start + 1 : end - 1].strip().rstrip(",")
    return _read(f"({inner},)" if inner else "()", end)


def closing(text: str, start: int) -> int:
    """Return the place behind the bracket or quote that opens at a place, -1 where it stays open."""
    limit = min(len(text), start + MAX_LITERAL_CHARS)
    if quoted := _QUOTED.match(text, start):
        return _behind_string(text, quoted.start(1), limit)
    waiting: list[str] = []
    place = start
    while place < limit:
        char = text[place]
        if char in "'\"":
            if (place := _behind_string(text, place, limit)) < 0:
                return -1
            continue
        if char in _CLOSES:
            waiting.append(_CLOSES[char])
        elif char in ")]}" and (not waiting or waiting.pop() != char):
            return -1
        place += 1
        if not waiting:
            return place
    return -1


def literal(text: str) -> Found | None:
    """Return the value that is the whole text, None where it is no value."""
    stripped = text.strip()
    return _read(stripped, len(text)) if stripped and len(stripped) <= MAX_LITERAL_CHARS else None


def _behind_string(text: str, start: int, limit: int) -> int:
    found = _STRING.match(text, start, limit)
    return found.end() if found else -1


def _read(source: str, end: int) -> Found | None:
    for form in (source, _IN_JSON.sub(lambda word: str(_CONSTANTS[word[0]]), source)):
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.literal_eval(form), end
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


PROMPT: Final = ">>>"
_MAX_EXAMPLE_CHARS: Final = 2000


def doctests_in(text: str, name: str) -> tuple[str, list[Call | Script]]:
    """Return the text without its doctests, and the tests that they are."""
    found: list[Call | Script] = []
    setup: list[str] = []
    rest: list[str] = []
    for source, wanted in _parts(text, rest):
        tree = parsed(source[: _MAX_EXAMPLE_CHARS + 1])
        if len(source) > _MAX_EXAMPLE_CHARS or not tree.body or len(found) >= MAX_EXAMPLES:
            continue
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            test = _test(tree.body[0].value, wanted, name, setup)
            found += [test] if test else []
        elif not wanted:
            setup.append(source)
    return "\n".join(rest), found


def _parts(text: str, rest: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what each prompt has, and what is shown below it; other lines go to the rest."""
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place].strip()
        place += 1
        if not line.startswith(PROMPT):
            rest.append(lines[place - 1])
            continue
        source, wanted = [line[len(PROMPT) :].strip()], list[str]()
        while place < len(lines) and lines[place].lstrip().startswith("..."):
            source.append(lines[place].lstrip()[4:])
            place += 1
        while place < len(lines) and (below := lines[place].strip()) and not below.startswith((PROMPT, '"""', "'''")):
            wanted.append(below)
            place += 1
        yield "\n".join(source), "\n".join(wanted)


def _test(tree: ast.expr, wanted: str, name: str, setup: list[str]) -> Call | Script | None:
    if not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        return None
    if isinstance(tree, ast.Compare) and wanted in {"", "True"}:
        return _compared(tree, name, setup)
    value = _value(wanted)
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "print" and len(tree.args) == 1 and wanted:
        return _script(f"str({ast.unparse(tree.args[0])})", wanted, setup)
    if value is None:
        return None
    args = literal_arguments(tree, name)
    return _script(ast.unparse(tree), value[0], setup) if args is None else Call(args, value[0], ATOL)


def _compared(tree: ast.Compare, name: str, setup: list[str]) -> Call | Script:
    """Return the test of an expression that holds the comparison itself."""
    args, right = literal_arguments(tree.left, name), literal(ast.unparse(tree.comparators[0]))
    if args is not None and right and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return Call(args, right[0], ATOL)
    return Script("\n".join([*setup, f"assert {ast.unparse(tree)}"]))


def _value(wanted: str) -> tuple[Any, int] | None:
    """Return the value below a prompt: all of the text, else all of its first line, else what begins it."""
    first, _, _ = wanted.partition("\n")
    found = literal(wanted) or literal(first)
    if found or not wanted:
        return found
    begun = value_at(wanted, 0)
    behind = wanted[begun[1] :].lstrip(" \t") if begun else ""
    return begun if behind.startswith(("#", "\n", "(", "//")) else None


def literal_arguments(tree: ast.AST, name: str) -> tuple[Any, ...] | None:
    """Return the arguments of a call of a function, None where it is no such call or they are not all values."""
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != name or tree.keywords:
        return None
    try:
        found = tuple(map(ast.literal_eval, tree.args))
        repr(found)  # a whole number of thousands of digits cannot be written
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return found


def _script(expression: str, value: Any, setup: list[str]) -> Script:
    return Script("\n".join([*setup, f"assert {expression} == {value!r}"]))


_MAX_LINE_CHARS: Final = 1000
_LEAD: Final = re.compile(
    r"[ \t]{0,40}(?:[-*•\d.)]{1,4} )?(?:examples?|e\.g\.|ex)?[ \t]{0,2}\d{0,2}[.:]{0,2}[ \t]{0,8}"
    r"(?:(?:for|given|if|when|with)\b(?: the)?(?: input| list| array| string)?|input[ \d]{0,3})?[ \t]{0,4}:?[ \t]{0,8}",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"[`*]{0,2}[A-Za-z_]\w{0,40}[`*]{0,2}[ \t]{0,3}={1,2}[ \t]{0,3}")
_BETWEEN: Final = re.compile(r"[ \t`*]{0,6}(?:[,;]|and\b|&)(?: and)?[ \t`*]{0,6}")
_UNNAMED_RELATION: Final = re.compile(
    r"[ \t`*]{0,8},?[ \t]{0,4}(?:[=-]{1,3}>|[➞→⇒⟹⟶↦➡]|==|,?[ \t]{0,4}(?:the |your |it |function |program )*"
    r"(?:(?:expected )?(?:output|result|answer|sum|value)?:? ?(?:is|(?:should|will|would|must) (?:be|return|output))?"
    r"|returns?|outputs?|return value:?))(?: the output)?[ \t`*:]{1,8}",
    re.IGNORECASE,
)
_RETURNS: Final = re.compile(r"[ \t]{0,40}(?:output|returns?|result)[ \d]{0,3}:[ \t`*]{0,8}", re.IGNORECASE)
_INPUT: Final = re.compile(r"[ \t*`-]{0,40}(?:example[ \d:]{0,4})?input[ \d]{0,3}[*`]{0,2}:", re.IGNORECASE)
_END: Final = re.compile(r"[ \t`*.,;\"']{0,8}(?:$|#|//|\()")


def unnamed_calls_in(text: str, width: int | None) -> Iterator[Call]:
    """Return the calls of a function of so many parameters; an unknown number is taken for one."""
    lines = (line for line in _joined(text.splitlines()) if len(line) <= _MAX_LINE_CHARS)
    return islice(filter(None, (_call(line, width or 1) for line in lines)), MAX_EXAMPLES)


def _joined(lines: list[str]) -> Iterator[str]:
    """Yield the lines, a line of input with the line of output below it as one."""
    waiting = ""
    for line in lines:
        returns = _RETURNS.match(line)
        if waiting and returns:
            yield f"{waiting} => {line[returns.end() :]}"
            waiting = ""
        elif _INPUT.match(line):
            waiting = line.rstrip()
        elif line.strip() or not waiting:
            waiting = ""
            yield line


def _call(line: str, width: int) -> Call | None:
    lead = _LEAD.match(line)
    place = lead.end() if lead else 0
    args: list[Any] = []
    while len(args) < width:
        named = _NAMED.match(line, place)
        value = value_at(line, named.end() if named else len(line) - len(line[place:].lstrip("`*")))
        if value is None:
            return None
        args.append(value[0])
        place = value[1]
        if len(args) < width:
            between = _BETWEEN.match(line, place)
            if between is None:
                return _spread(args, line, place, width)
            place = between.end()
    return _returning(args, line, place)


def _spread(args: list[Any], line: str, place: int, width: int) -> Call | None:
    """Return the call whose arguments stand in one pair of parentheses."""
    is_spread = len(args) == 1 and isinstance(args[0], tuple) and len(args[0]) == width
    return _returning(list(args[0]), line, place) if is_spread else None


def _returning(args: list[Any], line: str, place: int) -> Call | None:
    relation = _UNNAMED_RELATION.match(line, place)
    value = relation and value_at(line, relation.end())
    return Call(tuple(args), value[0], ATOL) if value and _END.match(line, value[1]) else None


MAX_PROMPT_CHARS: Final = 100_000
"""Characters of a prompt that are looked at."""
MAX_EXAMPLES: Final = 50
ATOL: Final = 1e-6
"""A text shows floats as they print."""
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
    """Return what of a prompt is prose: the docstring of its function where it has one, else all of it."""
    prompt = task.prompt[:MAX_PROMPT_CHARS]
    function = function_in(prompt, task.entry_point)
    return (function and ast.get_docstring(function)) or prompt


def parameters(task: Task) -> int | None:
    """Return how many parameters the prompt gives the function; None where it does not say."""
    function = function_in(task.prompt[:MAX_PROMPT_CHARS], task.entry_point)
    return len(function.args.args) if function else None


def function_in(source: str, name: str) -> ast.FunctionDef | None:
    """Return the last function of a name at the top of a program or prompt, None where there is none."""
    bodies = (parsed(source + tail).body for tail in ("", "\n    pass\n"))
    found = (node for body in bodies for node in reversed(body) if isinstance(node, ast.FunctionDef))
    return next((node for node in found if node.name == name), None)


def _calls(text: str, name: str) -> Iterator[Call]:
    """Yield each call of the function that the text gives a value for."""
    called = re.compile(rf"(?<![\w.]){re.escape(name)}[ \t]{{0,3}}(?=\()")
    for match in islice(called.finditer(text), _MAX_CALLS):
        args = arguments_at(text, match.end()) if _free(text, match.start()) else None
        value = args and _value_after(text, args[1])
        if args and value:
            yield Call(args[0], value[0], ATOL)


def _renamed(text: str, width: int | None) -> list[Call]:
    """Return the calls of the first other name that the text shows values for: functions get renamed, texts do not."""
    names = [match[1] for match in islice(_OTHER.finditer(text), _MAX_CALLS)]
    for name in list(dict.fromkeys(names))[:_MAX_NAMES]:
        if name not in _BUILT_IN and (calls := [call for call in _calls(text, name) if len(call.args) == (width or 1)]):
            return calls
    return []


def _free(text: str, start: int) -> bool:
    """Say whether what stands before a call leaves its value as it is."""
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
    """Return the value that a call is said to have, or that stands alone on the next line."""
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
    """Return each test once, and none of the calls that are said to return different things."""
    expected: dict[str, set[str]] = {}
    for test in tests:
        if isinstance(test, Call):
            expected.setdefault(repr(test.args), set()).add(repr(test.expected))
    clear = (test for test in tests if isinstance(test, Script) or len(expected[repr(test.args)]) == 1)
    return tuple({repr(test): test for test in clear}.values())[:MAX_EXAMPLES]
