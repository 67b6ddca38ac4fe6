"""Measure search on CoSQA: 500 questions people typed into a search engine against 6,267 functions.

    python benchmarks/cosqa.py DATA [--encoder SPEC …] [--markdown FILE]

DATA holds CoSQA in CoIR's layout (`corpus`, `queries`, `valid`, each `-00000-of-00001.parquet`) and CoCLR's
`cosqa-retrieval-dev-500.json` with `code_idx_map.txt`. CoIR's 20,604 rows repeat each code up to many times; twins are
made one, for else the order of equal texts decides. A code is one chunk and a file of its own, named by its number, as
the codes come from as many places: with one path for all, the ranking would take them for neighbours.
Every system gives each code a score; equal scores are broken by the code's number, and the mean over all orders of the
equal ones is printed beside that. A code without a score (no shared word, no candidate) is not found: it counts 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from assay import plugins
from assay.assemble import dictionary
from assay.corpus.chunk import parse
from assay.encode.view import view
from assay.protocols import Encoder
from assay.search.hybrid import Hybrid
from assay.search.lexical import FieldWeights, bm25, match
from assay.search.question import understand
from assay.search.spelling import Speller
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Query

Scores = NDArray[np.float64]
"""(queries, codes); minus infinity where a code was not found."""

BODY = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
PARTS = ("corpus", "queries", "valid")
NAMES = ("MRR", "Hit@1", "Hit@5", "Hit@10", "nDCG@10")


@dataclass(frozen=True, slots=True)
class Task:
    """Questions, each with the one right code."""

    codes: tuple[str, ...]
    questions: tuple[str, ...]
    right: tuple[int, ...]
    """The place of each question's code in `codes`."""

    def pairs(self) -> set[tuple[str, str]]:
        """Return what is asked and what is right, whatever the order."""
        return {(text, self.codes[place]) for text, place in zip(self.questions, self.right, strict=True)}


def valid(folder: Path) -> Task:
    """Read CoIR's validation split, each code once."""
    tables = {name: parquet.read_table(folder / f"{name}-00000-of-00001.parquet").to_pylist() for name in PARTS}
    text = {row["_id"]: row["text"] for name in ("corpus", "queries") for row in tables[name]}
    place = {code: n for n, code in enumerate(dict.fromkeys(row["text"] for row in tables["corpus"]))}
    judged = [row for row in tables["valid"] if int(row["score"]) > 0]
    right = tuple(place[text[row["corpus-id"]]] for row in judged)
    return Task(tuple(place), tuple(text[row["query-id"]] for row in judged), right)


def dev(folder: Path) -> Task:
    """Read CoCLR's 500 development questions and its numbered codes."""
    place = json.loads((folder / "code_idx_map.txt").read_text("utf-8"))
    codes = sorted(place, key=place.__getitem__)
    rows = json.loads((folder / "cosqa-retrieval-dev-500.json").read_text("utf-8"))
    return Task(tuple(codes), tuple(row["doc"] for row in rows), tuple(int(row["retrieval_idx"]) for row in rows))


def chunk_of(number: int, code: str) -> tuple[Chunk, bool]:
    """Return a code as one chunk that is called what its first unit is, and whether it had several."""
    found = parse(f"{number}.py", code).chunks
    first = next((chunk for chunk in found if chunk.symbol), found[0])
    lines = code.count("\n") + 1
    return replace(first, id=str(number), text=code, start_line=1, end_line=lines), len(found) > 1


def answers(task: Task, specs: list[str]) -> Iterator[tuple[str, Scores]]:
    """Yield each system with its scores."""
    chunks, several = zip(*(chunk_of(n, code) for n, code in enumerate(task.codes)), strict=True)
    print(f"{sum(several)} of {len(chunks)} codes have several units and are called by the first", flush=True)
    encoders: dict[str, Encoder] = {spec: plugins.make("encoder", spec) for spec in specs}
    viewed = {spec: encoder.encode([view(chunk) for chunk in chunks], "code") for spec, encoder in encoders.items()}
    words = Snapshot.of(chunks, viewed[specs[0]])
    yield "BM25, body", lexical(words, task, BODY)
    yield "BM25, fields", lexical(words, task, FieldWeights())
    for spec, encoder in encoders.items():
        asked = encoder.encode(task.questions, "query")
        yield f"{called(spec)} on raw code", (asked @ encoder.encode(task.codes, "code").T).astype(np.float64)
        yield f"{called(spec)} on views", (asked @ viewed[spec].T).astype(np.float64)
        yield f"assay with {called(spec)}", hybrid(Snapshot.of(chunks, viewed[spec]), encoder, task)


