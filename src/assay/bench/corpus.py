"""What systems search: always a folder of files, pinned, with the questions taken out.

A checkout is written out at the commit that the ground truth speaks of, whatever its work tree holds; documents are
written one a file. Either lies in a cache under a name made of what it holds, so that it is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp

from assay.bench.truth import Truth
from assay.corpus.files import opened
from assay.corpus.pinned import commit_of, export, is_repository
from assay.corpus.walk import walk
from assay.errors import InputError
from assay.measure.lines import Span, span_of
from assay.types import Chunk

_EXTENSIONS = {"python": ".py", "javascript": ".js", "typescript": ".ts", "go": ".go", "java": ".java", "rust": ".rs"}


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus as every system gets it."""

    name: str
    root: Path
    """The folder; texts that came with a ground truth were written to it, one a file."""
    documents: tuple[Chunk, ...] = ()
    """Those texts with their ids, for systems that take texts; the path of each is its file's below `root`."""
    commit: str = ""
    digest: str = ""
    """A hash of every path and content."""


def corpus_of(truth: Truth, folder: Path | None, cache: Path) -> Corpus:
    """Return the corpus of a ground truth: its documents, or a checkout at its commit, its hidden lines blanked."""
    if truth.documents:
        return _of_documents(truth, cache)
    if folder is None or not folder.is_dir():
        where = f"'{folder}' is no folder" if folder else f"nobody said where {truth.repository or 'its corpus'} lies"
        raise InputError(f"ground truth '{truth.name}': {where}; give the checkout with --corpus FOLDER")
    commit = commit_of(folder, truth.commit) if truth.commit and is_repository(folder) else ""
    if truth.commit and not commit:
        raise InputError(f"'{folder}' is no git repository, and '{truth.name}' speaks of commit {truth.commit[:12]}")
    if not commit and not truth.hidden:
        return Corpus(truth.name, folder.resolve(), digest=_digest(folder))
    key = blake2b(repr((str(folder.resolve()), commit, truth.hidden)).encode(), digest_size=8).hexdigest()
    target = cache / f"{truth.name}-{commit[:12] or 'files'}-{key}"
    if not commit or not target.exists():
        rmtree(target, ignore_errors=True)
        _put(target, lambda beside: _checkout(folder, commit, truth.hidden, beside))
    return Corpus(truth.name, target, commit=commit, digest=_digest(target))


def lines_of(corpus: Corpus, path: str) -> list[str]:
    """Return the lines of a file of a corpus, none where there is no such file."""
    try:
        return opened(corpus.root, path).read_bytes().decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return []


def text_of(corpus: Corpus, span: Span) -> str:
    """Return the text of some lines of a file, or of all of it."""
    lines = lines_of(corpus, span.path)
    return "\n".join(lines[span.start - 1 : span.end] if span.start else lines)


def file_name(document: Chunk) -> str:
    """Return the file that a document becomes: its id where that is a good name, else a hash of it."""
    name = document.path or document.id
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    safe = name if plain.isalnum() and plain.isascii() and len(name) < 100 and not name.startswith((".", "-")) else ""
    extension = _EXTENSIONS.get(document.language, "" if "." in safe else ".txt")
    return f"{safe or blake2b(name.encode(errors='replace'), digest_size=12).hexdigest()}{extension}"


def _of_documents(truth: Truth, cache: Path) -> Corpus:
    digest = blake2b(digest_size=16)
    for document in truth.documents:
        digest.update(repr((document.path or document.id, document.language, document.text)).encode(errors="replace"))
    target = cache / f"{truth.name}-{digest.hexdigest()[:16]}"
    documents = tuple(replace(document, path=file_name(document)) for document in truth.documents)
    if not target.exists():
        _put(target, lambda beside: _write(documents, beside))
    return Corpus(truth.name, target, documents, digest=digest.hexdigest())


def _write(documents: tuple[Chunk, ...], folder: Path) -> None:
    for document in documents:
        (folder / document.path).write_text(document.text, "utf-8", errors="backslashreplace")


def _checkout(root: Path, commit: str, hidden: tuple[str, ...], folder: Path) -> None:
    if commit:
        export(root, commit, folder)
    else:
        for file in walk(root).files:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            copyfile(opened(root, file.path), folder / file.path)
    for path, spans in _by_path(hidden):
        _blank(folder / path, spans)


def _by_path(targets: tuple[str, ...]) -> Iterator[tuple[str, list[Span]]]:
    spans: dict[str, list[Span]] = {}
    for target in targets:
        span = span_of(target)
        spans.setdefault(span.path, []).append(span)
    yield from spans.items()


def _blank(file: Path, spans: list[Span]) -> None:
    """Empty some lines of a file; the others keep their numbers."""
    if not file.is_file():
        return
    lines = file.read_bytes().split(b"\n")
    for span in spans:
        for at in range(span.start - 1, min(span.end, len(lines))):
            lines[at] = b""
    file.write_bytes(b"\n".join(lines))


def _put(target: Path, write: Callable[[Path], None]) -> None:
    """Write a folder beside its place and move it there: what was cut short is never taken for whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=target.parent))
    try:
        write(beside)
        beside.chmod(0o755)
        beside.rename(target)
    finally:
        rmtree(beside, ignore_errors=True)


def _digest(root: Path) -> str:
    """Return a hash of every path that is walked and of what its file holds."""
    digest = blake2b(digest_size=16)
    for file in walk(root).files:
        content = blake2b(opened(root, file.path).read_bytes(), digest_size=16).hexdigest()
        digest.update(f"{file.path}\0{content}\n".encode(errors="replace"))
    return digest.hexdigest()
