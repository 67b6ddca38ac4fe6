"""A cross-encoder that is not there."""

from __future__ import annotations

import pytest

from assay import plugins
from assay.errors import ModelUnavailable


@pytest.mark.parametrize("model", ["none/of/them", "./reranker", "/no/reranker"])
def test_a_cross_encoder_that_is_not_there_is_said(model: str) -> None:
    with pytest.raises(ModelUnavailable, match=rf"^no folder '{model}'; wanted a folder with a cross-encoder, or"):
        plugins.make("scorer", f"cross:{model}")
