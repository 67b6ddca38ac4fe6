"""Write a page for each command from what its `--help` prints, for the site.

`docs/site.py` asks for the pages when the site is built; `python -m assay.cli.reference FOLDER` writes them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from assay.cli.main import assay

WIDTH = 100


def pages() -> dict[str, str]:
    """Return the name and the text of each page."""
    found = dict(walk_commands(assay, click.Context(assay, info_name="assay", **assay.context_settings)))
    commands = {path: (_help(*each), each[0].get_short_help_str(WIDTH)) for path, each in found.items()}
    listed = "\n".join(
        f"- [`{path}`]({_file(path)}): {help_}" for path, (_, help_) in commands.items() if path != "assay"
    )
    top = f"{_page('assay', commands['assay'][0])}\n{listed}\n"
    return {"README.md": top} | {
        _file(path): _page(path, text) for path, (text, _) in commands.items() if path != "assay"
    }


def walk_commands(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, tuple[click.Command, click.Context]]]:
    """Yield the path of each command with the command and its context, parents first."""
    yield context.command_path, (command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from walk_commands(
                below, click.Context(below, parent=context, info_name=name, **below.context_settings)
            )


def write_pages(folder: Path, written: Mapping[str, str], pattern: str) -> None:
    """Write every page into a folder, and remove pages of commands that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob(pattern)) - {folder / name for name in written}:
        stale.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


def _help(command: click.Command, context: click.Context) -> str:
    formatter = click.HelpFormatter(width=WIDTH, max_width=WIDTH)
    command.format_help(context, formatter)
    return formatter.getvalue()


def _file(path: str) -> str:
    return f"{path.removeprefix('assay ').replace(' ', '-')}.md"


def _page(path: str, text: str) -> str:
    return f"# `{path}`\n\nMade of the command itself.\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]), pages(), "*.md")
