"""What a system under test is and what it is given: a corpus, checked options, a folder, an environment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp
from typing import Any, Protocol

import platformdirs

from assay.corpus.pinned import commit_of, export, is_repository
from assay.corpus.walk import walk
from assay.corpus.walked_files import from_utf8
from assay.errors import InputError, nearest
from assay.io.digest import hex_digest
from assay.measure.line_spans import Span, span_of
from assay.protocols import Searcher
from assay.truth.following import hidden_places
from assay.truth.ground_truth import Truth
from assay.truth.target_places import Places
from assay.values import Chunk

_EXTENSIONS = {"python": ".py", "javascript": ".js", "typescript": ".ts", "go": ".go", "java": ".java", "rust": ".rs"}
_MAX_PATH_CHARS = 80
"""Characters of a path in an error, from its end."""


@dataclass(frozen=True, slots=True)
class SystemCorpus:
    """One corpus as every system gets it."""

    name: str
    root: Path
    """The folder; texts that came with a ground truth were written to it, one a file."""
    documents: tuple[Chunk, ...] = ()
    """Those texts with their ids, for systems that take texts; the path of each is its file's below `root`."""
    commit: str = ""
    digest: str = ""
    """A hash of every path and content."""
    undocumented: tuple[str, ...] = ()
    """Symbols whose documentation was a question and is gone."""
    history: Path | None = None
    """The repository that a copy was made of, whose history up to the commit is the copy's, too."""


def cached() -> Path:
    """Return the folder of the user's cache where corpora lie."""
    return platformdirs.user_cache_path("assay") / "corpora"


def checkout_of(truth: Truth, folder: Path | None) -> Path | None:
    """Return the folder that was given, else the one that a ground truth names as its repository, if it is there."""
    return folder or (Path(truth.repository) if truth.repository and Path(truth.repository).is_dir() else None)


def corpus_of(truth: Truth, folder: Path | None, cache: Path, *, without: tuple[Path, ...] = ()) -> SystemCorpus:
    """Return the corpus of a ground truth: its documents, or a checkout at its commit, its hidden lines blanked.

    `without` are files and folders that are left out where they lie in the checkout: they hold questions or answers.
    """
    if truth.documents:
        return _of_documents(truth, cache)
    if folder is None or not folder.is_dir():
        nobody = f"nobody said where {truth.repository or 'its corpus'} lies"
        where = f"'{folder}' is not a folder" if folder else nobody
        raise InputError(f"ground truth '{truth.name}': {where}; give the checkout with --corpus FOLDER")
    commit = commit_of(folder, truth.commit) if truth.commit and is_repository(folder) else ""
    if truth.commit and truth.hidden and not commit:  # lines of that commit are to be blanked
        raise InputError(f"'{folder}' is not a git repository, and '{truth.name}' names commit {truth.commit[:12]}")
    left_out = tuple(sorted(_below(folder, without)))
    if not commit and not truth.hidden and not truth.hidden_docs and not left_out:
        return SystemCorpus(truth.name, folder.resolve(), digest=_digest(folder))
    hidden = hidden_places(truth, lambda: Places(folder, commit, follow=True))
    told = repr((str(folder.resolve()), commit, hidden.lines, left_out))
    key = hex_digest(told, 8)
    target = cache / f"{_called(truth)}-{commit[:12] or 'files'}-{key}"
    if not commit or not target.exists():
        rmtree(target, ignore_errors=True)
        _put(target, lambda beside: _checkout(folder, commit, hidden.lines, left_out, beside))
    history = folder.resolve() if is_repository(folder) else None
    digest = _digest(target)
    return SystemCorpus(
        truth.name, target, commit=commit, digest=digest, undocumented=hidden.undocumented, history=history
    )


def lines_of(corpus: SystemCorpus, path: str) -> list[str]:
    """Return the lines of a file of a corpus, none where there is no such file."""
    try:
        file, top = from_utf8(corpus.root, path).resolve(), corpus.root.resolve()
        if not file.is_relative_to(top) or not file.is_file():
            return []  # a run may say anything, and a link lead anywhere
        return file.read_bytes().decode("utf-8", "replace").split("\n")
    except (OSError, ValueError, RuntimeError):  # links in a circle
        return []


def text_of(corpus: SystemCorpus, span: Span) -> str:
    """Return the text of some lines of a file, or of all of it."""
    lines = lines_of(corpus, span.path)
    return "\n".join(lines[span.start - 1 : span.end] if span.start else lines)


def file_names(documents: Sequence[Chunk]) -> list[str]:
    """Return the file that each document becomes: its number, for ids may be anything and are no part of the text."""
    return [f"{number}{_EXTENSIONS.get(each.language, '.txt')}" for number, each in enumerate(documents)]


def _of_documents(truth: Truth, cache: Path) -> SystemCorpus:
    digest = blake2b(digest_size=16)
    for document in truth.documents:
        digest.update(repr((document.path or document.id, document.language, document.text)).encode(errors="replace"))
    target = cache / f"{_called(truth)}-{digest.hexdigest()[:16]}"
    named = zip(truth.documents, file_names(truth.documents), strict=True)
    documents = tuple(replace(document, path=name) for document, name in named)
    if not target.exists():
        _put(target, lambda beside: _write(documents, beside))
    return SystemCorpus(truth.name, target, documents, digest=digest.hexdigest())


def _write(documents: tuple[Chunk, ...], folder: Path) -> None:
    for document in filter(lambda each: each.text, documents):  # those of qrels alone have none
        (folder / document.path).write_text(document.text, "utf-8", errors="backslashreplace")


