"""Write test programs for a code and run them (CoSQA+, IV-C b and c).

The code under judgment is a module of its own, byte by byte, and a program that binds one of its names is refused
before it runs: tests and repairs cannot change the code. Each case runs in a program of its own. A case that changes
the code, or that also passes for a program that does nothing, is an error.

No model is asked for what is plain: what a test program repeats of the code is left out, and modules that the code uses
and does not import are imported before it. A case that breaks by itself says nothing about the code: what it showed is
for whoever repairs it, not for whoever decides.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from assay.corpus.python_syntax import NO_TREE, python_tree
from assay.errors import AssayError, InputError
from assay.faults import Fault
from assay.judge.pairs import laid_out, not_python, tree_of
from assay.judge.records import PairSession
from assay.programs.execute import executions
from assay.programs.harness.source_analysis import free_names, libraries_in
from assay.programs.modules.imports import Distributions, plain
from assay.programs.modules.install import InstallRefused, Overlay
from assay.programs.run_samples import drop_vacuous_tests
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import unusable
from assay.values import Outcome, Program, Script, Task, Test

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner


MODULE = "solution"
"""What tests call the module of the code."""
MAX_READINGS = 3
_MAX_PROGRAM_CHARS = 50_000
_MAX_CASES = 20
_HIDDEN_CALLS = frozenset("exec eval compile globals setattr delattr __import__".split())
_HIDDEN_PARTS = frozenset("__dict__ __code__ __globals__ __builtins__ import_module reload".split())
"""Ways to bind a name that reading does not find."""
_MADE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class TestProgram:
    """Tests of a code under one reading of a query, without the code."""

    __test__ = False

    reading: str
    setup: str
    """Runs before the code, in its module: what it needs and does not bring."""
    helpers: str
    """Runs before each case."""
    cases: tuple[str, ...]
    distributions: tuple[str, ...] = ()
    """What is installed for it."""
    readings: tuple[str, ...] = ()
    """What the query may mean, as far as whoever wrote the program says; the one that it tests is among them."""

    def text(self) -> str:
        """Return it as models read it, who need not know of other readings."""
        told = {name: value for name, value in asdict(self).items() if value and name != "readings"}
        return json.dumps(told, ensure_ascii=False, indent=1)

    def script(self, number: int) -> str:
        """Return one case behind the helpers."""
        return f"{self.helpers}\n{self.cases[number]}"


def generate(session: PairSession) -> TestProgram:
    """Ask a model for a test program under one plausible reading of the query; each vote is to take another one."""
    reply = session.ask("tests")
    readings = tuple(filter(str.strip, reply.get("readings", ())))[:MAX_READINGS]
    return TestProgram(reply["reading"], *parts_of(reply), readings=readings)


def parts_of(reply: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """Return setup, helpers and cases of a reply; empty cases are none."""
    cases = tuple(case for case in reply.get("cases", ()) if case.strip())
    return reply.get("setup", ""), reply.get("helpers", ""), cases


def refused(program: TestProgram, code: str) -> str:
    """Return why a program may not or cannot run against a code, empty where it may."""
    if not program.cases:
        return "the test program has no cases"
    if len(program.cases) > _MAX_CASES or len(program.text()) > _MAX_PROGRAM_CHARS:
        return f"the test program is too long: at most {_MAX_CASES} cases and {_MAX_PROGRAM_CHARS:,} characters"
    names, methods = defined(code), _methods(code)
    trees = {}
    texts = {"setup": program.setup, "helpers": program.helpers}
    for what, text in (texts | {f"case {number}": case for number, case in enumerate(program.cases, 1)}).items():
        tree = tree_of(text)
        if isinstance(tree, str):
            return f"{what} cannot be read: {tree}"
        trees[what] = tree
    for what, tree in trees.items():
        stars = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*")
        if why := _binds(tree, names, methods):
            return f"{what} {why}"
        if what != "setup" and (star := next(stars, None)):  # one of its names may be the code's
            return f"{what} line {star.lineno} imports *: name what is imported"
    return _says_nothing(trees, names)


def _says_nothing(trees: Mapping[str, ast.Module], names: frozenset[str]) -> str:
    """Return which case can hold for any code, as far as reading shows."""
    if not _checks(trees["helpers"]):
        for what, tree in trees.items():
            if what.startswith("case") and not _checks(tree):
                return f"{what} has no assert"
    used = {each for tree in trees.values() for each in _names(tree)}
    if names and not names & used:
        return f"no case uses what the code defines: {', '.join(sorted(names)[:5])}"
    return ""


def defined(code: str) -> frozenset[str]:
    """Return the names that a code gives: its functions and classes, or what it assigns where it has none."""
    tree = tree_of(laid_out(code))
    if isinstance(tree, str):
        return frozenset()
    nodes = list(_outside_functions(tree))
    made = [node for node in nodes if isinstance(node, _MADE)]
    imports = (ast.Import, ast.ImportFrom)
    return frozenset(name for node in made or nodes if not isinstance(node, imports) for name in _bound(node))


def _methods(code: str) -> frozenset[str]:
    """Return the names of the methods of a code's classes."""
    tree = tree_of(laid_out(code))
    if isinstance(tree, str):
        return frozenset()
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return frozenset(node.name for each in classes for node in each.body if isinstance(node, _MADE))


