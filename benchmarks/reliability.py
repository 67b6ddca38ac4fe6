"""Index a repository of many small files, then change one: seconds, and the peak memory of all processes together.

    python benchmarks/reliability.py [--files 200000]

The bound to keep is 4 GB for 200,000 files. Peaks of the parent and of each worker are added up, as if they had all
come at once, so the true peak is lower.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

from assay.encode.static import load_static
from assay.search.folder_index import FolderIndex
from assay.search.index_changes import UNSURE_NS


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=int, default=200_000)
    files = arguments.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_files(root, files)
        print(json.dumps(measured(root, Path(folder) / "index"), indent=1))


def write_files(root: Path, files: int) -> None:
    """Write files of one small function each, and wait until an index trusts what `stat` says of them."""
    for number in range(files):
        folder = root / f"part{number // 10_000}" / f"group{number // 100 % 100}"
        if not number % 100:
            folder.mkdir(parents=True)
        path = folder / f"unit{number}.py"
        path.write_text(f"def unit_{number}(first, second):\n    return first.handle({number}, second)\n")
    time.sleep(2 * UNSURE_NS / 1e9)


def measured(root: Path, location: Path) -> dict[str, float]:
    """Refresh three times: all is new, nothing is, one file is."""
    index = FolderIndex(root, location, load_static())
    seconds = [timed(index)]
    chunks = len(index.snapshot())
    own_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    worker_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    seconds.append(timed(index))
    (root / "part0/group0/unit0.py").write_text("def changed():\n    pass\n")
    seconds.append(timed(index))
    return {
        "chunks": chunks,
        "first_s": seconds[0],
        "unchanged_s": seconds[1],
        "one_changed_s": seconds[2],
        "peak_mb": own_mb + worker_mb * (os.cpu_count() or 1),
        "own_peak_mb": own_mb,
        "worker_peak_mb": worker_mb,
        "index_mb": sum(file.stat().st_size for file in location.iterdir()) / 1e6,
    }


def timed(index: FolderIndex) -> float:
    started = time.perf_counter()
    index.refresh()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
