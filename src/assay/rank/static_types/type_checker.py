"""Python files in, what a type checker finds in each out: pyrefly, a bounded process, no program runs.

A file is a stranger's text. One that ends the checker costs its own answer only: a group that fails is halved until the
file stands alone, and then nothing is known about it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from assay.errors import AssayError, InputError, MissingExtra
from assay.extras import install_command
from assay.io.processes import FinishedCommand, ProcessLimits, run_bounded

_CHECKER: Final = "pyrefly"
_SETTINGS: Final = 'python-version = "3.11.0"\nskip-interpreter-query = true\nignore-missing-imports = ["*"]\n'
_OUTPUT_BYTES: Final = 64_000_000
_START_S, _FILE_S = 20.0, 0.5
_EMPTY: Final = -1
"""The place of a file with nothing in it."""


@dataclass(frozen=True, slots=True)
class TypeFindings:
    """What is found in one file."""

    errors: tuple[tuple[str, int, str], ...] = ()
    """Rule, line and message of each error, in the order of lines."""
    revealed: str = ""
    """The type that `reveal_type` shows; empty where there is none."""


def check_types(sources: Sequence[str]) -> list[TypeFindings | None]:
    """Return what is found in each source; None where the checker has no answer."""
    command = checker()
    with TemporaryDirectory(prefix="assay-types-") as folder:
        (Path(folder) / "pyrefly.toml").write_text(_SETTINGS)
        for place, source in enumerate(sources):
            (Path(folder) / f"p{place}.py").write_text(source, encoding="utf-8", errors="replace")
        found = _checked(command, Path(folder), range(len(sources)))
        if sources and not found:
            _prove(command, Path(folder))
    return [found.get(place) for place in range(len(sources))]


def checker() -> str:
    """Return the path of the type checker, as its package installed it."""
    try:
        files = distribution(_CHECKER).files or ()
    except PackageNotFoundError:
        files = ()
    for file in files:
        if file.stem == _CHECKER and file.parent.name in {"bin", "Scripts"}:
            return str(Path(str(file.locate())).resolve())
    raise MissingExtra("ranker 'types'", _CHECKER, "types")


def _checked(command: str, folder: Path, places: Sequence[int]) -> dict[int, TypeFindings]:
    """Return the findings by place; those of a group that cannot be checked are missing."""
    if not places:
        return {}
    with suppress(AssayError, ValueError, KeyError, TypeError):
        return _findings(json.loads(_run(command, folder, places).out)["errors"], places)
    if len(places) == 1:
        return {}
    if places == range(len(places)):
        _prove(command, folder)
    middle = len(places) // 2
    return _checked(command, folder, places[:middle]) | _checked(command, folder, places[middle:])


def _run(command: str, folder: Path, places: Sequence[int]) -> FinishedCommand:
    limits = ProcessLimits(_START_S + _FILE_S * len(places), _OUTPUT_BYTES)
    arguments = [command, "check", "--output-format", "json", "--min-severity", "info", "--threads", "1"]
    files = [f"p{place}.py" for place in places]
    return run_bounded([*arguments, *files], limits, cwd=folder, env={"PATH": os.defpath})


def _prove(command: str, folder: Path) -> None:
    """Refuse a checker that cannot check an empty file: then no answer says anything about a program."""
    (folder / f"p{_EMPTY}.py").write_text("")
    ended = _run(command, folder, [_EMPTY])
    try:
        json.loads(ended.out)["errors"]
    except (ValueError, KeyError, TypeError) as error:
        said = ended.complaint or f"status {ended.status}"
        again = f"install it again: {install_command('types')} --force-reinstall"
        raise InputError(f"the type checker '{command}' does not work ({said}); {again}") from error


def _findings(entries: Sequence[Mapping[str, Any]], places: Sequence[int]) -> dict[int, TypeFindings]:
    errors: dict[int, list[tuple[str, int, str]]] = {place: [] for place in places}
    revealed: dict[int, str] = {}
    for entry in sorted(entries, key=lambda each: int(each["line"])):  # ours is the last one that reveals a type
        place = int(Path(entry["path"]).stem.removeprefix("p"))
        if entry["name"] == "reveal-type":
            revealed[place] = entry["concise_description"].partition(": ")[2]
        elif entry["severity"] == "error":
            errors[place].append((entry["name"], int(entry["line"]), entry["concise_description"]))
    return {place: TypeFindings(tuple(each), revealed.get(place, "")) for place, each in errors.items()}
