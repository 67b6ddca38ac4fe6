"""Fine-tune a generator on right programs, with its record and its card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.encode.models import split_model
from assay.io import files
from assay.protocols import Say
from assay.rank.causal.programs import BASE_OPTIONS, GeneratorSettings, read_solved
from assay.rank.sampling.prompts import load_template
from assay.runs.record import manifest
from assay.train.card import about_base, base_of, page, tuned_head
from assay.train.settings import extra_of

if TYPE_CHECKING:
    from assay.rank.causal.train_generator import TunedGenerator

RECORD, CARD = "training.json", "README.md"
_OPENING = """
From `{base}` (license: {license}), on {programs:,} programs that are right, of {sources}; {valid:,} of other tasks
chose the checkpoint: step {step:,}, loss of a token {loss:.4f}, before {before:.4f}. `training.json` is its record.

    vllm serve FOLDER                                      # or another server of the same protocol
    ASSAY_API_BASE=http://localhost:8000/v1 assay rank sample TASKS --model completions:FOLDER --template {template}
"""
_LIMITS = """
What the base learned from the web, prejudice included, is in it; what it writes has to be run in a sandbox.
"""


def train_generator(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    data: Sequence[Path],
    spec: str,
    folder: Path,
    settings: GeneratorSettings,
    say: Say,
    *,
    tasks: Path | None = None,
    fresh: bool = False,
) -> Mapping[str, Any] | None:
    """Fine-tune a base on programs, or rows of `tasks`; return the record, None in a process that only helps."""
    base = base_of(spec)
    template = load_template(settings.template)
    solved = read_solved(data, tasks, template, valid=settings.valid, most=settings.most, seed=settings.seed)
    for problem in solved.problems:
        say(str(problem))
    with extra_of("train generator"):
        from assay.encode.hub import check_is_there

        check_is_there(split_model(base, BASE_OPTIONS)[0])
        from assay.rank.causal.train_generator import begin_run, tune_generator
        from assay.train import run
    first = run.is_main_process()
    with run.training(folder, RECORD, lambda: begin_run(solved, base, folder, settings), say, fresh=fresh) as is_to_do:
        if not is_to_do:
            return dict(json.loads((folder / RECORD).read_text("utf-8"))) if first else None
        tuned = tune_generator(solved, base, folder, settings, say)
        if not first:
            return None
        facts = {
            "sources": ", ".join(f"`{source}`" for source in sorted(file.name for file in data)),
            **about_base(base),
        }
        facts |= manifest(settings, seed=settings.seed, corpus=map(repr, (*solved.learned, *solved.valid)))
        record = {**facts, "template": settings.template, **_facts_of(tuned)}
        title = "A generator of programs, fine-tuned by `assay train generator`"
        head = tuned_head(record, "transformers", "text-generation")
        files.write(folder / CARD, page(title, _OPENING.format_map(record), {"Limits": _LIMITS}, head))
        files.write_json(folder / RECORD, record)
        run.remove_checkpoints(folder)
    return record


def _facts_of(tuned: TunedGenerator) -> dict[str, Any]:
    facts = {name: getattr(tuned, name) for name in ("programs", "valid", "left_out")}
    facts |= {"step": tuned.best.step, "loss": tuned.best.valid_loss, "before": tuned.looks[0].valid_loss}
    return {**facts, "looks": [asdict(look) for look in tuned.looks]}
