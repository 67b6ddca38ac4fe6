"""Attack one kind of sandbox: `python -m attacks [--kind KIND] [--group GROUP] [--name NAME] [--json FILE]`.

The caller is the supervisor that the programs attack, so this is a process of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from assay.cage.cage import CagePool
from assay.cage.open_cage import open_sandbox
from attacks.model import CONTAINED, Attack, Row
from attacks.outside import Outside
from attacks.running import BASE, run_all


def main() -> int:
    """Run what is asked for; 1 where something is not contained."""
    arguments = argparse.ArgumentParser(prog="attacks", description=__doc__)
    arguments.add_argument("--kind", default="", help="the default one where it is left out")
    arguments.add_argument("--group", action="append", default=[])
    arguments.add_argument("--name", action="append", default=[])
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--catalogue", default="attacks.catalogue", help="the module that lists the attacks")
    given = arguments.parse_args()
    rows = []
    for row in chosen(given):
        rows.append(row)
        sys.stdout.write(f"{row.seconds:5.1f} s  {row.result:14} {row.group:11} {row.attack}: {row.note}\n")
        sys.stdout.flush()
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows]), encoding="utf-8")
    return int(any(row.result != CONTAINED for row in rows))


def opened(kind: str, packages: tuple[str, ...] = ()) -> CagePool:
    """Open one cage of a kind, the default where it is empty."""
    return open_sandbox(kind, BASE, 1, paths=packages, allow_unsafe=kind == "weak")


def chosen(given: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each attack that is asked for."""

    def wanted(name: str, group: str) -> bool:
        return (not given.group or group in given.group) and (not given.name or name in given.name)

    catalogue = importlib.import_module(given.catalogue)
    attacks: list[Attack] = [one for one in catalogue.ATTACKS if wanted(one.name, one.group)]
    if attacks:
        with Outside() as outside:
            yield from run_all(attacks, lambda: opened(given.kind, (str(outside.packages),)), outside)
    for special in getattr(catalogue, "SPECIAL", ()):
        if wanted(special.name, special.group):
            yield special.run(given.kind, lambda: opened(given.kind))


if __name__ == "__main__":
    sys.exit(main())
