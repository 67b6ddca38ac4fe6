"""What a training run learned from, with which settings, and how well it does: what a model card is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256

import numpy as np

from assay.encode.examine import Score
from assay.encode.split_pairs import EncoderPairs
from assay.encode.train_settings import TableSettings
from assay.protocols import Vectors


def record(
    data: EncoderPairs, settings: TableSettings, table: Vectors, scores: Sequence[Score], **learned_from: object
) -> dict[str, object]:
    """Return the record of a run; the version changes when any number of the table does."""
    return {
        "version": sha256(table.astype(np.float16).tobytes()).hexdigest()[:12],
        "entries": len(table),
        **learned_from,
        "sources": len({pair.source for pair in data.learned}),
        "pairs": dict(sorted(Counter(pair.kind for pair in data.learned).items())),
        "held_out": dict(sorted(Counter(pair.source for pair in data.tested).items())),
        "left_out": sorted(settings.left_out),
        "settings": asdict(settings),
        "scores": [asdict(score) for score in scores],
    }
