"""Strip comments and docstrings of their markers and markup."""

from __future__ import annotations

import re

_LINE = re.compile(
    r"^[ \t]*(?:#!.*|//[/!]?|#+|--+(?: ?[|^])?|;+|\*+(?!/)|/\*[*!]*|%+|\(\*)?[ \t]?"  # what opens a line
    r"(.*?)[ \t]*(?:\*+/|\*\)|-\})?[ \t\r]*$"  # the words, and what closes a comment
)
_TAG = re.compile(
    r"^[@\\](?:param|arg|tparam|returns?|throws|exception|see|link|since|author|type|brief|deprecated)\b[ \t]*"
)
_INLINE = re.compile(r"\{@\w+[ \t]+([^{}]*)\}")
_HTML = re.compile(
    r"</?(?:p|code|pre|ul|ol|li|b|i|em|strong|br|a|summary|remarks|para|see|param|returns|tt|h\d)\b[^<>]*/?>"
)
_LICENSE = re.compile(r"copyright|licen[sc]e|spdx-", re.IGNORECASE)
_LITERAL = re.compile(r'\s*[rR]?"""[^"]*(?:"{1,2}[^"]+)*"""')
_OPENING = re.compile(r"(?:\s*(?:/\*(?:[^*]|\*(?!/))*\*/|(?://|#(?!include|define|if|\[)|--).*)[ \t\r]*(?:\n|$))+")
_MAX_COMMENT_CHARS = 4000


def plain_comment(comment: str) -> str:
    """Strip the markers of a comment and the markup of Javadoc, JSDoc and XML documentation, not their words."""
    lines = [_TAG.sub("", _LINE.sub(r"\1", line)) for line in comment[:_MAX_COMMENT_CHARS].split("\n")]
    text = "\n".join(lines).replace('@doc """', "").replace('"""', "")
    if "{@" in text:
        text = _INLINE.sub(r"\1", text)
    if "<" in text:
        text = _HTML.sub("", text)
    return text.strip()


def docstring(literal: str) -> str:
    """Strip the prefix, quotes and indentation of a string literal that documents a unit."""
    text = literal[:_MAX_COMMENT_CHARS].lstrip("rRuUbBfF@")
    quote = next((mark for mark in ('"""', "'''", '"', "'") if text.startswith(mark)), "")
    body = text[len(quote) :]
    body = body.removesuffix(quote) if quote else body
    return "\n".join(line.strip() for line in body.split("\n")).strip()


def opening(text: str) -> str:
    """Return the comment or docstring that a block begins with, unless it is the legal header of a file."""
    if match := _LITERAL.match(text):
        return docstring(match[0].strip())
    match = _OPENING.match(text)
    if match is None or _LICENSE.search(match[0][:1500]):
        return ""
    return plain_comment(match[0])
