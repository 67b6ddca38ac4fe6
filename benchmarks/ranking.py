"""Learn the default ranking: evidence of candidates for judged queries in, `src/assay/search/data/*.json` out.

    python benchmarks/ranking.py learn CHECKOUTS        train on benchmarks/truth, write the weights
    python benchmarks/ranking.py ablate CHECKOUTS       the same without one part at a time, cross-validated

Listwise softmax over the candidates of a query (Cao et al., 2007), a target's weight being its grade times the square
root of the share of its lines that answer: long chunks must not pay. Splits are by repository, never by query.
Seeds are fixed. Queries put to the wrong repository teach what *nothing relevant* looks like.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from truth import Asked, load, measured, snapshot

from assay import plugins
from assay.encode.static import load_static
from assay.measure.lines import Span
from assay.search.features import COLUMNS
from assay.search.hybrid import SECOND_ROUND, Hybrid
from assay.search.nearness import NEAR_COLUMNS
from assay.search.ranking import ALL_COLUMNS, Weights, weights_file
from assay.search.spelling import Speller
from assay.types import Query

Array = NDArray[np.float32]
OUT = Path(__file__).parents[1] / "src/assay/search/data"
FOLDS, SEEDS, STEPS, BATCH, RATE = 4, 2, 200, 160, 0.03
HIDDEN = {"code": 16, "docs": 0}
DECAY = {"code": 0.01, "docs": 0.3}
FALSE_ALARMS = 0.05  # answerable questions that may be told that nothing is relevant


@dataclass(frozen=True, slots=True)
class Example:
    """One query with the evidence of its candidates."""

    asked: Asked
    rows: Array
    """(candidates, `ALL_COLUMNS`)."""
    spans: list[Span]
    target: Array
    """(candidates) weight of each right one, 0 for wrong ones."""


def gather(checkouts: Path, spec: str, only: Sequence[str]) -> tuple[list[Example], list[Example]]:
    """Return the examples of all sets, or of some repositories, and of the same queries put to another repository."""
    encoder = plugins.make("encoder", spec)
    words = frozenset(word for word in load_static().vocabulary.entries if word.isalpha())
    asked = [one for one in load() if not only or one.repository in only]
    names = sorted({one.repository for one in asked})
    own, foreign = [], []
    for number, name in enumerate(names):
        held = snapshot(checkouts / name, encoder)
        search = Hybrid(held, encoder, Speller(held, lambda: words))
        own += [example(search, one) for one in asked if one.repository == name]
        elsewhere = names[(number + len(names) // 2) % len(names)]
        foreign += [example(search, replace(one, entries=())) for one in asked if one.repository == elsewhere]
        print(f"{name}: {len(held)} chunks", flush=True)
    return own, foreign


def example(search: Hybrid, asked: Asked) -> Example:
    """Collect the evidence for one query."""
    query = search.meant(Query("", asked.text, mode=asked.mode))  # type: ignore[arg-type]
    vector = search.encoder.encode([query.text], "query")[0]
    sought = search.sought(query, vector)
    found = search.candidates(query, sought)
    lines = sought.snapshot.rows("lines", found.numbers)
    spans = [Span(sought.snapshot.path(int(n)), int(a), int(b)) for n, (a, b) in zip(found.numbers, lines, strict=True)]
    chunks = [sought.snapshot.chunk(number) for number in found.numbers.tolist()]
    rows = np.hstack((found.rows, search.near(sought, chunks)))
    return Example(asked, rows, spans, np.array([_weight(span, asked) for span in spans], dtype=np.float32))


def _weight(span: Span, asked: Asked) -> float:
    right = [entry for entry in asked.entries if entry.span.overlaps(span)]
    if not right:
        return 0.0
    shared = max(min(span.end, e.span.end) - max(span.start, e.span.start) + 1 for e in right)
    return max(e.grade for e in right) * (shared / (span.end - span.start + 1)) ** 0.5


Learned = dict[str, Array]


def learn(examples: Sequence[Example], mode: str, keep: Iterable[str] = ALL_COLUMNS) -> tuple[Learned, Learned]:
    """Train both rounds, the second on the candidates that the first leaves it."""
    first = train(examples, mode, COLUMNS, set(keep))
    return first, train([left(one, first) for one in examples], mode, ALL_COLUMNS, set(keep))


def left(one: Example, first: Learned) -> Example:
    """Return an example with the candidates of the second round."""
    best = np.argsort(-scored(first, one.rows[:, : len(COLUMNS)]), kind="stable")[:SECOND_ROUND]
    return Example(one.asked, one.rows[best], [one.spans[i] for i in best], one.target[best])


def train(examples: Sequence[Example], mode: str, columns: Sequence[str], keep: set[str]) -> Learned:
    """Train a linear part with one hidden layer, several seeds side by side, and return its weights."""
    examples = [one for one in examples if one.target.any()]
    rows, masks, targets = _padded(examples, len(columns))
    living = masks == 0
    mean, deviation = rows[living].mean(0), rows[living].std(0) + 1e-6
    kept = torch.tensor([float(column in keep) for column in columns])
    kept *= rows[living].std(0) > 1e-3  # what never varied was not learned, and must not weigh when it does
    rows = (rows - mean) / deviation * kept
    parts = [_fit(rows, masks, targets, mode, seed) for seed in range(SEEDS)]
    scale = kept / deviation
    hidden = torch.cat([part[1] for part in parts], dim=1) * scale[:, None]
    learned = {
        "linear": torch.stack([part[0] for part in parts]).mean(0) * scale,
        "hidden": hidden,
        "bias": torch.cat([part[2] for part in parts]) - mean @ hidden,
        "output": torch.cat([part[3] for part in parts]) / SEEDS,
    }
    return {name: weights.numpy() for name, weights in learned.items()}


def _padded(examples: Sequence[Example], columns: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    widest = max(len(one.rows) for one in examples)
    rows = torch.zeros(len(examples), widest, columns)
    masks = torch.full((len(examples), widest), -1e9)
    targets = torch.zeros(len(examples), widest)
    for i, one in enumerate(examples):
        rows[i, : len(one.rows)] = torch.tensor(one.rows[:, :columns])
        masks[i, : len(one.rows)] = 0
        targets[i, : len(one.rows)] = torch.tensor(one.target / one.target.sum())
    return rows, masks, targets


def _fit(
    rows: torch.Tensor, masks: torch.Tensor, targets: torch.Tensor, mode: str, seed: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    columns, width = rows.shape[2], HIDDEN[mode]
    linear, bias = torch.zeros(columns, requires_grad=True), torch.zeros(width, requires_grad=True)
    hidden = (torch.randn(columns, width) * 0.15).requires_grad_()
    output = (torch.randn(width) * 0.15).requires_grad_()
    weights = [linear, hidden, bias, output]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY[mode])
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
    for _ in range(STEPS):
        batch = torch.randperm(len(rows))[:BATCH]
        seen = rows[batch] * (torch.rand(len(batch), 1, columns) > 0.1)
        scores = seen @ linear + torch.relu(seen @ hidden + bias) @ output + masks[batch]
        loss = -(targets[batch] * torch.log_softmax(scores, 1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return linear.detach(), hidden.detach(), bias.detach(), output.detach()


def scored(learned: Learned, rows: Array) -> Array:
    """Return the score of each row."""
    return Weights(**learned).scores(rows)


def answered(one: Example, rounds: tuple[Learned, Learned]) -> tuple[Example, Array]:
    """Return the candidates of the second round and their scores."""
    rest = left(one, rounds[0])
    return rest, scored(rounds[1], rest.rows)


def cross_validated(
    examples: Sequence[Example], mode: str, keep: Iterable[str] = ALL_COLUMNS
) -> list[tuple[Example, Array]]:
    """Return each example's last candidates with scores by weights that were learned on other repositories."""
    names = sorted({one.asked.repository for one in examples})
    results = []
    for fold in range(FOLDS):
        out = set(names[fold::FOLDS])
        rounds = learn([one for one in examples if one.asked.repository not in out], mode, keep)
        results += [answered(one, rounds) for one in examples if one.asked.repository in out]
    return results


