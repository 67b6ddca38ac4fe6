"""Systems of others: a command, a Python function, a saved run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from assay.bench import answer_runs
from assay.bench.system import SystemCorpus, checked, folder_of, small_environment
from assay.bench.systems import tool_answers
from assay.bench.systems.tool_answers import OPTIONS, Answers, PrintedResult
from assay.errors import AssayError, InputError
from assay.io.processes import FinishedCommand, ProcessLimits, run_bounded
from assay.measure.line_spans import Span
from assay.protocols import Searcher
from assay.values import Chunk, Hit, Problem, Query

_COMMAND_OPTIONS = {**OPTIONS, "cwd": "scratch", "environment": list[str](), "index": "", "output_bytes": 20_000_000}
_NOTHING = 1
"""The status of grep and its kin when nothing matches."""


class CommandSystem:
    """One process a query, in a folder of its own unless `cwd` is `corpus`."""

    def __init__(self, command: str = "") -> None:
        self._words = tool_answers.words_of(command)
        self._scratch: TemporaryDirectory[str] | None = None
        self._index: Path | None = None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Run the tool's own command for an index, if it has one, and return what runs the other a query."""
        given = checked("cmd", options, _COMMAND_OPTIONS)
        if given["cwd"] not in ("scratch", "corpus"):
            raise InputError(f"option cwd = '{given['cwd']}' is unknown; known: scratch, corpus")
        folder = self._folder(given["location"], given["index"])
        cwd = corpus.root if given["cwd"] == "corpus" else folder
        if given["index"]:
            words = tool_answers.words_of(given["index"], ("corpus", "location"))
            values = tool_answers.values_of(corpus, str(folder))
            command = [tool_answers.filled(word, values) for word in words]
            ran = self._run(command, cwd, given, None)
            if ran.status:
                raise _failed_command(ran, command[0])
            self._index = folder

        def ask(query: Query, k: int) -> str | list[PrintedResult]:
            values = tool_answers.values_of(corpus, str(folder), query.text, k)
            if not values["regex"] and any("{regex}" in word for word in self._words):
                raise InputError("the query holds no word to look for")
            command = [tool_answers.filled(word, values) for word in self._words]
            return _printed_text(self._run(command, cwd, given, given["timeout_s"]), command[0])

        return Answers(ask, corpus, given, cwd)

    def index_bytes(self) -> int | None:
        """Return what the command for an index left in its folder; None where it keeps it elsewhere."""
        if self._index is None:
            return None
        return sum(file.stat().st_size for file in self._index.rglob("*") if file.is_file()) or None

    def _folder(self, location: str, index: str) -> Path:
        if location:
            return folder_of(location, "cmd", *self._words, index)
        self._scratch = self._scratch or TemporaryDirectory(prefix="assay-bench-")
        return Path(self._scratch.name)

    def _run(self, command: list[str], cwd: Path, call: Mapping[str, Any], timeout_s: float | None) -> FinishedCommand:
        limits = ProcessLimits(timeout_s, call["output_bytes"])
        return run_bounded(command, limits, cwd=cwd, env=small_environment(call["environment"]))


def _printed_text(ran: FinishedCommand, name: str) -> str | list[PrintedResult]:
    """Return what a command printed; status 1 without a word is how grep and its kin find nothing."""
    silent = not ran.out.strip()
    if ran.status == _NOTHING and silent and not ran.complaint:
        return []
    if ran.status not in (0, _NOTHING) or (silent and ran.complaint):
        raise _failed_command(ran, name)
    return ran.out


def _failed_command(ran: FinishedCommand, name: str) -> AssayError:
    return AssayError(f"{name} ended with {_status(ran.status)}: {ran.complaint or 'it said nothing'}")


def _status(status: int) -> str:
    try:
        return str(status) if status >= 0 else Signals(-status).name
    except ValueError:
        return str(status)


