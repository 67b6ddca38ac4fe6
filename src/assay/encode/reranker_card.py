"""A reranker's record to the page that people read before they trust the model, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PAGE = """\
# A reranker, trained by `assay train reranker`

Use it with `--set search.reranker=cross:FOLDER`. The model is `model.onnx` ({size_mb:.1f} MB, weights of 8 bits), its
words are `tokenizer.json`, and `reranker.json` is the record of its training with all settings. Version `{version}`.

## Intended use

The second stage of code search: a question in English and the *view* of a chunk (names, documentation, comments, words
of the body) are read together, at most {tokens} tokens. Its scores order the candidates of one query and mean nothing
between queries. Beside the learned ranking its opinion, in standard deviations over what it reads of a query, counts
{weight:.3f} of a logit each; the sum is calibrated again.

## Training

The lowest {layers} layers of `{base}` (license: see there) read question and text apart and stayed as they were; what
was trained are copies of the last of them that read both together ({together}), a head, and what the cosine of the two
means is worth. Listwise softmax over one right text and {negatives} wrong ones out of the first that the learned
ranking mistakes for answers. AdamW, rate {rate}, {batch} lists a step, {steps:,} steps; seed {seed}.

{learned}

Left out by name, vendored copies included, because ground truths are about them: {left_out}.

## Results

Held-out sources: {held_out}. MRR of the model alone at each look, over {watched} of their lists; the best is kept.

| step | loss | MRR |
|---|---|---|
{looks}

On {fitted} held-out lists of kind `{kind}`, on which the weight was fitted, MRR of the ranking is {before:.3f}, of the
model {alone:.3f}, of both {both:.3f}. That is a fit of one number, not a test: measure with `assay bench` elsewhere.

## Limits

It knows no other language than English, reads the beginning of what is long, and was trained on what programmers write
above their code more than on what people ask. What its base learned from the web, prejudice included, is in it.
"""


def card(record: Mapping[str, Any]) -> str:
    """Return the model card of a reranker from the record of its training."""
    kinds = ", ".join(f"{count:,} `{kind}`" for kind, count in record["lists"].items())
    looks = "\n".join(f"| {one['step']:,} | {one['loss']:.4f} | {one['mrr']:.3f} |" for one in record["looks"])
    return _PAGE.format_map(
        {
            **record["settings"],
            **record["blend"],
            **record["held_out_figures"],
            "base": record["base"],
            "version": record["version"],
            "size_mb": record["bytes"] / 1e6,
            "steps": record["looks"][-1]["step"],
            "learned": f"Lists by kind: {kinds}, from {record['sources']:,} sources.",
            "left_out": ", ".join(record["left_out"]) or "none",
            "held_out": ", ".join(record["held_out"]),
            "looks": looks,
        }
    )
