# ruff: noqa: INP001  # a hook of the site, not a package
"""What the built site needs beside its pages: fences, links out of `docs/`, and a page for each command.

The same pages are read in the repository, so nothing in them is written for the site alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

DOCS = Path(__file__).parent
_FENCE = re.compile(r"^(\s*```\w+) (?:norun|needs_\w+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!howto|cli|models)(?:[A-Z]+\.md|tests/|src/|benchmarks/)[^)]*\)")


def on_config(config: Any) -> Any:
    """Name every page of a command under `Commands`."""
    commands = [f"cli/{page.name}" for page in sorted((DOCS / "cli").glob("*.md")) if page.name != "README.md"]
    pages = ["cli/README.md", *({Path(name).stem.replace("-", " "): name} for name in commands)]
    for section in config["nav"]:
        for entry in next(iter(section.values())):
            if isinstance(entry, dict) and entry.get("Commands") == "cli/":
                entry["Commands"] = pages
    return config


def on_files(files: Files, config: Any) -> Files:
    """Put the list of commands beside the page of the command `index`, which would take its place."""
    place = {"dest_uri": "cli/commands.html", "inclusion": InclusionLevel.INCLUDED}
    files.append(File("cli/README.md", config["docs_dir"], config["site_dir"], use_directory_urls=False, **place))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page without the words for the tests, and with the names of files that are not on the site as text."""
    return _OUTSIDE.sub(r"\1", _FENCE.sub(r"\1", markdown))
