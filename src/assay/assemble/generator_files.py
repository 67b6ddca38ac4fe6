"""Files of right programs and a base to a fine-tuned generator with its record and its card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assemble.training import extra_of
from assay.assemble.tune_files import CARD, RECORD, base_of, license_of, name_of
from assay.encode.model_options import split_model
from assay.io import files
from assay.protocols import Say
from assay.rank.causal.programs import BASE_OPTIONS, GeneratorSettings, SolvedTasks, read_solved
from assay.rank.sampling.prompts import load_template
from assay.runs.record import manifest

if TYPE_CHECKING:
    from assay.rank.causal.train_generator import TunedGenerator

_PAGE = """\
---
license: {license}
base_model: {base}
library_name: transformers
pipeline_tag: text-generation
---

# A generator of programs, fine-tuned by `assay train generator`

From `{base}` (license: {license}), on {programs:,} programs that are right, of {sources}; {valid:,} of other tasks
chose the checkpoint: step {step:,}, loss of a token {loss:.4f}, before {before:.4f}. `training.json` is its record.

    vllm serve FOLDER                                      # or another server of the same protocol
    ASSAY_API_BASE=http://localhost:8000/v1 assay rank sample TASKS --model completions:FOLDER --template {template}

What the base learned from the web, prejudice included, is in it; what it writes has to be run in a sandbox.
"""


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """What is trained from what, and where it goes."""

    data: tuple[Path, ...]
    base: str
    """A spec, `hf:NAME` or `hf:FOLDER`."""
    folder: Path
    tasks: Path | None = None
    """The tasks of the rows of a data set."""
    fresh: bool = False


def train_generator(plan: GeneratorPlan, settings: GeneratorSettings, say: Say) -> Mapping[str, Any] | None:
    """Fine-tune a base into a folder; return the record of it, None in a process that only helps."""
    base = base_of(plan.base)
    solved = _solved(plan, settings, say)
    folder = plan.folder
    with extra_of("train generator"):
        from assay.encode.model_hub import check_is_there

        check_is_there(split_model(base, BASE_OPTIONS)[0])
        from assay.encode import training_folder as run
        from assay.encode.process_group import is_main_process
        from assay.rank.causal.train_generator import begin_run, tune_generator
    first = is_main_process()
    with run.training(
        folder, RECORD, lambda: begin_run(solved, base, folder, settings), say, fresh=plan.fresh
    ) as is_to_do:
        if not is_to_do:
            return dict(json.loads((folder / RECORD).read_text("utf-8"))) if first else None
        tuned = tune_generator(solved, base, folder, settings, say)
        if not first:
            return None
        record = _record_of(tuned, solved, plan, settings)
        files.write(folder / CARD, [_PAGE.format_map(record)])
        files.write_json(folder / RECORD, record)
        run.remove_checkpoints(folder)
    return record


def _solved(plan: GeneratorPlan, settings: GeneratorSettings, say: Say) -> SolvedTasks:
    template = load_template(settings.template)
    solved = read_solved(plan.data, plan.tasks, template, valid=settings.valid, most=settings.most, seed=settings.seed)
    for problem in solved.problems:
        say(str(problem))
    return solved


def _record_of(
    tuned: TunedGenerator, solved: SolvedTasks, plan: GeneratorPlan, settings: GeneratorSettings
) -> dict[str, Any]:
    base, sources = plan.base.removeprefix("hf:"), sorted(file.name for file in plan.data)
    texts: Sequence[str] = [repr(each) for each in (*solved.learned, *solved.valid)]
    return {
        "base": name_of(base),
        "license": license_of(base),
        "sources": ", ".join(f"`{source}`" for source in sources),
        "template": settings.template,
        "programs": tuned.programs,
        "valid": tuned.valid,
        "left_out": tuned.left_out,
        "step": tuned.best.step,
        "loss": tuned.best.valid_loss,
        "before": tuned.looks[0].valid_loss,
        "looks": [asdict(look) for look in tuned.looks],
        **manifest(settings, seed=settings.seed, corpus=texts),
    }
