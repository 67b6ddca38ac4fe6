"""The judge that is kept from job to job: when it is, when it is not, and that no job pays for another."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cages import ISOLATED, cages, need

from assay.cage.job import Job, Limits

WHO = "os.write(verdict, str(os.getpid()).encode())"
WAITS = "import sys\nsys.stdin.read()"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
"""


@pytest.fixture(scope="module", params=ISOLATED, ids=lambda kind: kind.name)
def cage(request):
    with cages(need(request.param)) as sandbox:
        yield sandbox


def judged(cage, *codes, source="pass", stays=True, limits=None):
    """Return how jobs ended that were given to one cage, each with a judge of this code."""
    program = json.dumps({"source": source}).encode()
    jobs = [
        Job(str(n), program, json.dumps({"code": code, "stays": stays}).encode(), limits=limits)
        for n, code in enumerate(codes)
    ]
    return list(cage.run(jobs))


def judges(ends):
    return [int(ended.verdict) for ended in ends]


def test_jobs_with_equal_tests_share_a_judge_and_no_others_do(cage):
    assert len(set(judges(judged(cage, WHO, WHO, WHO)))) == 1
    assert len(set(judges(judged(cage, WHO, f"{WHO}\n", WHO)))) == 3, "another task came between"


def test_a_judge_that_was_changed_or_grew_or_died_judges_once(cage):
    assert len(set(judges(judged(cage, WHO, WHO, WHO, stays=False)))) == 3
    for code in (f"held = b'x' * (300 << 20)\n{WHO}", f"{WHO}\nos._exit(3)"):
        assert len(set(judges(judged(cage, code, code)))) == 2, code


@pytest.mark.parametrize("source", [DAEMON, f"{DAEMON}\n{WAITS}"])
def test_what_a_program_leaves_running_ends_with_its_job(cage, source):
    counts = "import time\ntime.sleep(.2)\nos.write(verdict, str(os.getpid()).encode())"
    assert len(set(judges(judged(cage, counts, counts, source=source)))) == 2, "it was ended with all else"


def test_a_job_has_the_processor_time_of_its_own_tests(cage):
    works = "import time\nuntil = time.process_time() + .3\nwhile time.process_time() < until: pass\n" + WHO
    ends = judged(cage, *[works] * 4, limits=Limits(cpu_s=0.8))
    assert len(set(judges(ends))) == 1
    assert [ended.ended for ended in ends] == ["exit"] * 4, "none is charged with those before it"
    endless, after = judged(cage, "while True: pass", WHO, limits=Limits(cpu_s=0.5))
    assert (endless.ended, endless.verdict, endless.cpu_s >= 0.5) == ("cpu", b"", True)
    assert judges([after])
