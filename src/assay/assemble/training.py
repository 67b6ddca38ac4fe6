"""Train the judge that asks no model from labeled pairs, into a folder with card and manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.io import files
from assay.protocols import Say
from assay.runs.run_manifest import write_manifest

if TYPE_CHECKING:
    from assay.judge.judge_train_settings import JudgeTrainSettings
    from assay.judge.train_signals import TrainedSignals


def train_judge(  # noqa: PLR0913, PLR0917  what is learned from, how, where to, and who hears of it
    sources: Sequence[str], left_out: Sequence[Path], spec: str, folder: Path, settings: JudgeTrainSettings, say: Say
) -> TrainedSignals:
    """Train the judge without a model into a folder with card and manifest; return how well it carries over."""
    from importlib.util import find_spec

    from assay.judge.labelled_pairs import read_sources
    from assay.judge.signals import WEIGHTS
    from assay.judge.signals_card import card, reliability_figure
    from assay.judge.train_signals import learn
    from assay.report.picture import write_picture

    read = read_sources(sources, left_out)
    encoder = plugins.make("encoder", spec) if spec else None
    trained = learn(read, settings, say, encoder=encoder, spec=spec)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / WEIGHTS, trained.weights)
    files.write(folder / "README.md", card(trained, settings))
    if find_spec("matplotlib"):
        write_picture(reliability_figure(trained), folder / "reliability.svg")
    pairs = (astuple(one) for each in read.values() for one in each)
    write_manifest(folder / "manifest.json", settings, seed=0, corpus=pairs)
    return trained
