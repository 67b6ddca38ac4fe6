"""Load a program in its own process, and answer the judge's requests.

The module is `__main__` for programs that read standard input, and `solution` for those whose functions are called,
as every other harness has it: a demonstration under `if __name__ == "__main__"` is no part of an answer. Either way it
lies in `sys.modules` under its name, so that pickle and dataclasses find it. The line of an exception is that of the
innermost frame in the program's own source.

Standard input and output are files, so that `open(0)`, `os.read` and `os.fstat` work and no pipe can fill up. Threads
that are no daemons are waited for and `atexit` is honoured, for programs print in both.

Only the tests' own needs lead here (`ScriptPlan.objects`, or an argument that is no plain data), never
what a program returned. A program that means to can lie here: it can walk the stack, and its `__eq__` is asked. What
stands against it: a nonce that is told when the tests have ended, how many asserts were executed, and `survey`;
every outcome says that it was so.

Requests and answers, each a list with its kind first:

    names [NAME…]              → names {NAME: what it is} | failed FAILURE
    call NAME ARGS KEYWORDS    → returned VALUE CHANGED | raised FAILURE CHANGED; with `false` behind it VALUE is whole
    use NUMBER ABILITY ARGS …  → returned VALUE null | raised FAILURE null, of an object (`proxies`)
    run TEXT                   → printed TEXT STATUS FAILURE
    reload                     → reload, where the tests begin again because one needs objects of the program
    guard [LIBRARY…]           → guard, libraries by which the tests compare (`library_guard`)
    shared SCRIPT NONCE        → shared NONCE FINDING, made by the tests in this process (`shared`)
                               → found NONCE FINDING before it, where the tests go on after a finding

CHANGED are the containers among the arguments, by their numbers, after a call that changed any; where VALUE holds one
of them, it names the number. All of this happens where the program can change everything: what is said here can only be
an answer, never a verdict.
"""

from __future__ import annotations

import atexit
import builtins
import fcntl
import io
import json
import linecache
import os
import re
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property, lru_cache
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryFile
from types import FunctionType, ModuleType, TracebackType
from typing import IO, Any, Final, NoReturn

from assay.faults import Fault
from assay.programs.harness import codec
from assay.programs.harness.assert_plan import GOT, MODULE, ScriptPlan, unpacked
from assay.programs.harness.codec import Channel, Gone, NotPlainData, pack, unpack, unpack_numbered
from assay.programs.harness.library_guard import LOADED, LibraryGuard
from assay.programs.harness.proxies import ObjectTable
from assay.programs.harness.recorder import FAILURE, NOTHING, Decided, Failed, Recorder, TestFinding, changed_code
from assay.programs.harness.run_tests import Bring, ProgramModule, run_script
from assay.programs.harness.seal import CodeChanged, Seal

FILE: Final = "solution.py"
_ON_DISK: Final = re.compile("""["'](?:spawn|forkserver)["']|__file__""")
"""What programs say that look for their file: themselves, or processes that do not copy this one."""
MAX_MESSAGE_CHARS: Final = 1000
_LINKS: Final = 3
"""How many causes of an exception are told."""


class LoadedProgram:
    """A loaded program: its failure while loading, if any, and its functions by name."""

    def __init__(self, source: str, name: str, *, on_disk: bool = False) -> None:
        self.failure: dict[str, Any] | None = None
        self._instance: Any = None
        self.module = ModuleType(name)
        self.module.__dict__.update(__file__=FILE, __builtins__=builtins)
        sys.modules[name] = sys.modules["__main__"] = self.module
        self._source = source
        if on_disk or _ON_DISK.search(source):
            self.write()
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True)[:100_000], FILE)
        try:
            exec(compiled(source), self.module.__dict__)  # noqa: S102 - the reason for all the walls around this
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer
            self.failure = failure_of(error)

    def write(self) -> None:
        """Write the program to its scratch folder, where processes with a new interpreter find it."""
        path = Path(FILE).absolute()
        with suppress(OSError, ValueError):
            path.write_text(self._source, encoding="utf-8")
            self.module.__dict__["__file__"] = str(path)
            sys.path.insert(0, str(path.parent))

    def find(self, name: str) -> Any:
        """Return the program's value of a name, also a method of its `class Solution`; raise LookupError without one.

        All calls of methods go to one instance, as in the harnesses of LiveCodeBench and APPS.
        """
        space = self.module.__dict__
        solution: Any = space.get("Solution")
        owns = isinstance(solution, type) and any(name in vars(each) for each in solution.__mro__[:-1])
        if owns and callable(
            getattr(solution, name)
        ):  # also where a prelude has a name like it: `from heapq import merge`
            self._instance = self._instance or solution()
            return getattr(self._instance, name)
        if name in space:
            return space[name]
        maker = space.get("__getattr__")
        if maker is None:
            raise LookupError(name)
        try:
            return maker(name)
        except AttributeError:
            raise LookupError(name) from None


