"""Find the command that adds an extra to this installation, by how it was installed.

Assay may have come from a folder, a checkout that is edited, a wheel, a repository or an index, and into an environment
that is not the active one. A command that only fits one of these fails in the others, or brings what somebody else
published under the same name.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "assay-code"
"""The name of the distribution; on the package index, `assay` is a project of somebody else."""


def install_command(extra: str, libraries: str = "") -> str:
    """Return the command line that installs an extra for the running interpreter, ready to paste.

    `libraries` names what is missing, for an Assay that was put on the path and never installed.
    """
    return shlex.join([*_installer(), *(_requirements(extra) or libraries.replace(" and ", " ").split())])


def _installer() -> list[str]:
    """Return the installer for the environment of this interpreter, whichever one the shell uses."""
    python = _near(Path(sys.executable))
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", python]
    active = os.environ.get("VIRTUAL_ENV")
    return ["pip", "install"] if active and Path(active) == Path(sys.prefix) else [python, "-m", "pip", "install"]


def _requirements(extra: str) -> list[str]:
    """Return what to install: the same Assay with the extra, else the extra's libraries, else nothing."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(DISTRIBUTION)
    except PackageNotFoundError:  # on the path, and not installed
        root = Path(__file__).parents[2]
        return ["--editable", f"{_near(root)}[{extra}]"] if (root / "pyproject.toml").is_file() else []
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if not origin:
        return [f"{DISTRIBUTION}[{extra}]"]
    wanted = _origin(origin, extra)
    return wanted or _libraries(found.requires or [], extra)


def _origin(origin: dict[str, dict[str, object]], extra: str) -> list[str]:
    """Return the source from which Assay was installed, in the format of pip; empty if it is gone."""
    url = str(origin["url"])
    if revision := origin.get("vcs_info"):
        return [f"{DISTRIBUTION}[{extra}] @ {revision['vcs']}+{url}@{revision['commit_id']}"]
    if not url.startswith("file:"):
        return [f"{DISTRIBUTION}[{extra}] @ {url}"]
    path = Path(unquote(urlsplit(url).path))
    if not path.exists():
        return []
    editable = ["--editable"] if origin.get("dir_info", {}).get("editable") else []
    return [*editable, f"{_near(path)}[{extra}]"]


def _libraries(requires: list[str], extra: str) -> list[str]:
    """Return the requirements of an extra or several, from lines such as `torch<3,>=2.6; extra == 'hf'`."""
    marks = [f"extra == '{one}'" for one in extra.split(",")]
    named = [line.replace('"', "'").partition(";") for line in requires]
    return [library.strip() for library, _, marker in named if any(mark in marker for mark in marks)]


def _near(path: Path) -> str:
    """Return a path in the form that one would type here."""
    here = Path.cwd()
    return "." if path == here else f"./{path.relative_to(here)}" if here in path.parents else str(path)
