"""What is watched while a model writes: where each row meets a stop sequence, and how likely its tokens were."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import LogitsProcessor, StoppingCriteria

from assay.rank.causal.causal_model import CausalModel

_BEFORE = 4
"""Tokens beyond the letters of a stop sequence that are looked at: some letters take several."""


class StopAtTexts(StoppingCriteria):
    """Ends each row where it holds a stop sequence."""

    def __init__(self, model: CausalModel, stop: Sequence[str], width: int) -> None:
        self._model, self._stop, self._width = model, tuple(stop), width
        self._seen = max((len(each.encode()) for each in stop), default=0) + _BEFORE
        self._ended: set[int] = set()

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:  # noqa: ARG002
        """Say of each row whether it is at its end."""
        for row in range(len(input_ids)) if self._stop else ():
            if row not in self._ended:
                tail = input_ids[row, max(self._width, input_ids.shape[1] - self._seen) :].tolist()
                text = self._model.text_of(tail)
                if any(stop in text for stop in self._stop):
                    self._ended.add(row)
        return torch.tensor([row in self._ended for row in range(len(input_ids))], device=input_ids.device)


class NoteLogprobs(LogitsProcessor):
    """Notes the log-probability of each token that is chosen, as the model has it before temperature and top-p."""

    def __init__(self) -> None:
        self._logits: torch.Tensor | None = None
        self._noted: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Note the token chosen last, and keep what the next is chosen from."""
        self._note(input_ids[:, -1])
        self._logits = scores.detach().float()
        return scores

    def of(self, out: torch.Tensor) -> torch.Tensor:
        """Return those of all new tokens, a row a text."""
        self._note(out[:, -1])
        return torch.stack(self._noted, dim=1)

    def _note(self, chosen: torch.Tensor) -> None:
        if self._logits is not None:
            at = self._logits.gather(1, chosen[:, None])[:, 0]
            self._noted.append((at - self._logits.logsumexp(dim=1)).cpu())
            self._logits = None