_PYTHON_OPTIONS = {"arguments": {}, **{key: OPTIONS[key] for key in ("first_line", "merge", "order")}}


class PythonSystem:
    """What a function makes of a folder."""

    def __init__(self, target: str = "") -> None:
        module, _, function = target.rpartition(":")
        if not module or not function:
            raise InputError(f"'py:{target}' names no function; write py:MODULE:FUNCTION or py:FILE.py:FUNCTION")
        self._module, self._function = module, function

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Import the module and call its function with the folder."""
        given = {**OPTIONS, **checked("py", options, _PYTHON_OPTIONS)}
        make = getattr(_imported(self._module), self._function, None)
        if not callable(make):
            raise InputError(f"{self._module} has no function '{self._function}'")
        answer: Callable[[str, int], Iterable[Any]] = make(corpus.root, **given["arguments"])

        def ask(query: Query, k: int) -> list[PrintedResult]:
            return [_printed_tuple(each) for each in answer(query.text, k)]

        return Answers(ask, corpus, given, corpus.root)


def _imported(name: str) -> ModuleType:
    if not name.endswith(".py"):
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            raise InputError(f"no Python module '{error.name}': install it, or give the path of a .py file") from error
    file = Path(name).expanduser().resolve()
    spec = spec_from_file_location(file.stem, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise InputError(f"there is no Python file '{name}'")
    module = module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _printed_tuple(result: Any) -> PrintedResult:
    try:
        path, start, end, *score = result
        return PrintedResult(str(path), int(start), int(end), float(score[0]) if score else None)
    except (TypeError, ValueError) as error:
        raise AssayError(f"a result is {result!r}; wanted (path, start, end) or (path, start, end, score)") from error


_DEPTH = 100
"""Answers of a query that are held at first: a run may be larger than memory."""
_Read = Callable[[int], tuple[answer_runs.Ranked, list[Problem]]]
_MAX_LISTED = 20
"""Rows that are no use are told one by one up to here."""


class SavedSystem:
    """A run by its file; queries are found by their id."""

    def __init__(self, file: str = "") -> None:
        self._file = Path(file).expanduser()
        if not file or not self._file.is_file():
            raise InputError(f"there is no run '{file}'; wanted run:FILE, a TREC run or answers of assay bench")
        self.problems: tuple[str, ...] = ()
        """The rows that are no use."""

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Read the file."""
        ties = checked("run", options, {"ties": "id"})["ties"]
        if ties not in {"id", "rank"}:
            raise InputError(f"option 'ties' of the run {self._file} is '{ties}'; wanted 'id', as trec_eval, or 'rank'")
        paths = {document.id: document.path for document in corpus.documents}
        read = partial(answer_runs.read_any, self._file, of_documents=bool(paths), by_rank=ties == "rank")
        held, problems = read(_DEPTH)
        self.problems = tuple(map(str, problems[:_MAX_LISTED]))
        if len(problems) > _MAX_LISTED:
            self.problems += (f"{len(problems) - _MAX_LISTED:,} more rows cannot be used",)
        if not held:
            raise InputError(f"the run {self._file} holds no answer")
        return _Saved(held, paths, self._file, read)


class _Saved:
    def __init__(self, held: answer_runs.Ranked, paths: Mapping[str, str], file: Path, read: _Read) -> None:
        self._held, self._paths, self._file, self._read = held, paths, file, read
        self._depth = _DEPTH

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what was answered then; a query that the run does not have is an error and no empty answer."""
        if k > self._depth:
            self._depth = k
            self._held, _ = self._read(k)
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        if query.id not in self._held:
            raise AssayError(f"the run {self._file.name} has no query '{query.id}'")
        return [self._hit(span, score) for span, score in self._held[query.id][:k]]

    def _hit(self, span: Span, score: float) -> Hit:
        path = self._paths.get(span.path, span.path)
        return Hit(Chunk(str(span), "", path=path, start_line=span.start, end_line=span.end), score)