@lru_cache(maxsize=1)
def compiled(source: str) -> Any:
    """Compile a program; raise SyntaxError for every failure of the compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(source, FILE, "exec", dont_inherit=True)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise SyntaxError(f"the compiler gave up: {type(error).__name__}: {error}") from None


def failure_of(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """Describe an exception in plain data; a program's own exception class may lie about itself, never fail here."""
    kind = type(error)
    bases = [base.__name__ for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base]
    said: dict[str, Any] = {"type": kind.__name__[:200], "bases": bases, "message": "", "line": _line_of(error)}
    try:
        said["message"] = str.__str__(str(error))[:MAX_MESSAGE_CHARS]
        said["args"] = codec.pack(list(error.args)) if len(said["message"]) < MAX_MESSAGE_CHARS else None
    except BaseException:  # noqa: BLE001 - see above
        said["args"] = None
    if getattr(builtins, kind.__name__, None) is kind:
        with suppress(BaseException):
            said["whole"] = codec.pack(error)
    for link in ("cause", "context"):
        other = getattr(error, f"__{link}__", None)
        if isinstance(other, BaseException) and depth < _LINKS:
            said[link] = failure_of(other, depth + 1)
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str) and "." not in error.name:
        said["missing"] = error.name
    return said


def _line_of(error: BaseException) -> int:
    line = -1
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    if line < 0 and isinstance(error, SyntaxError) and error.filename in {FILE, None} and isinstance(error.lineno, int):
        line = max(error.lineno, 1)
    return line


_Streams = tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]
_MADE: list[_Streams] = []
_REPLACED: list[object] = []


_LIBRARIES: Final = LibraryGuard()


def make_ready() -> None:
    """Prepare the streams for the program of each later fork, and record the contents of libraries.

    Those that they replace are kept: to end them would cost each program as much as to make others.
    """
    _MADE[:] = [(_reader(0), _writer(1), _writer(2))]
    _LIBRARIES.hold(LOADED)
    _REPLACED[:] = sys.stdin, sys.stdout, sys.stderr


def fresh_streams() -> None:
    """Give the program new streams on the descriptors 0 to 2, which accept any text."""
    made = _MADE.pop() if _MADE else (_reader(0), _writer(1), _writer(2))
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = made  # type: ignore[misc]
    sys.argv = [FILE]


def _reader(file: int) -> io.TextIOWrapper:
    return _as_named(io.TextIOWrapper(io.BufferedReader(_raw(file, "rb")), "utf-8", "replace"), "r")


def _writer(file: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(_raw(file, "wb"))
    return _as_named(io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=file == 2), "w")


def _raw(file: int, mode: str) -> io.FileIO:
    """Return a descriptor as a file with the interpreter's name for it."""
    raw = io.FileIO(file, mode, closefd=False)
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[file]
    return raw


def _as_named(stream: io.TextIOWrapper, mode: str) -> io.TextIOWrapper:
    """Give a stream its mode, as the interpreter does."""
    stream.mode = mode  # type: ignore[misc]
    return stream


