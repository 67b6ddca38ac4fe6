"""Decode bytes to text: by the file's declaration, as UTF-8, by the user's setting, or else by a guess.

A file says its encoding by a byte order mark or a coding line (of Python, Emacs, Vim, HTML, XML or CSS), which counts
where the bytes decode by it. What is guessed is said, for a guess may be wrong: a library compares the lines that are
not ASCII with what people write in each encoding, and where it is unsure between alphabets Windows-1252 is taken. The
library is loaded for the first file that needs it.
"""

from __future__ import annotations

import codecs
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from dataclasses import dataclass

HEAD_BYTES = 8192
_BOMS = (
    (BOM_UTF8, "utf-8"),
    (BOM_UTF32_LE, "utf-32"),
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF16_LE, "utf-16"),
    (BOM_UTF16_BE, "utf-16"),
)
_DECLARED_BYTES = 1024
_CODING_LINE = re.compile(rb"\A(?:[^\n]*\n)?[^\n]*?coding[:=][ \t]*([-\w.]+)")
_DECLARATION = re.compile(
    rb"\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([-\w.:]+)|<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([-\w.:]+)"
    rb"|\A@charset \"([-\w.:]+)\";",
    re.IGNORECASE,
)
_LINE_ENDS = re.compile(r"-(?:unix|dos|mac)$")
"""What Emacs writes behind an encoding."""
_TEXT_ENCODING = re.compile(
    r"utf-8(?:-sig)?|(?:iso)?8859.*|latin.*|cp\d+|koi8.*|gb\w+|big5\w*|euc\w+|shift\w+|iso2022\w+|johab|hz|mac\W\w+"
    r"|iso8859.*|tis-620|kz1048|ptcp154|ascii"
)
"""Codecs of Python that read text of which ASCII is a part."""
_WIDER = {
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "big5": "big5hkscs",
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874",
}  # fmt: skip
"""What programs write that say the other one."""
_PLAIN_BYTES = frozenset(b"\t\n\f\r\x1b")
_STRETCH = re.compile(rb"[\x80-\xff][^\n]{0,200}[^ \n]{0,99}")
_BEFORE_STRETCH_BYTES = 80
MAX_GUESSED_BYTES = 65_536
"""What a guess looks at."""
_GUESSED = (
    "cp932 euc-jp gb18030 big5hkscs cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 koi8-r"
    " koi8-u iso8859-2 iso8859-7 iso8859-9"
).split()
_CP932_SIGNS, _EUC_SIGNS = frozenset((0x81,)), frozenset((0xA1, 0xA2, 0xA3))
_MULTIBYTE = {
    "cp932": (_CP932_SIGNS, frozenset((0x82, 0x83, *range(0x88, 0x98)))),
    "euc_jis_2004": (_EUC_SIGNS, frozenset((0xA4, 0xA5, *range(0xB0, 0xD0)))),
    "gb18030": (_EUC_SIGNS, frozenset(range(0xB0, 0xD8))),
    "big5hkscs": (_EUC_SIGNS, frozenset(range(0xA4, 0xC7))),
    "cp949": (_EUC_SIGNS, frozenset(range(0xB0, 0xC9))),
}
"""Encoding → the first bytes of its signs, and those of kana, hangul and the characters that are used most.

The standards put these in rows of their own; read in a wrong encoding, text is spread over all rows.
"""
_MAX_SAMPLED_CHARS = 500
"""Characters that are looked at."""
_UNSURE_FRACTION = 0.9
"""Of the best alphabet's likelihood: from here Windows-1252, which is the most frequent, is as good."""
_BROKEN_FRACTION = 0.1
"""Of what is not ASCII: where less of it is broken, the text is UTF-8 with bytes that are none."""
_NOT_CP1252 = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text, the encoding of its bytes, and whether that is a guess."""

    text: str
    encoding: str
    guessed: bool = False


def decoded(data: bytes, usual: str = "") -> str | None:
    """Return bytes as text; None if they are not text; see `read_text`."""
    found = read_text(data, usual)
    return found.text if found else None


def read_text(data: bytes, usual: str = "") -> ReadText | None:
    """Return bytes as text; None if they are not text.

    `usual` is the encoding of what is neither UTF-8 nor says what it is, where somebody knows it.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _read(data, encoding)
    if b"\0" in data[:HEAD_BYTES]:
        return _read(data, wide_encoding(data), guessed=True)
    for encoding in (*_declared(data[:_DECLARED_BYTES]), "utf-8", *_wider(usual)):
        if (found := _read(data, encoding)) is not None:
            return found
    return _guessed(data)


