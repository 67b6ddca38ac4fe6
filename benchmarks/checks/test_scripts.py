"""Every script and every matrix of this folder runs on toys: a figure whose command does not run is no figure.

    python -m pytest benchmarks/checks/test_scripts.py -k 'queries or scale'

A row has the commands of a script, one after the other in a folder of toys (`toys.py`), and what the last one has to
print. What cannot run here says why, and docs/results.md says so beside its figure.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from toys import write_toys

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Smoke:
    """How a script is tried: its commands, each after the name of a script of this folder or `assay`."""

    name: str
    commands: str
    says: str
    """An expression that what the last command prints has to hold."""
    status: int = 0
    needs: tuple[str, ...] = ()
    """Programs, and modules after `py:`, without which it is skipped."""


SMOKE = (
    Smoke("agent_tasks", "agent_tasks.py co --tasks agent_tasks.json", r"known: calls: median"),
    Smoke("agent_tasks policy", "agent_tasks.py co --tasks agent_tasks.json --policy", r"mcp all: all seen"),
    Smoke("attacks", "attacks.py --group benign --markdown attacks.md", r"namespaces|container|root"),
    Smoke("bucket", "bucket.py co/click --part 0.05", r"no answer", needs=("py:obstore",)),
    Smoke("cluster", "cluster.py tasks.jsonl samples.jsonl co/click co/hono --programs 6 --pairs 4", r"equal", needs=("py:ray",)),
    Smoke("documentation", "documentation.py gallery --out gallery.md", r"gallery.md"),
    Smoke("exhaustive", "exhaustive.py --codes 200 --queries 20 --random 8", r"."),
    Smoke("exhaustive measures", "exhaustive.py measures --rows 500 --results 10", r"."),
    Smoke("exhaustive candidates", "exhaustive.py candidates --codes 100 --queries 10 --encoder hash static:default --parts 1", r"."),
    Smoke("hostile_files", "hostile_files.py --slowest 1 else_ifs.c", r"over a bound: none"),
    Smoke("hostile_files many", "hostile_files.py many --files 200", r'"chunks": 200'),
    Smoke("hostile_repositories", "hostile_repositories.py --assay ASSAY --only hooks --commands search", r"0 broken", needs=("strace",)),
    Smoke("issues", "issues.py issues.jsonl --repositories .", r"assay .* Hit@5"),
    Smoke("issues log", "issues.py log co/click CHANGES.md", r"Hit@1"),
    Smoke("judging", """
        assay exec tasks.jsonl samples.jsonl --out ran/outcomes.jsonl
        judging.py pairs tasks.jsonl samples.jsonl ran/outcomes.jsonl ran --each 3
        assay judge run ran/pairs.jsonl --judge signals --out ran/read.jsonl
        judging.py agree ran/labels.jsonl ran/read.jsonl
        """, r"ROC-AUC"),
    Smoke("kills", "kills.py --kills 3", r"kills"),
    Smoke("languages", "languages.py development --truths sets --checkouts co", r"Japanese"),
    Smoke("page", "page.py co/click --rounds 1 --chromium CHROMIUM", r"painted p50", needs=("py:playwright", "chromium")),
    Smoke("paths", "paths.py search 'where is mail sent' co/click", r"exit 0: \d+ files"),
    Smoke("paths lines", "paths.py lines co/click", r"mail"),
    Smoke("paths warm", "paths.py warm 'where is mail sent' co/click", r"\d"),
    Smoke("queries names", "queries.py names co/click co/hono --names 4", r"1\.000"),
    Smoke("queries messages", "queries.py messages co/click co/hono", r"plain"),
    Smoke("queries foreign", "queries.py foreign few/click.csv few/hono.csv --foreign foreign.csv --checkouts co", r"all "),
    Smoke("queries described", "queries.py described co/click few/click.csv described.tsv", r"all, 3 queries"),
    Smoke("references", "references.py java --language java --calls java/calls.jsonl --sites 4", r"callers"),
    Smoke("roots", "roots.py few/click.csv few/hono.csv --checkouts co --roots roots.txt", r"together .* Hit@5"),
    Smoke("roots serve", "roots.py serve roots.txt served --questions 16", r'"over all, ms"'),
    Smoke("sandbox_speed", "sandbox_speed.py --programs 4 --rounds 1", r"real harness"),
    Smoke("scale", "scale.py scaled --sizes 100", r'"chunks"'),
    Smoke("scale lists", "assay index co/click --index lists\nscale.py lists lists few/click.csv", r"same first hit"),
    Smoke("scale first", "scale.py first co/click", r"bytes: "),
    Smoke("serving", "serving.py serving --chunks 100 --each 64 --requests 400 --malformed 20 --only http flat malformed", r"malformed"),
    Smoke("sources functions", "sources.py functions functions --cosqa cosqa --mbpp mbpp.jsonl", r"packages: "),
    Smoke("sources judge", "sources.py judge cosqa cosqa judged\nsources.py judge mbpp mbpp.jsonl mbpp_programs.jsonl judged", r"mbpp"),
    Smoke("speed", "speed.py co/click --assay ASSAY --rounds 1 --again 1 --changes 1 --files 4", r"assay"),
    Smoke("verdicts/compare", "verdicts/compare.py --assay ASSAY --no-tools --mode alone --only nested/two-levels", r"all\*\* \| 1 \|"),
    Smoke("watching cost", "watching.py cost co/click", r"best_of_7_ms"),
    Smoke("watching kill", "watching.py kill co/click -n 1", r'"rebuilt": 0'),
    Smoke("watching edits", "watching.py edits co/click -n 3", r'"found": 3'),
    Smoke("watching change", "watching.py change co/click HEAD~1 --idle 1", r'"equal_to_fresh": true'),
    Smoke("cosqaplus", "cosqaplus/tables.py needs", r"table6"),
    Smoke("coderanker", "coderanker/tables.py needs", r"table6"),
)  # fmt: skip


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of toys."""
    folder = tmp_path_factory.mktemp("toys")
    write_toys(folder)
    return folder