def _binds(tree: ast.Module, names: frozenset[str], methods: frozenset[str]) -> str:
    """Return how a text binds one of these names, or might without it being seen."""
    for node in _binding(tree):
        if isinstance(node, ast.ImportFrom) and node.module == MODULE:
            bound = [alias.asname or "" for alias in node.names if alias.asname != alias.name]
        else:
            bound = list(_bound(node))
        if name := next((name for name in bound if name in names), ""):
            return f"line {getattr(node, 'lineno', 0)} binds '{name}', which is the code under judgment"
    return next(filter(None, (_changes(node, names, methods) for node in ast.walk(tree))), "")


def _changes(  # noqa: PLR0911  # each is one way
    node: ast.AST, names: frozenset[str], methods: frozenset[str]
) -> str:
    """Return how a node changes the code, or hides that it does."""
    where = f"line {getattr(node, 'lineno', 0)}"
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del(), attr=attr) if attr in names | methods or _is_code(node, names):
            return f"{where} changes '{attr}' of the code under judgment, or of what bears its name"
        case ast.Subscript(ctx=ast.Store() | ast.Del(), slice=ast.Constant(value=key)) if key == MODULE:
            return f"{where} puts something in the place of the code under judgment"
        case ast.Call(
            func=ast.Attribute(attr="object"), args=[ast.expr() as whose, ast.Constant(value=str(attr)), *_]
        ) if attr in names | methods or _is_code(whose, names):
            return f"{where} patches '{attr}', which is the code under judgment"
        case ast.Constant(value=str(text)) if text.startswith(f"{MODULE}.") and text.split(".")[1] in names:
            return f"{where} speaks of '{text}', as those do that patch the code under judgment"
        case ast.Name(id=name) if name in _HIDDEN_CALLS:
            return f"{where} uses {name}, by which the code under judgment could be changed unseen"
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _HIDDEN_PARTS:
            return f"{where} uses {name}, by which the code under judgment could be changed unseen"
    return ""


def _is_code(node: ast.expr, names: frozenset[str]) -> bool:
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and (root.id in names or root.id == MODULE)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in aliases)
        case ast.arg(arg=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=several) | ast.Nonlocal(names=several):
            yield from several


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose names the module gets: not those inside functions and classes."""
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            yield node
            if not isinstance(node, (*_MADE, ast.Lambda)):
                waiting.append(node)


def _binding(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may bind a name outside a class: the methods of a stand-in are its own."""
    waiting = [tree]
    while waiting:
        above = waiting.pop()
        for node in ast.iter_child_nodes(above):
            if not (isinstance(above, ast.ClassDef) and isinstance(node, (*_MADE, ast.Assign, ast.AnnAssign))):
                yield node
            waiting.append(node)


def _checks(tree: ast.AST) -> bool:
    """Say whether a text checks anything: an assert, `assertEqual` and its like, or `pytest.raises`."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or any(
        name.startswith("assert") or name == "raises" for name in _names(tree)
    )


State = Literal["passed", "failed", "error"]
RunnerOf = Callable[[Sequence[str]], "ProgramRunner"]
"""Folders to import from to what runs programs that do."""
_LACKING = re.compile(r"(?:[\w ]+: )?(?:NameError|ImportError|ModuleNotFoundError)\b")
"""Faults of whoever runs the code, not of the code."""
_ABSENT = re.compile(r"No module named '([A-Za-z_]\w*)")
_MAX_CHARS = 600
"""Characters of a value or a message that a report tells."""


class SandboxFailed(AssayError):
    """The sandbox, not the program, failed."""


@dataclass(frozen=True, slots=True)
class Case:
    """What became of one test case."""

    number: int
    state: State
    asserts: int = 0
    """How many were carried out."""
    detail: str = ""
    got: str = ""
    expected: str = ""
    line: int = -1
    """Of the code under judgment, where it broke."""

    @property
    def is_evidence(self) -> bool:
        """Whether it says something about the code: it ended, or broke in the code by more than a name that lacks."""
        return self.state != "error" or (self.line > 0 and not _LACKING.match(self.detail))


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What running a test program showed."""

    cases: tuple[Case, ...]
    error: str = ""
    """What broke first, so that the program could not say what it should; empty where all of it ran."""
    missing: tuple[str, ...] = ()
    """Modules that are not there."""
    seconds: float = 0.0
    final: bool = False
    """No repair can help: the code under judgment is no Python."""

    @property
    def executable(self) -> bool:
        """Whether the program ran as a whole, whatever its tests said."""
        return not self.error

    def text(self) -> str:
        """Return it as models read it."""
        if not self.cases:
            return f"The program was not run: {self.error}"
        return _lines(self.cases)

    def evidence(self) -> str:
        """Return what was seen of the code, empty where no case says anything about it."""
        seen = [case for case in self.cases if case.is_evidence]
        return _lines(seen) if seen else ""

    def count(self, state: State) -> int:
        """Return how many cases came to this."""
        return sum(case.state == state for case in self.cases)


