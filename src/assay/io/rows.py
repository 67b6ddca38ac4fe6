"""Read the rows of a file: JSON lines, a JSON list, CSV, TSV or parquet, plain, gzipped or packed with zstd.

What is packed is told by its first bytes, whatever the file is called. A pipe can be read once, and readers look
twice: what it says is kept in a temporary file for as long as this process runs. How much a packed file may hold is
bounded, and so is a line. Text is UTF-8, with a byte order mark or without; UTF-16 is refused, and so is nothing.

The form is told by what the file holds, then by its ending. A row is a physical line, counted from 1 as an editor
shows it; of parquet, which has no lines, the number of the row. A bad row is a problem with its place, `FILE:ROW`, and
the rest counts; a file that cannot be read at all is an error. Lines are read as they are asked for, never all at once.
"""

from __future__ import annotations

import atexit
import csv
import gzip
import io
import json
import os
import re
import stat
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from typing import Any, BinaryIO, Literal

from assay.errors import InputError, MissingExtra
from assay.values import Problem

MAX_UNPACKED_BYTES = 8 * 10**9
"""What a packed file or a pipe may hold: a million documents of 8 KB."""
MAX_LINE_BYTES = 1 << 28
MAX_TEXT_BYTES = 2 * 10**9
"""Bytes of what has to be in memory at once, such as one JSON list."""
_BLOCK = 1 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ENDINGS = (".gz", ".zst")


def plain(path: Path) -> Path:
    """Return a file's path without the suffix of its compression."""
    return path.with_suffix("") if path.suffix.lower() in _ENDINGS else path


def first_bytes(path: Path, most: int = 1 << 16) -> bytes:
    """Return the first bytes of a file, unpacked, without a byte order mark."""
    with unpacked(path) as file:
        return file.read(most).removeprefix(BOM_UTF8)


def whole(path: Path) -> bytes:
    """Return a whole text, unpacked, without a byte order mark."""
    with unpacked(path) as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise InputError(f"{path} is one text of more than {MAX_TEXT_BYTES // 10**9} GB: write it as JSON lines")
    return _text(path, data)


def blocks(path: Path) -> Iterator[bytes]:
    """Yield a text in blocks of whole lines, unpacked, without a byte order mark."""
    seen, blank, size = False, True, 0
    with unpacked(path) as file:
        while block := file.read(_BLOCK):
            if not block.endswith(b"\n"):
                block += file.readline(MAX_LINE_BYTES)
            size += len(block)
            if len(block) >= MAX_LINE_BYTES:
                raise InputError(f"{path} has a line of more than {MAX_LINE_BYTES >> 20} MB: it is not a file of rows")
            if size > MAX_UNPACKED_BYTES:
                _refuse_larger(path)
            block = block if seen else _text(path, block, whole=False)
            seen, blank = True, blank and not block.strip()
            yield block
    if blank:
        raise InputError(f"{path} is empty")


def on_disk(path: Path) -> Path:
    """Yield an unpacked file on disk, for a reader that has to seek."""
    with _raw(path) as (file, magic):
        packed = magic.startswith((_GZIP, _ZSTD))
        return _copied(path, os.fstat(file.fileno()).st_mtime_ns) if packed else _standing(path)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for its unpacked bytes; every failure to read it is one InputError."""
    packed = "gzip"
    try:
        with _raw(path) as (raw, magic), ExitStack() as stack:
            file: Any = raw
            if magic.startswith(_GZIP):
                file = io.BufferedReader(stack.enter_context(gzip.GzipFile(fileobj=raw)), _BLOCK)
            elif magic == _ZSTD:
                packed = "zstd"
                file = stack.enter_context(parquet(path, "zstd").unpacked_zstd(raw))
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is a damaged {packed} file: {error}; fetch it again") from error
    except OSError as error:
        if packed == "zstd" and error.errno is None:
            raise InputError(f"{path} is a damaged zstd file: {error}; fetch it again") from error
        raise _unreadable(path, error) from error


@contextmanager
def _raw(path: Path) -> Iterator[tuple[io.BufferedReader, bytes]]:
    try:
        file = _standing(path).open("rb")
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with file:
        yield file, file.peek(len(_ZSTD))[: len(_ZSTD)]


def _standing(path: Path) -> Path:
    """Return a file that can be read twice: the path itself, or a copy of a pipe."""
    path = Path("/dev/stdin") if str(path) == "-" else path
    about = path.stat()
    pipe = stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode)
    terminal = stat.S_ISCHR(about.st_mode) and path.name == "stdin" and os.isatty(0)
    return _copy_pipe(path, about.st_dev, about.st_ino) if pipe or terminal else path


@cache
def _copy_pipe(path: Path, *_: int) -> Path:
    """Copy a pipe to a temporary file of this process."""
    with path.open("rb") as pipe:
        return _temporary(path, pipe)


@cache
def _copied(path: Path, *_: int) -> Path:
    """Unpack a file to a temporary file of this process."""
    with unpacked(path) as file:
        return _temporary(path, file)


def _temporary(path: Path, file: BinaryIO) -> Path:
    descriptor, name = mkstemp(prefix="assay-")
    atexit.register(_remove, Path(name), os.getpid())
    with os.fdopen(descriptor, "wb") as copy:
        while block := file.read(_BLOCK):
            copy.write(block)
            if copy.tell() > MAX_UNPACKED_BYTES:
                _refuse_larger(path)
    return Path(name)


def _remove(file: Path, process: int) -> None:
    if os.getpid() == process:  # a fork has the file and not the right to it
        file.unlink(missing_ok=True)


def _refuse_larger(path: Path) -> None:
    raise InputError(f"{path} has more than {MAX_UNPACKED_BYTES // 10**9} GB: split it")


def _text(path: Path, data: bytes, *, whole: bool = True) -> bytes:
    """Return the beginning of a text without its byte order mark; refuse empty files and UTF-16."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16, wanted UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8")
    data = data.removeprefix(BOM_UTF8)
    if whole and not data.strip():
        raise InputError(f"{path} is empty")
    return data


