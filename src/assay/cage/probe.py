"""Which sandboxes this machine really gives: each is attacked once, and one that fails is not offered.

What was found is kept in the user's cache until the machine starts again, or anything about it changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import sys
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_cache_path

from assay import __version__
from assay.cage import usage
from assay.cage.attacks import ATTACKS, Attack, Bait
from assay.cage.cage import CagePlan
from assay.cage.cage_pool import open_pool
from assay.cage.limits import Job
from assay.cage.sandbox_kinds import SandboxKind
from assay.errors import AssayError, SandboxRefused, StorageError
from assay.io import files

PLAIN = "assay.cage.children:run_source"
_FORK_SERVER = 1


@dataclass(frozen=True, slots=True)
class ProbeFinding:
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


def probe(kind: SandboxKind, *, fresh: bool = False) -> ProbeFinding:
    """Return what attacks on a kind showed, from the cache unless `fresh`."""
    place = _place()
    known = _known(place)
    if fresh or kind.name not in known:
        known[kind.name] = _attack(kind)
        with contextlib.suppress(StorageError):  # then it is attacked again
            files.write(place, json.dumps({name: asdict(finding) for name, finding in known.items()}), durable=False)
    return known[kind.name]


def _attack(kind: SandboxKind) -> ProbeFinding:
    """Run all attacks in one cage, and look what is left of them."""
    plan = CagePlan(kind, harness=(PLAIN, PLAIN))
    with Bait() as bait, open_pool(plan, 1) as sandbox:
        jobs = [Job(attack.name, attack_program(attack, bait), limits=attack.limits) for attack in ATTACKS]
        try:
            ends = sandbox.run(jobs)
            failed = [one.name for one, ended in zip(ATTACKS, ends, strict=True) if not one.held(ended, bait)]
        except SandboxRefused as refusal:
            return ProbeFinding(kind.name, reason=f"does not start: {refusal.reason}")
        except AssayError as error:
            return ProbeFinding(kind.name, reason=str(error))
        left = [process for cage in sandbox.processes() for process in usage.below(cage, usage.processes())]
    if len(left) > _FORK_SERVER:
        failed.append("leaves processes behind")
    return ProbeFinding(kind.name, tuple(failed))


def attack_program(attack: Attack, bait: Bait) -> bytes:
    """Return what a cage is given to run an attack on what stands outside."""
    source = attack.source
    for name, value in bait.values().items():
        source = source.replace(f"{{{name}}}", str(value))
    return json.dumps({"source": source}).encode()


def _known(place: Path) -> dict[str, ProbeFinding]:
    """Return what was found before; nothing where that cannot be read."""
    try:
        return {name: ProbeFinding(**{**found, "failed": tuple(found["failed"])})
                for name, found in json.loads(place.read_text()).items()}  # fmt: skip
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _place() -> Path:
    """Return where findings lie: another place for each start of the machine, kernel, container, user and Python."""
    about = [platform.node(), platform.release(), __version__, sys.executable, sys.version, str(os.geteuid())]
    for file in ("/proc/sys/kernel/random/boot_id", "/proc/self/uid_map", "/proc/self/attr/current"):
        with contextlib.suppress(OSError):
            about.append(Path(file).read_text())
    with contextlib.suppress(OSError):
        about += re.findall("^(?:NoNewPrivs|Seccomp|CapEff).*", Path("/proc/self/status").read_text(), re.MULTILINE)
    name = blake2b("\n".join(about).encode(), digest_size=10).hexdigest()
    return user_cache_path("assay") / "sandbox" / f"{name}.json"
