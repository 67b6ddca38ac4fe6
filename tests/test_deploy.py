"""What `deploy` brings, as far as it can be tried here: the unit, the image and its neighbors."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import assay

DEPLOY = Path(__file__).parents[1] / "deploy"
MOST_EXPOSED = 2.0
"""Of 10, as `systemd-analyze security` counts."""


def parsed(arguments: list[str]) -> Any:
    """Parse the arguments of `assay serve` without running it."""
    assert arguments[0] == "serve"
    command = assay.get_command(None, "serve")
    folders = [str(DEPLOY) if each.startswith(("/code", "/srv")) else each for each in arguments[1:]]
    return command.make_context("serve", folders, **assay.context_settings).params


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_unit_is_whole_and_shut_in(tmp_path: Path):
    unit = tmp_path / "assay.service"
    unit.write_text((DEPLOY / "assay.service").read_text().replace("/opt/assay/bin/assay", "/bin/sh"))
    checked = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    if "Failed to" in checked.stderr:
        pytest.skip("systemd-analyze cannot look at units here")
    assert [line for line in checked.stderr.splitlines() if "assay.service" in line] == []
    command = ["systemd-analyze", "security", "--offline=true", str(unit)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(re.search(r"Overall exposure level for assay.service: ([\d.]+)", told.stdout)[1]) <= MOST_EXPOSED


def test_what_the_unit_and_the_image_start_is_there_and_no_more_than_it_may_be():
    line = next(line for line in (DEPLOY / "assay.service").read_text().splitlines() if line.startswith("ExecStart="))
    given = parsed(shlex.split(line)[1:])
    told = (given["public_url"], given["trusted"], given["workers"])
    assert told == ("https://code.example.com", ("127.0.0.1",), 2)
    steps = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    assert len([step for step in steps if step.startswith("FROM ")]) == 2
    assert "USER 10001:10001" in steps
    command = next(step for step in steps if step.startswith("CMD ["))
    assert parsed(re.findall(r'"([^"]+)"', command))["host"] == "0.0.0.0"


def test_the_services_may_do_little_and_know_one_another():
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    server = found["services"]["assay"]
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])
    given = parsed(shlex.split(server["command"]))
    subnet = found["networks"]["inside"]["ipam"]["config"][0]["subnet"]
    assert given["trusted"] == (subnet,)
    assert found["services"]["caddy"]["environment"] == {"ASSAY_UPSTREAM": "assay:7777"}
    assert "{$ASSAY_UPSTREAM:127.0.0.1:7777}" in (DEPLOY / "Caddyfile").read_text()
