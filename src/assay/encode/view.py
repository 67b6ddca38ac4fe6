"""Build the text that is embedded for a chunk: its names, its prose, and the words of its code.

Raw code drowns a mean of word vectors in syntax. The view keeps what a person would say about the chunk, most telling
first: kind, name, place, documentation, comments, signature, then the words of the body, fewer when prose is plenty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from assay.protocols import Encoder, Vectors, reads_order
from assay.terms import STOP_WORDS, parts, words
from assay.values import Chunk

_LETTER = re.compile(r"[^\W\d_]")
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")
_SLASHES = re.compile(r"(?<!:)//[/!]*[ \t]*(\S[^\n]*)|/\*+!?\s*(.*?)\s*\*/", re.DOTALL)
_HASHES = re.compile(r"(?:^|\s)#+[ \t]*([A-Za-z][^\n]*)")
_DASHES = re.compile(r"(?:^|\s)--+[ \t]*([A-Za-z][^\n]*)")

_HASH_LANGUAGES = frozenset("python ruby bash shell yaml toml elixir r perl julia nix hcl make dockerfile".split())
_DASH_LANGUAGES = frozenset("lua haskell sql elm ada".split())
_PROSE_KINDS = frozenset(("section", "cell"))
_PLAIN_FOLDERS = frozenset("src lib main java kotlin scala python internal pkg crates packages com org io net".split())
_SYNTAX = frozenset(
    "abstract all any args assert async auto await bool boolean break byte case catch char class cls const "
    "continue def default del delete dict double elif else enum err except export extends false final finally "
    "float fn for func function get goto if impl implements import in include instanceof int interface is lambda "
    "let list long match mod module mut namespace new nil none not null number object of ok option or override "
    "package pass private protected pub public raise readonly ref return self set short some static str string "
    "struct super switch this throw throws trait true try tuple type typeof undefined union unsafe unsigned use "
    "using val value var vec virtual void where while with yield".split()
)

_READ = 6000  # characters of a chunk that are looked at: about 150 lines
_DOC = 1200
_COMMENTS = 600
_PROSE = 2400
_BODY_WORDS = 40
_BODY_WORDS_BESIDE_PROSE = 16
_LONG_PROSE_CHARS = 160  # characters of documentation and comments from which the body says less than they do


Reads = Literal["auto", "view", "source"]
"""What an encoder is given for a chunk; `auto` is what suits it."""


def text_for(encoder: Encoder, chunk: Chunk, reads: Reads = "auto") -> str:
    """Return the text of a chunk for an encoder: its view, or its source if the encoder reads word order.

    Measured: a mean of word vectors does better on views, a transformer on the source under a line that places it.
    """
    if reads == "auto":
        reads = "source" if reads_order(encoder) else "view"
    return view(chunk) if reads == "view" else source(chunk)


def chunk_vectors(encoder: Encoder, chunks: Iterable[Chunk], reads: Reads = "auto") -> Vectors:
    """Return one unit-length row a chunk."""
    return encoder.encode([text_for(encoder, chunk, reads) for chunk in chunks], "code")


def source(chunk: Chunk) -> str:
    """Return the location of a chunk, its description if there is one, and its unchanged text.

    A path of numbers alone (`17.py`, a row of a data set) says nothing.
    """
    described = f"{chunk.description}\n" if chunk.description else ""
    path = f"{chunk.path} " if _LETTER.search(chunk.path.rpartition(".")[0] or chunk.path) else ""
    return f"{path}{chunk.parent} {chunk.symbol}\n{described}{chunk.text[:_READ]}"


def view(chunk: Chunk) -> str:
    """Return the text to embed for a chunk: short, lower-case names and untouched prose."""
    if chunk.kind in _PROSE_KINDS or (
        not chunk.symbol and chunk.language in ("markdown", "restructuredtext", "asciidoc")
    ):
        return _prose_view(chunk)
    names = _names(chunk)
    doc = f"{chunk.doc[:_DOC]} {chunk.description}".strip() if chunk.description else chunk.doc[:_DOC]
    comments = _comments(chunk)
    limit = _BODY_WORDS if len(doc) + len(comments) < _LONG_PROSE_CHARS else _BODY_WORDS_BESIDE_PROSE
    said = set(names)
    signature = list(_new_words(_IDENTIFIER.findall(chunk.signature), said))
    said.update(doc.lower().split())
    body = _body_words(chunk.text[:_READ], said, limit)
    return " ".join((*names, ".", doc, comments, *signature, *body))


def _prose_view(chunk: Chunk) -> str:
    """Return headings, outermost first, then the text."""
    return f"{_path_words(chunk.path)} {chunk.parent} {chunk.symbol} {chunk.symbol} {chunk.text[:_PROSE]}"


def _names(chunk: Chunk) -> list[str]:
    """Return the words of kind, symbol, parents and path, the symbol's twice: it is the shortest summary there is."""
    symbol = parts(chunk.symbol)
    parent = [word for name in chunk.parent.split(".") for word in parts(name)]
    return [chunk.kind, *symbol, *symbol, *parent, _path_words(chunk.path)]


def _path_words(path: str) -> str:
    """Return the words of the file's stem and of its two nearest folders that say something."""
    *folders, file = path.split("/")
    telling = [folder for folder in folders if folder not in _PLAIN_FOLDERS][-2:]
    return " ".join(word for name in (*telling, file.split(".")[0]) for word in parts(name))


def _comments(chunk: Chunk) -> str:
    """Return the inline comments that do not repeat the documentation."""
    pattern = (
        _HASHES if chunk.language in _HASH_LANGUAGES else _DASHES if chunk.language in _DASH_LANGUAGES else _SLASHES
    )
    found = (match.group(match.lastindex or 0) for match in pattern.finditer(chunk.text, 0, _READ))
    lines = [line for line in found if line[:40] not in chunk.doc]
    return " ".join(lines)[:_COMMENTS]


def _body_words(text: str, used: set[str], limit: int) -> list[str]:
    """Return the first `limit` new words of the body, from the identifiers used most to those used once."""
    count = _identifiers(text)
    ordered = sorted(count, key=count.__getitem__, reverse=True)
    return list(islice(_new_words(ordered, used), limit))


def _identifiers(text: str) -> dict[str, int]:
    """Count what `_IDENTIFIER` finds; in plain ASCII, nearly all code, by its distinct words and not one by one."""
    if not text.isascii():
        return Counter(_IDENTIFIER.findall(text))
    count: dict[str, int] = {}
    for word, times in Counter(words(text)).items():
        name = word if word[0] > "9" else word.lstrip("0123456789")
        if len(name) > 2:
            count[name] = count.get(name, 0) + times
    return count


def _new_words(identifiers: Iterable[str], used: set[str]) -> Iterator[str]:
    """Yield each word that is neither syntax nor a stop word once, and add it to `used`."""
    for identifier in identifiers:
        for word in parts(identifier):
            if word not in used and word not in _SYNTAX and word not in STOP_WORDS and len(word) > 2:
                used.add(word)
                yield word
