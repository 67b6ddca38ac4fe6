# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay import plugins
from assay.encode.hf_cross import CrossEncoder
from assay.encode.view import source
from assay.errors import InputError
from assay.protocols import Scorer
from assay.types import Chunk, Query

QUERY = Query("1", "where are retries handled")
CHUNKS = [Chunk(f"c{n}", text) for n, text in enumerate(["retries handled", "a", "where a passage : a a a", "query"])]


def classifier(tiny_bert: Path, folder: Path, outputs: int) -> str:
    """Save a classifier of random weights; return its spec."""
    torch.manual_seed(outputs)
    config = transformers.AutoConfig.from_pretrained(tiny_bert, num_labels=outputs)
    transformers.BertForSequenceClassification(config).eval().save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    return f"cross:{folder}"


def by_hand(folder: str, chunk: Chunk) -> list[float]:
    """One pair alone, without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(QUERY.text, source(chunk), return_tensors="pt")).logits[0].tolist()


@pytest.mark.parametrize("outputs", [1, 2])
def test_scores_are_those_of_each_pair_alone(tiny_bert: Path, tmp_path: Path, outputs: int) -> None:
    scorer = plugins.make("scorer", classifier(tiny_bert, tmp_path, outputs))
    assert isinstance(scorer, Scorer)
    alone = [by_hand(str(tmp_path), chunk) for chunk in CHUNKS]
    wanted = [logits[0] if outputs == 1 else logits[1] - logits[0] for logits in alone]
    assert scorer.score(QUERY, CHUNKS) == pytest.approx(wanted, abs=1e-5)
    assert CrossEncoder(str(tmp_path), batch=2).score(QUERY, CHUNKS) == pytest.approx(wanted, abs=1e-5)
    assert scorer.score(QUERY, []) == []
    assert len(set(wanted)) == len(wanted)


def test_long_chunks_are_cut(tiny_bert: Path, tmp_path: Path) -> None:
    scorer = plugins.make("scorer", classifier(tiny_bert, tmp_path, 1))
    (score,) = scorer.score(QUERY, [Chunk("long", "a " * 3000)])
    assert score == score  # noqa: PLR0124  a number


def test_what_is_no_classifier_is_refused(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is BertModel .* wanted a classifier with 1 or 2"):
        CrossEncoder(str(tiny_bert))
    classifier(tiny_bert, tmp_path, 3)
    with pytest.raises(InputError, match="with 3 outputs"):
        CrossEncoder(str(tmp_path))
    with pytest.raises(InputError, match="no model"):
        CrossEncoder(str(tmp_path / "none"))
