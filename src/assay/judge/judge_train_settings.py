"""What a training of the judge without a model does: with the labelled pairs, these values say all."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class JudgeTrainSettings:
    """Penalties and thresholds; the defaults made the shipped weights."""

    penalty: float = 0.1
    """On the squared weights of standardized evidence."""
    unread: float = 0.5
    """What a pair counts a second time, with its documentation unread, so that code without any is judged as well."""
    steps: int = 300
    folds: int = 5
    """By code, where there is a single source."""
    sure: float = 0.75
    """The fraction of held-out labels that must agree beyond a threshold, by the lower end of its 95% interval."""
    least_sure: int = 50
    """Held-out pairs beyond a threshold, at least."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        if self.penalty < 0 or not 0 <= self.unread <= 1 or not 0.5 < self.sure < 1:
            raise InputError("wanted a penalty of 0 or more, unread from 0 to 1 and sure between 0.5 and 1")
        for name, least in (("steps", 1), ("folds", 2), ("least_sure", 1)):
            if getattr(self, name) < least:
                raise InputError(f"setting '{name}' is {getattr(self, name)}; wanted {least} or more")
