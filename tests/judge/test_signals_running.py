"""The judge without a model that runs what queries show, in a real sandbox; and its campaigns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from assay.judge import campaign
from assay.judge.campaign import CampaignSettings
from assay.judge.pairs import Pair
from assay.judge.records import verdicts
from assay.judge.signals import SignalsJudge
from assay.judge.trials import Trial, Trials, pose
from assay.judge.written_tests import SandboxFailed
from assay.operations.judge import build_judge
from assay.runs.local import SharedRunner
from assay.runs.record import NoSteps
from assay.values import Chunk, Query

HEAD = '''import math


def helper(x):
    return math.floor(x)


def halves(values):
    """Return half of each value, rounded down.
    >>> halves([4, 5])
    [2, 2]
    >>> halves([])
    []
    """
'''
CALLED = "halve each value, rounded down\nassert halves([4, 5]) == [2, 2]"
PROSE = "halve each value of a list, rounded down, for example `halves([4, 5])` returns [2, 2]"
RIGHT = "def halves(values):\n    return [value // 2 for value in values]\n"
WRONG = "def halves(values):\n    return [value / 2 for value in values]\n"
OTHER_NAME = "def half_of_all(values):\n    return [value // 2 for value in values]\n"
LIMITS = Limits(cpu_s=0.5, wall_s=5)
SETTINGS = CampaignSettings("signals", config="", sandbox="some")


def pair(query: str, code: str, name: str = "c", language: str = "") -> Pair:
    return Pair(Query("q", query), Chunk(name, code, language))


@pytest.fixture(scope="module")
def runner() -> Iterator[SharedRunner]:
    try:
        open_sandbox(workers=1).close()
    except InputError as error:
        pytest.skip(str(error))
    with SharedRunner(lambda paths: open_sandbox("", LIMITS, 1, paths=paths), 1) as opened:
        yield opened


@pytest.fixture(scope="module")
def trials(runner: SharedRunner) -> Trials:
    return Trials(runner.importing, NoSteps())


def test_code_that_holds_on_the_examples_matches_and_any_run_has_a_state(trials: Trials):
    for query in (HEAD, CALLED, PROSE):
        right, wrong = SignalsJudge(trials=trials).judge_all([pair(query, RIGHT), pair(query, WRONG, "d")])
        assert (right.grade, right.path, wrong.grade, wrong.path) == (1, "tests", 0, "tests")
        assert wrong.reason.endswith("examples that the query shows: call 0: halves([4,5]): [2.0, 2.5], wanted [2, 2]")
    found = trials([pair(query, code, str(number)) for number, (query, code, _) in enumerate(RUNS)])
    wrong = [(run, trial.state) for run, trial in zip(RUNS, found, strict=True) if trial.state != run[2]]
    assert wrong == []
    several = [pair(HEAD, RIGHT, "a"), pair(CALLED, WRONG, "b"), pair(PROSE, "x = 1", "c")]
    together = trials(several)
    assert [trials([one])[0] for one in several] == together, "a trial is the same alone and among others"
    assert together[0] == Trial("passed", "", 2, 2)
    assert pose(pair(CALLED, RIGHT, language="rust")) == "the code is rust, not Python"


RUNS = (
    (HEAD, "def halves(values):\n    return [helper(value / 2) for value in values]\n", "passed"),
    (HEAD, "def halves(values):\n    return [nowhere(value) for value in values]\n", "failed"),
    (CALLED, "def halves(values):\n    return [nowhere(value) for value in values]\n", "not run"),
    (CALLED, "def halves(values):\n    return values.halved\n", "failed"),
    (HEAD, "def halves(values):\n    return [\n", "failed"),
    (CALLED, "def halves(values):\n    return [\n", "not run"),
    (HEAD, OTHER_NAME, "passed"),
    (CALLED, "def half_of_all(values, by):\n    return [value // by for value in values]\n", "not run"),
    (HEAD, "def half_of_all(values):\n    return []\n", "failed"),
    (PROSE, "def half_of_all(values):\n    return []\n", "failed"),
    (HEAD, "import nosuchmodule\n" + RIGHT, "not run"),
    (HEAD, "def halves(values):\n    while True:\n        pass\n", "failed"),
    (HEAD, "def halves(values):\n    raise SystemExit\n", "failed"),
    (CALLED, "class Box:\n    def halves(self, values):\n        return [2, 2]\n", "not run"),
    (CALLED, "def halves(self):\n    return [2, 2]\n", "not run"),
    (CALLED, "def one(x):\n    return x\ndef two(x):\n    return x\n", "not run"),
    (CALLED, "x = 1", "not run"),
    ("halve each value", RIGHT, "not run"),
    (HEAD, RIGHT + "\0", "not run"),
    (CALLED + "\0", RIGHT, "passed"),
    (CALLED, "(" * 50_000, "not run"),
    # nothing that a code prints or raises makes it right
    (HEAD, "def halves(values):\n    print('passed')\n    raise SystemExit(0)\n", "failed"),
    (HEAD, "class Same(list):\n    __eq__ = lambda *_: True\ndef halves(values):\n    return Same()\n", "failed"),
    (HEAD, "import os\ndef halves(values):\n    os._exit(0)\n", "failed"),
    (HEAD, "def halves(values):\n    raise ModuleNotFoundError(name='numpy')\n", "failed"),
)


def test_a_broken_sandbox_is_told_and_not_recorded(tmp_path: Path):
    def breaks(*_: object) -> list[object]:
        raise SandboxFailed("no cage")

    out = tmp_path / "records.jsonl"
    tally = campaign.run(
        [pair(HEAD, RIGHT)], lambda steps: build_judge(SETTINGS, (), steps, breaks), out, settings=SETTINGS
    )
    assert tally.undecided == 1
    (record,) = (json.loads(line) for line in out.read_text().splitlines())
    assert (record["problem"], record["reason"]) == ("sandbox", "no cage")
    with pytest.raises(InputError, match="needs a runner of programs"):
        build_judge(SETTINGS, (), NoSteps())


class Counted:
    """Runs in a sandbox, and counts."""

    def __init__(self, runner: SharedRunner) -> None:
        self.runner, self.sizes = runner, list[int]()

    name, guarantees = "counted", ()

    def importing(self, folders):
        assert folders == ()
        return self

    def run(self, jobs):
        jobs = list(jobs)
        self.sizes += [len(jobs)] if jobs else []
        return self.runner.run(jobs)


def test_a_campaign_runs_many_at_once_and_none_twice(runner: SharedRunner, tmp_path: Path):
    out = tmp_path / "records.jsonl"
    codes = [RIGHT, WRONG, OTHER_NAME, "x = 1"]
    pairs = [pair(HEAD, codes[number % 4] + f"# {number}", str(number)) for number in range(80)]

    def go(counted: Counted):
        def judge(steps):
            return build_judge(SETTINGS, (), steps, counted.importing)

        return campaign.run(iter(pairs), judge, out, settings=SETTINGS, workers=2)

    first, second, third = (Counted(runner) for _ in range(3))
    tally = go(first)
    assert (tally.grades[1] >= 40, tally.paths["tests"], tally.paths["signals"]) == (True, 60, 20)
    assert sorted(first.sizes) == [12, 48]
    lines = out.read_text().splitlines(keepends=True)
    assert [json.loads(line)["kind"] for line in lines].count("run") == 60

    out.write_text("".join(line for line in lines if '"kind": "run"' in line or '"kind":"run"' in line))
    assert go(second).judged == 80
    assert second.sizes == []
    assert go(third).before == 80

    assert len(list(verdicts(out))) == 80
