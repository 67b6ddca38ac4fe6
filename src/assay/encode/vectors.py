"""What encoders share about vectors: unit length, and a sum of them a text."""

from __future__ import annotations

import numpy as np

from assay.protocols import Vectors


def unit(vectors: Vectors) -> Vectors:
    """Make each row unit length in place; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors
