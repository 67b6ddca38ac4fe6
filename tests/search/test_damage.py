"""Bytes that changed in an index never change an answer: what is read is verified, and what is damaged is named."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote

import numpy as np
import pytest

from assay.errors import DamagedIndex
from assay.operations.joint_answer import joint_answer
from assay.operations.joint_search import joint_searches
from assay.operations.workspace import open_workspace
from assay.search.related import related_code
from assay.settings import load
from assay.store import arrays
from assay.store.arrays import BLOCK, checksums
from assay.values import Query

QUESTIONS = [Query("", text) for text in ("read a block", "where is a segment written", "vrctors", "DamagedIndex")]
ROOT = Path(arrays.__file__).parent


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Return what opens the index of a real folder as a process does, where it lies, and what it answers when whole."""
    location = tmp_path_factory.mktemp("damage") / "index"
    settings = load(None, [f"index.location={location}", "encoder.spec=hash:64"])

    def fresh():
        return open_workspace(ROOT, settings, refresh=False)

    open_workspace(ROOT, settings)
    return fresh, location, answers(fresh())


def answers(workspace):
    found = joint_answer(joint_searches([workspace]), QUESTIONS, 10, rooted=False)
    with workspace.guard.reading():
        return found, related_code(workspace.snapshot, "arrays.py", 44, 10)


def test_a_changed_bit_changes_no_answer_silently_and_is_named_with_the_command_that_rebuilds(opened):
    fresh, location, whole = opened
    (segment,) = location.glob("*.segment")
    before = segment.read_bytes()
    named = []
    for at in range(BLOCK // 2, len(before), BLOCK):
        segment.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
        try:
            assert answers(fresh()) == whole
        except DamagedIndex as error:
            named.append(str(error))
    segment.write_bytes(before)
    assert len(named) > len(before) / BLOCK / 2
    assert all("is corrupt in block" in line or "in its checksums" in line for line in named)
    command = f"; assay index {quote(str(ROOT))} --index {quote(str(location))} rebuilds it"
    assert sum(command in line for line in named) > len(named) - 4


def test_a_damaged_index_is_rebuilt_by_the_refresh_after_the_search_that_noticed(opened):
    fresh, location, whole = opened
    (segment,) = location.glob("*.segment")
    workspace = fresh()
    assert answers(workspace) == whole
    assert not workspace.index.torn()
    data = bytearray(segment.read_bytes())
    torn = slice(len(data) // 2, -8192, 4096)  # of the arrays, not of the checksums at the end
    data[torn] = os.urandom(len(data[torn]))
    segment.write_bytes(data)
    assert workspace.index.torn(), "what was verified and then changed is noticed"
    workspace = fresh()
    with pytest.raises(DamagedIndex):
        answers(workspace)
    again, report = workspace.refresh()
    assert segment.name in report.rebuilt_because
    assert answers(again) == whole


def test_any_two_changed_words_of_a_block_show():
    chance = np.random.default_rng(3)
    data = chance.integers(0, 256, BLOCK, dtype=np.uint8)
    plain = checksums(data)
    for _ in range(200):
        one, other = chance.choice(BLOCK // 8, 2, replace=False)
        changed = data.view(np.uint64).copy()
        step = np.uint64(1) << np.uint64(chance.integers(0, 64))
        changed[one : one + 1] += step
        assert not (checksums(changed.view(np.uint8)) == plain).all()
        changed[other : other + 1] -= step  # a plain sum would not see it
        assert not (checksums(changed.view(np.uint8)) == plain).all()


def test_a_block_is_summed_alike_wherever_it_stands():
    for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 40 * BLOCK + 9):
        data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
        found = checksums(data)
        assert len(found) == -(-size // BLOCK)
        for block in range(len(found)):
            assert (checksums(data[block * BLOCK : (block + 1) * BLOCK]) == found[block]).all()
