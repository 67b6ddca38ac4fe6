"""Published data in, labelled pairs for `assay train judge` out; and how a judge does on labelled pairs.

Run one of

    python benchmarks/judge_sources.py cosqa COSQA OUT          # cosqa.jsonl, cosqa-lists, cosqa-dev, cosqa-valid
    python benchmarks/judge_sources.py staqc STAQC.json... OUT  # CodeXGLUE's slices with labels: staqc.jsonl
    python benchmarks/judge_sources.py conala TRAIN.json OUT    # conala.jsonl, to report on
    python benchmarks/judge_sources.py mbpp MBPP.jsonl PROGRAMS OUT  # mbpp.jsonl, and mbpp-programs.jsonl to report on
    python benchmarks/judge_sources.py docstrings OUT           # docstrings.jsonl, from what is installed
    python benchmarks/judge_sources.py figures NAME=FILE... [--judge FOLDER] [--encoder SPEC]

COSQA is a folder in CoIR's layout with `cosqa-dev.json` and `cosqa-retrieval-dev-500.json` beside; PROGRAMS are rows of
`task_id`, `code` and `label`. Where data has right pairs alone, the wrong ones are mined: a query's candidates are the
first 20 by the mean of the standardized cosines of `static:default` and `hash`; only a right answer among these counts,
and one of the others, drawn at random, is a pair that does not match. So both were found in the same way, and what
found them cannot tell them apart.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from assay import plugins
from assay.encode.static import default_static
from assay.io import rows
from assay.judge.code_facts import read
from assay.judge.evidence import COLUMNS, ENCODER_COLUMN, evidence, with_cosines
from assay.judge.judge_figures import auc, figures_of
from assay.judge.labelled_pairs import plain, read_labelled
from assay.judge.signals import load, weights_file
from assay.train.harvest import chunks_of, environment, pairs_of, undocumented
from assay.types import Chunk, Problem, Query

CANDIDATES = 20
PACKAGE, LIBRARY = 80, 600  # functions of a package, and of the standard library
FUNCTION = re.compile(r"\s*(?:@.*\n\s*)*(?:async )?def ")
Row = dict[str, Any]


def main() -> None:
    """Write pairs, or print figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cosqa", "staqc", "conala", "mbpp", "docstrings", "figures"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--judge", default="")
    parser.add_argument("--encoder", default="")
    given = parser.parse_args()
    if given.what == "figures":
        figures(given.files, given.judge, given.encoder)
        return
    *sources, out = map(Path, given.files)
    out.mkdir(parents=True, exist_ok=True)
    {"cosqa": cosqa, "staqc": staqc, "conala": conala, "mbpp": mbpp, "docstrings": docstrings}[given.what](sources, out)


def cosqa(sources: Sequence[Path], out: Path) -> None:
    """Write CoSQA's train pairs, candidate lists of its labelled matches, and what is left out of both."""
    folder = sources[0]
    queries, codes = ({row["_id"]: row["text"] for row in rows_of(folder / f"{name}-00000-of-00001.parquet")}
                      for name in ("queries", "corpus"))  # fmt: skip
    train, valid = (
        [labelled(queries[row["query-id"]], codes[row["corpus-id"]], row["score"])
         for row in rows_of(folder / f"{name}-00000-of-00001.parquet")]
        for name in ("train", "valid")
    )  # fmt: skip
    valid += [labelled(row["doc"], row["code"], 1) for row in rows_of(folder / "cosqa-retrieval-dev-500.json")]
    dev = [labelled(row["doc"], row["code"], row["label"]) for row in rows_of(folder / "cosqa-dev.json")]
    held_out = {plain(row["query"]) for row in (*dev, *valid)}
    train = [row for row in train if plain(row["query"]) not in held_out]
    matches = [row for row in train if row["label"]]
    random.Random(3).shuffle(matches)  # noqa: S311  a draw, no secret
    for name, pairs in (("cosqa", train), ("cosqa-dev", dev), ("cosqa-valid", valid)):
        write(out, name, pairs)
    everything = list(dict.fromkeys(row["code"] for row in train))
    write(out, "cosqa-lists", mined(matches[:5_000], everything))


def staqc(sources: Sequence[Path], out: Path) -> None:
    """Write the pairs of StaQC that people labelled."""
    write(out, "staqc", [labelled(row["doc"], row["code"], row["label"]) for file in sources for row in rows_of(file)])


def conala(sources: Sequence[Path], out: Path) -> None:
    """Write CoNaLa's questions, each once, with its snippet and another."""
    asked = {plain(row["intent"]): labelled(row["intent"], row["snippet"], 1) for row in reversed(rows_of(sources[0]))}
    pairs = [*asked.values()][::-1]
    write(out, "conala", mined(pairs, list(dict.fromkeys(row["snippet"] for row in rows_of(sources[0])))))


