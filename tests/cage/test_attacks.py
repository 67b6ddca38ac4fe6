"""The telling attacks in the sandbox that this machine takes by default: all are contained, and honest programs work.

They run in processes of their own, for they attack whoever supervises them, and as an ordinary user where this is root.
Every attack in every sandbox is for `benchmarks/attacks.py`, which writes `docs/attacks.md`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
sys.path.insert(0, str(HERE))

from attacks.catalogue import ATTACKS, GROUPS  # noqa: E402  found through the line above
from attacks.model import ABSENT, CONTAINED, LOOSE, Row  # noqa: E402
from ordinary import NOBODYS, copies, reachable_interpreter  # noqa: E402

FREE = {
    "TCP to loopback", "UDP to the host", "abstract Unix socket", "server for outsiders", "files anybody may read",
    "folders anybody may write", "modes, times, lengths, names", "signal to the supervisor",
}  # fmt: skip
"""Some that harm nobody, whoever runs them."""

OWN_PYTHON = ("verdict", "benign")
"""What needs the pytest of this interpreter; who runs the sandbox makes no difference to it."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes that are attacked need Linux")


def run_attacks(python: str, path: str, folder: Path, options: list[str], **more: object) -> list[Row]:
    """Run attacks in a process whose temporary files lie in a folder of its own: what it leaves is seen there."""
    scratch = folder / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"HOME": str(folder), "TMPDIR": str(scratch)}
    environment.pop("XDG_CACHE_HOME", None)
    command = [python, "-m", "attacks", "--json", str(folder / "rows.json"), *options]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False, **more
    )
    assert (folder / "rows.json").exists(), done.stderr[-2000:]
    return [Row(**fields) for fields in json.loads((folder / "rows.json").read_text())]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    path, folder = f"{SOURCES}{os.pathsep}{HERE}", tmp_path_factory.mktemp("attacked")
    python = reachable_interpreter() if os.geteuid() == 0 else ""
    if not python:
        return run_attacks(sys.executable, path, folder, [])
    options = {own: [] for own in (True, False)}
    for module in GROUPS:
        options[module.GROUP in OWN_PYTHON] += ["--group", module.GROUP]
    with copies(beside=("attacks",)) as theirs:
        nobody = {"user": NOBODYS, "group": NOBODYS, "extra_groups": []}
        found = run_attacks(python, str(theirs), theirs, options[False], **nobody)
    return found + run_attacks(sys.executable, path, folder, options[True])


@pytest.mark.parametrize("group", [module.GROUP for module in GROUPS])
def test_attacks_are_contained_and_honest_programs_work(rows: list[Row], group: str):
    names = [one.name for one in ATTACKS if one.group == group]
    found = {row.attack: row for row in rows if row.group == group}
    assert sorted(found) == sorted(names)
    assert [row for row in found.values() if row.result not in {CONTAINED, ABSENT}] == []


def test_they_get_out_where_nothing_holds_them(tmp_path: Path):
    options = ["--kind", "weak", *(part for name in sorted(FREE) for part in ("--name", name))]
    rows = run_attacks(sys.executable, f"{SOURCES}{os.pathsep}{HERE}", tmp_path, options)
    assert {row.attack for row in rows if row.result == LOOSE} == FREE, rows
