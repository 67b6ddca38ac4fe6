"""Write the page that people read before they trust a trained model: one frame, and what each kind of model fills in.

Run as `python -m assay.train.card FILE`, it writes the page of the table that ships.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.encode.static import default_static
from assay.errors import InputError
from assay.io import files

Record = Mapping[str, Any]


def page(title: str, opening: str, sections: Mapping[str, str], head: Record | None = None) -> str:
    """Return a model card in Markdown; `head` stands above it for those who read cards by program."""
    front = "".join(f"{name}: {value}\n" for name, value in (head or {}).items())
    parts = [f"# {title}", opening, *(f"## {name}\n\n{text}" for name, text in sections.items())]
    return (f"---\n{front}---\n\n" if head else "") + "\n\n".join(part.strip("\n") for part in parts) + "\n"


def rows_of(head: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table; `head` has the names of its columns between bars."""
    lines = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join((f"| {head} |", f"|{'---|' * (head.count('|') + 1)}", *lines))


def base_of(spec: str) -> str:
    """Return the folder or the name on the hub that the spec of a base names."""
    if not spec.startswith("hf:"):
        raise InputError(f"--base is '{spec}'; wanted hf: and a folder or a name on the hub")
    return spec.removeprefix("hf:")


def about_base(base: str) -> dict[str, str]:
    """Return what people call a base, a hub name and not a folder of this machine, and the license on its card."""
    from assay.encode.hub import find_file

    model = base.partition("?")[0]
    file = find_file(model, "README.md")
    named = re.search(r"^license:\s*(\S+)\s*$", file.read_text("utf-8", "replace"), re.MULTILINE) if file else None
    return {"base": Path(model).name if Path(model).is_dir() else base, "license": named[1] if named else "other"}


# --- a static table

_TABLE = """
A table of {entries:,} words and word pieces with {dimension} numbers each (int8, one scale a row). A text is
the sum of its words' rows. It needs numpy and nothing else, knows English and the words of programs, and runs
offline. Written by `assay train encoder` from what it recorded (`encoder.json` beside the table, version
`{version}`, with all settings).
"""
_TABLE_USE = """
The first stage of code search: questions in English against the *view* of a chunk of code (its names,
documentation, comments and the words of its body), or against sections of documentation. Not for raw code,
not for other languages than English, not for deciding that two texts mean the same.
"""
_DISTILLED = """
Teacher: {teacher}.

1. **Distill**: each word and piece is read alone by the teacher; {dimension} principal directions of real
   texts are kept; rare words count more.
2. **Fit**: the sum of a text's rows is moved to where the teacher puts the text ({fit_texts:,} texts,
   {fit_epochs} epochs).
3. **Search**: {learned:,} pairs against the other answers of a batch of {batch:,}, epochs: {epochs}, temperature
   {temperature}. In {hide:.0%} of the pairs the words that both sides share are hidden from the answer.
   Staying near the teacher weighs {keep}.
4. **Mean**: the table is the mean of the three stages' tables, each at the same scale. The last stage alone
   finds more pairs of its own kind and loses questions that share no word with their answer; the mean gives
   up some of the former to keep the latter. This was chosen on development questions about repositories that
   were not trained on, with CoSQA's 500 validation questions in sight, so expect a little less than was measured there.
"""
_JOINED = """
A second teacher, of words alone: {name}; {words:,} words with {width} numbers each, {known:,} of which are
among the table's {entries:,} words and pieces.

1. **Join**: a word's vector has unit length, loses what all of them share, is made {weight} times as long as the
   table's row of the word, and stands beside it. Where this teacher does not know a word, ridge regression (penalty
   {ridge}) makes its vector from the row. The {dimension} directions that hold most of the sums of real texts (those of
   {read_pairs:,} pairs) are kept.
2. **Search**: {learned:,} pairs against the other answers of a batch of {batch:,}, epochs: {epochs}, temperature
   {temperature}, shared words hidden in {hide:.0%} of the pairs. Staying near the joined table's sums weighs {keep}.
3. **Mean**: the table is the mean of the joined and the tuned one. The weight was chosen on development questions.
"""
_TABLE_DATA = """
Seed {seed}. {learned:,} pairs from {sources:,} sources: {kinds}.

Left out by name, vendored copies included, because ground truths are about them: {left_out}.

Results on {tested:,} held-out queries: {held_out}.
"""
_TABLE_NOTES = """
`doc` is the first sentence of a documentation and the view of its code without that documentation; `rest` is
the sentence and the rest of the documentation; `section` is a heading and its text; `web` is a question that
people typed into a search engine and the code they were shown (CoSQA, its training split, none of its
evaluation queries or functions). The sources are published packages
and repositories, most under permissive licenses; the licenses were not checked one by one. No text of them is in
the table, which holds one vector a word.

Each held-out query is put to as many code snippets as there are queries, from sources that were not trained on: MRR
with its 95% interval over queries. Agreement is the correlation of similarities between queries with those of the
teacher, or of the table before.
"""
_TABLE_LIMITS = """
A sum of words knows no order: *copy a into b* is *copy b into a*. A question that shares no word and no near
word with its answer is often missed; a contextual encoder (`hf:`, `onnx:`) reads word order and costs
hundreds of times as much time. Words of other scripts have no row. What its teachers learned from the web,
prejudice included, is in it.
"""


