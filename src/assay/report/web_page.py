"""A report in, one page out that needs nothing else: it opens from a disk, without a network, with or without scripts.

Everything that a stranger wrote (queries, paths, messages of tools) is text and nothing else; the page's own policy
forbids loading anything and running any script but the one it was written with. Equal reports give equal bytes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template

from assay.errors import MissingExtra, counted
from assay.io import files
from assay.report.document import (
    Block,
    Bullets,
    Choice,
    Curves,
    Detail,
    Dots,
    Entries,
    Figure,
    Fold,
    ListEntry,
    Panel,
    Panels,
    Paragraph,
    Report,
    Section,
    Table,
    Verbatim,
    WinsAndLosses,
)
from assay.report.markup import Html, join, stranger_text, tag, text
from assay.report.table_markup import cell_html, inline, table_html

_WARNINGS = 4


def write_page(report: Report, path: Path) -> None:
    """Write a report as a page; a page that is there is replaced at once or not at all."""
    files.write(path, web_page(report))


def web_page(report: Report) -> str:
    """Return the page."""
    script = _resource_text("script.js")
    return Template(_resource_text("page.html")).substitute(
        title=text(report.title),
        policy=_policy(script),
        style=_resource_text("style.css"),
        script=script,
        eyebrow=text(report.eyebrow),
        facts=join([tag("span", fact) for fact in report.facts]),
        contents=join(tag("a", each.short or each.title, href=f"#{each.key}") for each in report.sections),
        body=join(map(_section, report.sections)),
        footer=text(report.footer),
    )


def alone(figure: Figure) -> str:
    """Return a drawing as a document of its own, which brings the colours of a page for light and dark."""
    colors = (
        _resource_text("style.css").partition("* {")[0]
        + "svg { color: var(--ink); font-family: system-ui, sans-serif; }"
    )
    head, _, rest = _drawing(figure).removeprefix("<svg").partition(">")
    return f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{colors}</style>{rest}'


def _resource_text(name: str) -> str:
    return resources.files("assay.report").joinpath(name).read_text("utf-8")


def _policy(script: str) -> str:
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _drawing(figure: Figure) -> str:
    try:
        from assay.report.drawing import svg
    except ModuleNotFoundError as error:
        raise MissingExtra("a drawing", str(error.name), "bench") from error
    return svg(figure)


def _section(section: Section) -> Html:
    title = tag("h2", section.title, id=f"{section.key}-title", class_="unseen" if section.untitled else None)
    return tag("section", title, *_blocks(section.blocks), id=section.key, aria_labelledby=f"{section.key}-title")


def _blocks(blocks: tuple[Block, ...]) -> Iterator[Html]:
    """Yield blocks; figures that follow one another share a grid."""
    figures: list[Html] = []
    for block in blocks:
        if isinstance(block, Paragraph | Bullets | Verbatim | Fold | Table | Panels | Entries):
            if figures:
                yield tag("div", *figures, class_="figures")
                figures = []
            yield _block(block)
        else:
            figures.append(_figure(block))
    if figures:
        yield tag("div", *figures, class_="figures")


def _block(block: Paragraph | Bullets | Verbatim | Fold | Table | Panels | Entries) -> Html:
    match block:
        case Paragraph():
            return _paragraph(block)
        case Bullets():
            return _bullets(block)
        case Verbatim():
            return tag("pre", tag("code", block.text))
        case Fold():
            return tag("details", tag("summary", block.title), table_html(block.table))
        case _:
            return table_html(block) if isinstance(block, Table) else _controlled(block)


def _controlled(block: Panels | Entries) -> Html:
    return _panels(block) if isinstance(block, Panels) else _entries(block)


def _paragraph(block: Paragraph) -> Html:
    name = "h3" if block.role == "heading" else "p"
    return tag(name, *map(inline, block.parts), class_=block.role if block.role in {"lead", "note"} else None)


def _bullets(block: Bullets) -> Html:
    """Return points; of many warnings the first are seen, and the others are folded."""
    items = [tag("li", *map(inline, item.parts)) for item in block.items]
    if not block.warning:
        return join([tag("h3", block.title), tag("ul", *items)])
    rest = tag("details", tag("summary", f"{len(items) - _WARNINGS} more"), tag("ul", *items[_WARNINGS:]))
    more = [rest] if len(items) > _WARNINGS else []
    return tag("aside", tag("h2", block.title), tag("ul", *items[:_WARNINGS]), *more, class_="warning")


def _figure(figure: Figure) -> Html:
    """Return a drawing with its title and caption; the caption is what those hear who cannot see it."""
    label = text(f"{figure.title}. {figure.caption}")
    image = Html(_drawing(figure).replace("<svg ", f'<svg aria-label="{label}" ', 1))
    plot = tag("div", image, class_="plot", tabindex=0, role="region", aria_label=figure.title)
    tall = isinstance(figure, WinsAndLosses) and len(figure.pairs) > 2
    wide = isinstance(figure, Dots) or (isinstance(figure, Curves) and len(figure.panels) > 2)
    class_ = "wide" if wide else "tall" if tall else None
    return tag("figure", tag("h4", figure.title), plot, tag("figcaption", figure.caption), class_=class_)


def _panels(block: Panels) -> Html:
    """Return panels below their controls, which show when a script can serve them."""
    controls = [_radios(choice) if choice.radio else _select(choice, choice.name) for choice in block.choices]
    form = [tag("form", *controls, class_="switch", id="switch", hidden=True)] if block.choices else []
    return join([*form, *map(_panel, block.panels)])


def _panel(panel: Panel) -> Html:
    heading = [tag("h3", panel.title, tag("small", panel.subtitle) if panel.subtitle else "")] if panel.title else []
    return tag("div", *heading, *_blocks(panel.blocks), class_="panel", **_data(panel.state))


def _data(state: Mapping[str, str]) -> dict[str, str]:
    return {f"data_{name}": value for name, value in state.items()}


def _select(choice: Choice, key: str) -> Html:
    options = [tag("option", label, value=value) for value, label in choice.options.items()]
    return tag("label", f"{choice.label} ", tag("select", *options, id=key, data_name=choice.name))


def _radios(choice: Choice) -> Html:
    radios = [
        tag(
            "label",
            tag("input", type="radio", name=choice.name, value=value, checked=at == 0),
            tag("span", label),
        )
        for at, (value, label) in enumerate(choice.options.items())
    ]
    return tag("fieldset", tag("legend", choice.label), *radios)


def _entries(block: Entries) -> Html:
    """Return entries below their filter, which shows when a script can serve it."""
    name = block.name
    search = tag("label", "Filter ", tag("input", type="search", id=f"{name}-text", placeholder="any word"))
    selects = [_select(choice, f"{name}-{choice.name}") for choice in block.choices]
    count = tag("output", counted(len(block.entries), block.noun), id=f"{name}-count", aria_live="polite")
    controls = (search, *selects, count)
    form = tag("form", *controls, class_="switch filter", id=f"{name}-form", data_noun=block.noun, hidden=True)
    items = tag("div", *map(_entry, block.entries), id=f"{name}-list", class_="entries")
    return join([form, items, tag("button", "Show more", type="button", id=f"{name}-more", hidden=True)])


def _entry(entry: ListEntry) -> Html:
    badges = [tag("span", badge, class_="badge") for badge in entry.badges]
    dots = [tag("i", class_=f"dot {_color(phrase.color)}", title=phrase.text) for phrase in entry.dots]
    by = [tag("span", entry.status, " ", *dots, class_="by")] if entry.status else []
    about = tag("span", stranger_text(entry.about), *badges, *by, class_="about")
    summary = tag("summary", stranger_text(entry.title, "span", class_="query said"), about)
    inside = [tag("dl", *map(_detail, entry.details), class_="miss")]
    if entry.text:
        inside.append(tag("pre", stranger_text(entry.text, "code", 6_000)))
    return tag("details", summary, *inside, **{f"data_{key}": " ".join(fits) for key, fits in entry.state.items()})


def _detail(detail: Detail) -> Html:
    items = [tag("li", cell_html(item)) for item in detail.items]
    listing = tag("ol", *items, class_=None if detail.ordered else "plain")
    more = [tag("span", f"and {detail.more} more", class_="remark")] if detail.more > 0 else []
    return tag("div", tag("dt", inline(detail.term)), tag("dd", listing, *more))


def _color(place: int | None) -> str:
    return "" if place is None else f"c{place % 8}"
