from __future__ import annotations

import pytest

from assay.encode.hashed import HashedEncoder
from assay.errors import InputError
from assay.protocols import Encoder


def test_it_is_an_encoder_named_by_its_width() -> None:
    encoder = HashedEncoder("32")
    assert isinstance(encoder, Encoder)
    assert (encoder.name, encoder.dimension) == ("hash:32", 32)


def test_shared_terms_bring_texts_together_whatever_their_spelling() -> None:
    query, same, other = HashedEncoder().encode(["parse the headers", "parseHeader", "draw circles"], "query")
    assert query @ same > 0.5 > query @ other


def test_vectors_are_the_same_in_every_process() -> None:
    assert HashedEncoder("8").encode(["retry"], "code").tolist() == [[0, 0, 0, 1, 0, 0, 0, 0]]


def test_empty_texts_are_zero() -> None:
    assert not HashedEncoder().encode(["", "  ..."], "code").any()


@pytest.mark.parametrize("width", ["", "wide", "0", "-1"])
def test_a_width_must_be_a_number(width: str) -> None:
    with pytest.raises(InputError, match="hash:256"):
        HashedEncoder(width)
