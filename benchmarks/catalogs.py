"""Folders of message catalogs in, sentences of English with their translations out, as JSON lines for lexicon.py.

python benchmarks/catalogs.py FOLDER... --out pairs.jsonl

Catalogs are what programs and manuals ship in other languages: `.po` of gettext, `.xlf` of XLIFF 1.2, the diagnostics
of the TypeScript compiler, and the language packs of Visual Studio Code, whose English stands in the program. Markup,
code, identifiers and placeholders are dropped from both sides; what is long is cut at the ends of its sentences,
if both sides have as many.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

_VARIANT = re.compile(
    r"(?<![a-z])(zh[-_](?:cn|hans)|pt[-_]br|(?:de|es|ru|ja|fr|it|ko|nl|pl|tr|cs|sv|da|fi|hu|ro|vi)(?:[-_][a-z]{2})?)(?![a-z])"
)
_OTHERS = ("es_", "es-", "fr_ca", "de_at", "de_ch")  # spoken elsewhere: what of them is wanted is named es_es
_LONGEST = 30  # words of a sentence; longer ones say little about a word

_MARKUP = re.compile(
    r"``[^`]*``|:[\w:+-]+:`[^`<]*`|`__?|<[^<>]*>|https?://\S+|%\(\w+\)[a-z]|%[-+ 0-9.*]*[a-zA-Z]\b|\{[^{}]*\}|"
    r"\$\w+|\|\w+\||&(?:\w+;)?|[`*|~^]|\\[a-z]|\[/?\w+[^\]]*\]|--?[a-z][\w-]*|\w*[_./\\@]\w[\w./\\]*"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。\uff01\uff1f])\s*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LOCALIZE = re.compile(r"localize2?\((\d+), (\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", type=Path, nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    seen: set[tuple[str, str, str]] = set()
    with given.out.open("w", encoding="utf-8") as out:
        for folder in given.folders:
            for language, english, foreign in sentences(folder):
                if (language, english, foreign) not in seen:
                    seen.add((language, english, foreign))
                    row = {"source": folder.name, "language": language, "english": english, "foreign": foreign}
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    for language, count in Counter(language for language, _, _ in seen).most_common():
        print(f"{language} {count:,} pairs")


def sentences(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield language, English and translation of everything that a folder's catalogs hold."""
    for language, english, foreign in messages(folder):
        left, right = (_ENDS.split(_plain(text)) for text in (english, foreign))
        together = zip(left, right, strict=True) if len(left) == len(right) else [(" ".join(left), " ".join(right))]
        for one, other in together:
            if one and other and one != other and len(one.split()) <= _LONGEST and len(other) <= 12 * _LONGEST:
                yield language, one, other


def messages(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield language, English and translation of every message."""
    english = dict(_localized(folder))
    for path in sorted(folder.rglob("*")):
        language = _language(path.relative_to(folder.parent).as_posix().lower())
        if path.suffix == ".po" and language:
            yield from ((language, *pair) for pair in po(path))
        elif path.suffix == ".xlf" and language:
            yield from ((language, *pair) for pair in xlf(path))
        elif path.name == "diagnosticMessages.generated.json" and language:
            texts = json.loads(path.read_text(encoding="utf-8"))
            yield from ((language, re.sub(r"_\d*$", "", key).replace("_", " "), text) for key, text in texts.items())
        elif path.name == "main.i18n.json.js" and language:
            yield from ((language, english[at], text) for at, text in _pack(path) if at in english)


def po(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the translated messages of a gettext catalog; of plurals the first form, fuzzy ones are passed over."""
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line.startswith("#"):
                name = ""
                if ", fuzzy" in line:
                    break
                continue
            if line.startswith("msg"):
                name = line.split(maxsplit=1)[0]
            if name:
                fields[name] = fields.get(name, "") + "".join(map(_unescape, _STRING.findall(line)))
        else:
            foreign = fields.get("msgstr") or fields.get("msgstr[0]")
            if fields.get("msgid") and foreign:
                yield fields["msgid"], foreign


def xlf(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the translated units of an XLIFF file."""
    space = "{urn:oasis:names:tc:xliff:document:1.2}"
    for unit in ET.parse(path).iter(f"{space}trans-unit"):  # noqa: S314  whoever runs this chose the catalogs
        source, target = unit.find(f"{space}source"), unit.find(f"{space}target")
        if source is not None and target is not None and target.get("state") == "translated":
            yield "".join(source.itertext()), "".join(target.itertext())


def _localized(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield what the program of a language pack says in English, by its number."""
    for path in folder.rglob("*.js") if any(folder.rglob("main.i18n.json.js")) else ():
        for number, text in _LOCALIZE.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield int(number), ast.literal_eval(text)


def _pack(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    entries = json.loads(text[text.index("[") : text.rindex("]") + 1].replace("\tundefined", "\tnull"))
    return ((at, entry) for at, entry in enumerate(entries) if entry)


def _language(path: str) -> str:
    """Return the language that a path names last, empty where that is none of those wanted."""
    named = [one for one in _VARIANT.findall(path) if one.startswith(("es_es", "es-es")) or not one.startswith(_OTHERS)]
    return named[-1][:2] if named else ""


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": " ", "t": " "}.get(found[1], found[1]), text)


def _plain(text: str) -> str:
    text = re.sub(r"(?<=\w)[_&](?=\w)(?![\w]*_)|(?<!\w)[_&](?=\w)", "", text) if len(text) < 60 else text
    text = re.sub(r":[\w:+-]+:`([^`<]*)<[^`]*>`", r"\1", text)
    text = re.sub(r"`([^`<]+)<[^`]*>`_?_?", r"\1", text)
    return re.sub(r"\s+", " ", _MARKUP.sub(" ", text)).strip()


if __name__ == "__main__":
    main()
