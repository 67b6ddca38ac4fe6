"""Train the judge that asks no model from labeled pairs, into a folder with card and manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.io import files
from assay.protocols import Say
from assay.runs.record import write_manifest

if TYPE_CHECKING:
    from assay.judge.train_signals import JudgeTrainSettings, SourceFigures


def train_judge(  # noqa: PLR0913, PLR0917  what is learned from, how, where to, and who hears of it
    sources: Sequence[str], left_out: Sequence[Path], spec: str, folder: Path, settings: JudgeTrainSettings, say: Say
) -> list[SourceFigures]:
    """Train the judge without a model into a folder with card and manifest; return how well it carries over."""
    from assay.judge.signals import WEIGHTS
    from assay.judge.train_signals import card, learn, read_sources

    read = read_sources(sources, left_out)
    encoder = plugins.make("encoder", spec) if spec else None
    weights, figures = learn(read, settings, say, encoder=encoder, spec=spec)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / WEIGHTS, weights)
    files.write(folder / "README.md", card(weights, figures, settings))
    pairs = (astuple(one) for each in read.values() for one in each)
    write_manifest(folder / "manifest.json", settings, seed=0, corpus=pairs)
    return figures
