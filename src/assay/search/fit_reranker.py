"""Lists, a base model and settings to a folder for `cross:`, with its record and card.

The model is trained in `encode`; its weight beside the ranking is fitted here, on lists of sources that it never saw.
Judged questions decide the weight wherever some are held out: sentences of documentation are another kind of question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from assay.encode.cross_training import RerankerLists, reciprocal_rank, train
from assay.encode.onnx_cross import OnnxPairs
from assay.encode.question_lists import QuestionList
from assay.encode.reranker_card import card
from assay.encode.reranker_folder import ABOUT, CARD, MODEL, version_of
from assay.encode.reranker_settings import RerankerSettings
from assay.io import files
from assay.protocols import Say
from assay.search.fit_blend import ReadList, fit_blend, read_list
from assay.types import Blend

_FITTED = 1000  # lists at most


def train_and_fit(
    lists: Sequence[QuestionList], base: str, folder: Path, settings: RerankerSettings, say: Say
) -> dict[str, Any]:
    """Train a reranker into a folder and return its record."""
    data, looks = train(lists, base, folder, settings, say)
    fitted = fitted_lists(data.held_out)
    pairs = OnnxPairs(folder, settings.tokens)
    read = [read_list(one, pairs.scores(one.question, one.texts).tolist()) for one in fitted]
    blend = fit_blend(read)
    record = {
        "version": version_of(folder),
        "base": Path(base).name,
        "blend": asdict(blend),
        "bytes": (folder / MODEL).stat().st_size,
        **_data(data),
        "left_out": sorted(settings.left_out),
        "settings": asdict(settings),
        "looks": [asdict(look) for look in looks],
        "held_out_figures": {
            "watched": min(len(data.held_out), settings.evaluated),
            "fitted": len(fitted),
            "kind": fitted[0].kind,
            **_figures(read, blend),
        },
    }
    files.write_json(folder / ABOUT, record)
    files.write(folder / CARD, card(record))
    return record


def fitted_lists(held_out: Sequence[QuestionList]) -> list[QuestionList]:
    """Return the held-out lists of the kind that comes first."""
    return [one for one in held_out if one.kind == held_out[0].kind][:_FITTED]


def _data(data: RerankerLists) -> dict[str, Any]:
    return {
        "sources": len({one.source for one in data.learned}),
        "lists": dict(sorted(Counter(one.kind for one in data.learned).items())),
        "held_out": dict(sorted(Counter(one.source for one in data.held_out).items())),
    }


def _figures(lists: Sequence[ReadList], blend: Blend) -> dict[str, float]:
    """Return the mean reciprocal ranks of the ranking, of the model, and of both."""

    def mrr(weights: tuple[float, float]) -> float:
        own, read = weights
        return float(np.mean([reciprocal_rank(own * x.logits + read * x.opinions, x.targets.tolist()) for x in lists]))

    return {"before": mrr((1, 0)), "alone": mrr((0, 1)), "both": mrr((1, blend.weight))}