def _called(truth: Truth) -> str:
    """Return what a folder may be called for a ground truth, whose own name may be anything."""
    return re.sub(r"[^\w.+-]", "_", truth.name, flags=re.ASCII).lstrip(".-")[:60] or "truth"


def _below(root: Path, paths: tuple[Path, ...]) -> Iterator[str]:
    """Yield those of some paths that lie below a folder, relative to it."""
    top = root.resolve()
    for path in (each.resolve() for each in paths):
        if path != top and path.is_relative_to(top):
            yield path.relative_to(top).as_posix()


def _checkout(root: Path, commit: str, hidden: tuple[str, ...], left_out: tuple[str, ...], folder: Path) -> None:
    if commit:
        export(root, commit, folder)
        for path in left_out:
            if (folder / path).is_dir():
                rmtree(folder / path)
            else:
                (folder / path).unlink(missing_ok=True)
    else:
        for file in walk(root).files:
            if any(f"{file.path}/".startswith(f"{path}/") for path in left_out):
                continue
            target = from_utf8(folder, file.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(from_utf8(root, file.path), target)
    for place in hidden:
        span = span_of(place)
        _blank(from_utf8(folder, span.path), span)


def _blank(file: Path, span: Span) -> None:
    """Empty some lines of a file, or all of them; the others keep their numbers."""
    if file.is_file():
        lines = file.read_bytes().split(b"\n")
        first, last = (span.start, span.end) if span.start else (1, len(lines))
        lines[first - 1 : last] = [b""] * len(lines[first - 1 : last])
        file.write_bytes(b"\n".join(lines))


def _put(target: Path, write: Callable[[Path], None]) -> None:
    """Write a folder beside its place and move it there: what was cut short is never taken for whole."""
    beside: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(mkdtemp(dir=target.parent))
        write(beside)
        beside.chmod(0o755)
        beside.rename(target)
    except OSError as error:
        where = str(error.filename or target)[-_MAX_PATH_CHARS:]
        raise InputError(f"the corpus cannot be written: {error.strerror or error}: …{where}") from error
    finally:
        if beside is not None:
            rmtree(beside, ignore_errors=True)


def _digest(root: Path) -> str:
    """Return a hash of every path that is walked and of what its file holds."""
    digest = blake2b(digest_size=16)
    for file in walk(root).files:
        content = hex_digest(from_utf8(root, file.path).read_bytes())
        digest.update(f"{file.path}\0{content}\n".encode(errors="replace"))
    return digest.hexdigest()


class System(Protocol):
    """What `plugins.make("system", spec)` returns; the spec's options are the other keys of its table in a matrix.

    A system runs in a process of its own, so it may hold what it likes. Its searcher is asked with one query at a
    time; a hit's chunk has path and lines below the corpus' root, whatever the system printed, and no text.
    What goes wrong with one query is raised as `AssayError` and counted against that query. A searcher whose answer
    has results although something went wrong says so in an attribute `note`; a system may have `problems` (what it
    could not use), `built_s` (how long the index took that it shares), `index_bytes()` and `close()`.
    """

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Index a corpus, at most once for equal corpora and options, and return what answers."""


GENERAL: Mapping[str, Any] = {"location": "", "timeout_s": 30.0}
"""What every system is given: a folder that is its own, and how long a query may take."""

_TYPE_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}


def checked(system: str, options: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return every known option of a system: as it was given, else its default, whose type it must have."""
    defaults = {**GENERAL, **known}
    for key, value in options.items():
        if key not in defaults:
            raise InputError(f"unknown option '{key}' of the system '{system}'; {nearest(key, sorted(defaults))}")
        if not _fits(value, defaults[key]):
            wanted = _TYPE_NAMES.get(type(defaults[key]), "a table")
            raise InputError(f"option '{key}' of the system '{system}' is {value!r}; wanted {wanted}")
    return {**defaults, **options}


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    if isinstance(default, float):
        return isinstance(value, int | float) and value > 0
    if isinstance(default, list):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, type(default))


def folder_of(location: str, kind: str, *telling: str) -> Path:
    """Return a folder below a location that belongs to everything of the same kind with the same telling texts."""
    digest = blake2b(digest_size=8)
    for place, text in enumerate(telling):  # one by one: they may be all texts of a large corpus
        separator = b"\0" if place else b""
        digest.update(separator + text.encode("utf-8", "surrogatepass"))
    folder = Path(location).resolve() / f"{kind}-{digest.hexdigest()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build_seconds(folder: Path, seconds: float, *, made: bool) -> float:
    """Return how long it took to make what is in a folder: now if it was made now, else what was noted then.

    Of several systems that share an index only the first one makes it; the figure is the same for all of them.
    """
    note = folder.with_name(f"{folder.name}.seconds")
    if made or not note.exists():
        note.write_text(repr(seconds), "utf-8")
    return float(note.read_text("utf-8"))


PASSED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""What a command gets of the environment without asking."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
"""What tells numeric libraries how many cores to use; the same for all systems."""


def small_environment(names: Sequence[str]) -> dict[str, str]:
    """Return a small environment with the named variables; `NAME=value` sets one."""
    chosen = {name: os.environ[name] for name in (*PASSED, *THREADS) if name in os.environ}
    chosen |= {"NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
    for each in names:
        name, equals, value = each.partition("=")
        if equals or name in os.environ:
            chosen[name] = value if equals else os.environ[name]
    return chosen
