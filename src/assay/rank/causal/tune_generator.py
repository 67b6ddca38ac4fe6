"""Right programs and a base to a fine-tuned causal model in a folder that `hf:` reads (Inala et al. 2022, section 4.1).

Reads top to bottom: base, texts, training, saving. The tokens of the task are read and not learned. The model with the
lowest loss of a token on the validation part is kept, since more training than that costs variety (section 3.1).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch

from assay.encode.models import split_model
from assay.errors import InputError
from assay.protocols import Say
from assay.rank.causal.causal_model import CausalModel
from assay.rank.causal.generator_settings import GeneratorSettings
from assay.rank.causal.generator_trainer import IGNORED, GeneratorLook, GeneratorTexts, Row, collated, fitting, train
from assay.rank.causal.open_causal import BASE_OPTIONS
from assay.rank.causal.solved_tasks import SolvedTask, SolvedTasks
from assay.runs import record
from assay.train.run import is_main_process, looks_of, merged, say_of_main, training_device, with_low_rank


@dataclass(frozen=True, slots=True)
class GeneratorRun(GeneratorSettings):
    """What decides about a run."""

    base: str = ""
    programs: str = ""
    """A hash of them."""


@dataclass(frozen=True, slots=True)
class TunedGenerator:
    """What came of a run."""

    looks: list[GeneratorLook]
    programs: int
    valid: int
    left_out: int
    """Programs that are longer than what is read."""

    @property
    def best(self) -> GeneratorLook:
        """The look whose model is kept."""
        return min(self.looks[1:], key=lambda look: look.valid_loss)


def begin_run(solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings) -> None:
    """Write what decides about a run into its folder, or refuse a folder in which a run of something else began."""
    texts = sorted(map(repr, (*solved.learned, *solved.valid)))
    run = GeneratorRun(**asdict(settings), base=base, programs=record.hash_of("\n".join(texts)))
    record.begin(looks_of(folder), run, "looks at a training", seed=settings.seed)


def tune_generator(
    solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings, say: Say
) -> TunedGenerator:
    """Fine-tune a base on programs into a folder; `base` is a spec without `hf:`."""
    say, settings = say_of_main(say), fitting(settings)
    torch.manual_seed(settings.seed)
    logging.getLogger("transformers").setLevel(logging.ERROR)

    # --- base
    model, options = split_model(base, BASE_OPTIONS)
    causal = CausalModel(model, options, device=str(training_device()), dtype="fp32")
    causal.network.config.use_cache = False

    # --- texts: whole tasks are held out
    learned, valid = (rows_of(causal, each, settings) for each in (solved.learned, solved.valid))
    left_out = len(solved.learned) + len(solved.valid) - len(learned) - len(valid)
    if not (learned and valid):
        raise InputError(f"no program of a part fits {settings.length} tokens: raise --set length")
    tokens = sum(label != IGNORED for row in learned for label in row["labels"])
    say(f"{len(learned):,} programs of {tokens:,} tokens to learn, {len(valid):,} to choose by, {left_out:,} too long")

    # --- training
    network = with_low_rank(causal.network, settings.lora, "CAUSAL_LM")
    texts = GeneratorTexts(learned, valid, partial(collated, causal))
    looks = train(network, texts, folder, settings, say)

    # --- saving
    if is_main_process():
        record.rewrite(looks_of(folder), map(asdict, looks))
        network = merged(network)
        network.config.use_cache = True
        network.save_pretrained(str(folder))
        causal.tokenizer.save_pretrained(str(folder))
    return TunedGenerator(looks, len(learned), len(valid), left_out)


def rows_of(causal: CausalModel, solved: Sequence[SolvedTask], settings: GeneratorSettings) -> list[Row]:
    """Return tokens and labels; the end of a program is learned, too."""
    most, rows = min(settings.length, causal.window), list[Row]()
    for each in solved:
        program = causal.tokens_of(each.program) + sorted(causal.ends)[:1]
        if len(program) < most:
            prompt = causal.opening_tokens(each.prompt)[-(most - len(program)) :]
            rows.append({"input_ids": prompt + program, "labels": [IGNORED] * len(prompt) + program})
    return rows
