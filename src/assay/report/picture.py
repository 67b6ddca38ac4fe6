"""A figure to a file of its own: SVG or PNG, by the name of the file."""

from __future__ import annotations

from pathlib import Path

from assay.errors import InputError, MissingExtra
from assay.io import files
from assay.report.document import Figure
from assay.report.web_page import alone

_FORMS = (".svg", ".png")


def check_picture(path: Path) -> None:
    """Refuse a name whose form cannot be drawn, before anything is measured."""
    if path.suffix not in _FORMS:
        raise InputError(f"'{path}' is not the name of a drawing, wanted one that ends in {' or '.join(_FORMS)}")


def write_picture(figure: Figure, path: Path) -> None:
    """Draw a figure into a file."""
    check_picture(path)
    files.write(path, alone(figure) if path.suffix == ".svg" else _png(figure))


def _png(figure: Figure) -> bytes:
    try:
        from assay.report.drawing import png
    except ModuleNotFoundError as error:
        raise MissingExtra("a drawing", str(error.name), "bench") from error
    return png(figure)
