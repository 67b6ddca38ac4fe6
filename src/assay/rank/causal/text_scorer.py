"""A task and programs in, how likely a causal model finds each program behind the task's text out.

Task and program are turned into tokens apart, as when a model goes on behind a prompt; a program that begins with the
text of its task is scored from there on. Rows of like length go through the model together. What does not fit the
model's window is not read: the beginning of the prompt first, then the end of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from assay.encode.models import ModelOptions
from assay.rank.causal.causal_model import CausalModel
from assay.types import LogProbability, Task

_ROWS, _TOKENS = 32, 2048
_LARGER = 8
"""Times that a GPU takes."""


class CausalScorer:
    """A causal language model of transformers that reads and does not write."""

    def __init__(self, model: str, options: ModelOptions | None = None) -> None:
        options = options or ModelOptions()
        self._causal = CausalModel(model, options)
        self.name = self._causal.name
        larger = 1 if self._causal.device == "cpu" else _LARGER
        self._rows, self._tokens = options.batch or _ROWS * larger, _TOKENS * larger

    def logprobs(self, task: Task, sources: Sequence[str]) -> list[LogProbability]:
        """Return how likely each program is behind the text of its task."""
        rows = [self._row(task.prompt, source) for source in sources]
        found: dict[int, LogProbability] = {}
        for places in self._batches([len(prompt) + len(program) for prompt, program in rows]):
            scores = self._scores([rows[place] for place in places])
            found |= dict(zip(places, scores, strict=True))
        return [found[place] for place in range(len(rows))]

    def _row(self, prompt: str, source: str) -> tuple[list[int], list[int]]:
        """Return the tokens that are read first, at least one, and those that are scored."""
        goes_on = bool(prompt) and source.startswith(prompt)
        program = self._causal.tokens_of(source[len(prompt) :] if goes_on else source)[: self._causal.window - 1]
        before = self._causal.opening_tokens(prompt if goes_on or not prompt else f"{prompt.rstrip()}\n\n")
        return before[-(self._causal.window - len(program)) :], program

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Yield the places of rows of like length, as many as go through the model together."""
        some: list[int] = []
        for place in sorted(range(len(lengths)), key=lambda at: lengths[at]):
            if some and (len(some) >= self._rows or (len(some) + 1) * lengths[place] > self._tokens):
                yield some
                some = []
            some.append(place)
        if some:
            yield some

    def _scores(self, rows: Sequence[tuple[list[int], list[int]]]) -> list[LogProbability]:
        """Return the log-probabilities of rows; a prompt that all have is read once."""
        cache = (
            self._causal.read_once([prompt for prompt, _ in rows]) if len({tuple(p) for p, _ in rows}) == 1 else None
        )
        before = 0 if cache is None else len(rows[0][0]) - 1
        ids, mask = self._causal.padded([[*prompt, *program] for prompt, program in rows], "right")
        shared = {} if cache is None else {"past_key_values": cache}
        with torch.inference_mode():
            logits = self._causal.network(input_ids=ids[:, before:], attention_mask=mask, **shared).logits
        found = []
        for at, (prompt, program) in enumerate(rows):
            start = len(prompt) - 1 - before
            chosen, of_row = torch.tensor(program, device=ids.device), logits[at, start : start + len(program)].float()
            scores = of_row.gather(1, chosen[:, None].long())[:, 0] - of_row.logsumexp(dim=1)
            found.append(LogProbability(float(scores.sum()), len(program)))
        return found
