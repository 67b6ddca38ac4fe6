"""Pairs of texts to scores by a transformer that first reads each text alone, then both together.

The layers of the base read question and text apart, as the encoder of sentences that they were trained to be: the
cosine of the two means is a score before anything is learned. Copies of its last layers then read both together, and
a head adds what they see. The base stays as it is, so that little data and no GPU suffice.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_WORTH = 12.0  # of a cosine at first: near the temperature that such encoders are trained at


class CrossNetwork(nn.Module):
    """A BERT read apart, with `together` copies of its last layers and a head on top."""

    def __init__(self, base: Any, together: int) -> None:
        super().__init__()
        width = base.config.hidden_size
        self.base = base.requires_grad_(False)
        self.together = nn.ModuleList(deepcopy(layer) for layer in base.encoder.layer[-together:]).requires_grad_(True)
        self.side = nn.Parameter(torch.zeros(width))  # tells a text from a question
        self.head = nn.Linear(3 * width, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        self.worth = nn.Parameter(torch.tensor(_WORTH))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Return one score a pair."""
        there = attention_mask.bool()
        is_text = (token_type_ids == 1) & there
        is_question = (token_type_ids == 0) & there
        with torch.no_grad():
            before, after = self._read_apart(input_ids, is_question, is_text)
        cosine = functional.cosine_similarity(_mean(after, is_question), _mean(after, is_text))
        both = before + is_text[:, :, None] * self.side
        mask = _mask(there[:, None, :].expand(-1, input_ids.shape[1], -1), both)
        for layer in self.together:
            both = _output(layer(both, mask))
        question, text = _mean(both, is_question), _mean(both, is_text)
        seen = torch.cat((both[:, 0], question * text, (question - text).abs()), dim=1)
        return self.worth * cosine + self.head(seen)[:, 0]

    def _read_apart(self, ids: Tensor, is_question: Tensor, is_text: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors of the words where reading together begins, and where reading apart ends."""
        question = is_question.long()
        places = torch.arange(ids.shape[1], device=ids.device)[None, :]
        places = torch.where(is_text, places - question.sum(1, keepdim=True), places)
        hidden = self.base.embeddings(input_ids=ids, token_type_ids=torch.zeros_like(ids), position_ids=places)
        own = is_question[:, :, None] & is_question[:, None, :] | is_text[:, :, None] & is_text[:, None, :]
        padding = ~(is_question | is_text)
        mask = _mask(own | padding[:, :, None], hidden)  # what is no word may look anywhere, and is never looked at
        layers = list(self.base.encoder.layer)
        before = hidden
        for number, layer in enumerate(layers):
            if number == len(layers) - len(self.together):
                before = hidden
            hidden = _output(layer(hidden, mask))
        return before.float(), hidden.float()


def _mask(seen: Tensor, like: Tensor) -> Tensor:
    """Return (pairs, 1, tokens, tokens): 0 where a token is seen by another, a very low number elsewhere."""
    return ((~seen).to(like.dtype) * -1e4)[:, None]


def _mean(vectors: Tensor, chosen: Tensor) -> Tensor:
    weights = chosen[:, :, None].to(vectors.dtype)
    return (vectors * weights).sum(1) / weights.sum(1).clamp(min=1)


def _output(output: Any) -> Tensor:
    """Return the vectors that a layer gives, in whichever form its version of transformers gives them."""
    vectors: Tensor = output[0] if isinstance(output, tuple) else output
    return vectors
