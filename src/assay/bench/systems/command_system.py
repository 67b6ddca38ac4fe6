"""Any tool by its command line: `cmd:rg -n -i -w -e {regex} {corpus}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import Any

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems import template
from assay.bench.systems.index_folders import folder_of
from assay.bench.systems.system_environment import small_environment
from assay.bench.systems.system_options import checked
from assay.bench.systems.tool_answers import OPTIONS, Answers
from assay.bench.systems.tool_outputs import PrintedResult
from assay.errors import AssayError, InputError
from assay.io.processes import FinishedCommand, ProcessLimits, run_bounded
from assay.protocols import Searcher
from assay.types import Query

_OPTIONS = {**OPTIONS, "cwd": "scratch", "environment": list[str](), "index": "", "output_bytes": 20_000_000}
_NOTHING = 1
"""The status of grep and its kin when nothing matches."""


class CommandSystem:
    """One process a query, in a folder of its own unless `cwd` is `corpus`."""

    def __init__(self, command: str = "") -> None:
        self._words = template.words_of(command)
        self._scratch: TemporaryDirectory[str] | None = None
        self._index: Path | None = None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Run the tool's own command for an index, if it has one, and return what runs the other a query."""
        given = checked("cmd", options, _OPTIONS)
        if given["cwd"] not in ("scratch", "corpus"):
            raise InputError(f"option cwd = '{given['cwd']}' is unknown; known: scratch, corpus")
        folder = self._folder(given["location"], given["index"])
        cwd = corpus.root if given["cwd"] == "corpus" else folder
        if given["index"]:
            words = template.words_of(given["index"], ("corpus", "location"))
            values = template.values_of(corpus, str(folder))
            command = [template.filled(word, values) for word in words]
            ran = self._run(command, cwd, given, None)
            if ran.status:
                raise _failed(ran, command[0])
            self._index = folder

        def ask(query: Query, k: int) -> str | list[PrintedResult]:
            values = template.values_of(corpus, str(folder), query.text, k)
            if not values["regex"] and any("{regex}" in word for word in self._words):
                raise InputError("the query holds no word to look for")
            command = [template.filled(word, values) for word in self._words]
            return _printed(self._run(command, cwd, given, given["timeout_s"]), command[0])

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

    def _run(self, command: list[str], cwd: Path, given: Mapping[str, Any], timeout_s: float | None) -> FinishedCommand:
        limits = ProcessLimits(timeout_s, given["output_bytes"])
        return run_bounded(command, limits, cwd=cwd, env=small_environment(given["environment"]))


def _printed(ran: FinishedCommand, name: str) -> str | list[PrintedResult]:
    """Return what a command printed; status 1 without a word is how grep and its kin find nothing."""
    silent = not ran.out.strip()
    if ran.status == _NOTHING and silent and not ran.complaint:
        return []
    if ran.status not in (0, _NOTHING) or (silent and ran.complaint):
        raise _failed(ran, name)
    return ran.out


def _failed(ran: FinishedCommand, name: str) -> AssayError:
    return AssayError(f"{name} ended with {_status(ran.status)}: {ran.complaint or 'it said nothing'}")


def _status(status: int) -> str:
    try:
        return str(status) if status >= 0 else Signals(-status).name
    except ValueError:
        return str(status)
