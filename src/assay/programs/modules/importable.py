"""A sandbox to what programs can import in it: this Python and the distributions, each as `NAME==VERSION`.

It decides about outcomes as the tests do, so it belongs to the settings of a run. The sandbox itself is asked, since
its Python may be another one. The names of folders are read, which takes 3 ms where `importlib.metadata` takes 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.programs.modules.distributions import plain
from assay.programs.modules.imports import strings_from

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner

_MOST = 5
_LISTING = """
def listing():
    import json, os, platform, sys
    found = [f'{platform.python_implementation()}-{platform.python_version()}']
    for folder in sys.path:
        try: names = os.listdir(folder)
        except OSError: continue
        found += [name[:-10] for name in names if name.endswith('.dist-info')]
        found += [name[:-9] for name in names if name.endswith('.egg-info')]
    print(json.dumps(found))
"""


def importable(runner: ProgramRunner) -> tuple[str, ...]:
    """Return the Python of a sandbox and its distributions, sorted; of two with one name, the first on the path."""
    found: dict[str, str] = {}
    for text in strings_from(_LISTING, "listing", (), runner):
        name, _, version = text.partition("-")
        found.setdefault(plain(name), version.partition("-")[0])
    return tuple(sorted(f"{name}=={version}" for name, version in found.items()))


def changes(before: Sequence[str], now: Sequence[str]) -> str:
    """Say which distributions came, went or have another version."""
    old, new = (dict(text.split("==", 1) for text in each) for each in (before, now))
    told = [
        f"{name} {old[name]} is now {new[name]}" for name in sorted(old.keys() & new.keys()) if old[name] != new[name]
    ]
    told += [f"{name} {new[name]} was not there" for name in sorted(new.keys() - old.keys())]
    told += [f"{name} {old[name]} is gone" for name in sorted(old.keys() - new.keys())]
    more = f", and {len(told) - _MOST:,} more" if len(told) > _MOST else ""
    return ", ".join(told[:_MOST]) + more