def wide_encoding(head: bytes) -> str:
    """Return the UTF-16 encoding of the beginning of a file, by its mark or its zero bytes; or empty."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    head = head[: min(len(head), HEAD_BYTES) & ~1]
    high, low = head[::2], head[1::2]
    for encoding, zeros, others in (("utf-16-le", low, high), ("utf-16-be", high, low)):
        if zeros.count(0) * 10 > len(zeros) and others.count(0) * 10 < zeros.count(0) and _is_plain(zeros, others):
            return encoding
    return ""


def _is_plain(high: bytes, low: bytes) -> bool:
    """Say whether two-byte characters are only text, unlike numbers, and contain a line end."""
    controls = {small for big, small in zip(high, low, strict=True) if not big and small < ord(" ")}
    return ord("\n") in controls and controls <= _PLAIN_BYTES


def _read(data: bytes, encoding: str, *, guessed: bool = False) -> ReadText | None:
    try:
        return ReadText(data.decode(encoding), encoding, guessed) if encoding else None
    except UnicodeDecodeError:
        return None


def _declared(head: bytes) -> list[str]:
    """Return the encodings that a file declares, the wider one of the name first; none if it is unknown."""
    if b"coding" not in head and b"charset" not in head.lower():
        return []
    found = _DECLARATION.search(head) or _CODING_LINE.match(head)
    name = next(filter(None, found.groups()), b"").decode() if found else ""
    try:
        codec = codecs.lookup(_LINE_ENDS.sub("", name.lower()).replace("iso-latin", "latin").removeprefix("x-")).name
    except (LookupError, ValueError):
        return []
    return _wider(codec) if _TEXT_ENCODING.fullmatch(codec) else []


def _wider(encoding: str) -> list[str]:
    """Return the wider encoding of the same name, then the encoding itself; none for an empty name."""
    codec = codecs.lookup(encoding).name if encoding else ""
    return list(filter(None, (_WIDER.get(codec), codec)))


def _guessed(data: bytes) -> ReadText:
    """Decode bytes that are not UTF-8 by their likeliest encoding."""
    repaired = data.decode(errors="replace")
    others = len(repaired) - len(repaired.encode("ascii", "ignore"))
    if repaired.count("\ufffd") < _BROKEN_FRACTION * others:
        return ReadText(repaired, "utf-8", guessed=True)
    found = _read(data, likeliest(_stretches(data)), guessed=True)
    return found or ReadText(data.decode(narrow := _western(data)), narrow, guessed=True)


def _western(data: bytes) -> str:
    return "latin-1" if _NOT_CP1252.intersection(data) else "cp1252"


def likeliest(data: bytes) -> str:
    """Return the likeliest encoding of text beyond ASCII; empty without one."""
    import chardet  # 50 ms, and only files that are not UTF-8 need it

    found = chardet.detect_all(
        data, ignore_threshold=True, compat_names=False, include_encodings=_GUESSED, empty_input_encoding="cp1252"
    )
    likely = {str(each["encoding"]): each["confidence"] for each in found if each["encoding"]}
    likely |= {name: likely[name] * 2 * _usual_fraction(data, name) ** 4 for name in _MULTIBYTE.keys() & likely.keys()}
    best = max(likely, key=lambda name: likely[name], default="")
    is_unsure = likely.get("cp1252", 0) >= _UNSURE_FRACTION * likely.get(best, 0)
    return "cp1252" if best and best not in _MULTIBYTE and is_unsure else best


def _usual_fraction(data: bytes, encoding: str) -> float:
    """Return the fraction of non-ASCII characters that are common in a multi-byte encoding."""
    signs, usual = _MULTIBYTE[encoding]
    text = [letter for letter in data.decode(encoding, "ignore") if not letter.isascii()][:_MAX_SAMPLED_CHARS]
    written = [code for letter in text if (code := letter.encode(encoding))[0] not in signs]
    return sum(len(code) == 2 and code[0] in usual for code in written) / max(len(written), 1)


def _stretches(data: bytes) -> bytes:
    """Return the lines with bytes beyond ASCII, or their surroundings in long lines, up to a limit."""
    held, end, pieces = 0, 0, list[bytes]()
    for start, stop in _spans(data):
        if start > end:
            pieces.append(b"\n")
        pieces.append(data[start:stop])
        held, end = held + stop - start, stop
        if held >= MAX_GUESSED_BYTES:
            break
    return b"".join(pieces)


def _spans(data: bytes) -> Iterator[tuple[int, int]]:
    end = 0
    for found in _STRETCH.finditer(data):
        at = found.start()
        start = max(end, at - _BEFORE_STRETCH_BYTES, data.rfind(b"\n", max(at - _BEFORE_STRETCH_BYTES, 0), at) + 1)
        end = found.end()
        yield start, end