def figures(results: Sequence[tuple[Example, Array]]) -> dict[str, float]:
    """Return the strict measures over the first 20 hits."""
    names = ("Hit@5", "MRR", "nDCG@10", "lines@5")
    asked = [one.asked for one, _ in results]
    answers = [[one.spans[i] for i in np.argsort(-scores, kind="stable")[:20]] for one, scores in results]
    values = measured(answers, asked, names)
    hard = values[[one.kind == "hard" for one in asked], 0]
    means = dict(zip(names, values.mean(axis=0).round(3).tolist(), strict=True))
    return means | ({"hard Hit@5": round(float(hard.mean()), 3)} if len(hard) else {})


def calibrate(
    results: Sequence[tuple[Example, Array]], foreign: Sequence[Example], rounds: tuple[Learned, Learned]
) -> dict[str, float]:
    """Fit the chance of being right to the scores of the first ten hits, foreign questions among them."""
    scores, right, tops = [], [], []
    for one, given in results:
        best = np.argsort(-given)[:10]
        scores += given[best].tolist()
        right += (one.target[best] > 0).tolist()
        tops.append(float(given.max(initial=-99)))
    strangers = [float(answered(one, rounds)[1].max(initial=-99)) for one in foreign]
    a, b = logistic(np.array(scores), np.array(right, dtype=float))
    floor = float(np.quantile(tops, FALSE_ALARMS))
    caught = float(np.mean(np.array(strangers) < floor))
    print(f"  floor: {FALSE_ALARMS:.0%} of answerable questions below it, {caught:.0%} of foreign ones")
    return {"scale": a, "offset": b, "floor": float(1 / (1 + np.exp(-(a * floor + b))))}


