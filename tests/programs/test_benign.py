"""Right programs of honest people come out right, in one cage, and mostly with their tests apart from them."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from benign import ALL, Right

from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.execute import execute
from assay.values import Outcome

AT_LEAST_APART = 0.6
"""The part of them that needs no shared interpreter."""


def folder_of(module: str) -> Path | None:
    found = importlib.util.find_spec(module)
    return Path(found.origin or "").parent.parent if found else None


def outcomes(cases: list[Right]) -> list[Outcome]:
    folders = {folder for module in ("numpy", "pandas") if (folder := folder_of(module))}
    try:
        sandbox = open_sandbox("namespaces", workers=2, modules=("numpy",) if folders else (), paths=sorted(folders))
    except InputError as error:
        pytest.skip(str(error))
    with sandbox:
        return list(execute([one.task for one in cases], [one.program for one in cases], sandbox))


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])  # all of them take half a minute
def test_right_programs_are_right(step):
    cases = [one for one in ALL if one.can_run][::step]
    assert len(cases) >= 250 // step
    seen = outcomes(cases)
    assert [(one.task_id, str(one.fault), one.detail) for one in seen if one.fault is not Fault.CORRECT] == []
    if step == 1:
        assert Counter(one.shared for one in seen)[False] > AT_LEAST_APART * len(cases)


def test_no_name_is_used_twice():
    assert [name for name, count in Counter(one.task.id for one in ALL).items() if count > 1] == []
