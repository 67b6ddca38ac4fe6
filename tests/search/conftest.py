"""What tests of a search share: a corpus in memory, of one segment or several, with some of its chunks dead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.corpus.call_facts import CodeCall, Definition, fact_row, names_in
from assay.corpus.chunk import parse
from assay.encode.vectors import HashedEncoder
from assay.encode.view import view
from assay.store.segment import build
from assay.store.snapshot import Snapshot
from assay.values import Chunk


@pytest.fixture(scope="session")
def encoder() -> HashedEncoder:
    return HashedEncoder("64")


@pytest.fixture(scope="session")
def snapshot_of(encoder: HashedEncoder) -> Callable[..., Snapshot]:
    """Return a function of one list of chunks a segment, and the ids of the dead."""

    def make(*segments: Sequence[Chunk], dead: Collection[str] = ()) -> Snapshot:
        parts = []
        for chunks in segments:
            live = np.array([chunk.id not in dead for chunk in chunks], dtype=bool)
            facts = [_facts(chunk) for chunk in chunks]
            links = [list(names_in(each)) for each in facts]
            segment = build(chunks, encoder.encode([view(chunk) for chunk in chunks], "code"), facts, links)
            parts.append((segment, None if live.all() else live))
        return Snapshot(parts)

    return make


def _facts(chunk: Chunk) -> str:
    """Return that a chunk defines its symbol, and calls what has brackets after it."""
    if not chunk.symbol:
        return ""
    defined = Definition(chunk.start_line, chunk.start_line, chunk.end_line, chunk.kind, chunk.parent, chunk.symbol)
    called = (CodeCall(chunk.start_line, name, "", chunk.symbol) for name in re.findall(r"(\w+)\(", chunk.text))
    return "\n".join(fact_row(each) for each in (defined, *called))


FILES = {
    "mail/send.py": 'def send_mail(letter):\n    """Send a letter again when it is busy."""\n    return letter\n',
    "mail/box.py": "def open_box(name):\n    return name\n",
    "mail/README.md": "# Mail\n\nHow letters are sent through a busy server, and sent again.\n",
    "shop/cart.py": 'def add_to_cart(item):\n    """Put an item into the cart."""\n    return item\n',
    "shop/price.py": "def total_price(cart):\n    return sum(cart)\n",
    "shop/README.md": "# Shop\n\nHow the price of a cart is computed.\n",
    "zoo/lion.py": 'class Lion:\n    """A lion roars when it is hungry."""\n',
    "zoo/animals.py": "def feed(animal):\n    return animal\n",
    "zoo/count.py": "def count_animals(zoo):\n    return len(zoo)\n",
}
TRUTHS = {
    "mail.csv": "query,kind,result1\nsend a letter again,standard,send.py:1-3:2\nopen a box,standard,box.py:1-2:2\n",
    "mail_docs.csv": "query,kind,result1\nhow are letters sent,standard,README.md:1-3:2\n",
    "shop.csv": "query,kind,result1\nput an item into the cart,standard,cart.py:1-3:2\nsum it,hard,price.py:1-2:1\n",
    "shop_docs.csv": "query,kind,result1\nhow is the price computed,standard,README.md:1-3:2\n",
    "zoo.csv": "query,kind,result1\nhungry lion,standard,lion.py:1-2:2\nfeed an animal,standard,animals.py:1-2:2\n",
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Path]:
    """Return the ground truths of three small repositories, and the folder of their checkouts."""
    root = tmp_path_factory.mktemp("judged")
    for folder, texts in (("checkouts", FILES), ("truths", TRUTHS)):
        for name, text in texts.items():
            (root / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (root / folder / name).write_text(text)
    return [root / "truths" / name for name in TRUTHS], root / "checkouts"


@pytest.fixture(scope="session")
def linked_snapshot_of(encoder: HashedEncoder) -> Callable[[Mapping[str, str]], Snapshot]:
    """Return a function of the texts of files by path, which returns a snapshot that knows their calls."""

    def make(files: Mapping[str, str]) -> Snapshot:
        parsed = [parse(path, text, linked=True) for path, text in sorted(files.items())]
        chunks = [chunk for file in parsed for chunk in file.chunks]
        facts = [each for file in parsed for each in file.facts or [""] * len(file.chunks)]
        vectors = encoder.encode([view(chunk) for chunk in chunks], "code")
        return Snapshot([(build(chunks, vectors, facts, [list(names_in(each)) for each in facts]), None)])

    return make
