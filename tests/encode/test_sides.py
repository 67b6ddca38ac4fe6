from __future__ import annotations

import numpy as np
import pytest

from assay import plugins
from assay.encode.hashed import HashedEncoder
from assay.encode.sides import HALVES, SidesEncoder, is_sided, name_of_side
from assay.errors import InputError
from assay.protocols import Encoder

SPEC = "sides:hash:64,hash:32"
TEXTS = ["send mail again", "close the box", ""]


@pytest.fixture
def encoder() -> SidesEncoder:
    return plugins.make("encoder", SPEC)


def test_its_name_makes_it_again(encoder: SidesEncoder) -> None:
    assert isinstance(encoder, Encoder)
    assert (encoder.name, encoder.dimension) == (SPEC, 96)


@pytest.mark.parametrize("role", ["query", "code", "docs"])
def test_rows_are_of_unit_length(encoder: SidesEncoder, role: str) -> None:
    vectors = encoder.encode(TEXTS[:2], role)
    assert (vectors.shape, vectors.dtype) == ((2, 96), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize(("side", "alone"), [("code", HashedEncoder("64")), ("docs", HashedEncoder("32"))])
def test_a_cosine_is_that_of_the_sides_encoder(encoder: SidesEncoder, side: str, alone: HashedEncoder) -> None:
    asked, chunks = encoder.encode(["mail again"], "query"), encoder.encode(TEXTS, side)
    wanted = alone.encode(["mail again"], "query") @ alone.encode(TEXTS, "code").T
    np.testing.assert_allclose(asked @ chunks.T * HALVES, wanted, atol=1e-6)


def test_sides_know_nothing_of_each_other(encoder: SidesEncoder) -> None:
    assert not (encoder.encode(TEXTS, "code") @ encoder.encode(TEXTS, "docs").T).any()


def test_the_name_of_a_side_is_that_of_its_encoder() -> None:
    assert [name_of_side(SPEC, side) for side in ("code", "docs")] == ["hash:64", "hash:32"]
    assert name_of_side("hash:64", "docs") == "hash:64"
    assert not is_sided("hash:64")


@pytest.mark.parametrize("spec", ["sides", "sides:", "sides:hash", "sides:,hash", "sides:hash,"])
def test_two_encoders_are_wanted(spec: str) -> None:
    with pytest.raises(InputError, match="wanted sides:CODE,DOCS"):
        plugins.make("encoder", spec)
