"""Write a report as one self-contained page: it opens from a disk, with or without scripts.

Everything that a stranger wrote (queries, paths, messages of tools) is text and nothing else; the page's own policy
forbids loading anything and running any script but the one it was written with. Equal reports give equal bytes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib import resources
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from assay.errors import MissingExtra, counted
from assay.io import files
from assay.report.document import Block, Cell, Column, Curves, Dots, Figure, Number, Report, WinsAndLosses
from assay.report.plain_text import interval_text, value_text

if TYPE_CHECKING:
    from jinja2 import Environment

_TURNING = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n\r"}
_CONTROLS |= {code: f"U+{code:04X}" for code in _TURNING} | {0x7F: "\N{SYMBOL FOR DELETE}"}
"""Control characters are shown, as Unicode has pictures of them; those that turn a text by their codes."""


def write_page(report: Report, path: Path) -> None:
    """Write a report as a page, atomically."""
    files.write(path, web_page(report))


def web_page(report: Report) -> str:
    """Render a report as an HTML page."""
    page = _templates().get_template("page.html")
    style, script = map(_resource_text, ("style.css", "script.js"))
    text = page.render(report=report, policy=page_policy(), style=style, script=script)
    return text.translate(_CONTROLS) + "\n"


def page_policy() -> str:
    """Return the Content-Security-Policy of a page: it loads nothing, and runs the script of this version alone."""
    allowed = b64encode(sha256(_resource_text("script.js").encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def write_picture(figure: Figure, path: Path) -> None:
    """Draw a figure into a PNG file, or an SVG file, which brings the colors of a page for light and dark."""
    palette = _resource_text("style.css").partition("* {")[0]
    if path.suffix == ".png":
        light = dict(re.findall(r"--([\w-]+): (#\w{6})", palette.partition("@media")[0]))
        files.write(path, _drawings().png(figure, light))
        return
    colors = palette + "svg { color: var(--ink); font-family: system-ui, sans-serif; }"
    head, _, rest = _drawing(figure).removeprefix("<svg").partition(">")
    files.write(path, f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{colors}</style>{rest}')


def _drawing(figure: Figure) -> str:
    return str(_drawings().svg(figure))


def _drawings() -> ModuleType:
    try:
        from assay.report import drawing
    except ModuleNotFoundError as error:
        raise MissingExtra("a drawing", str(error.name), "bench") from error
    return drawing


def _resource_text(name: str) -> str:
    return resources.files("assay.report").joinpath(name).read_text("utf-8")


def _templates() -> Environment:
    """Return the template environment of this room: everything but markup is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("assay.report", "")
    made = Environment(autoescape=True, loader=loader, lstrip_blocks=True, trim_blocks=True, undefined=StrictUndefined)
    made.filters |= {"classes": _classes, "figure_class": _figure_class, "grouped": _grouped}
    made.filters |= {"counted": counted, "heads": _heads, "interval": _interval, "picture": _picture, "signs": _signs}
    made.filters |= {"cut": _cut, "value": lambda number: _signs(value_text(number))}
    return made


def _cut(words: str, longest: int) -> str:
    return words if len(words) <= longest else words[:longest].rstrip() + " …"


def _signs(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _interval(number: Number) -> str:
    return interval_text(number, "\N{EN DASH}").replace(", ", " to ")


def _heads(columns: tuple[Column, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield each shared heading, its note in brackets, and how many columns share it."""
    for over, group in groupby(columns, key=lambda column: column.over):
        name, _, quiet = over.partition(" [")
        yield name, quiet.removesuffix("]"), len(list(group))


def _classes(cell: Cell, column: Column) -> str:
    classes: list[str] = [cell.mark] if cell.mark in {"best", "bad", "good"} else []
    if isinstance(cell, Number) and cell.value is None:
        classes.append("none")
    return " ".join([*classes, "words"] if column.words else classes)


def _grouped(blocks: tuple[Block, ...]) -> Iterator[tuple[bool, list[Block]]]:
    """Yield runs of blocks, figures separate from others: figures share a grid."""
    for is_figure, group in groupby(blocks, key=lambda block: isinstance(block, Figure)):
        yield is_figure, list(group)


def _figure_class(figure: Figure) -> str:
    if isinstance(figure, Dots) or (isinstance(figure, Curves) and len(figure.panels) > 2):
        return "wide"
    return "tall" if isinstance(figure, WinsAndLosses) and len(figure.pairs) > 2 else ""


def _picture(figure: Figure) -> str:
    """Return a drawing with its title and caption for screen readers."""
    from markupsafe import Markup

    label = Markup('<svg aria-label="{}" ').format(f"{figure.title}. {figure.caption}")
    return Markup(_drawing(figure)).replace("<svg ", label, 1)  # noqa: S704  our own drawing
