"""Judged pairs and a base to a fine-tuned transformer in a folder that `hf:` reads, and how well it does.

Reads top to bottom: data, base, training, test, saving. Everything is decided by the pairs, the base and the settings,
which stand in the folder from the start: a run that was killed goes on, and one of other settings is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from assay.encode.hf import HfEncoder
from assay.encode.process_group import is_main_process, training_device
from assay.encode.split_queries import QueryParts, code_of, split_by_query
from assay.encode.training_folder import RUN, looks_of, say_of_main
from assay.encode.training_pairs import TrainingPair
from assay.encode.tune_examples import examples_of
from assay.encode.tune_network import merge, trainable
from assay.encode.tune_settings import TuneSettings
from assay.encode.tune_trainer import LookOut, TuneLook, train
from assay.encode.tuned_folder import save_tuned
from assay.protocols import Say
from assay.runs import record

_KINDS = {
    "right": "right pairs alone",
    "wrong_codes": "right pairs with wrong codes",
    "wrong_queries": "codes with wrong queries",
    "graded": "pairs by their grade",
}

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TuneRun(TuneSettings):
    """What decides about a run."""

    base: str = ""
    pairs: str = ""
    """A hash of them."""


@dataclass(frozen=True, slots=True)
class TunedEncoder:
    """What came of a run."""

    encoder: HfEncoder
    parts: QueryParts
    examples: dict[str, int]
    """How many there are of each kind."""
    looks: list[TuneLook]
    before: Values
    """The reciprocal rank of each query of the test part, by the base."""
    after: Values

    @property
    def best(self) -> TuneLook:
        """The look whose model is kept."""
        return max(self.looks[1:], key=lambda look: look.mrr)


def begin_run(pairs: Sequence[TrainingPair], base: str, folder: Path, settings: TuneSettings) -> None:
    """Write what decides about a run into its folder, or refuse a folder in which a run of something else began."""
    run = TuneRun(**asdict(settings), base=base, pairs=record.hash_of("\n".join(sorted(map(repr, pairs)))))
    record.begin(looks_of(folder), run, "looks at a training", seed=settings.seed)


def tune(pairs: Sequence[TrainingPair], base: str, folder: Path, settings: TuneSettings, say: Say) -> TunedEncoder:
    """Fine-tune a base on pairs into a folder; `base` is a spec without `hf:`."""
    say = say_of_main(say)
    torch.manual_seed(settings.seed)

    # --- data
    parts = split_by_query(pairs, settings)
    say(_parts_line(parts))

    # --- base
    encoder = HfEncoder(base, device=str(training_device()), dtype="fp32")
    examples = examples_of(parts.learned, encoder.recipe, settings)
    counts = {name: len(rows) for name, rows in examples.named().items()}
    say(f"examples: {', '.join(f'{count:,} {_KINDS[name]}' for name, count in counts.items())}")
    before = reciprocal_ranks(encoder, parts.test)

    # --- training
    model = trainable(encoder, settings.lora)
    out = LookOut(lambda: float(reciprocal_ranks(encoder, parts.valid).mean()), partial(_keep, folder), say)
    looks = train(model, examples, folder / RUN, settings, out)

    # --- test and saving
    merge(encoder)
    after = reciprocal_ranks(encoder, parts.test)
    if is_main_process():
        record.rewrite(looks_of(folder), map(asdict, looks))
        save_tuned(encoder, folder)
    return TunedEncoder(encoder, parts, counts, looks, before, after)


def reciprocal_ranks(encoder: HfEncoder, pairs: Sequence[TrainingPair]) -> Values:
    """Return one over the rank of the first right code of each query that has one, among all codes of the pairs."""
    codes = {code_of(pair.code): pair.code for pair in pairs}
    at = {code: place for place, code in enumerate(codes)}
    right: dict[str, list[int]] = {}
    for pair in pairs:
        if pair.grade:
            right.setdefault(pair.query, []).append(at[code_of(pair.code)])
    with _at_rest(encoder):
        scores = encoder.encode(list(right), "query") @ encoder.encode(list(codes.values()), "code").T
    ranks = [float((row >= row[places].max()).sum()) for row, places in zip(scores, right.values(), strict=True)]
    return 1.0 / np.array(ranks)


@contextmanager
def _at_rest(encoder: HfEncoder) -> Iterator[None]:
    """Switch off what is random in a model that is trained."""
    network: torch.nn.Module = encoder.runner.model  # type: ignore[attr-defined]  # trainable() refuses others
    training = network.training
    network.eval()
    yield
    network.train(training)


def _keep(folder: Path, look: TuneLook) -> None:
    if is_main_process():
        record.append_lines(looks_of(folder), [asdict(look)])


def _parts_line(parts: QueryParts) -> str:
    sizes = [
        f"{len(part):,} pairs of {len({pair.query for pair in part}):,} queries {what}"
        for part, what in ((parts.learned, "to learn"), (parts.valid, "to choose by"), (parts.test, "to test on"))
    ]
    return "; ".join(sizes) + (f"; {parts.left_out:,} left out, whose code another part has" if parts.left_out else "")
