"""A tool that is a Python library, in the worker's own process: `py:MODULE:FUNCTION` or `py:FILE.py:FUNCTION`.

The function gets the corpus' folder, and the option `arguments` as keywords, and returns what answers: a function of
a query's text and of how many results are wanted, to `(path, start, end)` or `(path, start, end, score)` each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.system_options import checked
from assay.bench.systems.tool_answers import OPTIONS, Answers
from assay.bench.systems.tool_outputs import PrintedResult
from assay.errors import AssayError, InputError
from assay.protocols import Searcher
from assay.types import Query

_OPTIONS = {"arguments": {}, **{key: OPTIONS[key] for key in ("first_line", "merge", "order")}}


class PythonSystem:
    """What a function makes of a folder."""

    def __init__(self, target: str = "") -> None:
        module, _, function = target.rpartition(":")
        if not module or not function:
            raise InputError(f"'py:{target}' names no function; write py:MODULE:FUNCTION or py:FILE.py:FUNCTION")
        self._module, self._function = module, function

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Import the module and call its function with the folder."""
        given = {**OPTIONS, **checked("py", options, _OPTIONS)}
        make = getattr(_imported(self._module), self._function, None)
        if not callable(make):
            raise InputError(f"{self._module} has no function '{self._function}'")
        answer: Callable[[str, int], Iterable[Any]] = make(corpus.root, **given["arguments"])

        def ask(query: Query, k: int) -> list[PrintedResult]:
            return [_printed(each) for each in answer(query.text, k)]

        return Answers(ask, corpus, given, corpus.root)

    def index_bytes(self) -> int | None:
        """Return nothing: the function does not tell."""
        return None


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


def _printed(result: Any) -> PrintedResult:
    try:
        path, start, end, *score = result
        return PrintedResult(str(path), int(start), int(end), float(score[0]) if score else None)
    except (TypeError, ValueError) as error:
        raise AssayError(f"a result is {result!r}; wanted (path, start, end) or (path, start, end, score)") from error
