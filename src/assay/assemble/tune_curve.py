"""The record of a fine-tuning to the figure of it: loss and retrieval after so many steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.document import CurvePanel, Curves, Mean, Series


def curve_of(record: Mapping[str, Any]) -> Curves:
    """Return what the looks saw, in a panel for each of the two."""
    looks = record["looks"]
    caption = f"{record['base']}, {record['learned']:,} pairs; the model of step {record['step']:,} is kept."
    panels = []
    for name, title in (("mrr", "MRR on the validation part"), ("loss", "Loss since the look before")):
        seen = [(float(look["step"]), look[name]) for look in looks if look[name] is not None]
        xs = tuple(step for step, _ in seen)
        panels.append(CurvePanel(title, (Series("fine-tuned", 0, xs, tuple(Mean(y, y, y) for _, y in seen)),)))
    return Curves("Training", caption, tuple(panels), x="step")
