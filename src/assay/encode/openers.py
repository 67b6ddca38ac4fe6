"""Open transformers and cross-encoders, without loading torch for a missing one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from assay.encode.models import is_path, split_model
from assay.errors import MissingExtra, ModelUnavailable
from assay.extras import install_command
from assay.protocols import Encoder, Scorer


def open_hf(spec: str) -> Encoder:
    """Open the transformer in a folder, or on the hub by its name."""
    model, _ = split_model(spec)
    try:
        from assay.encode.hub import check_is_there

        check_is_there(model)
        from assay.encode.hf import HfEncoder
    except ModuleNotFoundError as error:
        raise MissingExtra("encoder 'hf'", str(error.name), "hf") from error
    return HfEncoder(spec)


def open_cross(model: str) -> Scorer:
    """Open the cross-encoder in a folder, or on the hub by its name."""
    folder = Path(model).expanduser()
    if not folder.is_dir() and (is_path(model) or find_spec("transformers") is None):
        raise ModelUnavailable(
            f"no folder '{model}'; wanted a folder with a cross-encoder, or the name of one on the hub, which needs "
            f"the extra `hf`: {install_command('hf')}"
        )
    try:
        from assay.encode.hf import CrossEncoder
    except ModuleNotFoundError as error:
        raise MissingExtra("scorer 'cross'", str(error.name), "hf") from error
    return CrossEncoder(str(folder) if folder.is_dir() else model)
