"""Text and tags in, markup out; whatever is not known to be markup is escaped, so that forgetting is harmless."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_LONGEST = 400
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {0x7F: 0x2421}
"""Control characters are shown, as Unicode has pictures of them."""

_VOID = frozenset(("br", "input", "col"))


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | int | None) -> Html:
    """Return an element; `class_` is class, `data_unit` is data-unit, and True is an attribute without a value."""
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(start if name in _VOID else f"{start}{join(children)}</{name}>")


def join(parts: Iterable[str], between: str = "") -> Html:
    """Return parts one after another, each escaped unless it is markup."""
    return Html(str(text(between)).join(map(text, parts)))


def text(part: str) -> Html:
    """Return the markup of a text."""
    return part if isinstance(part, Html) else Html(escape(part.translate(_PICTURES)))


def stranger_text(words: str, name: str = "bdi", longest: int = _LONGEST, **attributes: str) -> Html:
    """Return what a stranger wrote, cut where it gets long, unable to turn the direction of the text around it."""
    cut = words if len(words) <= longest else words[:longest].rstrip() + " …"
    return tag(name, cut, dir="auto", class_=attributes.pop("class_", "said"), **attributes)


def _attribute(key: str, value: str | int | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
