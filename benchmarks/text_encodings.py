"""Count source files in other encodings without a mark that are decoded as they were written, and time it.

python benchmarks/text_encodings.py [--by assay …] [--libraries FOLDER] [--part all] [--wrong]

The files are code with English identifiers, and comments and strings in thirteen languages (`comments.json`), with one
comment, three, or many, in seventeen encodings. `--by` takes assay, and chardet, chardetng_py, cchardet or
charset_normalizer on the whole file, on its lines that are not ASCII (`chardet:lines`), or on such words (`:words`).
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ENCODINGS = {
    "ja": ("cp932", "euc_jp"), "zh-cn": ("gbk",), "zh-tw": ("big5",), "ko": ("euc_kr",), "ru": ("cp1251", "koi8_r"),
    "el": ("cp1253", "iso8859_7"), "tr": ("iso8859_9",), "pl": ("cp1250", "iso8859_2"), "cs": ("cp1250", "iso8859_2"),
    "de": ("cp1252",), "fr": ("cp1252",), "es": ("cp1252",), "he": ("cp1255",),
}  # fmt: skip
WIDE = ("utf-16-le", "utf-16-be")
KINDS = ("c", "py", "java", "pas")


def files(part: str) -> Iterator[tuple[str, str, str]]:
    """Yield language, encoding and text of each file, of all sentences, or of every second one."""
    sentences = json.loads(Path(__file__).with_name("comments.json").read_text("utf-8"))
    step = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}[part]
    heads, units = ({kind: "".join(sentences[f"{part} {kind}"]) for kind in KINDS} for part in ("head", "unit"))
    for language, encodings in ENCODINGS.items():
        some = sentences[language][step]
        for kind, unit in units.items():
            plain = [unit.format("see the manual", "out of range", "bad value", n=n) for n in range(6)]
            one = [unit.format(sentence, "out of range", "bad value", n=n) for n, sentence in enumerate(some)]
            full = [unit.format(*(some[(n + at) % len(some)] for at in (0, 1, 2)), n=n) for n in range(len(some))]
            short = [f"{heads[kind]}{plain[0]}{each}{plain[1]}" for each in one[len(kind) % 2 :: 2]]
            texts = [*short, heads[kind] + plain[0] + full[0], heads[kind] + "".join(full) + "".join(plain)]
            wide = [texts[0], texts[-1]] if kind in {"c", "java"} else []
            yield from ((language, encoding, text) for encoding in encodings for text in texts)
            yield from ((language, encoding, text) for encoding in WIDE for text in wide)


def whole(data: bytes) -> bytes:
    return data


def lines(data: bytes) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if not line.isascii())


def words(data: bytes) -> bytes:
    return b" ".join(re.findall(rb"[A-Za-z]*[\x80-\xff][^\x00-\x20]*", data))


PARTS = {"": whole, "whole": whole, "lines": lines, "words": words}


def detector(name: str) -> Callable[[bytes], str | None]:
    """Return what says the encoding of bytes by a library."""
    library = importlib.import_module(name)
    if name == "charset_normalizer":
        return lambda data: best.encoding if (best := library.from_bytes(data).best()) else None
    if name == "chardetng_py":
        return lambda data: str(library.detect(data))
    return lambda data: library.detect(data)["encoding"]


def decoder(by: str) -> Callable[[bytes], str | None]:
    if by == "assay":
        from assay.corpus.encodings import decoded

        return decoded
    name, _, part = by.partition(":")
    detect, take = detector(name), PARTS[part]

    def decode(data: bytes) -> str | None:
        try:
            return data.decode(detect(take(data)) or "cp1252")
        except (LookupError, UnicodeDecodeError):
            return None

    return decode


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--by", nargs="+", default=["assay"])
    parser.add_argument("--libraries", type=Path, help="a folder into which pip installed other libraries")
    parser.add_argument("--part", default="all", choices=("all", "even", "odd"))
    parser.add_argument("--wrong", action="store_true", help="print each file that came out wrong")
    options = parser.parse_args()
    sys.path.insert(0, str(options.libraries)) if options.libraries else None
    every = list(files(options.part))
    totals = Counter(encoding for _, encoding, _ in every)
    print(f"{len(every)} files")
    for by in options.by:
        decode, right = decoder(by), Counter[str]()
        decode(b"\xe9")
        started = time.perf_counter()
        for language, encoding, text in every:
            data = text.encode(encoding)
            found = decode(data)
            right[encoding] += found == text
            if options.wrong and found != text:
                line = next((one for one in (found or "").split("\n") if not one.isascii()), "none")
                print(f"{language} {encoding} {len(data)} bytes: {line.strip()[:70]}")
        ms = (time.perf_counter() - started) * 1000 / len(every)
        row = ", ".join(f"{encoding} {right[encoding]}/{count}" for encoding, count in totals.items())
        share = sum(right.values()) / len(every)
        print(f"{by}: {sum(right.values())} of {len(every)} ({share:.3f}), {ms:.2f} ms a file: {row}")


if __name__ == "__main__":
    run()
