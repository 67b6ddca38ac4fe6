"""What starts only beyond a size (`lowered/sitecustomize.py`) meets every surface: the answers are the usual ones."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from git_repositories import repository

LOWERED = Path(__file__).parent / "lowered" / "sitecustomize.py"
SPEC = spec_from_file_location("mechanisms_of_sizes", LOWERED)
SPEC.loader.exec_module(table := module_from_spec(SPEC))
APPROXIMATE = {"nearest lists", "common terms"}
EXACT = sorted(table.MECHANISMS.keys() - APPROXIMATE)
COMMANDS = r"""
    index .; write a.py; search 'cancel the order of a user again'; write b.py; search refund_order_7
    search '"refund the token"'; search '/def mail_\w+/'; search 'kind:function lang:python refund' --limit 5
    search 'token' --file 'mod1*.py'; search 'где вернуть деньги'; related refund_order_7; log 'why was it changed'
    outline .; pattern 'return $X' --lang py; grep -nC1 'return .*token'; read refund_order_7; search 'mail user'
    index . --set index.quantisation=int8; search 'cancel the order' --set index.quantisation=int8; search 'mail user'
"""
SURFACES = "search store operations serve contracts bench runs/test_ray.py runs/test_named_work.py cli".split()

OF_SIZES = """
    asks_so_often_and_probes nearest_are_known_and_exact segments_stay_few readers_need_no_checkout
    corruption_in_a_bucket has_masks_of_its_own gates_decide_the_status another_worktree_has
    items_are_taken_no_faster machine_dies_and
""".split()
"""Tests that hold a size itself, or what is not done below it: how many segments, requests, masks, loaded modules."""


def text_of(number: int) -> str:
    """Return a file of twelve functions, no two of which are alike."""
    words = list(permutations("mail send order refund cart user token route write".split(), 3))
    rows = [(at, *words[(12 * number + at) * 37 % len(words)]) for at in range(12)]
    functions = [
        f'def {a}_{b}_{number}_{at}({c}):\n    """{a} the {b} of a {c} again."""\n    return {c}.{a}({b})\n'
        for at, a, b, c in rows
    ]
    return "\n\n".join(functions)


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Return what answers all commands in a new repository, with some mechanisms lowered."""
    for each in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(each, "2026-01-01T00:00:00Z")

    def ask(name: str, lowered: str) -> dict[str, Any]:
        files = {f"mod{number}.py": text_of(number) for number in range(24)}
        files["mod7.py"] = "def refund_order_7(token):\n    return token\n"
        root = repository(tmp_path / name / "shop", files)
        source = os.pathsep.join(map(str, (LOWERED.parent, *filter(None, sys.path))))
        more = {"ASSAY_LOWERED": lowered, "ASSAY_MET": str(tmp_path / name / "met"), "PYTHONPATH": source}
        environment = {**os.environ, **more, "XDG_CACHE_HOME": str(tmp_path / name)}
        command = [sys.executable, __file__, root]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return json.loads(ran.stdout or ran.stderr)

    return ask


def test_above_every_size_the_answers_are_the_usual_ones(ask: Callable, tmp_path: Path):
    usual, exact, near = ask("usual", ""), ask("exact", ",".join(EXACT)), ask("near", "all")
    assert {words: exact[words] for words in usual} == usual
    assert {words: near[words][0] for words in usual} == {words: status for words, (status, _) in usual.items()}
    assert near["search refund_order_7"][1][:2] == usual["search refund_order_7"][1][:2]
    met = set((tmp_path / "near" / "met").read_text().splitlines())
    assert {name for name, (_, _, proof) in table.MECHANISMS.items() if proof} - met == set()


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXACT)
def test_each_alone_changes_no_answer(ask: Callable, name: str):
    assert ask("alone", name) == ask("usual", "")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_the_tests_of_each_surface_hold_above_every_size():
    lowered = {"ASSAY_LOWERED": ",".join(EXACT), "PYTHONPATH": str(LOWERED.parent)}
    tests = [str(Path(__file__).parent / name) for name in SURFACES]
    left_out = f"not ({' or '.join(OF_SIZES)})"
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-k", left_out]
    ran = subprocess.run([*command, *tests], env={**os.environ, **lowered}, check=False)
    assert ran.returncode == 0


def answers(root: str) -> dict[str, object]:
    """Run the commands in a folder; return the status of each, and its lines but for times."""
    from assay.cli.main import run

    os.chdir(root)
    found = {}
    for words in filter(None, map(str.strip, COMMANDS.replace("\n", ";").split(";"))):
        if words.startswith("write "):
            Path(words[6:]).write_text(text_of(len(found) + 30))
            continue
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            status = run(shlex.split(words))
        out.flush()
        lines = out.buffer.getvalue().decode().partition(" in 0.")[0].splitlines()
        found[words] = status, lines
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answers(sys.argv[1])))
