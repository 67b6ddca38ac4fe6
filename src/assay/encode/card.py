"""What a training run recorded to the page that people read before they trust the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PAGE = """# `{name}`: the encoder that ships with Assay

A table of {entries:,} words and word pieces with {dimension} numbers each (int8, one scale a row). A text is
the sum of its words' rows. It needs numpy and nothing else, knows English and the words of programs, and runs
offline. Written by `assay train encoder` from what the run recorded (`encoder.json` beside the table, version
`{version}`).

## Intended use

The first stage of code search: questions in English against the *view* of a chunk of code (its names,
documentation, comments and the words of its body), or against sections of documentation. Not for raw code,
not for other languages than English, not for deciding that two texts mean the same.

## Training

Teacher: {teacher}.

1. **Distil**: each word and piece is read alone by the teacher; {dimension} principal directions of real
   texts are kept; rare words count more.
2. **Fit**: the sum of a text's rows is moved to where the teacher puts the text ({fit_texts:,} texts,
   {fit_epochs} epochs).
3. **Search**: {pairs:,} pairs against the other answers of a batch of {batch:,}, {epochs} epochs, temperature
   {temperature}. In {hide:.0%} of the pairs the words that both sides share are hidden from the answer.
   Staying near the teacher weighs {keep}.
4. **Mean**: the table is the mean of the three stages' tables, each at the same scale. The last stage alone
   finds more pairs of its own kind and loses questions that share no word with their answer; the mean gives
   up some of the former to keep the latter. This was chosen on development questions about repositories that
   were not trained on, with CoSQA's 500 validation questions in sight, so expect a little less than was measured there.

Seed {seed}. All settings stand in `encoder.json`.

## Data

{pairs:,} pairs from {sources:,} sources: {kinds}.

`doc` is the first sentence of a documentation and the view of its code without that documentation; `rest` is
the sentence and the rest of the documentation; `section` is a heading and its text; `web` is a question that
people typed into a search engine and the code they were shown (CoSQA, its training split, none of its
evaluation queries or functions). The sources are published packages
and repositories, most under permissive licenses; the licenses were not checked one by one. No text of them is in
the table, which holds one vector a word.

Left out by name, vendored copies included, because ground truths are about them: {left_out}.

## Results

{tested:,} queries among {tested:,} code snippets, from sources that were not trained on: {held_out}.

MRR with its 95% interval over queries; agreement is the correlation of similarities between queries with the
teacher's.

| system | MRR | interval | agreement |
|---|---|---|---|
{rows}

## Limits

A sum of words knows no order: *copy a into b* is *copy b into a*. A question that shares no word and no near
word with its answer is often missed; a contextual encoder (`hf:`, `onnx:`) reads word order and costs
hundreds of times as much time. Words of other scripts have no row. What its teacher learned from the web,
prejudice included, is in it.
"""


def card(name: str, about: Mapping[str, Any]) -> str:
    """Return the model card of a run from what it recorded."""
    settings = about["settings"]
    return _PAGE.format(
        **{key: settings[key] for key in ("fit_texts", "fit_epochs", "batch", "epochs", "temperature", "hide", "keep")},
        name=name,
        dimension=settings["dimension"],
        seed=settings["seed"],
        entries=about["entries"],
        version=about["version"],
        teacher=about["teacher"],
        sources=about["sources"],
        pairs=sum(about["pairs"].values()),
        kinds=", ".join(f"{count:,} `{kind}`" for kind, count in about["pairs"].items()),
        left_out=", ".join(about["left_out"]) or "none",
        tested=sum(about["held_out"].values()),
        held_out=", ".join(f"{source} {count}" for source, count in about["held_out"].items()),
        rows="\n".join(map(_row, about["scores"])),
    )


def _row(score: Mapping[str, Any]) -> str:
    agreement = "" if score["agreement"] is None else f"{score['agreement']:.3f}"
    return f"| {score['system']} | {score['mrr']:.3f} | {score['low']:.3f}-{score['high']:.3f} | {agreement} |"
