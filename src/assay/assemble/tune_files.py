"""Pairs and a base to a fine-tuned encoder with its record, its card and, where wanted, what runs it without torch."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assemble.training import extra_of
from assay.encode.training_pairs import TrainingPair
from assay.encode.tune_card import card
from assay.encode.tune_settings import TuneSettings
from assay.errors import InputError
from assay.io import files
from assay.measure.compare import compare, interval
from assay.protocols import Say
from assay.runs.record import manifest

if TYPE_CHECKING:
    from assay.encode.hf import HfEncoder
    from assay.encode.tune_encoder import TunedEncoder

RECORD, CARD, ONNX = "training.json", "README.md", "onnx"


@dataclass(frozen=True, slots=True)
class TunePlan:
    """What is trained from what, and where it goes."""

    base: str
    """A spec, `hf:NAME` or `hf:FOLDER`."""
    folder: Path
    onnx: bool = False
    fresh: bool = False


def tune_encoder(
    pairs: Sequence[TrainingPair], plan: TunePlan, settings: TuneSettings, say: Say
) -> dict[str, Any] | None:
    """Fine-tune a base into a folder; return the record of it, None in a process that only helps."""
    base = base_of(plan.base)
    with extra_of("train encoder --base"):
        from assay.encode import training_folder as run
        from assay.encode.process_group import is_main_process
        from assay.encode.tune_encoder import begin_run, tune
    folder = plan.folder
    first = is_main_process()
    with run.training(
        folder, RECORD, lambda: begin_run(pairs, base, folder, settings), say, fresh=plan.fresh
    ) as is_to_do:
        if not is_to_do:
            return _finished(plan, say) if first else None
        tuned = tune(pairs, base, folder, settings, say)
        if not first:
            return None
        if plan.onnx:
            _export(tuned.encoder, folder)
        record = _record_of(tuned, pairs, plan, settings)
        files.write(folder / CARD, card(record))
        files.write_json(folder / RECORD, record)
        run.remove_checkpoints(folder)
    return record


def _finished(plan: TunePlan, say: Say) -> dict[str, Any]:
    """Return the record of a run that ended, and export it where that is still to do."""
    from assay.encode.hf import HfEncoder

    folder = plan.folder
    record: dict[str, Any] = json.loads((folder / RECORD).read_text("utf-8"))
    if plan.onnx and not (record["onnx"] and (folder / ONNX).is_dir()):
        _export(HfEncoder(str(folder)), folder)
        say(f"exported to {folder / ONNX}")
        record["onnx"] = True
        files.write(folder / CARD, card(record))
        files.write_json(folder / RECORD, record)
    return record


def _export(encoder: HfEncoder, folder: Path) -> None:
    from assay.encode.onnx_export import export_onnx

    export_onnx(encoder, folder / ONNX, whole_numbers=True)


def _record_of(
    tuned: TunedEncoder, pairs: Sequence[TrainingPair], plan: TunePlan, settings: TuneSettings
) -> dict[str, Any]:
    parts = tuned.parts
    (difference,) = compare({"after": tuned.after, "before": tuned.before})
    figures: dict[str, float] = {"difference": difference.difference, "low": difference.low, "high": difference.high}
    for name, values in (("before", tuned.before), ("after", tuned.after)):
        low, high = interval(values)
        figures |= {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}
    return {
        "base": name_of(plan.base.removeprefix("hf:")),
        "license": license_of(plan.base.removeprefix("hf:")),
        "max_tokens": tuned.encoder.recipe.max_tokens,
        "sources": sorted({pair.source for pair in pairs}),
        "learned": len(parts.learned),
        "valid_queries": len({pair.query for pair in parts.valid if pair.grade}),
        "test_queries": len(tuned.after),
        "test_codes": len({pair.code for pair in parts.test}),
        "left_out": parts.left_out,
        "examples": tuned.examples,
        "looks": [{**asdict(look), "loss": None if math.isnan(look.loss) else look.loss} for look in tuned.looks],
        "step": tuned.best.step,
        "steps": tuned.looks[-1].step,
        "figures": figures,
        "onnx": plan.onnx,
        **manifest(settings, seed=settings.seed, corpus=map(repr, pairs)),
    }


def base_of(spec: str) -> str:
    """Return the folder or the name on the hub that the spec of a base names."""
    if not spec.startswith("hf:"):
        raise InputError(f"--base is '{spec}'; wanted hf: and a folder or a name on the hub")
    return spec.removeprefix("hf:")


def license_of(base: str) -> str:
    """Return the license that the card of a base names, `other` where it names none."""
    from assay.encode.model_hub import find_file
    from assay.encode.model_options import split_model

    file = find_file(split_model(base)[0], CARD)
    if file is None:
        return "other"
    named = re.search(r"^license:\s*(\S+)\s*$", file.read_text("utf-8", "replace"), re.MULTILINE)
    return named[1] if named else "other"


def name_of(base: str) -> str:
    """Return what people call a base: a hub name, not a folder of this machine."""
    named = Path(base.partition("?")[0])
    return named.name if named.is_dir() else base
