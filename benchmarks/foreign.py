"""How often a search says that nothing is relevant: of foreign questions, which should be, and of answered ones.

    python benchmarks/foreign.py TRUTH.csv... --foreign benchmarks/truth/foreign/held_out.csv --checkouts CHECKOUTS

Each repository is asked its own questions, those of the other truths given, and the foreign ones, all of code and
documentation together. *Lost* are those of its own questions that are answered in the first five and yet refused; the
interval is over questions.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

import assay
from assay.measure.compare import interval
from assay.measure.line_spans import Span
from assay.train.ranking_examples import JudgedQuery, foreign_queries, judged_queries

FIRST = 5


def main() -> None:
    """Print a row a repository, and one of all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("truths", nargs="+", type=Path)
    options.add_argument("--foreign", type=Path, required=True)
    options.add_argument("--checkouts", type=Path, required=True)
    given = options.parse_args()
    asked, foreign = judged_queries(given.truths, given.checkouts), foreign_queries([given.foreign])
    names = sorted({one.repository for one in asked})
    rows = []
    print(f"{'repository':<24}{'lost':>8}{'lost of all':>13}{'foreign refused':>17}{'others refused':>16}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            index = assay.Index(given.checkouts / name, settings={"index.location": folder})
            own = [lost(index, one) for one in asked if one.repository == name]
            others = [one for one in asked if one.repository != name]
            rows.append((own, refused(index, foreign), refused(index, others)))
        print(row(name, *rows[-1]), flush=True)
    print(row("all", *(list(chain.from_iterable(column)) for column in zip(*rows, strict=True))))


def lost(index: assay.Index, one: JudgedQuery) -> tuple[bool, bool]:
    """Return whether a question was answered in the first five, and whether the answer is said to be irrelevant."""
    answer = index.search(one.query.text, k=FIRST)
    spans = [Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in answer]
    right = any(entry.grade and entry.span.overlaps(span) for entry in one.entries for span in spans)
    return right, not answer.relevant


def refused(index: assay.Index, asked: Sequence[JudgedQuery]) -> list[bool]:
    """Return for each question whether the answer is said to be irrelevant."""
    return [not index.search(one.query.text, k=FIRST).relevant for one in asked]


def row(name: str, own: Sequence[tuple[bool, bool]], foreign: Sequence[bool], others: Sequence[bool]) -> str:
    """Return a line of the table."""
    answered = [refusal for right, refusal in own if right]
    columns = (answered, [refusal for _, refusal in own], foreign, others)
    return f"{name:<24}" + "  ".join(map(mean, columns))


def mean(values: Sequence[bool]) -> str:
    """Return a mean with its interval."""
    numbers = np.array(values, dtype=float)
    low, high = interval(numbers)
    return f"{numbers.mean():.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