def _unreadable(path: Path, error: Exception) -> InputError:
    """Return the error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"no such file or folder: '{path}'")
    if isinstance(error, IsADirectoryError):
        return InputError(f"'{path}' is a folder, wanted a file")
    return InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")


Form = Literal["lines", "list", "table", "parquet"]
Row = tuple[int, dict[str, Any]]
_LOOKED_AT = 20
"""Rows whose fields tell what a file is: the first may be broken."""
_GAP = re.compile(r"[\s,]*")
_NOT_TEXT = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, as `surrogateescape` reads them."""
_NAME = re.compile(r"[\w .-]+")
_MARKS = ("\t", ",", ";")
_TABLES = (".csv", ".tsv")
ENDINGS = frozenset((*_TABLES, ".json", ".jsonl", ".parquet"))
"""What the name of a file of rows may end in, before the ending of a packer."""


class Cells(dict[str, Any]):
    """A row of a table of text: numbers and lists are parsed when they are needed."""


def place(path: Path, row: int) -> str:
    """Return the name of a row in messages."""
    return f"{path if path.is_relative_to('/dev') else path.name}:{row}"


def suffix(path: Path) -> str:
    """Return the suffix of an unpacked file, in lower case."""
    return plain(path).suffix.lower()


def form_of(path: Path) -> Form:
    """Return the form of a file, by its content, then by its suffix."""
    head = first_bytes(path)
    if head.startswith(b"PAR1"):
        return "parquet"
    first = head.lstrip()[:1]
    if first in {b"{", b"["}:
        return "lines" if first == b"{" else "list"
    ending = suffix(path)
    if ending == ".parquet":
        return "parquet"
    return "table" if ending in _TABLES or (ending not in {".json", ".jsonl"} and _is_header(head)) else "lines"


def objects(path: Path, problems: list[Problem], columns: Sequence[str] = (), most: int | None = None) -> Iterator[Row]:
    """Yield the objects of a file, each with its row; of Parquet, only the named columns are read.

    With `most`, no more rows than that are looked at.
    """
    form = form_of(path)
    if form == "parquet":
        found = parquet(path).rows_of(on_disk(path), path, MAX_UNPACKED_BYTES, columns, most)
    elif form == "list":
        found = _listed(path, problems)
    else:
        found = (_rows_by_name if form == "table" else _json_lines)(path, problems, most)
    yield from islice(found, most)


def sample(path: Path, problems: list[Problem]) -> list[dict[str, Any]]:
    """Return the first objects of a file, which show its format."""
    return [fields for _, fields in objects(path, problems, most=_LOOKED_AT)]


