"""Which sandbox is given for what was asked, and what the attacks of the probe can see."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.sandbox.attacks import ATTACKS, Bait
from assay.sandbox.cage import Plan
from assay.sandbox.limits import Job
from assay.sandbox.opening import GUARANTEES, open_sandbox, strongest
from assay.sandbox.pool import Sandbox
from assay.sandbox.probe import KINDS, PLAIN, Finding, attack_program, probe


def test_every_kind_has_its_guarantees():
    assert {*KINDS, "weak"} == GUARANTEES.keys()


def test_the_strongest_that_holds_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    holding = [kind for kind in KINDS if probe(kind).holds]
    if not holding:
        pytest.skip("no sandbox holds here")
    with open_sandbox() as sandbox:
        assert sandbox.name == holding[0]
        assert sandbox.guarantees == GUARANTEES[holding[0]]
    assert list((tmp_path / "assay" / "sandbox").glob("*.json"))


def test_a_kind_that_fails_one_attack_is_not_offered():
    findings = [Finding("namespaces", ("reads files",)), Finding("hybrid", reason="refused"), Finding("landlock")]
    assert strongest(findings) == "landlock"
    assert strongest(findings[:2]) == ""
    assert str(findings[0]) == "namespaces: does not hold: reads files"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "landlok"}, "did you mean 'landlock'?"),
        ({"kind": "weak"}, "--allow-unsafe"),
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


@pytest.mark.parametrize("one", [one for one in ATTACKS if one.name in HARMLESS], ids=lambda one: one.name)
def test_an_attack_gets_through_where_nothing_holds(one):
    """The attacks would be worthless if they failed of themselves; those that could do harm are not tried."""
    with Bait() as bait, Sandbox(Plan("weak", harness=(PLAIN, PLAIN)), 1) as sandbox:
        (ended,) = sandbox.run([Job(one.name, attack_program(one, bait), limits=one.limits)])
        assert not one.held(ended, bait)
