"""Prepare the pages for the built site: fences, links out of `docs/`, and a page for each command from its help."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

sys.path.append(str(Path(__file__).parent))
from commands import pages

_FENCE = re.compile(r"^(\s*```\w+)(?: needs_\w+)?(?: norun(?:=\"[^\"\n]*\")?| file(=\"[^\"\n]*\"))?$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!howto|cli|models)(?:[A-Z]+\.md|tests/|src/|benchmarks/)[^)]*\)")


def on_config(config: Any) -> Any:
    """Name the page of every command under `Commands`."""
    names = [name for name in pages() if name != "README.md"]
    commands = ["cli/README.md", *({Path(name).stem.replace("-", " "): f"cli/{name}"} for name in sorted(names))]
    for section in config["nav"]:
        for entry in next(iter(section.values())):
            if isinstance(entry, dict) and entry.get("Commands") == "cli/":
                entry["Commands"] = commands
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the commands; the list of them stands beside the page of `index`, not in its place."""
    for name, text in pages().items():
        page = File.generated(config, f"cli/{name}", content=text, inclusion=InclusionLevel.INCLUDED)
        if name == "README.md":
            page.dest_uri = "cli/commands.html"
        files.append(page)
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page without the words for the tests, and with the names of files that are not on the site as text.

    A block that is a file has its name as title.
    """
    plain = _FENCE.sub(lambda match: match[1] + (f" title{match[2]}" if match[2] else ""), markdown)
    return _OUTSIDE.sub(r"\1", plain)
