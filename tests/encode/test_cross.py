"""An exported cross-encoder, read without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import plugins
from assay.errors import InputError
from assay.protocols import BlendedScorer
from assay.types import Blend, Chunk, Query

QUERY = Query("1", "where is the mail box")


def test_a_text_is_read_beside_the_question_and_cut(exported_cross: Path) -> None:
    scorer = plugins.make("scorer", f"cross:{exported_cross}")
    assert isinstance(scorer, BlendedScorer)
    assert (scorer.name, scorer.blend) == ("cross:1", Blend(0.5, 1.0, 0.0))
    texts = [
        "box",
        "mail",
        *["none"] * 7,
        "box mail",
        "mail " + " ".join(a + b + "t" for a in "bcdfg" for b in "aeiou") + " box",
    ]
    scores = scorer.score(QUERY, [Chunk(str(at), text) for at, text in enumerate(texts)])
    assert scores == [5.0, 4.0, *[0.0] * 7, 9.0, 4.0]
    assert scorer.score(QUERY, []) == []


def test_a_cross_encoder_that_is_not_there_or_is_none_is_said(exported_cross: Path) -> None:
    for model in ("none/of/them", "./reranker", "/no/reranker"):
        with pytest.raises(InputError, match=rf"^no folder '{model}'; wanted a folder with a cross-encoder, or"):
            plugins.make("scorer", f"cross:{model}")
    scorer = plugins.make("scorer", f"cross:{exported_cross}")
    (exported_cross / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"^no model\.onnx in .*; reranker\.json there says that it holds an exported"):
        scorer.score(QUERY, [Chunk("1", "mail")])
    (exported_cross / "reranker.json").write_text('{"version": "1"}')
    with pytest.raises(InputError, match=r"does not describe a reranker \(KeyError\('blend'\)\); wanted"):
        plugins.make("scorer", f"cross:{exported_cross}")
