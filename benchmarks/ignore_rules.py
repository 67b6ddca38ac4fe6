"""Count the drawn trees with drawn ignore files of which a walk keeps other files than git.

python benchmarks/ignore_rules.py [--trees 20000]

Prints the number of trees on which they differ, and some of these. The script ends with 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from ignored_trees import TREES, Tree, differences

BATCH, SHOWN = 8, 10


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=20_000)
    wanted = parser.parse_args().trees
    found: list[tuple[Tree, list[str]]] = []
    read = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder  # nobody's own rules
        os.environ.pop("XDG_CONFIG_HOME", None)
        root = Path(folder) / "repository"
        subprocess.run(["git", "init", "--quiet", root], check=True)

        @settings(max_examples=-(-wanted // BATCH), deadline=None, database=None, phases=[Phase.generate],
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(st.lists(TREES, min_size=BATCH, max_size=BATCH))
        def compare(trees: list[Tree]) -> None:
            nonlocal read
            read += len(trees)
            found.extend(differences(root, trees).values())

        compare()
    for tree, paths in found[:SHOWN]:
        print(f"{tree}: {paths}")
    print(f"{len(found)} of {read} trees differ from git")
    sys.exit(bool(found))


if __name__ == "__main__":
    run()
