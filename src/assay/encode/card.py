"""What training runs recorded to the page that people read before they trust the model.

Run as `python -m assay.encode.card FILE`, it writes the page of the table that ships.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.encode.static import default_static
from assay.io import files

Run = Mapping[str, Any]

_PAGE = """# `{name}`: the encoder that ships with Assay

A table of {entries:,} words and word pieces with {dimension} numbers each (int8, one scale a row). A text is
the sum of its words' rows. It needs numpy and nothing else, knows English and the words of programs, and runs
offline. Written by `assay train encoder` from what it recorded (`encoder.json` beside the table, version
`{version}`, with all settings).

## Intended use

The first stage of code search: questions in English against the *view* of a chunk of code (its names,
documentation, comments and the words of its body), or against sections of documentation. Not for raw code,
not for other languages than English, not for deciding that two texts mean the same.

## Training

{training}

## Data

{data}

`doc` is the first sentence of a documentation and the view of its code without that documentation; `rest` is
the sentence and the rest of the documentation; `section` is a heading and its text; `web` is a question that
people typed into a search engine and the code they were shown (CoSQA, its training split, none of its
evaluation queries or functions). The sources are published packages
and repositories, most under permissive licenses; the licenses were not checked one by one. No text of them is in
the table, which holds one vector a word.

## Results

Each query is asked among as many code snippets as there are queries, from sources that were not trained on. MRR
with its 95% interval over queries; agreement is the correlation of similarities between queries with those of the
teacher, or of the table before.

{results}

## Limits

A sum of words knows no order: *copy a into b* is *copy b into a*. A question that shares no word and no near
word with its answer is often missed; a contextual encoder (`hf:`, `onnx:`) reads word order and costs
hundreds of times as much time. Words of other scripts have no row. What its teachers learned from the web,
prejudice included, is in it.
"""

_DISTILLED = """Teacher: {teacher}.

1. **Distil**: each word and piece is read alone by the teacher; {dimension} principal directions of real
   texts are kept; rare words count more.
2. **Fit**: the sum of a text's rows is moved to where the teacher puts the text ({fit_texts:,} texts,
   {fit_epochs} epochs).
3. **Search**: {pairs:,} pairs against the other answers of a batch of {batch:,}, epochs: {epochs}, temperature
   {temperature}. In {hide:.0%} of the pairs the words that both sides share are hidden from the answer.
   Staying near the teacher weighs {keep}.
4. **Mean**: the table is the mean of the three stages' tables, each at the same scale. The last stage alone
   finds more pairs of its own kind and loses questions that share no word with their answer; the mean gives
   up some of the former to keep the latter. This was chosen on development questions about repositories that
   were not trained on, with CoSQA's 500 validation questions in sight, so expect a little less than was measured there.

Seed {seed}."""

_JOINED = """A second teacher, of words alone: {name}; {words:,} words with {width} numbers each, {known:,} of which are
among the table's {entries:,} words and pieces.

1. **Join**: a word's vector has unit length, loses what all of them share, is made {weight} times as long as the
   table's row of the word, and stands beside it. Where this teacher does not know a word, ridge regression (penalty
   {ridge}) makes its vector from the row. The {dimension} directions that hold most of the sums of real texts (those of
   {read_pairs:,} pairs) are kept.
2. **Search**: {pairs:,} pairs against the other answers of a batch of {batch:,}, epochs: {epochs}, temperature
   {temperature}, shared words hidden in {hide:.0%} of the pairs. Staying near the joined table's sums weighs {keep}.
3. **Mean**: the table is the mean of the joined and the tuned one. The weight was chosen on development questions.

Seed {seed}."""


def card(name: str, about: Run) -> str:
    """Return the model card of a table from what its runs recorded."""
    runs = _steps(about)
    return _PAGE.format(
        name=name,
        entries=about["entries"],
        dimension=about["settings"]["dimension"],
        version=about["version"],
        training=_each(runs, _training),
        data=_each(runs, _data),
        results=_each(runs, _results),
    )


def _steps(about: Run) -> list[Run]:
    """Return the run that a table began with, then what was done to it."""
    return [*(_steps(about["before"]) if "before" in about else ()), about]


def _each(runs: Sequence[Run], text: Callable[[Run], str]) -> str:
    """Return what there is to say of each run, below its heading where there are several."""
    if len(runs) == 1:
        return text(runs[0])
    return "\n\n".join(f"### Step {n}: table `{run['version']}`\n\n{text(run)}" for n, run in enumerate(runs, 1))


def _training(run: Run) -> str:
    pairs = sum(run["pairs"].values())
    if "joined" not in run:
        return _DISTILLED.format_map({**run["settings"], "teacher": run["teacher"], "pairs": pairs})
    words = run["joined"]
    shape = {"entries": run["entries"], "width": words["dimension"], "pairs": pairs}
    return _JOINED.format_map({**words, **run["settings"], **shape})


def _data(run: Run) -> str:
    kinds = ", ".join(f"{count:,} `{kind}`" for kind, count in run["pairs"].items())
    return (
        f"{sum(run['pairs'].values()):,} pairs from {run['sources']:,} sources: {kinds}.\n\n"
        "Left out by name, vendored copies included, because ground truths are about them: "
        f"{', '.join(run['left_out']) or 'none'}."
    )


def _results(run: Run) -> str:
    tested = ", ".join(f"{source} {count}" for source, count in run["held_out"].items())
    head = ["| system | MRR | interval | agreement |", "|---|---|---|---|"]
    return "\n".join([f"{sum(run['held_out'].values()):,} queries: {tested}.", "", *head, *map(_row, run["scores"])])


def _row(score: Mapping[str, Any]) -> str:
    agreement = "" if score["agreement"] is None else f"{score['agreement']:.3f}"
    return f"| {score['system']} | {score['mrr']:.3f} | {score['low']:.3f}-{score['high']:.3f} | {agreement} |"


if __name__ == "__main__":
    files.write(Path(sys.argv[1]), card("static:default", default_static().about))
