"""Every attack in the sandbox that this machine takes by default: all are contained, and honest programs work.

The attacks run in processes of their own, half of the groups each, for they attack whoever supervises them. Which other
sandboxes hold what is measured by `benchmarks/attacks.py` and written in `docs/attacks.md`.
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
from attacks.model import ABSENT, BROKEN, CONTAINED, LOOSE, Row  # noqa: E402
from attacks.special import SPECIAL  # noqa: E402
from ordinary import NOBODYS, copies, interpreter  # noqa: E402

HALVES = (
    ("verdict", "network", "reading", "privilege"),
    ("writing", "resources", "hiding", "processes", "state", "poison", "dependencies", "benign"),
)
OF_A_USER = (("network", "reading", "privilege", "writing", "state", "poison", "benign"), ("processes", "hiding"))
"""Who runs the sandbox decides what keeps these in; a verdict is made, and time and memory are counted, in one way."""
FREE = (
    "TCP to loopback",
    "UDP to the host",
    "abstract Unix socket",
    "server for outsiders",
    "home",
    "files anybody may read",
    "folders anybody may write",
    "modes, times, lengths, names",
    "signal to the supervisor",
    "capabilities",
)
"""Some that harm nobody, whoever runs them."""
EVERY = [(attack.group, attack.name) for attack in ATTACKS] + [(group, name) for name, group in SPECIAL.items()]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes that are attacked need Linux")


def options(halves: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    return [[part for group in groups for part in ("--group", group)] for groups in halves]


def attacked(python: str, path: str, folder: Path, parts: list[list[str]], **more: object) -> list[Row]:
    """Run attacks in several processes at once."""
    files = [folder / f"{number}.json" for number in range(len(parts))]
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}
    environment.pop("XDG_CACHE_HOME", None)
    running = []
    for file, part in zip(files, parts, strict=True):
        command = [python, "-m", "attacks", "--json", str(file), *part]
        own = folder / f"scratch-{file.stem}"  # what a killed supervisor leaves is told from what others keep beside it
        own.mkdir(mode=0o777)
        own.chmod(0o777)
        there = {**environment, "TMPDIR": str(own)}
        running.append(subprocess.Popen(command, env=there, cwd=folder, stdout=subprocess.DEVNULL, **more))
    for one in running:
        assert one.wait(timeout=240) in (0, 1)
    return [Row(**fields) for file in files for fields in json.loads(file.read_text())]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Row]:
    folder = tmp_path_factory.mktemp("attacked")
    rows = attacked(sys.executable, f"{SOURCES}{os.pathsep}{HERE}", folder, options(HALVES))
    return {(row.group, row.attack): row for row in rows}


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_an_attack_is_contained(rows: dict[tuple[str, str], Row], group: str, name: str):
    row = rows[group, name]
    if row.result == ABSENT:
        pytest.skip(row.note)
    assert row.result == CONTAINED, f"{row.tries}: {row.note}"


def test_an_ordinary_user_is_as_safe_as_root():
    python = interpreter()
    with copies(beside=("attacks",)) as folder:
        rows = attacked(python, str(folder), folder, options(OF_A_USER), user=NOBODYS, group=NOBODYS, extra_groups=[])
    assert {row.group for row in rows} == {group for half in OF_A_USER for group in half}
    assert [row for row in rows if row.result in (LOOSE, BROKEN)] == []


def test_they_get_out_where_nothing_holds_them(tmp_path: Path):
    names = [part for name in FREE for part in ("--name", name)]
    rows = attacked(sys.executable, f"{SOURCES}{os.pathsep}{HERE}", tmp_path, [["--kind", "weak", *names]])
    assert {row.attack for row in rows if row.result == LOOSE} == set(FREE), rows


def test_there_are_enough_of_them_and_each_has_its_own_name():
    assert len(set(EVERY)) == len(EVERY)
    assert len([group for group, _ in EVERY if group != "benign"]) >= 300
    assert len([group for group, _ in EVERY if group == "benign"]) >= 5
    assert {group for group, _ in EVERY} == {name for half in HALVES for name in half} & {one.GROUP for one in GROUPS}
