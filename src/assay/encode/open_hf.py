"""A spec `hf:MODEL?options` to its encoder: what is wrong with it is said before libraries of seconds are loaded."""

from __future__ import annotations

from assay.encode.model_options import split_model
from assay.errors import MissingExtra
from assay.protocols import Encoder


def open_hf(spec: str) -> Encoder:
    """Return the transformer of a folder, or of a name on the hub."""
    model, _ = split_model(spec)
    try:
        from assay.encode.model_hub import check_is_there

        check_is_there(model)
        from assay.encode.hf import HfEncoder
    except ModuleNotFoundError as error:
        raise MissingExtra("encoder 'hf'", str(error.name), "hf") from error
    return HfEncoder(spec)
