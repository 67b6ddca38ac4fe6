"""How high a search ranks the code that a pasted message comes from, on messages drawn from repositories themselves.

    python benchmarks/messages.py CHECKOUT...

Strings of four words or more outside tests and examples are drawn and asked for: as they stand (`quoted`, `plain`),
with something put into their variable parts (`filled`), and so behind a time and a level (`log`). Right is a chunk that
holds the string. Nothing of these questions was ever learned from.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import assay
from assay.measure.compare import interval
from assay.search.filters import PROSE, traits_of
from assay.store.snapshot import Snapshot

STRING = re.compile(r'"((?:[^"\\\n]|\\.){18,120})"')
HOLE = re.compile(r"%[-\w.]*[sdrvqfiuxg]|\$?\{[^}]*\}|%\([^)]*\)[sdr]|#\{[^}]*\}")
VALUES = ("foo", "/tmp/data.bin", "42", "api-server-7", "users")  # noqa: S108  a text, no file
DRAWN = 25
FIRST = 5


def main() -> None:
    """Print a row a repository and form, and one of all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    given = options.parse_args()
    dice = random.Random(3)  # noqa: S311  no secret hangs on it
    forms = forms_of(dice)
    places: dict[str, list[int]] = {form: [] for form in forms}
    for checkout in given.checkouts:
        with tempfile.TemporaryDirectory() as folder:
            index = assay.Index(checkout, settings={"index.location": folder})
            messages = drawn(index._workspace.snapshot, dice)  # noqa: SLF001  every chunk
            for form, write in forms.items():
                found = [place_of(index, write(text), text) for text in messages]
                places[form] += found
                print(row(checkout.name, form, found), flush=True)
    for form, found in places.items():
        print(row("all", form, found))


def forms_of(dice: random.Random) -> dict[str, Callable[[str], str]]:
    """Return what is asked for a string, by the name of the form."""

    def filled(text: str) -> str:
        return HOLE.sub(lambda _: dice.choice(VALUES), text).replace("\\n", " ")

    return {
        "quoted": lambda text: f'"{text}"',
        "plain": lambda text: text,
        "filled": filled,
        "log": lambda text: f"2024-03-01 12:00:07 ERROR [worker-3] {filled(text)}",
    }


def drawn(snapshot: Snapshot, dice: random.Random) -> list[str]:
    """Return some strings of a repository that could be messages."""
    chunks = (snapshot.chunk(number) for number in range(len(snapshot)))
    texts = (one.text for one in chunks if one.language not in PROSE and not any(traits_of(one.path)))
    strings = {found[1] for text in texts for found in STRING.finditer(text)}
    messages = sorted(text for text in strings if text[0].isalpha() and len(text.split()) >= 4 and "://" not in text)
    return dice.sample(messages, min(DRAWN, len(messages)))


def place_of(index: assay.Index, question: str, text: str) -> int:
    """Return the place of the first hit that holds a text, from 0; -1 if none of the first ten does."""
    hits = index.search(question, k=10)
    return next((place for place, hit in enumerate(hits) if text in hit.chunk.text), -1)


def row(name: str, form: str, found: list[int]) -> str:
    """Return a line of the table."""
    places = np.array(found)
    columns = {
        "first": places == 0,
        "Hit@5": (places >= 0) & (places < FIRST),
        "MRR": np.where(places < 0, 0, 1 / (places + 1.0 + (places < 0))),
    }
    shown = (
        f"{label} {value.mean():.3f} [{low:.3f}, {high:.3f}]"
        for label, value in columns.items()
        for low, high in [interval(value.astype(float))]
    )
    return f"{name:<24}{form:<8}{len(found):>5}  " + "  ".join(shown)


if __name__ == "__main__":
    main()
