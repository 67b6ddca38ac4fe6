"""Which sandbox is given for what was asked, and what the attacks of the probe can see."""

from __future__ import annotations

import pytest

from assay.cage.cage import CagePlan, open_pool
from assay.cage.job import ISOLATING, KINDS, WEAK, Job
from assay.cage.open_cage import ATTACKS, PLAIN, Bait, ProbeFinding, attack_program, open_sandbox, probe
from assay.errors import InputError


def test_the_strongest_that_holds_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    holding = next((kind for kind in ISOLATING if probe(kind).holds), None)
    if not holding:
        pytest.skip("no sandbox works here")
    with open_sandbox() as sandbox:
        assert sandbox.name == holding.name
    assert list((tmp_path / "assay" / "sandbox").glob("*.json"))


def test_every_kind_has_guarantees_and_one_that_fails_an_attack_is_not_offered():
    findings = [
        ProbeFinding("namespaces", ("reads files",)),
        ProbeFinding("namespaces+landlock", reason="refused"),
        ProbeFinding("landlock"),
    ]
    assert [finding.holds for finding in findings] == [False, False, True]
    assert str(findings[0]) == "namespaces: does not hold: reads files"
    assert all(kind.guarantees and kind.name == name for name, kind in KINDS.items())
    assert {*ISOLATING, WEAK} == {*KINDS.values()}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "landlok"}, "did you mean 'landlock'?"),
        (
            {"kind": "weak"},
            "does not isolate programs: they can do whatever you can; run it all the same with --allow-unsafe",
        ),
        ({"workers": 0}, "at least 1"),
        ({"paths": ["/no/such/folder"]}, "no folder /no/such/folder"),
    ],
)
def test_what_cannot_be_given_is_refused_with_one_line(asked, message):
    with pytest.raises(InputError) as refused:
        open_sandbox(**asked)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


HARMLESS = ("reaches the network", "reads files", "writes files", "signals other processes")


def test_an_attack_gets_through_where_nothing_holds():
    """The attacks would be worthless if they failed of themselves; those that could do harm are not tried."""
    held = []
    with open_pool(CagePlan(WEAK, harness=(PLAIN, PLAIN)), 1) as sandbox:
        for one in (one for one in ATTACKS if one.name in HARMLESS):
            with Bait() as bait:
                (ended,) = sandbox.run([Job(one.name, attack_program(one, bait), limits=one.limits)])
                held += [one.name] * one.is_contained(ended, bait)
    assert held == []
