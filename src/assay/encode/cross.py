"""Open the cross-encoder that a spec names: an exported one of a folder, or any classifier of pairs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from assay.encode.model_options import is_path
from assay.errors import MissingExtra, ModelUnavailable
from assay.extras import install_command
from assay.protocols import Scorer

ABOUT = "reranker.json"
"""What a folder with an exported cross-encoder says of it: how much it reads, and what its scores are worth."""


def open_cross(model: str) -> Scorer:
    """Return the cross-encoder of a folder, or of a name on the hub."""
    folder = Path(model).expanduser()
    if (folder / ABOUT).is_file():
        try:
            from assay.encode.onnx_cross import OnnxCrossEncoder
        except ModuleNotFoundError as error:
            raise MissingExtra(f"cross:{model}", str(error.name), "onnx") from error
        return OnnxCrossEncoder(folder)
    if not folder.is_dir() and (is_path(model) or find_spec("transformers") is None):
        raise ModelUnavailable(
            f"no folder '{model}'; wanted a folder with a cross-encoder, or the name of one on the hub, which needs "
            f"the extra `hf`: {install_command('hf')}"
        )
    try:
        from assay.encode.hf_cross import CrossEncoder
    except ModuleNotFoundError as error:
        raise MissingExtra("scorer 'cross'", str(error.name), "hf") from error
    return CrossEncoder(str(folder) if folder.is_dir() else model)
