"""Write a manual page for each command from its help: `python -m assay.cli.manual FOLDER`.

`hatch_build.py` runs this when the wheel is built, which installs the pages under share/man/man1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assay.cli.main import assay
from assay.cli.reference import walk_commands, write_pages

_VERBATIM = "\b"
_EXAMPLE = re.compile(r"\n\n\x08\nExample:\n  (.*)\Z", re.DOTALL)
_EXITS = re.compile(r"^Exits? ")


def manual_pages() -> dict[str, str]:
    """Return the file name and the text of each page."""
    found = dict(walk_commands(assay, click.Context(assay, info_name="assay", **assay.context_settings)))
    names = list(found)
    return {f"{path.replace(' ', '-')}.1": _page(path, found[path], names) for path in names}


def _page(path: str, found: tuple[click.Command, click.Context], names: list[str]) -> str:
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
    write_pages(Path(sys.argv[1]), manual_pages(), "*.1")