def flush() -> None:
    """Flush the output, also of replaced streams, if the program left them usable."""
    for stream in filter(None, (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        with suppress(BaseException):
            stream.flush()


MAX_PRINTED_BYTES: Final = 8 << 20


def run_whole(source: str, text: str) -> list[Any]:
    """Run a whole program; return its output, its exit status and its failure."""
    with suppress(SyntaxError):
        compiled(source)  # here, so that the process of each input has it
    with TemporaryFile() as given, TemporaryFile() as printed, TemporaryFile() as report:
        given.write(text.encode("utf-8", "surrogateescape"))
        given.seek(0)
        pid = os.fork()
        if pid == 0:
            _be(source, given, printed, report)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        shown = os.pread(printed.fileno(), MAX_PRINTED_BYTES + 1, 0).decode("utf-8", "replace")
        return ["printed", shown, code, _failure(os.pread(report.fileno(), 1 << 16, 0), code, len(shown))]


def _be(source: str, stdin: IO[bytes], printed: IO[bytes], report: IO[bytes]) -> NoReturn:
    """Run the program in this process, and exit."""
    os.dup2(stdin.fileno(), 0)
    os.dup2(printed.fileno(), 1)
    os.set_inheritable(report.fileno(), False)
    fresh_streams()
    failures: list[dict[str, Any]] = []

    def in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            failures.append(failure_of(args.exc_value))

    threading.excepthook = in_thread
    code = 1
    try:
        program = LoadedProgram(source, "__main__")
        failure = program.failure or {"type": "SystemExit", "args": []}
        code = int(failure["type"] != "SystemExit" or failure.get("args") not in ([], [None], [0]))
        if code:
            failures.append(failure)
        threading._shutdown()  # type: ignore[attr-defined] # noqa: SLF001 - what the interpreter does at its end
        atexit._run_exitfuncs()  # noqa: SLF001 - the same
    finally:
        flush()
        with suppress(BaseException):
            if failures:
                code = 1
                os.write(report.fileno(), json.dumps(failures[0]).encode())
        os._exit(code)


def _failure(report: bytes, code: int, length: int) -> dict[str, Any] | None:
    if length > MAX_PRINTED_BYTES:
        message = f"printed more than {MAX_PRINTED_BYTES} bytes"
        return {"type": "OutputLimit", "bases": [], "message": message, "line": -1}
    if code == 0:
        return None
    with suppress(ValueError):
        found = json.loads(report)
        if isinstance(found, dict):
            return found
    how = f"ended by signal {-code}" if code < 0 else f"ended with status {code}"
    return {"type": "Exit", "bases": [], "message": how, "line": -1}


_INSIDE: Final = (
    "inspect", "get_type_hints", "__code__", "__annotations__", "__defaults__", "__wrapped__", "doctest", "reload",
    "vars(", "dir(", "__dict__",
)  # fmt: skip
"""What tests say that look at functions, or at the module, as they are written: these are then not watched."""
ON_DISK: Final = ("subprocess", "importlib", "runpy", "multiprocessing", "sys.executable")
"""What tests say that have the program loaded from its file."""


def run_shared(
    script: dict[str, Any],
    bring: Bring,
    program: ModuleType,
    tell: Callable[[dict[str, Any]], None],
    libraries: LibraryGuard,
) -> dict[str, Any]:
    """Run a script beside the module of the program.

    Return how many asserts it executed, those that held, what failed first and whether the program broke. `tell` takes
    the first finding where the tests go on after it, for the program may never come back.
    """
    plan = unpacked(script)
    survey = bool(script.get("survey"))
    found: list[TestFinding] = []
    looks_inside = any(word in script["source"] for word in _INSIDE)

    recorder = _RecorderBeside(plan, found, tell if script["goes_on"] else None, libraries)
    seal = Seal() if script.get("sealed") else None
    if seal:
        seal.hold_program(vars(program))

    watched = bring if looks_inside else _watching(bring, recorder)

    def module_of(bring: Bring) -> ModuleType:
        return program if looks_inside and not seal else ProgramModule(bring, vars(program))

    try:
        run_script(plan, recorder, watched, script["entry"], seal, module_of=module_of)
    except CodeChanged as changed:
        found.insert(0, changed_code(changed))
    except BaseException as error:  # noqa: BLE001 - a verdict about whatever it is
        found.append(recorder.finding(error))
    return {
        "executed": recorder.executed,
        "passed": recorder.passed() if survey else [],
        "finding": _packed(found[0]) if found else None,
        "broke": any(each.breaks for each in found),
        "replaced": [*libraries.replaced],
    }


class _RecorderBeside(Recorder):
    """Recognizes the program's exceptions by their traceback."""

    def __init__(
        self,
        plan: ScriptPlan,
        findings: list[TestFinding],
        tell: Callable[[dict[str, Any]], None] | None,
        libraries: LibraryGuard,
    ) -> None:
        """Append failures to `findings`; `tell` gets the first one if the tests continue."""
        self.libraries = libraries

        def spare(finding: TestFinding) -> bool:
            findings.append(finding)
            if tell and len(findings) == 1 and not finding.breaks:
                tell(_packed(finding))
            return not finding.breaks

        # nobody counts what is asked of a program that lies beside: it may always have been asked
        super().__init__(plan, count().__next__, spare if tell else None, (CodeChanged,))

    def note_operand(self, site: int, role: int, value: Any) -> Any:
        """Record an operand and return it; refuse an object of the program that claims to equal everything."""
        if (role == GOT or type(value).__module__ == MODULE) and _equals_anything(value):
            detail = f"an object of {type(value).__name__} equals whatever it is compared with"
            raise Decided(TestFinding(Fault.OUTPUT_TYPE_ERROR, detail))
        return super().note_operand(site, role, value)

    def finding(self, error: BaseException) -> TestFinding:
        """Say why an assert, or a script, ended with this exception."""
        if not isinstance(error, Failed):
            _claim(error)
        return super().finding(error)


def _equals_anything(value: Any) -> bool:
    kind = type(value)
    parts = islice(value.values() if kind is dict else value, _MAX_PARTS) if kind in {list, tuple, dict} else (value,)
    for part in parts:
        if type(part).__eq__ not in _HONEST:
            with suppress(Exception):
                if (part == object()) is True:
                    return True
    return False


_MAX_PARTS: Final = 100
_HONEST: Final[frozenset[Any]] = frozenset(
    kind.__eq__ for kind in (object, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
)


def _packed(finding: TestFinding) -> dict[str, Any]:
    return {**asdict(finding), "fault": str(finding.fault)}


def _watching(bring: Bring, recorder: _RecorderBeside) -> Bring:
    """Return a function that brings the program's functions in wrappers, always the same for one function."""
    watchers: dict[str, tuple[FunctionType, Any]] = {}

    def watched(name: str) -> Any:
        found = bring(name)
        if not isinstance(found, FunctionType):
            return found
        if name not in watchers or watchers[name][0] is not found:
            watchers[name] = (found, _watched(found, recorder))
        return watchers[name][1]

    return watched


def _watched(function: FunctionType, recorder: _RecorderBeside) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            with recorder.libraries.around():
                value = function(*args, **keywords)
        except Exception as error:
            _claim(error, surely=True)
            raise
        recorder.returned(value)
        return value

    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__dict__"):
        setattr(call, name, getattr(function, name))
    return call


def _claim(error: BaseException, *, surely: bool = False) -> None:
    """Mark an exception as the program's if it passed through its source or its function raised it."""
    failure = failure_of(error)
    if failure["line"] > 0 or surely:
        with suppress(AttributeError):
            setattr(error, FAILURE, failure)


_HIDDEN: Final = 100


def serve(sock: socket.socket | None, spec: dict[str, Any], report_fd: int) -> None:
    """Run the program of `spec`, and answer on the socket; also write a failure to `report_fd`."""
    fresh_streams()
    if sock is None:
        raise ValueError("the job has no judge, which a program needs")
    hidden = socket.socket(fileno=fcntl.fcntl(sock.detach(), fcntl.F_DUPFD_CLOEXEC, _HIDDEN))
    Candidate(spec, Channel(hidden), report_fd).answer()


class Candidate:
    """A program, and the channel for its requests."""

    def __init__(self, spec: dict[str, Any], channel: Channel, report_fd: int) -> None:
        self._source = spec["source"]
        self._channel = channel
        self._report = report_fd
        self._table = ObjectTable()
        self._libraries = _LIBRARIES
        self._is_beside = False

    def answer(self) -> None:
        """Answer until the judge closes the channel."""
        with suppress(Gone):
            while True:
                self.answer_one()

    def answer_one(self) -> None:
        """Answer one request; raise Gone if no more come."""
        kinds: dict[str, Callable[..., list[Any]]] = {
            "names": self._names,
            "call": self._call,
            "use": self._use,
            "run": self._run,
            "shared": self._shared,
            "reload": self._reload,
            "guard": self._guard,
        }
        kind, *rest = self._channel.receive()
        answer = kinds[kind](*rest)
        flush()
        self._send(answer)

    def _send(self, answer: list[Any]) -> None:
        try:
            self._channel.send(answer)
        except (NotPlainData, ValueError, RecursionError) as error:
            self._channel.send(["raised", failure_of(error), None])

    @cached_property
    def _program(self) -> LoadedProgram:
        return LoadedProgram(self._source, "solution")

    def _guard(self, libraries: list[str]) -> list[Any]:
        """Load libraries by which the tests compare before the program can change them."""
        self._libraries.hold({*libraries}, load=True)
        return ["guard"]

    def _reload(self) -> list[Any]:
        """Drop the program and its state: the next request loads it again."""
        self.__dict__.pop("_program", None)
        self._is_beside = False
        self._table = ObjectTable()
        return ["reload"]

    def _names(self, names: list[str]) -> list[Any]:
        if self._program.failure is not None:
            return ["failed", self._reported(self._program.failure)]
        try:
            return ["names", {name: self._described(name) for name in names}]
        except BaseException as error:  # noqa: BLE001 - to make an instance, or an attribute, may do anything
            return ["failed", self._reported(failure_of(error))]

    def _described(self, name: str) -> dict[str, Any]:
        try:
            found = self._program.find(name)
        except LookupError:
            return {"is": "missing"}
        if isinstance(found, ModuleType):
            return {"is": "module", "name": found.__name__}
        if callable(found):
            return {"is": "class" if isinstance(found, type) else "function"}
        try:
            return {"is": "value", "value": pack(found)}
        except NotPlainData:
            return {"is": "object", "value": self._table.pack(found)}

    def _call(self, name: str, packed: Any, keywords: Any, shared: bool = True) -> list[Any]:  # noqa: FBT001, FBT002
        (args, made), named = unpack_numbered(packed, self._table.find), unpack(keywords, self._table.find)
        try:
            value = self._program.find(name)(*args, **named)
            return ["returned", self._table.pack(value, made if shared else ()), self._changed(packed, args, made)]
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is its answer
            return ["raised", self._failed(error), self._changed(packed, args, made)]

    def _use(self, number: int, ability: str, packed: Any, keywords: Any) -> list[Any]:
        args, named = unpack(packed, self._table.find), unpack(keywords, self._table.find)
        try:
            return ["returned", self._table.use(number, ability, args, named), None]
        except BaseException as error:  # noqa: BLE001 - the same
            return ["raised", self._failed(error), None]

    def _changed(self, before: list[Any], args: list[Any], containers: list[Any]) -> Any:
        """Return the containers of the arguments, packed again, if the call changed any; or else None."""
        if codec.is_flat(before) or pack(args, self._table.keep) == before:
            return None
        return pack(containers, self._table.keep)

    def _failed(self, error: BaseException) -> dict[str, Any]:
        """Describe an exception; one of the program's own class stays here for later requests."""
        failure = failure_of(error)
        if "whole" not in failure:
            with suppress(NotPlainData):
                failure["object"] = self._table.keep(error)
        return self._reported(failure)

    def _run(self, text: str) -> list[Any]:
        answer = run_whole(self._source, text)
        if answer[-1] is not None:
            self._reported(answer[-1])
        return answer

    def _shared(self, script: dict[str, Any], nonce: str) -> list[Any]:
        program = self._program
        if any(word in script["source"] for word in ON_DISK):
            program.write()
        if program.failure is not None:
            return ["shared", nonce, {"failure": self._reported(program.failure)}]
        if not self._is_beside:  # what is replaced later, the tests replace, or a call does
            self._libraries.restore({})
            self._is_beside = True

        def bring(name: str) -> Any:
            try:
                return program.find(name)
            except LookupError:
                return NOTHING

        def tell(finding: dict[str, Any]) -> None:
            self._channel.send(["found", nonce, finding])

        return ["shared", nonce, run_shared(script, bring, program.module, tell, self._libraries)]

    def _reported(self, failure: dict[str, Any]) -> dict[str, Any]:
        try:
            os.write(self._report, json.dumps(failure).encode() + b"\n")
        except (OSError, ValueError):
            self._report = -1
        return failure