def called(spec: str) -> str:
    """Return a spec without the folders of this machine."""
    kind, _, name = spec.partition(":")
    return f"{kind}:{Path(name).name}"


def lexical(held: Snapshot, task: Task, weights: FieldWeights) -> Scores:
    """Score by words."""
    rows = [bm25(held, match(held, understand(text).terms), weights) for text in task.questions]
    scores = np.stack(rows).astype(np.float64)
    return np.where(scores > 0, scores, -np.inf)


def hybrid(held: Snapshot, encoder: Encoder, task: Task) -> Scores:
    """Score by the product's own searcher; what is not among its candidates is not found."""
    search = Hybrid(held, encoder, Speller(held, dictionary))
    scores = np.full((len(task.questions), len(task.codes)), -np.inf)
    found = search.search([Query("", text, mode="code") for text in task.questions], len(task.codes))
    for row, hits in zip(scores, found, strict=True):
        for hit in hits:
            row[int(hit.chunk.id)] = hit.score
    return scores


def ranks(scores: Scores, right: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rank of each right code, infinite when not found, and its expected reciprocal over orders of ties."""
    rank, expected = np.full(len(right), np.inf), np.zeros(len(right))
    for i, (row, place) in enumerate(zip(scores, right, strict=True)):
        if row[place] > -np.inf:
            above, equal = int((row > row[place]).sum()), np.flatnonzero(row == row[place])
            rank[i] = above + 1 + int((equal < place).sum())
            expected[i] = float(np.mean(1 / (above + 1 + np.arange(len(equal)))))
    return rank, expected


def measured(rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each question's measures, shape `(questions, len(NAMES))`; with one right code nDCG is a logarithm."""
    hits = [(rank <= k).astype(np.float64) for k in (1, 5, 10)]
    return np.stack([1 / rank, *hits, np.where(rank <= 10, 1 / np.log2(1 + rank), 0.0)], axis=1)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a mean over questions."""
    draws = np.random.default_rng(0).integers(0, len(values), (5000, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def table(task: Task, specs: list[str]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a system a row."""
    yield f"| system | {' | '.join(NAMES)} | MRR over ties | MRR against BM25, body | not found |"
    yield "|---|" + "---|" * (len(NAMES) + 3)
    base: NDArray[np.float64] | None = None
    for system, scores in answers(task, specs):
        rank, expected = ranks(scores, task.right)
        values = measured(rank)
        base = values[:, 0] if base is None else base
        cells = [told(values[:, column]) for column in range(len(NAMES))]
        against = told(values[:, 0] - base, sign="+") if any(values[:, 0] != base) else ""
        yield f"| {system} | {' | '.join(cells)} | {expected.mean():.3f} | {against} | {int(np.isinf(rank).sum())} |"


def told(values: NDArray[np.float64], *, sign: str = "") -> str:
    """Return a mean with its interval."""
    low, high = interval(values)
    return f"{values.mean():{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def main() -> None:
    """Measure on the validation split, and on the development set where that is another one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", action="append", default=[], help="a spec; static:default is always measured")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    first, second = valid(given.data), dev(given.data)
    tasks = {"valid": first, "dev-500": second}
    if first.pairs() == second.pairs() and set(first.codes) == set(second.codes):
        print("valid and dev-500 are the same questions, right codes and corpus: measured once")
        tasks = {"valid = dev-500": first}
    for name, task in tasks.items():
        lines = [f"CoSQA {name}", ""]
        for line in table(task, ["static:default", *given.encoder]):
            print(line, flush=True)
            lines.append(line)
        if given.markdown:
            with given.markdown.open("a", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n\n")


if __name__ == "__main__":
    main()
