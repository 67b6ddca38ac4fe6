"""Vectors that were computed once are read from a database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.encode.cached_encoder import CachedEncoder
from assay.encode.vectors import HashedEncoder
from assay.errors import StorageError
from assay.protocols import Encoder, Role, Vectors


class Counted:
    """An encoder that remembers what it was asked."""

    def __init__(self, name: str = "counted") -> None:
        self.name = name
        self.dimension = 64
        self.asked: list[tuple[str, Role]] = []

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        self.asked += [(text, role) for text in texts]
        return HashedEncoder("64").encode(texts, role)


def test_each_text_is_encoded_once_a_role_and_encoder_even_across_processes(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "cache.sqlite"
    one, two = Counted("one"), Counted("two")
    first = CachedEncoder(one, file).encode(["a b", "c d", "a b"], "code")
    again = CachedEncoder(one, file).encode(["c d", "e f"], "code")
    assert one.asked == [("a b", "code"), ("c d", "code"), ("e f", "code")]
    np.testing.assert_allclose(first[1], again[0])
    for inner in (one, two):
        CachedEncoder(inner, file).encode(["a b"], "query")
    assert (one.asked[3:], two.asked) == ([("a b", "query")], [("a b", "query")])


def test_what_comes_back_is_what_the_encoder_says(tmp_path: Path) -> None:
    cached = CachedEncoder(Counted(), tmp_path / "cache.sqlite")
    assert isinstance(cached, Encoder)
    assert (cached.name, cached.dimension) == ("counted", 64)
    assert cached.encode([], "code").shape == (0, 64)
    texts = [f"word{number} other{number}" for number in range(1200)]
    fresh, stored = cached.encode(texts, "code"), cached.encode(texts, "code")
    np.testing.assert_allclose(fresh, HashedEncoder("64").encode(texts, "code"), atol=1e-3)
    np.testing.assert_allclose(stored, fresh, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_text("not a database, only text that is long enough to be looked at" * 20)
    with pytest.raises(StorageError, match=r"cache\.sqlite cannot be used"):
        CachedEncoder(Counted(), tmp_path / "cache.sqlite")