def cells(path: Path, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, beginning with the column names; objects are converted to such rows."""
    if form_of(path) in {"table", "lines"} and not first_bytes(path).lstrip().startswith(b"{"):
        yield from _split(path, problems)
        return
    rows = list(objects(path, problems))
    header = list(dict.fromkeys(name for _, fields in rows for name in fields))
    yield (rows[0][0] if rows else 1), header
    for row, fields in rows:
        yield row, [_cell(fields.get(name, "")) for name in header]


def lines(path: Path, problems: list[Problem], *, returns: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text without line ends; one with a NUL or invalid UTF-8 is a problem, and empty.

    With `returns` a carriage return at the end of a line stays.
    """
    row = 0
    for block in blocks(path):
        texts = _decoded(block if returns else block.replace(b"\r\n", b"\n"))
        if texts is None:
            texts = [_line(line, place(path, row + at), problems) for at, line in enumerate(block.split(b"\n"), 1)]
        if not texts[-1]:
            texts.pop()
        yield from enumerate(texts, row + 1)
        row += len(texts)


def value_of(path: Path) -> Any:
    """Return the JSON value in a file."""
    try:
        return json.loads(whole(path).decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}") from error


def text_of(path: Path) -> str:
    """Return the text of a file."""
    try:
        return whole(path).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: byte {error.object[error.start]:#04x} at {error.start}") from error


def parquet(path: Path, what: str = "parquet") -> Any:
    """Import the module for Parquet and zstd, which is loaded only when needed."""
    try:
        from assay.io import parquet as owner
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("assay"):
            raise
        raise MissingExtra(f"{what} ('{path.name}')", error.name, "bench") from error
    return owner


def _is_header(head: bytes) -> bool:
    """Say whether a text begins with a row of column names."""
    names = next(csv.reader([head.partition(b"\n")[0].decode("utf-8", "replace").strip()], delimiter=_mark(head)), [])
    return len(names) > 1 and all(_NAME.fullmatch(name.strip()) and not name.strip().isdecimal() for name in names)


def _mark(head: bytes) -> str:
    """Return the separator of the cells of a table."""
    first = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    return next((mark for mark in _MARKS if mark in first), ",")


def _decoded(block: bytes) -> list[str] | None:
    """Return the lines of a block; None for one that is not text."""
    try:
        return None if b"\0" in block else block.decode().split("\n")
    except UnicodeDecodeError:
        return None


def _line(line: bytes, where: str, problems: list[Problem]) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        problems.append(Problem(where, f"not UTF-8: byte {line[error.start]:#04x} at column {error.start + 1}"))
        return ""
    if "\0" in text:
        problems.append(Problem(where, "a NUL byte"))
        return ""
    return text


def _json_lines(path: Path, problems: list[Problem], most: int | None = None) -> Iterator[Row]:
    decode = json.JSONDecoder().raw_decode
    for row, line in islice(lines(path, problems), most):
        text = line.strip()
        if not text:
            continue
        try:
            value, end = decode(text)
            if end < len(text):
                json.loads(line)  # which says what is too much
        except (ValueError, RecursionError) as error:
            problems.append(Problem(place(path, row), f"not JSON: {error}"))
            continue
        if isinstance(value, dict):
            yield row, value
        else:
            problems.append(Problem(place(path, row), _no_object(value)))


def _listed(path: Path, problems: list[Problem]) -> Iterator[Row]:
    """Yield the objects of a JSON list, also those before a broken one."""
    text = whole(path).decode("utf-8", "surrogateescape")
    is_clean = not _NOT_TEXT.search(text)
    decode = json.JSONDecoder().raw_decode
    at, row, seen = text.index("[") + 1, 1, 0
    while True:
        at = _GAP.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        row, seen = row + text.count("\n", seen, at), at
        if text.startswith("]", at):
            return
        try:
            value, at = decode(text, at)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(place(path, row), f"not JSON: {error}; nothing after it is read"))
            return
        what = "" if isinstance(value, dict) else _no_object(value)
        if what or not (is_clean or not _NOT_TEXT.search(text, seen, at)):
            problems.append(Problem(place(path, row), what or "not UTF-8"))
        else:
            yield row, value


def _no_object(value: object) -> str:
    return f"wanted a JSON object, found {type(value).__name__} {str(value)[:40]!r}"


def _rows_by_name(path: Path, problems: list[Problem], most: int | None = None) -> Iterator[Row]:
    """Yield the rows of a table as objects; a cell without a column name is a problem."""
    rows = _split(path, problems)
    _, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    for row, found in islice(rows, most):
        if len(found) > len(names):
            problems.append(Problem(place(path, row), f"{len(found)} cells, wanted {len(names)}"))
        else:
            yield row, Cells(zip(names, found, strict=False))


def _split(path: Path, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with its first line number; after a broken row, continue with the next line."""
    mark = "\t" if suffix(path) == ".tsv" else _mark(first_bytes(path))
    texts = lines(path, problems, returns=True)
    again, taken = deque[str](), list[str]()

    def feed() -> Iterator[str]:
        while (line := again.popleft() if again else next(texts, (0, None))[1]) is not None:
            taken.append(line)
            yield f"{line}\n"

    row, reader, found = 1, csv.reader(feed(), delimiter=mark, strict=True), list[str]()
    while True:
        taken.clear()
        try:
            found = next(reader, [])
        except csv.Error as error:
            problems.append(Problem(place(path, row), f"not a row of CSV: {error}"))
            again.extendleft(reversed(taken[1:]))
            del taken[1:]
            reader, found = csv.reader(feed(), delimiter=mark, strict=True), []
        if any(found):
            yield row, found
        if not taken:
            return
        row += len(taken)


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
