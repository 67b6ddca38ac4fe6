"""Choose the sandbox: the strongest that holds on this machine, or the one named; what is not there is an error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.cage.cage import HARNESS, CagePlan
from assay.cage.cage_pool import CagePool, open_pool
from assay.cage.limits import Limits
from assay.cage.probe import probe
from assay.cage.sandbox_kinds import ISOLATING, KINDS, SandboxKind
from assay.errors import InputError, nearest

_REMOVED = {
    "container": "run assay itself in a container, which gives 'landlock' there (docs/howto/pod.md)",
    "hybrid": "it is called 'namespaces+landlock'",
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
) -> CagePool:
    """Return a sandbox of this kind, or of the strongest that this machine gives.

    `modules` are loaded before the first program; `paths` are folders that programs may read and import from.
    """
    if workers < 1:
        raise InputError(f"{workers} workers; a sandbox needs at least 1")
    chosen = _choose_kind(kind, allow_unsafe=allow_unsafe)
    folders = tuple(str(Path(path).resolve()) for path in paths)
    for folder in folders:
        if not os.path.isdir(folder):
            raise InputError(f"no folder {folder}: programs were to import from it")
    plan = CagePlan(chosen, limits or Limits(), tuple(modules), folders, harness, harness_path)
    return open_pool(plan, workers)


def _choose_kind(name: str, *, allow_unsafe: bool) -> SandboxKind:
    kind = KINDS.get(name)
    if name in _REMOVED:
        raise InputError(f"the sandbox '{name}' was removed; {_REMOVED[name]}")
    if name and kind is None:
        raise InputError(f"unknown sandbox '{name}'; {nearest(name, list(KINDS))}")
    if kind and not kind.isolates:
        if not allow_unsafe:
            raise InputError(
                f"the sandbox '{kind.name}' does not isolate programs: they can do whatever you can; "
                "run it all the same with --allow-unsafe"
            )
        return kind
    findings = []
    for each in (kind,) if kind else ISOLATING:
        findings.append(probe(each))
        if findings[-1].holds:
            return each
    wanted = f"the sandbox '{name}' cannot be had here" if name else f"no sandbox holds here ({sys.platform})"
    raise InputError(f"{wanted}: {'; '.join(map(str, findings))}")
