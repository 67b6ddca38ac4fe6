"""The path of one command through the package: files in the order of their first call, and hops between rooms.

    python benchmarks/paths.py search "where are retries handled" src
    python benchmarks/paths.py exec HumanEval.jsonl --reference --limit-tasks 1 --fresh --out /tmp/outcomes.jsonl

A hop is two files that follow one another in that list and lie in different rooms. Imports do not count, only calls;
processes that the command starts are not followed.
"""

from __future__ import annotations

import sys
import threading
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import assay.cli.main
from assay.cli.main import run

ROOT = Path(assay.cli.main.__file__).parent.parent


def main() -> None:
    """Run a command under a profile function and print its path."""
    files: dict[str, None] = {}

    def seen(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name not in files and not frame.f_code.co_name.startswith("<"):
            files[name] = None

    threading.setprofile(seen)
    sys.setprofile(seen)
    status = run(sys.argv[1:])
    sys.setprofile(None)
    path = [str(Path(name).relative_to(ROOT)) for name in files if Path(name).is_relative_to(ROOT)]
    rooms = [name.partition("/")[0] for name in path]
    hops = sum(one != other for one, other in pairwise(rooms))
    print(f"exit {status}: {len(path)} files, {hops} hops between {len(set(rooms))} rooms", *path, sep="\n  ")


if __name__ == "__main__":
    main()
