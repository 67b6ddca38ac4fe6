"""Pairs that were labelled in two ways in, one page that shows them side by side out.

It needs nothing else, loads nothing and runs no script; what strangers wrote is text. How many are left out is said.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from assay.bench.page.html import Html, join, said, tag
from assay.cli.judge_agreement_text import MARKS, Reasons, Texts, figure
from assay.errors import StorageError
from assay.judge.agreement import Agreement, Difference

_MOST = 1_000
_CODE, _REASON = 6_000, 2_000
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_OWN = """
.pair { margin-top: 2.4rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); }
.pair h2 { font-size: 1.1rem; } .pair pre { max-height: 32rem; overflow: auto; }
.pair td { white-space: normal; } .yes { color: var(--c2); } .no { color: var(--c1); }
"""


def write(found: Agreement, reasons: Reasons, texts: Texts, path: Path) -> None:
    """Write the page; one that is there is replaced at once or not at all."""
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(page(found, reasons, texts), "utf-8", "backslashreplace")
        beside.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; give another place for the page") from error


def page(found: Agreement, reasons: Reasons, texts: Texts) -> str:
    """Return the page."""
    style = Html(resources.files("assay.bench.page").joinpath("style.css").read_text("utf-8") + _OWN)
    total, shown = len(found.differences), found.differences[:_MOST]
    title = f"{total:,} pairs labelled in two ways"
    cut = [tag("p", f"The {_MOST:,} most divided are shown; JSON has all.", class_="note")] if total > _MOST else []
    return "<!doctype html>\n" + tag(
        "html",
        tag(
            "head",
            Html('<meta charset="utf-8">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html('<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'),
            tag("title", title),
            tag("style", style),
        ),
        tag(
            "body",
            tag("header", tag("p", "Assay judge", class_="eyebrow"), tag("h1", title), _facts(found), *cut),
            tag("main", *(_pair(each, reasons, texts) for each in shown)),
        ),
        lang="en",
    )


def _facts(found: Agreement) -> Html:
    parts = [f"{found.pairs:,} pairs of {found.queries:,} queries"]
    if len(found.counts) > 1:
        parts.append(f"alpha {figure(found.alpha)}")
    parts += [f"{name}: accuracy {figure(one.accuracy)}" for name, one in found.against.items()]
    return tag("p", *(tag("span", part) for part in parts), class_="facts")


def _pair(difference: Difference, reasons: Reasons, texts: Texts) -> Html:
    query, code = texts.get(difference.key, ("(the files do not hold the texts of this pair)", ""))
    rows = [
        tag(
            "tr",
            tag("th", said(name), scope="row"),
            tag("td", MARKS[label], class_={1: "words yes", 0: "words no", None: "words none"}[label]),
            tag("td", said(reasons[name].get(difference.key, ""), longest=_REASON), class_="words"),
        )
        for name, label in difference.said.items()
    ]
    return tag(
        "article",
        tag("h2", said(query, longest=_REASON)),
        tag("p", said(", ".join(difference.key)), class_="note"),
        tag("div", tag("table", tag("tbody", join(rows))), class_="scroll"),
        *([tag("pre", said(code, "code", longest=_CODE))] if code else []),
        class_="pair",
    )