def mbpp(sources: Sequence[Path], out: Path) -> None:
    """Write MBPP's tasks with their reference and that of another task; and with programs, right and wrong."""
    tasks = rows_of(sources[0])
    texts = {f"Mbpp/{row['task_id']}": row["text"] for row in tasks}
    codes = [row["code"].replace("\r", "") for row in tasks]
    heads = [re.sub(r"^Write a (python )?function to ", "", row["text"]) for row in tasks]
    write(out, "mbpp", mined([labelled(*each, 1) for each in zip(heads, codes, strict=True)], codes))
    programs: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of(sources[1]):
        if row["label"] in {0, 1} and row["task_id"] in texts:
            programs[row["task_id"]][row["label"]].append(re.sub(r'"""[\s\S]*?"""', "", row["code"]))
    draw = random.Random(2)  # noqa: S311
    both = [(task, of) for task, of in programs.items() if len(of) == 2]
    pairs = [labelled(texts[task], draw.choice(of[label]), label) for task, of in both for label in (0, 1)]
    write(out, "mbpp-programs", pairs)


def docstrings(_: Sequence[Path], out: Path) -> None:
    """Write the first sentences of functions that are installed, each with its function, undocumented, and another."""
    draw, found = random.Random(1), []  # noqa: S311
    for source in environment():
        most = LIBRARY if source.name == "stdlib" else PACKAGE
        asked = ((question_of(chunk), undocumented(chunk).text) for chunk in chunks_of(source) if is_function(chunk))
        found += islice((labelled(first.rstrip("."), code, 1) for first, code in asked if 0 < len(first) < 120), most)
    draw.shuffle(found)
    pairs = [*{plain(row["query"]): row for row in found[:8_000]}.values()]
    write(out, "docstrings", mined(pairs[:4_000], [row["code"] for row in pairs]))


def question_of(chunk: Chunk) -> str:
    """Return the question that the documentation of a function opens with, or nothing."""
    return next((pair.query for pair in pairs_of(chunk, "")), "")


def is_function(chunk: Chunk) -> bool:
    """Say whether a chunk is a documented Python function of moderate length."""
    short = chunk.text.count("\n") <= 60
    return chunk.language == "python" and bool(chunk.doc) and short and bool(FUNCTION.match(chunk.text))


def mined(right: Sequence[Row], codes: Sequence[str], seed: int = 0) -> list[Row]:
    """Return right pairs whose code is among the first candidates of its query, each with another of these."""
    scores = sum(standardized(spec, [row["query"] for row in right], codes) for spec in ("static:default", "hash"))
    draw, pairs = random.Random(seed), []  # noqa: S311
    for row, of in zip(right, np.asarray(scores), strict=True):
        candidates = [codes[at] for at in np.argsort(-of)[:CANDIDATES]]
        others = [code for code in candidates if plain(code) != plain(row["code"])]
        if len(others) < len(candidates) and others:
            pairs += [row, labelled(row["query"], draw.choice(others), 0)]
    return pairs


def standardized(spec: str, queries: Sequence[str], codes: Sequence[str]) -> Any:
    """Return the cosines of queries and views of code, standardized by query."""
    encoder = plugins.make("encoder", spec)
    said = [read(Chunk("", code)) for code in codes]
    views = [" ".join((*one.name, *one.name, *one.doc, *one.parameters, *one.body[:40])) for one in said]
    cosines = encoder.encode(queries, "query") @ encoder.encode(views, "code").T
    return (cosines - cosines.mean(axis=1, keepdims=True)) / (cosines.std(axis=1, keepdims=True) + 1e-6)


def figures(specs: Sequence[str], folder: str, encoder_spec: str) -> None:
    """Print how a judge does on files of labelled pairs, beside plain orders of the same pairs."""
    encoder = plugins.make("encoder", encoder_spec) if encoder_spec else None
    weights = load(weights_file(folder, encoder=encoder is not None))
    print("| pairs | number | matches | ROC-AUC | accuracy | Brier | called | plain orders, ROC-AUC |")
    print("|---|---|---|---|---|---|---|---|")
    for name, _, file in (spec.partition("=") for spec in specs):
        pairs = read_labelled(Path(file))
        posed = [(Query(str(at), one.query), Chunk(str(at), one.code)) for at, one in enumerate(pairs)]
        seen = evidence(posed, default_static())
        seen = with_cosines(seen, posed, encoder) if encoder else seen
        labels = np.array([one.label for one in pairs], dtype=np.float64)
        orders = {column: auc(seen[:, COLUMNS.index(column)], labels) for column in ("cosine_view", "covered")}
        orders |= {ENCODER_COLUMN: auc(seen[:, -1], labels)} if encoder else {}
        one = figures_of(name, weights.scores(seen), labels, [plain(each.query) for each in pairs], orders)
        beside = ", ".join(f"{column} {value:.3f}" for column, value in one.plain.items())
        print(f"| {name} | {one.pairs:,} | {one.matches:.3f} | {one.roc_auc} | {one.accuracy} | {one.brier:.3f} "
              f"| {one.called:.3f} | {beside} |")  # fmt: skip


def labelled(query: str, code: str, label: int) -> Row:
    """Return a row of labelled pairs."""
    return {"query": query, "code": code, "label": int(label)}


def rows_of(file: Path) -> list[Row]:
    """Return the rows of a file."""
    broken: list[Problem] = []
    return [row for _, row in rows.objects(file, broken)]


def write(out: Path, name: str, pairs: Iterable[Row]) -> None:
    """Write labelled pairs."""
    lines = [json.dumps(pair) for pair in pairs]
    (out / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    print(f"{name}: {len(lines):,} pairs")


if __name__ == "__main__":
    main()
