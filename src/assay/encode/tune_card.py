"""The record of a fine-tuning to the page that people read before they trust the model, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PAGE = """\
---
license: {license}
base_model: {base}
library_name: sentence-transformers
pipeline_tag: sentence-similarity
---

# An encoder of code, fine-tuned by `assay train encoder --base`

Use it with `--encoder hf:FOLDER`{onnx}. `assay.json` says how it wants to be used, `training.json` is the record of its
training with all settings and versions.

## Intended use

Code search: a question in English and a code become vectors, and their cosine orders codes for one question. It reads
{max_tokens} tokens of a text.

## Training

From `{base}` (license: {license}), on {learned:,} judged pairs of {sources}: {examples}. {method} AdamW, rate {rate},
{batch} right pairs a batch, {accumulate} batches a step, {step:,} of {steps:,} steps were kept; seed {seed}.

Queries were split by their words and their codes: {valid_queries:,} chose the model, {test_queries:,} tested it.

| step | loss | MRR on the validation part |
|---|---|---|
{looks}

## Results

{test_queries:,} queries of the test part among its {test_codes:,} codes, used for nothing else:

| model | MRR | 95% interval |
|---|---|---|
| the base, as it is | {before:.3f} | {before_low:.3f} to {before_high:.3f} |
| **this one** | **{after:.3f}** | {after_low:.3f} to {after_high:.3f} |

The difference is {difference:+.3f} (95% interval {low:+.3f} to {high:+.3f}, paired by query).{warning}

## Limits

The test part comes from the same judges and the same source as what was learned. Measure with `assay bench` on code and
questions of your own. What the base learned from the web, prejudice included, is in it.
"""
_KINDS = {
    "right": "{:,} right pairs, each against the others of its batch",
    "wrong_codes": "{:,} right pairs with codes beside them that were judged wrong for their query",
    "wrong_queries": "{:,} codes with their query, and queries for which they were judged wrong",
    "graded": "{:,} pairs by the order of their grades (CoSENT)",
}
_FULL = "Softmax over the batch at temperature {temperature} trained every weight."
_LORA = "Softmax over the batch at temperature {temperature} trained LoRA matrices of rank {lora}, which were merged."


def card(record: Mapping[str, Any]) -> str:
    """Return the model card of an encoder from the record of its training."""
    settings, figures = record["settings"], record["figures"]
    worse = figures["low"] <= 0
    return _PAGE.format_map(
        {
            **settings,
            **figures,
            **{name: record[name] for name in ("license", "base", "max_tokens", "learned", "step", "steps")},
            **{name: record[name] for name in ("valid_queries", "test_queries", "test_codes")},
            "sources": ", ".join(f"`{source}`" for source in record["sources"]),
            "examples": "; ".join(_KINDS[name].format(count) for name, count in record["examples"].items()),
            "method": (_LORA if settings["lora"] else _FULL).format_map(settings),
            "looks": "\n".join(
                f"| {look['step']:,} | {_number(look['loss'])} | {look['mrr']:.3f} |" for look in record["looks"]
            ),
            "onnx": ", or without torch with `--encoder onnx:FOLDER/onnx`" if record["onnx"] else "",
            "warning": " **This does not show that the training helped.**" if worse else "",
        }
    )


def _number(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.4f}"
