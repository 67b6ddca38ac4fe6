"""Inside the sandbox: a repository with one of its files changed, its tests run, and what came of them printed.

One process has the candidate and its tests, so a hostile candidate could forge what is said here: this is for text of a
repository's own history. Nothing is written below the repository; the changed file exists only in its import.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

_QUIET: Final = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=", "--tb=no")
_ALL: Final = (_QUIET[0], "--continue-on-collection-errors", *_QUIET[2:])
_MOST_SAID: Final = 300


def serve(_: object, spec: dict[str, Any], report_fd: int) -> None:
    """Run the tests of `spec` and print what came of them as JSON; `report_fd` is not needed."""
    del report_fd
    told = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.write(told, json.dumps(_ran(spec)).encode())


def _ran(spec: dict[str, Any]) -> dict[str, Any]:
    sys.dont_write_bytecode = True
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    root = Path(spec["root"]).resolve()  # a sandbox may show it elsewhere
    os.chdir(root)
    sys.path[:0] = [str((root / folder).resolve()) for folder in spec["folders"]]
    try:
        import pytest
    except ImportError:
        return {"missing": "pytest"}
    if spec["file"]:
        _replace_source(root / spec["file"], spec["text"].encode())
    seen = _Seen(str(root))
    if spec["trace"]:
        sys.setprofile(seen.profile)
    arguments = _ALL if spec["trace"] else _QUIET
    status = pytest.main([*arguments, "--rootdir", str(root), *spec["tests"]], plugins=[seen])
    sys.setprofile(None)
    return {"status": int(status), "passed": seen.passed, "error": seen.error, "said": seen.said, "ran": seen.lines()}


def _replace_source(file: Path, text: bytes) -> None:
    """Let the import of one file find another text there."""
    original = SourceFileLoader.get_data

    def get_data(loader: SourceFileLoader, path: str) -> bytes:
        return text if Path(path).resolve() == file.resolve() else original(loader, path)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign,assignment]


class _Seen:
    """A plugin of pytest that notes which tests passed, what the first failure was, and which code each test runs."""

    def __init__(self, root: str) -> None:
        self.passed: list[str] = []
        self.error = self.said = ""
        self._root = root + os.sep
        self._test = ""
        self._codes: dict[str, set[CodeType]] = defaultdict(set)

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and self._test and frame.f_code.co_filename.startswith(self._root):
            self._codes[self._test].add(frame.f_code)

    def lines(self) -> dict[str, list[tuple[str, int]]]:
        """Return the file and first line of the functions that each test runs."""
        return {
            test: sorted((code.co_filename.removeprefix(self._root), code.co_firstlineno) for code in codes)
            for test, codes in self._codes.items()
        }

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)

    def pytest_exception_interact(self, call: Any) -> None:
        if not self.error:
            self.error, self.said = call.excinfo.type.__name__, str(call.excinfo.value)[-_MOST_SAID:]