def ran(toys: Path, line: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in the folder of toys."""
    program = Path(sys.executable).with_name("assay")
    found = {"ASSAY": str(program), "CHROMIUM": shutil.which("chromium") or ""}
    script, *words = (found.get(word, word) for word in shlex.split(line))
    start = [sys.executable, "-m", "assay"] if script == "assay" else [sys.executable, str(HERE / script)]
    places = {"CHECKOUTS": str(toys / "co"), "SETS": str(toys / "sets"), "TRUTH": str(toys / "cosqa.jsonl")}
    environment = {**os.environ, **places, "XDG_CACHE_HOME": str(cache), "HF_HUB_OFFLINE": "1"}
    return subprocess.run([*start, *words], cwd=toys, env=environment, capture_output=True, text=True, check=False)


def missing(needs: str) -> bool:
    """Say whether a program or a module is not there."""
    from importlib.util import find_spec

    return find_spec(needs[3:]) is None if needs.startswith("py:") else shutil.which(needs) is None


@pytest.mark.parametrize("smoke", SMOKE, ids=lambda smoke: smoke.name.replace(" ", "-"))
def test_a_script_runs_on_toys(smoke: Smoke, toys: Path, tmp_path: Path):
    if lacks := [each for each in smoke.needs if missing(each)]:
        pytest.skip(f"{lacks[0]} is not installed")
    *before, last = filter(None, map(str.strip, smoke.commands.splitlines()))
    for line in before:
        done = ran(toys, line, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    done = ran(toys, last, tmp_path)
    assert done.returncode == smoke.status, f"{last}\n{done.stdout}{done.stderr}"
    assert re.search(smoke.says, done.stdout), done.stdout + done.stderr
