from __future__ import annotations

import numpy as np

from assay.store.array_cache import ArrayCache


def test_an_array_is_made_once_as_long_as_there_is_room():
    made: list[str] = []

    def make(name: str, size: int) -> np.ndarray:
        made.append(name)
        return np.zeros(size, np.uint8)

    cache = ArrayCache(100)
    for name, size in (("a", 60), ("a", 60), ("b", 30), ("a", 60), ("c", 60), ("c", 60), ("a", 30)):
        cache.get(name, lambda name=name, size=size: make(name, size))
    assert made == ["a", "b", "c", "a"]
    cache.get("large", lambda: make("large", 101))
    cache.get("large", lambda: make("large", 101))
    assert made[-2:] == ["large", "large"]