def table_card(name: str, about: Record) -> str:
    """Return the model card of a table from what its runs recorded, the first one first."""
    runs = [about]
    while "before" in runs[0]:
        runs.insert(0, runs[0]["before"])
    title = f"`{name}`: the encoder that ships with Assay" if name == "static:default" else f"`{name}`"
    steps = {f"Step {number}: table `{run['version']}`": _table_step(run) for number, run in enumerate(runs, 1)}
    opening = _TABLE.format(**about["settings"] | {"entries": about["entries"], "version": about["version"]})
    sections = {"Intended use": _TABLE_USE, **steps, "Data and figures": _TABLE_NOTES, "Limits": _TABLE_LIMITS}
    return page(title, opening, sections)


def _table_step(run: Record) -> str:
    facts = {**run["settings"], **run, "learned": sum(run["pairs"].values()), "tested": sum(run["held_out"].values())}
    if "joined" in run:
        facts |= {**run["joined"], "width": run["joined"]["dimension"], "dimension": run["settings"]["dimension"]}
    facts["kinds"] = ", ".join(f"{count:,} `{kind}`" for kind, count in run["pairs"].items())
    facts["held_out"] = ", ".join(f"{source} {count}" for source, count in run["held_out"].items())
    facts["left_out"] = ", ".join(run["left_out"]) or "none"
    scores = (
        (one["system"], f"{one['mrr']:.3f}", f"{one['low']:.3f}-{one['high']:.3f}", _number(one["agreement"], 3))
        for one in run["scores"]
    )
    text = (_JOINED if "joined" in run else _DISTILLED) + _TABLE_DATA
    return f"{text.format_map(facts)}\n{rows_of('system | MRR | interval | agreement', scores)}"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


# --- a fine-tuned encoder

_ENCODER = """
Use it with `--encoder hf:FOLDER`{onnx}. `assay.json` says how it is to be used, `training.json` is the record of its
training with all settings and versions.
"""
_ENCODER_USE = """
Code search: a question in English and a code become vectors, and their cosine orders codes for one question. It reads
{max_tokens} tokens of a text.
"""
_ENCODER_TRAINING = """
From `{base}` (license: {license}), on {learned:,} judged pairs of {sources}: {right:,} right pairs alone and
{wrong_codes:,} with codes beside them that were judged wrong for their query, each against the others of its batch.
Softmax at temperature {temperature} trained every weight. AdamW, rate {rate}, {batch} pairs a batch, {accumulate}
batches a step, {step:,} of {steps:,} steps were kept; seed {seed}.

Queries were split by their words and their codes: {valid_queries:,} chose the model, {test_queries:,} tested it.
"""
_ENCODER_RESULTS = """
{test_queries:,} queries of the test part among its {test_codes:,} codes, used for nothing else:

| model | MRR | 95% interval |
|---|---|---|
| the base, as it is | {before:.3f} | {before_low:.3f} to {before_high:.3f} |
| **this one** | **{after:.3f}** | {after_low:.3f} to {after_high:.3f} |

The difference is {difference:+.3f} (95% interval {low:+.3f} to {high:+.3f}, paired by query).{warning}
"""
_ENCODER_LIMITS = """
The test part comes from the same judges and the same source as what was learned. Measure with `assay bench` on code and
questions of your own. What the base learned from the web, prejudice included, is in it.
"""


def encoder_card(record: Record) -> str:
    """Return the model card of a fine-tuned encoder from the record of its training."""
    facts = {**record["settings"], **record["figures"], **record["examples"], **record}
    facts["sources"] = ", ".join(f"`{source}`" for source in record["sources"])
    facts["onnx"] = ", or without torch with `--encoder onnx:FOLDER/onnx`" if record["onnx"] else ""
    helped = record["figures"]["low"] > 0
    facts["warning"] = "" if helped else " **This does not show that the training helped.**"
    looks = ((f"{look['step']:,}", _number(look["loss"], 4), f"{look['mrr']:.3f}") for look in record["looks"])
    sections = {
        "Intended use": _ENCODER_USE.format_map(facts),
        "Training": f"{_ENCODER_TRAINING.format_map(facts)}\n{rows_of('step | loss | MRR, validation part', looks)}",
        "Results": _ENCODER_RESULTS.format_map(facts),
        "Limits": _ENCODER_LIMITS,
    }
    head = {"license": record["license"], "base_model": record["base"]}
    head |= {"library_name": "sentence-transformers", "pipeline_tag": "sentence-similarity"}
    title = "An encoder of code, fine-tuned by `assay train encoder --base`"
    return page(title, _ENCODER.format_map(facts), sections, head)


if __name__ == "__main__":
    files.write(Path(sys.argv[1]), table_card("static:default", default_static().about))
