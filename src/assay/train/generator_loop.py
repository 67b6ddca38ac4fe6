"""Train a causal language model on programs by the trainer of transformers, with looks that choose the best.

Reads top to bottom: base, texts, training, saving. The tokens of the task are read and not learned. The model with the
lowest loss of a token on the validation part is kept, since more training than that costs variety (section 3.1).
The trainer's checkpoints hold weights, optimizer, schedule and every random state, so that a run that was killed goes
on as if it had not been.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from transformers.utils import logging as transformers_logging

from assay.encode.hub import hub_options, is_local, opening
from assay.encode.models import split_model
from assay.errors import InputError
from assay.protocols import Say
from assay.runs import record
from assay.train import run
from assay.train.generator import BASE_OPTIONS, GeneratorSettings, SolvedTask, SolvedTasks


@dataclass(frozen=True, slots=True)
class GeneratorRun(GeneratorSettings):
    """What decides about a run."""

    base: str = ""
    programs: str = ""
    """A hash of them."""


def begin_run(solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings) -> None:
    """Write what decides about a run into its folder, or refuse a folder in which a run of something else began."""
    texts = sorted(map(repr, (*solved.learned, *solved.valid)))
    decides = GeneratorRun(**asdict(settings), base=base, programs=record.hash_of("\n".join(texts)))
    record.begin(run.looks_of(folder), decides, "looks at a training", seed=settings.seed)


def tune_generator(
    solved: SolvedTasks, base: str, folder: Path, settings: GeneratorSettings, say: Say
) -> dict[str, Any]:
    """Fine-tune a base on programs into a folder and return its figures; `base` is a spec without `hf:`."""
    say, settings = run.say_of_main(say), fitting(settings)
    torch.manual_seed(settings.seed)
    logging.getLogger("transformers").setLevel(logging.ERROR)

    # --- base
    model, options = split_model(base, BASE_OPTIONS)
    causal = CausalModel(model, options.length, str(run.training_device()))
    causal.network.config.use_cache = False

    # --- texts: whole tasks are held out
    learned, valid = (rows_of(causal, each, settings) for each in (solved.learned, solved.valid))
    left_out = len(solved.learned) + len(solved.valid) - len(learned) - len(valid)
    if not (learned and valid):
        raise InputError(f"no program of a part fits {settings.length} tokens: raise --set length")
    tokens = sum(label != IGNORED for row in learned for label in row["labels"])
    say(f"{len(learned):,} programs of {tokens:,} tokens to learn, {len(valid):,} to choose by, {left_out:,} too long")

    # --- training
    network = run.with_low_rank(causal.network, settings.lora, "CAUSAL_LM")
    steps = settings.epochs * _steps_per_epoch(len(learned), settings)
    trainer = _GeneratorTrainer(
        model=network,
        args=_arguments(folder / run.RUN, settings, steps),
        train_dataset=learned,
        eval_dataset=valid,
        data_collator=partial(collated, causal),
    )
    looks = run.train_to_the_best_look(
        trainer, trainer.loss_of_token, folder, say, steps, name="validation loss", key="valid_loss", patience=0
    )

    # --- saving
    if run.is_main_process():
        record.rewrite(run.looks_of(folder), looks)
        network = run.merged(network)
        network.config.use_cache = True
        network.save_pretrained(str(folder))
        causal.tokenizer.save_pretrained(str(folder))
    best = min(looks[1:], key=lambda look: float(look["valid_loss"]))
    about = {"programs": len(learned), "valid": len(valid), "left_out": left_out, "step": best["step"]}
    return {**about, "loss": best["valid_loss"], "before": looks[0]["valid_loss"], "looks": looks}


def rows_of(causal: CausalModel, solved: Sequence[SolvedTask], settings: GeneratorSettings) -> list[Row]:
    """Return tokens and labels; the end of a program is learned, too."""
    most, rows = min(settings.length, causal.window), list[Row]()
    for each in solved:
        program = causal.tokens_of(each.program) + sorted(causal.ends)[:1]
        if len(program) < most:
            prompt = causal.opening_tokens(each.prompt)[-(most - len(program)) :]
            rows.append({"input_ids": prompt + program, "labels": [IGNORED] * len(prompt) + program})
    return rows


_CHECKPOINTING = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": False}}
"""Without reentering, which matrices of a low rank on a frozen base have no gradients with."""
_MEASURE = "eval_loss"
IGNORED = -100
"""The label of a token that is not learned."""
Row = dict[str, list[int]]


class _GeneratorTrainer(run.LookingTrainer, Trainer):
    """The library's trainer, which looks at the loss of a token, whatever batches the validation part falls into."""

    def loss_of_token(self) -> float:
        """Return the loss of a token on the validation part."""
        network, total, count = self.model, 0.0, 0
        was_training = network.training
        network.eval()
        for start in range(0, len(self.eval_dataset), self.args.per_device_train_batch_size):
            batch = self.data_collator(self.eval_dataset[start : start + self.args.per_device_train_batch_size])
            batch = {name: values.to(self.args.device) for name, values in batch.items()}
            with torch.inference_mode(), torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
                logits = network(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            labels = batch["labels"][:, 1:].reshape(-1)
            losses = torch.nn.functional.cross_entropy(
                logits[:, :-1].float().reshape(len(labels), -1), labels, ignore_index=IGNORED, reduction="sum"
            )
            total, count = total + float(losses), count + int((labels != IGNORED).sum())
        network.train(was_training)
        return total / count


def _arguments(folder: Path, settings: GeneratorSettings, steps: int) -> TrainingArguments:
    return TrainingArguments(
        **run.look_arguments(folder, settings, steps, _MEASURE, higher_is_better=False),
        per_device_train_batch_size=settings.at_once,
        gradient_accumulation_steps=_accumulated(settings),
        max_grad_norm=settings.clip,
        **(_CHECKPOINTING if settings.checkpointing else {}),
        remove_unused_columns=False,
    )


def fitting(settings: GeneratorSettings) -> GeneratorSettings:
    """Return settings whose `at_once` is no more than a device has of a step; refuse a step that is no whole parts."""
    processes = run.process_count()
    of_device = settings.batch // processes
    at_once = min(settings.at_once, of_device)
    if not at_once or settings.batch % (at_once * processes):
        devices = f" on each of {processes} devices" if processes > 1 else ""
        asked = f"setting 'batch' is {settings.batch}, which {settings.at_once} at once{devices} do not make up"
        if settings.batch % processes:
            raise InputError(f"{asked}: set a multiple of {processes}")
        divisor = max(count for count in range(1, at_once + 1) if of_device % count == 0)
        raise InputError(f"{asked}: set at_once={divisor}, or another batch")
    return replace(settings, at_once=at_once)


def _accumulated(settings: GeneratorSettings) -> int:
    """Return how many parts a step has on each device."""
    return settings.batch // (settings.at_once * run.process_count())


def _steps_per_epoch(programs: int, settings: GeneratorSettings) -> int:
    parts = math.ceil(programs / (settings.at_once * run.process_count()))
    return max(math.ceil(parts / _accumulated(settings)), 1)


def collated(causal: CausalModel, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    """Return a batch, filled up on the right."""
    ids, mask = causal.padded([row["input_ids"] for row in rows])
    labels = torch.full_like(ids, IGNORED)
    for at, row in enumerate(rows):
        labels[at, : len(row["labels"])] = torch.tensor(row["labels"])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


_WINDOW = 2048
"""Tokens, of a model that does not say how many it reads."""


class CausalModel:
    """A causal language model of transformers with its tokenizer, in float32."""

    def __init__(self, model: str, length: int = 0, device: str = "cpu") -> None:
        plain = str(Path(model).expanduser()) if is_local(model) else model
        transformers_logging.disable_progress_bar()
        with opening(plain):
            self.tokenizer: Any = AutoTokenizer.from_pretrained(plain, **hub_options(plain))
            network: Any = AutoModelForCausalLM.from_pretrained(plain, **hub_options(plain)).eval()
        self.network: Any = network.to(device=device, dtype=torch.float32)
        known = int(getattr(network.config, "max_position_embeddings", None) or _WINDOW)
        self.window = min(known, length or known)

    def tokens_of(self, text: str) -> list[int]:
        """Return the tokens of a text, without those that a tokenizer puts around it."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def opening_tokens(self, text: str) -> list[int]:
        """Return the tokens of what a model reads first: at least one, to predict the next from."""
        ids: list[int] = self.tokenizer(text)["input_ids"]
        if ids and ids[-1] == self.tokenizer.eos_token_id and len(ids) > 1:
            ids = ids[:-1]  # some end a text by themselves: nothing goes on behind that
        return ids or [self.padding]

    def text_of(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    @property
    def ends(self) -> frozenset[int]:
        """Return the tokens that end a text."""
        configured = getattr(self.network.generation_config, "eos_token_id", None)
        listed = configured if isinstance(configured, list) else [configured]
        return frozenset(each for each in (*listed, self.tokenizer.eos_token_id) if each is not None)

    @property
    def padding(self) -> int:
        """Return a token that fills a row up."""
        known = (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id, self.tokenizer.bos_token_id)
        return next((token for token in known if token is not None), 0)

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens and mask of rows, filled up on the right."""
        width = max(map(len, rows))
        ids, mask = torch.full((len(rows), width), self.padding), torch.zeros((len(rows), width), dtype=torch.long)
        for at, row in enumerate(rows):
            ids[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), 1
        return ids, mask