def _lines(cases: Sequence[Case]) -> str:
    counts = Counter(case.state for case in cases)
    head = ", ".join(f"{counts[state]} {state}" for state in ("passed", "failed", "error"))
    rows = [{name: value for name, value in asdict(case).items() if value not in ("", -1)} for case in cases]
    return "\n".join((f"{len(cases)} cases: {head}", *(json.dumps(row, ensure_ascii=False) for row in rows)))


class Installs:
    """What may be installed, and what was."""

    def __init__(self, known: Distributions, make: Callable[[Sequence[str]], Overlay] | None) -> None:
        """Take the list, and what makes a folder of some names: None where nothing is installed at all."""
        self._known, self._make = known, make
        self._made: dict[tuple[str, ...], Overlay | str] = {}
        self._lock = Lock()

    def brings(self, module: str) -> str:
        """Return the distribution that brings a module, empty for one that is unknown."""
        return self._known.distribution_of(module)

    def refusal(self, distribution: str) -> str:
        """Return why a distribution is not installed, empty where it may be."""
        if self._make is None:
            return f"{distribution} is not installed: nothing is, without --install"
        return "" if self._known.allows(distribution) else f"{distribution} is not on the list of what may be installed"

    def have(self, names: Sequence[str]) -> Overlay | str:
        """Return the folder with these distributions, or why it cannot be had."""
        asked = tuple(sorted({plain(name) for name in names}))
        for name in asked:
            if why := self.refusal(name):
                return why
        assert self._make is not None
        with self._lock:
            if asked not in self._made:
                try:
                    self._made[asked] = self._make(asked)
                except InstallRefused as refused:
                    self._made[asked] = str(refused)
            return self._made[asked]


class Executor:
    """Runs test programs in sandboxes."""

    def __init__(self, runner_of: RunnerOf, installs: Installs) -> None:
        self._runner_of, self._installs = runner_of, installs

    def __call__(self, session: PairSession, program: TestProgram) -> CaseReport:
        """Run a program, or take the report of the run that was made before."""
        code = session.pair.code
        if why := not_python(code):
            return CaseReport((), why, final=True)
        names = defined(code.text)
        setup, helpers, *others = (_without(text, names) for text in (program.setup, program.helpers, *program.cases))
        program = replace(program, setup=setup, helpers=helpers, cases=tuple(others))
        if why := refused(program, code.text):
            return CaseReport((), why)
        program = replace(program, setup=_with_imports(setup, code.text))
        asked = (program.setup, program.helpers, *program.cases, *program.distributions)
        step = session.once("run", asked, lambda: asdict(self._run(code.text, program)))
        found: dict[str, Any] = {name: step[name] for name in CaseReport.__slots__ if name in step}
        cases = tuple(Case(**case) for case in step["cases"])
        return CaseReport(**{**found, "cases": cases, "missing": tuple(step["missing"])})

    def _run(self, code: str, program: TestProgram) -> CaseReport:
        overlay = self._installs.have(program.distributions) if program.distributions else ""
        if isinstance(overlay, str) and overlay:
            return CaseReport((), overlay)
        source = source_of(program.setup, code)
        if code_in(source) != code:
            raise SandboxFailed("the code under judgment is not what would run")
        folders = [] if isinstance(overlay, str) else [str(overlay.folder)]
        scripts = tuple(Script(program.script(number)) for number in range(len(program.cases)))
        tasks = [Task(f"case {number}", "", tests=(each,), tags=_SEALED) for number, each in enumerate(scripts)]
        programs = [Program(task.id, source, task.id) for task in tasks]
        if why := next(filter(None, map(unusable, tasks)), ""):
            return CaseReport((), why)
        runner = self._runner_of(folders)
        try:
            ran = list(executions(tasks, programs, runner))
        except InputError as error:
            raise SandboxFailed(str(error)) from error
        for one in ran:
            if one.broken:
                raise SandboxFailed(one.outcome.detail)
        holds = [one.outcome.fault is Fault.CORRECT for one in ran]
        says = _telling(scripts, program.setup, runner) if any(holds) else scripts
        return summed(
            [
                _VACUOUS if is_held and script not in says else one.outcome
                for script, one, is_held in zip(scripts, ran, holds, strict=True)
            ]
        )


