"""Write a page of the site and a manual page for each command from its help.

`docs/site.py` asks for the pages of the site; `hatch_build.py` runs `python docs/commands.py FOLDER` when the wheel is
built, which writes the manual pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.main import assay

WIDTH = 100
_VERBATIM = "\b"
_EXAMPLE = re.compile(r"\n\n\x08\nExample:\n  (.*)\Z", re.DOTALL)
_EXITS = re.compile(r"^Exits? ")


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


def _help(command: click.Command, context: click.Context) -> str:
    formatter = click.HelpFormatter(width=WIDTH, max_width=WIDTH)
    command.format_help(context, formatter)
    return formatter.getvalue()


def _file(path: str) -> str:
    return f"{path.removeprefix('assay ').replace(' ', '-')}.md"


def _page(path: str, text: str) -> str:
    return f"# `{path}`\n\nMade of the command itself.\n\n```text\n{text.rstrip()}\n```\n"


def manual_pages() -> dict[str, str]:
    """Return the file name and the text of each page."""
    found = dict(walk_commands(assay, click.Context(assay, info_name="assay", **assay.context_settings)))
    names = list(found)
    return {f"{path.replace(' ', '-')}.1": _manual_page(path, found[path], names) for path in names}


def _manual_page(path: str, found: tuple[click.Command, click.Context], names: list[str]) -> str:
    """Return one page."""
    command, context = found
    text = command.help or ""
    example = _EXAMPLE.search(text)
    text = _EXAMPLE.sub("", text)
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    said = [part for part in paragraphs if not _EXITS.match(part)]
    exits = [part for part in paragraphs if _EXITS.match(part)]
    usage = " ".join(command.collect_usage_pieces(context))
    name = path.replace(" ", "-")
    rows = [f'.TH "{_roff(name.upper())}" "1" "" "assay" "Assay"', ".SH NAME"]
    rows += [f"{_roff(name)} \\- {_roff(command.get_short_help_str(200).rstrip('.'))}"]
    rows += [".SH SYNOPSIS", f"\\fB{_roff(path)}\\fR {_roff(usage)}", ".SH DESCRIPTION", *_paragraphs(said)]
    rows += [".SH OPTIONS", *_options(command, context)]
    rows += [".SH EXIT STATUS", *_paragraphs(exits)] if exits else []
    rows += [".SH EXAMPLE", ".nf", _roff(example[1]), ".fi"] if example else []
    near = [other for other in names if other != path and _is_near(other, path)]
    rows += [".SH SEE ALSO", ",\n".join(f"\\fB{_roff(other.replace(' ', '-'))}\\fR(1)" for other in near)]
    return "\n".join(rows) + "\n"


def _is_near(other: str, path: str) -> bool:
    """Say whether a command is the parent or a child of another."""
    return other == path.rpartition(" ")[0] or other.rpartition(" ")[0] == path


def _paragraphs(parts: list[str]) -> Iterator[str]:
    """Yield paragraphs; those that a help keeps as they are stay so."""
    for number, part in enumerate(parts):
        if number:
            yield ".PP"
        if part.startswith(_VERBATIM):
            yield from (".nf", _roff(part.removeprefix(_VERBATIM).strip("\n")), ".fi")
        else:
            yield _roff(" ".join(part.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the options, each with what it does."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and isinstance(parameter, click.Option):
            yield from (".TP", f"\\fB{_roff(record[0])}\\fR", _roff(" ".join(record[1].split())))


def _roff(text: str) -> str:
    """Return a text in which nothing is an order to roff: backslashes, hyphens and dots at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    text = text.replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


if __name__ == "__main__":
    for page_name, page_text in manual_pages().items():
        Path(sys.argv[1], page_name).write_text(page_text, encoding="utf-8")
