"""What the tests of cages share: jobs for the smallest harness, and sandboxes of each kind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from assay.cage.cage import CagePlan, open_pool
from assay.cage.job import GUARDED_NAMESPACES, LANDLOCK, NAMESPACES, Job
from assay.cage.limits import Limits
from assay.cage.open_cage import probe

HARNESS = ("standin_harness:serve", "standin_harness:Judge")
FOLDER = str(Path(__file__).parent)
ISOLATED = (NAMESPACES, GUARDED_NAMESPACES, LANDLOCK)
ADD = "def f(x):\n    return x + 1"


def need(kind):
    """Return a kind of sandbox that holds here; skip where it cannot be had."""
    found = probe(kind)
    assert not (kind is NAMESPACES and found.failed), found
    if not found.holds:
        pytest.skip(str(found))
    return kind


def open_to_others(folder):
    """Let any user enter a folder of a test; pytest makes it and those around it for its own user."""
    top = Path(tempfile.gettempdir())
    for each in (folder, *folder.parents):
        if top in each.parents:
            each.chmod(0o755)


def job(source, calls=None, name="", **other):
    test = json.dumps({"calls": calls}).encode() if calls is not None else None
    return Job(name or source[:20], json.dumps({"source": source}).encode(), test, **other)


def cages(kind, workers=1, **plan):
    return open_pool(CagePlan(kind, harness=HARNESS, harness_path=FOLDER, **plan), workers)


def ends(sandbox, *sources, **limits):
    given = {"limits": Limits(**limits)} if limits else {}
    return list(sandbox.run([job(source, **given) for source in sources]))


def printed(sandbox, source, **limits):
    (ended,) = ends(sandbox, source, **limits)
    assert (ended.ended, ended.status) == ("exit", 0), ended
    return ended.stdout.decode()
