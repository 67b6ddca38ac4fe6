"""A spec `hf:MODEL?options` to what writes or scores with that model: a model that is not there is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.encode.models import ModelOptions, split_model
from assay.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from assay.rank.causal.local_sampler import LocalSampler
    from assay.rank.causal.text_scorer import CausalScorer

OPTIONS = ("device", "dtype", "batch", "length")
BASE_OPTIONS = ("length",)
"""Those of a base that is trained; what else there is to say are settings of the training."""


def open_local_sampler(spec: str = "") -> LocalSampler:
    """Return what writes programs with a model on this machine."""
    with _needs("sampler 'hf'"):
        model, options = checked_model(spec, "the sampler 'hf'")
        from assay.rank.causal.local_sampler import LocalSampler
    return LocalSampler(model, options)


def open_scorer(spec: str) -> CausalScorer:
    """Return what says how likely a model on this machine finds a text."""
    with _needs("ranker 'logprob:hf'"):
        model, options = checked_model(spec, "the ranker 'logprob:hf'")
        from assay.rank.causal.text_scorer import CausalScorer
    return CausalScorer(model, options)


def checked_model(spec: str, what: str, known: Sequence[str] = OPTIONS) -> tuple[str, ModelOptions]:
    """Return the model and the options of a spec; what is not there is told before a library of seconds is loaded."""
    if not spec:
        raise InputError(f"{what} needs its model, as in hf:FOLDER")
    model, options = split_model(spec, known)
    from assay.encode.hub import check_is_there

    check_is_there(model)
    return model, options


@contextmanager
def _needs(what: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(what, str(error.name), "hf") from error
