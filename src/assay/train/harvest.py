"""Harvest pairs from the documentation of packages and repositories.

A documented unit asks with the first sentence of its documentation and is answered by its view without that
documentation; the rest of the documentation answers, too, and a heading asks for its section. What is named in a
ground truth is left out wherever it turns up, vendored copies included: trained on its own test, anything looks good.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from zlib import crc32

from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import FileEntry
from assay.corpus.walked_files import read as read_text
from assay.encode.view import view
from assay.train.pairs import TrainingPair
from assay.values import Chunk

_DEVELOPMENT = "click hono httpx"
_LEARNED = (  # by the ranking
    "aiohttp axum badger bat caddy cargo cask cli11 echo fastapi fastify fd fzf gin h3 hikaricp hyper jackson-databind "
    "joda-time jsoup just koin libuv monolog oban polly prometheus puma rayon retrofit scrapy starlette "
    "swift-argument-parser traefik werkzeug"
)
_ACCEPTANCE = "alamofire celery cobra flask gson hiredis octocode okio ripgrep zod zoekt"
_OTHER_NAMES = "argumentparser assay httpcore jackson joda"  # what they are called within, and who measures
LEFT_OUT = frozenset(f"{_DEVELOPMENT} {_LEARNED} {_ACCEPTANCE} {_OTHER_NAMES}".split())
"""Repositories that a ground truth is about, in lower case."""
_MAX_FILE_BYTES = 400_000  # bytes of a file; larger ones are generated
_PAIRS_A_SOURCE = 6_000  # so that no repository is a tenth of everything
_REST = 700  # characters of the rest of a documentation
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)|(.+?)(?:\n\s*\n|$)", re.DOTALL)
_MARKUP = re.compile(r":\w+:`~?([^`]*)`|\{@\w+\s+([^}]*)\}|</?\w+[^>]*>|[`*|]+|https?://\S+|\[([^\]]*)\]\([^)]*\)")
_MARKERS = re.compile(r"^[\s/*#!\"'\-;%<>=]+|[\s/*\"']+$")
_PROSE_KINDS = ("section", "cell")
_PASSED_OVER = frozenset(("site-packages", "test", "tests", "testdata", "node_modules"))
_MIN_QUESTION_CHARS, _MAX_QUESTION_CHARS = 14, 400  # characters of a question


@dataclass(frozen=True, slots=True)
class PackageSource:
    """A folder of one package or repository."""

    name: str
    root: Path


def repository(path: Path) -> PackageSource:
    """Return a checked-out repository as a source."""
    return PackageSource(path.resolve().name, path.resolve())


def packages_in(folder: Path) -> list[PackageSource]:
    """Return the top-level packages of a `site-packages` or library folder, as sources."""
    entries = sorted(entry for entry in folder.iterdir() if entry.is_dir() and (entry / "__init__.py").is_file())
    return [PackageSource(entry.name, entry) for entry in entries]


def environment() -> list[PackageSource]:
    """Return the installed packages and the standard library of the interpreter that runs this."""
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
    packages = [source for folder in sorted(folders) for source in packages_in(folder)]
    return [*packages, PackageSource("stdlib", Path(sysconfig.get_path("stdlib")))]


def harvest(sources: Iterable[PackageSource], *, left_out: Collection[str] = LEFT_OUT) -> Iterator[TrainingPair]:
    """Yield the pairs of all sources; a pair of texts that was seen before is passed over."""
    seen: set[tuple[str, str]] = set()
    for source in sources:
        taken = 0
        for pair in (pair for chunk in chunks_of(source, left_out) for pair in pairs_of(chunk, source.name)):
            if (pair.query, pair.code) not in seen and taken < _PAIRS_A_SOURCE:
                seen.add((pair.query, pair.code))
                taken += 1
                yield pair


def pairs_of(chunk: Chunk, source: str) -> Iterator[TrainingPair]:
    """Yield what one chunk teaches: nothing when it has no documentation, or none in sentences."""
    if chunk.kind in _PROSE_KINDS:
        yield from _section(chunk, source)
        return
    first, rest = _first_sentence(_plain(chunk.doc))
    if not _asks(first):
        return
    yield TrainingPair(first, view(undocumented(chunk)), source, "doc")
    if _asks(rest):
        yield TrainingPair(first, rest[:_REST], source, "rest")


def chunks_of(source: PackageSource, left_out: Collection[str] = LEFT_OUT) -> Iterator[Chunk]:
    """Yield the chunks of a source, file by file in a fixed order that mixes folders; nothing of one left out."""
    if _is_named(source.name, left_out):
        return
    for entry in sorted(walk(source.root).files, key=lambda entry: crc32(entry.path.encode("utf-8", "surrogatepass"))):
        text = _text(source.root, entry, left_out)
        if text:
            yield from parse(entry.path, text).chunks


def undocumented(chunk: Chunk) -> Chunk:
    """Return a chunk without its documentation."""
    return replace(chunk, doc="", text=_without(chunk.text, chunk.doc))


def _text(root: Path, entry: FileEntry, left_out: Collection[str]) -> str:
    """Return the text of a file that may be learned from, else nothing."""
    parts = PurePosixPath(entry.path).parts
    is_named = any(_is_named(part, left_out) for part in parts)
    if is_named or entry.size > _MAX_FILE_BYTES or not _PASSED_OVER.isdisjoint(parts):
        return ""
    text = read_text(root, entry)
    return text if isinstance(text, str) else ""


def _section(chunk: Chunk, source: str) -> Iterator[TrainingPair]:
    """Yield heading to text; the headings above say what a short one is about."""
    text = _plain("\n".join(chunk.text.splitlines()[1:]))
    heading = _plain(f"{chunk.parent.rpartition(' > ')[2]} {chunk.symbol}")
    if len(heading) >= _MIN_QUESTION_CHARS and len(text) >= _MAX_QUESTION_CHARS // 4:
        yield TrainingPair(heading[:_MAX_QUESTION_CHARS], text[:_REST], source, "section")


def _first_sentence(doc: str) -> tuple[str, str]:
    """Return the first sentence of a documentation, on one line, and the rest."""
    match = _SENTENCE.match(doc)
    if match is None:
        return "", ""
    return " ".join(match.group().split())[:_MAX_QUESTION_CHARS], " ".join(doc[match.end() :].split())


def _asks(text: str) -> bool:
    """Tell whether a text could be a question: some words, mostly of Latin letters."""
    letters = sum(character.isascii() and (character.isalpha() or character.isspace()) for character in text)
    return len(text) >= _MIN_QUESTION_CHARS and text.count(" ") >= 2 and letters >= 0.8 * len(text)


def _plain(text: str) -> str:
    """Return a text without the marks of documentation languages; linked words stay."""
    return _MARKUP.sub(lambda match: match.group(1) or match.group(2) or match.group(3) or " ", text).strip()


def _without(text: str, doc: str) -> str:
    """Return code without the lines of its documentation."""
    said = {_MARKERS.sub("", line) for line in doc.splitlines()}
    return "\n".join(line for line in text.splitlines() if _MARKERS.sub("", line) not in said or not line.strip())


def _is_named(name: str, left_out: Collection[str]) -> bool:
    """Tell whether a folder or file is named after a repository that is left out (`_click`, `httpx2`, `click.py`)."""
    plain = name.partition(".")[0].lower().strip("_")
    return not {plain, plain.rstrip("0123456789")}.isdisjoint(left_out)
