"""Puts the acting model and the makers of wheels where tests import them, and opens a sandbox for a module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.runs.local import SharedRunner

_TESTS = Path(__file__).parent
sys.path += [str(_TESTS), str(_TESTS.parent / "programs")]


@pytest.fixture(scope="module")
def runner() -> Iterator[SharedRunner]:
    """Return what runs programs; a machine on which no sandbox holds cannot."""
    try:
        open_sandbox(workers=1).close()
    except InputError as error:
        pytest.skip(str(error))
    with SharedRunner(lambda paths: open_sandbox(workers=1, paths=paths), 1) as made:
        yield made