def logistic(scores: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[float, float]:
    """Return slope and offset of the likeliest logistic curve, by Newton's method."""
    inputs = np.stack([scores, np.ones_like(scores)], axis=1)
    weights = np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        slope = inputs.T @ (right - chance) - 1e-3 * weights
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + 1e-3 * np.eye(2)
        weights += np.linalg.solve(bend, slope)
    return float(weights[0]), float(weights[1])


def main() -> None:
    """Run one of the two commands for code and for documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("learn", "ablate"))
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--encoder", default="static:default")
    parser.add_argument("--only", action="append", default=[], help="a repository; repeatable")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    torch.set_num_threads(1)
    own, foreign = gather(given.checkouts, given.encoder, given.only)
    for mode in ("code", "docs"):
        mine = [one for one in own if one.asked.mode == mode]
        if given.what == "ablate":
            ablate(mode, mine)
        else:
            strangers = [one for one in foreign if one.asked.mode == mode]
            write(mode, mine, strangers, given.out / weights_file(mode, given.encoder))


def write(mode: str, own: Sequence[Example], foreign: Sequence[Example], out: Path) -> None:
    """Cross-validate for the record, then learn from everything and store it."""
    results = cross_validated(own, mode)
    print(mode, "cross-validated by repository:", figures(results), flush=True)
    rounds = learn(own, mode)
    stored: dict[str, object] = {"columns": ALL_COLUMNS}
    for name, learned in zip(("first", "second"), rounds, strict=True):
        stored[name] = {part: np.round(weights.astype(float), 4).tolist() for part, weights in learned.items()}
    stored |= calibrate(results, foreign, rounds)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(stored) + "\n", "utf-8")


PARTS = {
    "words in fields (BM25F)": ("lexical", "lexical_share", "lexical_place", "doc_score", "body_score", "words_known"),
    "covered words": ("covered", "covered_name", "covered_context", "covered_doc", "covered_body", "rare_missing"),
    "vectors": ("dense", "dense_share", "dense_place", "meaning_known"),
    "nearness of words": NEAR_COLUMNS,
    "names": ("name_precision", "name_whole", "body_whole", "code_like_name"),
    "rest of the file": ("file_lexical", "file_dense"),
    "kind of unit": ("callable", "type", "block", "prose", "asked_kind", "has_doc"),
    "tests, examples and asides down": ("test", "test_asked", "example", "aside", "aside_asked"),
    "length": ("log_lines",),
}


def ablate(mode: str, own: Sequence[Example]) -> None:
    """Print what each part is worth."""
    print(mode, "| all |", figures(cross_validated(own, mode)), flush=True)
    for part, columns in PARTS.items():
        rest = [column for column in ALL_COLUMNS if column not in columns]
        print(mode, f"| without {part} |", figures(cross_validated(own, mode, rest)), flush=True)


if __name__ == "__main__":
    main()
