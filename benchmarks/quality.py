"""Measure search quality on judged queries: checkouts and query sets in, one table a set with intervals out.

    python benchmarks/quality.py CHECKOUTS [--truth FOLDER] [--set NAME …] [--encoder SPEC] [--semble MODEL]

Strict measures over the first 20 hits (`assay.measure`), 95% bootstrap intervals over queries, lines a reader
reads in the first five. Peers run in the same process on the same checkouts: `bm25` is one field of stemmed words
over the same chunks, and semble is its own package with the static model that is given.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from truth import HERE, Asked, load, measured, snapshot

from assay import plugins
from assay.assemble import dictionary
from assay.measure.compare import interval
from assay.measure.lines import Span
from assay.search.filters import kept
from assay.search.hybrid import Hybrid
from assay.search.lexical import FieldWeights, bm25, match
from assay.search.question import understand
from assay.search.spelling import Speller
from assay.store.snapshot import Snapshot
from assay.types import Query

DEPTH = 20
BODY = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
NAMES = ("Hit@5", "MRR", "nDCG@10", "Recall@10", "lines@5")
Answer = Callable[[Asked], list[Span]]


def assay_answers(held: Snapshot, encoder: str) -> Answer:
    """Return the product's own answers."""
    search = Hybrid(held, plugins.make("encoder", encoder), Speller(held, dictionary))

    def answer(asked: Asked) -> list[Span]:
        hits = search.search([Query("", asked.text, mode=asked.mode)], DEPTH)[0]  # type: ignore[arg-type]
        return [Span(h.chunk.path, h.chunk.start_line, h.chunk.end_line) for h in hits]

    return answer


def bm25_answers(held: Snapshot) -> Answer:
    """Return plain BM25 over the bodies of the same chunks."""

    def answer(asked: Asked) -> list[Span]:
        scores = bm25(held, match(held, understand(asked.text).terms), BODY)
        allowed = kept(held, Query("", asked.text, mode=asked.mode))  # type: ignore[arg-type]
        best = np.argsort(-np.where(allowed, scores, 0.0), kind="stable")[:DEPTH]
        chunks = [held.chunk(int(n)) for n in best if scores[n] > 0]
        return [Span(chunk.path, chunk.start_line, chunk.end_line) for chunk in chunks]

    return answer


def semble_answers(root: Path, mode: str, model: str) -> Answer:
    """Return semble's answers with a local Model2Vec model."""
    os.environ["SEMBLE_MODEL_NAME"] = model
    from semble.index import SembleIndex
    from semble.types import ContentType

    index = SembleIndex.from_path(str(root), content=[ContentType.DOCS if mode == "docs" else ContentType.CODE])

    def answer(asked: Asked) -> list[Span]:
        chunks = [result.chunk for result in index.search(asked.text, top_k=DEPTH)]
        return [Span(_relative(str(c.file_path), root), c.start_line, c.end_line) for c in chunks]

    return answer


def _relative(path: str, root: Path) -> str:
    return os.path.relpath(path, root) if Path(path).is_absolute() else path


def groups(asked: Sequence[Asked]) -> Iterator[tuple[str, list[int]]]:
    """Yield all queries, each set and each kind, by position."""
    yield "all", list(range(len(asked)))
    for name in sorted({one.set for one in asked}):
        yield name, [i for i, one in enumerate(asked) if one.set == name]
    for kind in sorted({one.kind for one in asked}):
        yield f"~{kind}", [i for i, one in enumerate(asked) if one.kind == kind]


def main() -> None:
    """Measure every system on every set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--truth", type=Path, default=HERE)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--encoder", action="append", default=[])
    parser.add_argument("--semble", default="")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    asked = [one for one in load(given.truth) if not given.set or one.set in given.set]
    results: dict[str, list[np.ndarray[tuple[int, int], np.dtype[np.float64]]]] = {}
    for name in dict.fromkeys(one.set for one in asked):
        mine = [one for one in asked if one.set == name]
        answered: dict[str, Answer] = {}
        root = given.checkouts / mine[0].repository
        for encoder in given.encoder or ["static:default"]:
            held = snapshot(root, plugins.make("encoder", encoder))
            answered[f"assay {encoder}"] = assay_answers(held, encoder)
        answered["bm25"] = bm25_answers(held)
        if given.semble:
            answered["semble"] = semble_answers(root, mine[0].mode, given.semble)
        for system, answer in answered.items():
            results.setdefault(system, []).append(measured([answer(one) for one in mine], mine, NAMES))
    stored: dict[str, dict[str, dict[str, list[float]]]] = {}
    for system, parts in results.items():
        values = np.concatenate(parts)
        for group, members in groups(asked):
            means = values[members].mean(axis=0)
            bounds = [interval(values[members, i]) for i in range(len(NAMES))]
            cells = [f"{n} {m:.3f} [{a:.3f}, {b:.3f}]" for n, m, (a, b) in zip(NAMES, means, bounds, strict=True)]
            print(f"{system:24s} {group:18s} n={len(members):3d}  " + "  ".join(cells))
            row = {n: [float(m), a, b] for n, m, (a, b) in zip(NAMES, means, bounds, strict=True)}
            stored.setdefault(system, {})[group] = row
    if given.json:
        given.json.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
