"""Which sandbox is meant by what was asked: the strongest that holds on this machine, or the one named, or none.

Nothing weaker is taken silently: what cannot be given is an error of one line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.errors import InputError, nearest
from assay.sandbox.cage import HARNESS, Plan
from assay.sandbox.limits import Limits
from assay.sandbox.pool import Sandbox
from assay.sandbox.probe import KINDS, Finding, probe

WEAK = "weak"
GUARANTEES: dict[str, tuple[str, ...]] = {
    "namespaces": (
        "no network but its own loopback",
        "no file of the machine but the system's programs and this Python, to read",
        "writes only to its own scratch, bounded in size and files",
        "no process outside seen or signalled",
        "processor time, wall time, memory, processes and output bounded",
        "nothing left after a job",
    ),
    "hybrid": (
        "no network but its own loopback",
        "no file of the machine but the system's programs and this Python, to read",
        "writes only to its own folder, whose size is looked at every 20 ms",
        "no process outside signalled",
        "processor time, wall time, memory, processes and output bounded",
        "nothing left after a job",
    ),
    "landlock": (
        "no sockets at all",
        "no file of the machine but the system's programs and this Python, to read",
        "writes only to its own folder, whose size is looked at every 20 ms",
        "no process outside signalled",
        "processor time, wall time, memory, processes and output bounded",
        "nothing left after a job",
    ),
    "container": (
        "no network at all",
        "no file of the machine, but this package to start with",
        "writes only to its container's memory, bounded in size and files",
        "no process outside seen or signalled",
        "processor time, wall time, memory, processes and output bounded",
        "nothing left after a job",
    ),
    WEAK: ("processor time, wall time and output bounded; nothing else: programs can do what you can",),
}


def open_sandbox(  # noqa: PLR0913  one argument a choice of the user
    kind: str = "",
    limits: Limits | None = None,
    workers: int = 2,
    modules: Sequence[str] = (),
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    allow_unsafe: bool = False,
    harness: tuple[str, str] = HARNESS,
    harness_path: str = "",
) -> Sandbox:
    """Return a sandbox of this kind, or of the strongest that this machine gives.

    `modules` are loaded before the first program; `paths` are folders that programs may read and import from.
    """
    if workers < 1:
        raise InputError(f"{workers} workers; a sandbox needs at least 1")
    chosen = _chosen(kind, allow_unsafe=allow_unsafe)
    folders = tuple(str(Path(path).resolve()) for path in paths)
    for folder in folders:
        if not os.path.isdir(folder):
            raise InputError(f"no folder {folder}: programs were to import from it")
    plan = Plan(chosen, limits or Limits(), tuple(modules), folders, harness, harness_path)
    return Sandbox(plan, workers, GUARANTEES[chosen])


def strongest(findings: Sequence[Finding]) -> str:
    """Return the strongest kind that held, or nothing."""
    return next((finding.kind for finding in findings if finding.holds), "")


def _chosen(kind: str, *, allow_unsafe: bool) -> str:
    if kind == WEAK:
        if not allow_unsafe:
            raise InputError("the sandbox 'weak' holds no hostile program; ask for it with --allow-unsafe")
        return kind
    if kind and kind not in KINDS:
        raise InputError(f"unknown sandbox '{kind}'; {nearest(kind, (*KINDS, WEAK))}")
    findings = []
    for name in (kind,) if kind else KINDS:
        findings.append(probe(name))
        if findings[-1].holds:
            return name
    asked = f"the sandbox '{kind}' cannot be given here" if kind else f"no sandbox holds here ({sys.platform})"
    raise InputError(f"{asked}: {'; '.join(map(str, findings))}")