_SEALED = {"code": "sealed"}
_VACUOUS = Outcome(
    "", "", None, detail="holds for a program that does nothing too, so it says nothing: test what the code returns"
)


def _telling(scripts: tuple[Script, ...], setup: str, runner: ProgramRunner) -> tuple[Test, ...]:
    """Return the cases that say something about the code: not those that hold for stubs behind the same setup."""
    reading = TaskFile((Task("cases", "", tests=scripts),))
    return drop_vacuous_tests(reading, runner, around=partial(source_of, setup)).tasks[0].tests


def _without(text: str, names: frozenset[str]) -> str:
    """Return a text without what defines or imports the code again, as models like to: the code itself is there."""
    tree = tree_of(text)
    body = [] if isinstance(tree, str) else tree.body
    again = [
        node
        for node in body
        if isinstance(node, (*_MADE, ast.Import, ast.ImportFrom))
        and getattr(node, "module", "") != MODULE
        and not names.isdisjoint(_bound(node))
    ]
    return ast.unparse(ast.Module([node for node in body if node not in again], [])) if again else text


def _with_imports(setup: str, code: str) -> str:
    """Return a setup that also imports the modules that the code uses and nothing brings."""
    text, tree = laid_out(code), tree_of(setup)
    nodes = () if isinstance(tree, str) else _outside_functions(tree)
    made = frozenset(name for node in nodes for name in _bound(node))
    try:
        lacking = free_names(text, "") - made
    except NO_TREE:
        return setup
    found = libraries_in(python_tree(text), lacking)
    lines = (
        f"from {module} import {name}" if not used or _is_class(name, used) else f"import {module} as {name}"
        for name, module, used in found
    )
    return "\n".join((*lines, setup))


def _is_class(name: str, used: Sequence[str]) -> bool:
    """Say whether a name is the class that its module has too."""
    return name == "datetime" and {"date", "datetime", "time", "timedelta", "timezone"}.isdisjoint(used)


def source_of(setup: str, code: str) -> str:
    """Return the module that is tested: the setup runs, then the code, each compiled by itself."""
    run = "exec(compile({}{!r}, {!r}, 'exec', dont_inherit=True), globals())\n"
    before = "'if True:\\n' + " if laid_out(code) != code else ""
    return run.format("", setup, "setup.py") + run.format(before, code, "solution.py")


def code_in(source: str) -> str:
    """Return the code under judgment as a module holds it: the last text that it compiles."""
    calls = (node for node in ast.walk(python_tree(source)) if isinstance(node, ast.Call))
    last = [call.args[0] for call in calls if getattr(call.func, "id", "") == "compile"][-1]
    return str(ast.literal_eval(last.right if isinstance(last, ast.BinOp) else last))


def summed(outcomes: Sequence[Outcome]) -> CaseReport:
    """Put the outcomes of the cases together."""
    cases = tuple(_case(number, outcome) for number, outcome in enumerate(outcomes, 1))
    broken = (case for case in cases if case.state == "error")
    missing = tuple(sorted({name for case in broken for name in _ABSENT.findall(case.detail)}))
    return CaseReport(cases, _first_error(cases), missing, round(sum(outcome.seconds for outcome in outcomes), 3))


def _case(number: int, outcome: Outcome) -> Case:
    fault = outcome.fault
    state: State = "passed" if fault is Fault.CORRECT else "failed" if fault and fault.is_intent else "error"
    kind = f"{fault}: " if fault and state == "error" and not outcome.detail.startswith(str(fault)) else ""
    detail, got, expected = (text[:_MAX_CHARS] for text in (kind + outcome.detail, outcome.got, outcome.expected))
    return Case(number, state, outcome.tests_run, detail, got, expected, outcome.line)


def simulate(session: PairSession, program: TestProgram) -> CaseReport:
    """Ask a model what running the program would show (CoSQA+, table VI: simulated executor)."""
    reply = session.ask("simulate", program=program.text())
    states: dict[str, State] = {"passed": "passed", "failed": "failed"}
    said = enumerate(zip(reply["outcomes"], reply["details"], strict=False), 1)
    cases = tuple(
        Case(number, states.get(outcome, "error"), detail=detail[:_MAX_CHARS]) for number, (outcome, detail) in said
    )
    return CaseReport(cases, _first_error(cases))


def _first_error(cases: Sequence[Case]) -> str:
    return next((f"case {case.number}: {case.detail}" for case in cases if case.state == "error"), "")
