"""Which sandboxes this machine really gives: each is attacked once, and one that fails is not offered.

What was found is kept in the user's cache until the machine starts again, or anything about it changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from assay import __version__
from assay.errors import AssayError
from assay.sandbox import watch
from assay.sandbox.attacks import ATTACKS, Attack, Bait
from assay.sandbox.cage import Plan
from assay.sandbox.limits import Job
from assay.sandbox.pool import Sandbox

KINDS = ("namespaces", "hybrid", "landlock", "container")
"""Strongest first."""
PLAIN = "assay.sandbox.children:run_source"
_KEEPER = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """What attacks on one kind of sandbox showed."""

    kind: str
    failed: tuple[str, ...] = ()
    """The attacks that it did not hold."""
    reason: str = ""
    """Why it did not even start."""

    @property
    def holds(self) -> bool:
        """Whether it may be offered."""
        return not self.failed and not self.reason

    def __str__(self) -> str:
        if self.holds:
            return f"{self.kind}: holds {len(ATTACKS) - 1} attacks"
        return f"{self.kind}: {self.reason}" if self.reason else f"{self.kind}: does not hold: {', '.join(self.failed)}"


def probe(kind: str, *, fresh: bool = False) -> Finding:
    """Return what attacks on a kind showed, from the cache unless `fresh`."""
    place = _place()
    known = _known(place)
    if fresh or kind not in known:
        known[kind] = _attack(kind)
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            partial = place.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps({name: asdict(finding) for name, finding in known.items()}))
            partial.replace(place)
    return known[kind]


def _attack(kind: str) -> Finding:
    """Run all attacks in one cage, and look what is left of them."""
    plan = Plan(kind, harness=(PLAIN, PLAIN))
    with Bait() as bait, Sandbox(plan, 1) as sandbox:
        jobs = [Job(attack.name, attack_program(attack, bait), limits=attack.limits) for attack in ATTACKS]
        try:
            ends = sandbox.run(jobs)
            failed = [one.name for one, ended in zip(ATTACKS, ends, strict=True) if not one.held(ended, bait)]
        except AssayError as error:
            return Finding(kind, reason=str(error))
        left = [process for cage in sandbox.processes() for process in watch.below(cage, watch.processes())]
    if len(left) > _KEEPER and kind != "container":
        failed.append("leaves processes behind")
    return Finding(kind, tuple(failed))


def attack_program(attack: Attack, bait: Bait) -> bytes:
    """Return what a cage is given to run an attack on what stands outside."""
    source = attack.source
    for name, value in bait.values().items():
        source = source.replace(f"{{{name}}}", str(value))
    return json.dumps({"source": source}).encode()


def _known(place: Path) -> dict[str, Finding]:
    """Return what was found before; nothing where that cannot be read."""
    try:
        return {name: Finding(**{**found, "failed": tuple(found["failed"])})
                for name, found in json.loads(place.read_text()).items()}  # fmt: skip
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _place() -> Path:
    """Return where findings lie: another place for each start of the machine, kernel, user, Python and version."""
    about = [platform.node(), platform.release(), __version__, sys.executable, str(os.geteuid())]
    for file in ("/proc/sys/kernel/random/boot_id", "/proc/self/uid_map", "/proc/self/attr/current"):
        with contextlib.suppress(OSError):
            about.append(Path(file).read_text())
    name = blake2b("\n".join(about).encode(), digest_size=10).hexdigest()
    return user_cache_path("assay") / "sandbox" / f"{name}.json"
