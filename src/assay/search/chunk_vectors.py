"""Chunks to their vectors: each is read as suits the encoder of its side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.encode.sides import SIDES, is_sided, name_of_side
from assay.encode.view import Reads, text_for
from assay.protocols import Encoder, Vectors
from assay.search.filters import side_of
from assay.types import Chunk


def chunk_vectors(encoder: Encoder, chunks: Sequence[Chunk], reads: Reads = "auto") -> Vectors:
    """Return one unit-length row a chunk."""
    if not is_sided(encoder.name):
        return encoder.encode([text_for(encoder.name, chunk, reads) for chunk in chunks], "code")
    vectors = np.zeros((len(chunks), encoder.dimension), dtype=np.float32)
    for side in SIDES:
        places = [place for place, chunk in enumerate(chunks) if side_of(chunk) == side]
        name = name_of_side(encoder.name, side)
        if places:
            vectors[places] = encoder.encode([text_for(name, chunks[place], reads) for place in places], side)
    return vectors
