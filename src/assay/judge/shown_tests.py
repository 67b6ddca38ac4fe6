"""The records of a campaign to what a person may see of its tests: the program that ran last, and how each case ended.

Of several opinions of a pair the last one's tests are taken. Only pairs that are asked for are kept in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.judge.checks import parts_of
from assay.judge.past_records import is_records
from assay.runs.record import read_lines

_CASE = ("state", "detail", "got", "expected")


def shown_tests(file: Path, pairs: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the tests of those of some pairs, by their digests, that a file of records has any of."""
    if not is_records(file):
        raise InputError(f"'{file}' holds no records of `assay judge run`: --tests wants the tests that agents wrote")
    programs: dict[str, dict[str, Any]] = {}
    reports: dict[str, Mapping[str, Any]] = {}
    for record in read_lines(file):
        pair = record.get("pair")
        if pair not in pairs:
            continue
        if record["kind"] == "reply" and record.get("part") in {"tests", "fix"}:
            _take_program(programs, reports, str(pair), record["value"])
        elif record["kind"] == "run":
            reports[str(pair)] = record
    return {pair: _as_shown(program, reports.get(pair, {})) for pair, program in programs.items()}


def _take_program(
    programs: dict[str, dict[str, Any]], reports: dict[str, Mapping[str, Any]], pair: str, value: Mapping[str, Any]
) -> None:
    if value.get("action", "repair") != "repair":  # one that installs, or gives up
        return
    setup, helpers, cases = parts_of(value)
    reading = value.get("reading") or programs.get(pair, {}).get("reading", "")
    programs[pair] = {"reading": reading, "setup": setup, "helpers": helpers, "cases": list(cases)}
    reports.pop(pair, None)


def _as_shown(program: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    ran = {case["number"]: case for case in report.get("cases", ())}
    cases = [
        {"script": script, **{name: str(ran.get(number, {}).get(name, "")) for name in _CASE}}
        for number, script in enumerate(program["cases"], 1)
    ]
    return {**program, "cases": cases, "error": str(report.get("error", ""))}
