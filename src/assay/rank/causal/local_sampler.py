"""Prompts to completions by a causal model on this machine: `hf:FOLDER`, or a name on the hub while online.

Rows of several prompts go through the model together, filled up on the left; a row ends at a stop sequence. The random
state is set for each batch by the seed of its first question, so that what a row becomes depends on its neighbors, too:
the same command gives the same programs, a run that was cut off may give others for what was missing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from assay.encode.models import ModelOptions
from assay.errors import InputError
from assay.programs.samples import cut, logprob_sum
from assay.rank.causal.causal_model import CausalModel
from assay.rank.causal.generate import NoteLogprobs, StopAtTexts
from assay.rank.sampling.model_answers import Completions, SamplingOptions, SamplingQuestion
from assay.types import LogProbability

_ROWS, _ROWS_ON_GPU = 16, 128


@dataclass(frozen=True, slots=True)
class WrittenText:
    """One text that a model wrote."""

    text: str
    tokens: int
    logprob: LogProbability | None


class LocalSampler:
    """A causal language model of transformers."""

    whole = False

    def __init__(self, model: str, options: ModelOptions | None = None) -> None:
        options = options or ModelOptions()
        self._causal = CausalModel(model, options)
        self.name = self._causal.name
        self._rows = options.batch or (_ROWS if self._causal.device == "cpu" else _ROWS_ON_GPU)
        self.at_once = max(self._rows, 2)  # 1 is what answers in several threads

    def sample(self, questions: Sequence[SamplingQuestion]) -> list[Completions]:
        """Return what the model goes on with, as often as asked for; of a long prompt it reads the end."""
        rows = [(at, self._prompt(each)) for at, each in enumerate(questions) for _ in range(_drawn(each.options))]
        written: list[list[WrittenText]] = [[] for _ in questions]
        for start in range(0, len(rows), self._rows):
            some = rows[start : start + self._rows]
            options = questions[some[0][0]].options
            torch.manual_seed(options.seed + start)
            for (at, _), text in zip(some, self._write([ids for _, ids in some], options), strict=True):
                written[at].append(text)
        return [self._completions(each, of) for each, of in zip(questions, written, strict=True)]

    def _prompt(self, question: SamplingQuestion) -> list[int]:
        room = self._causal.window - question.options.max_tokens
        if room <= 0:
            most = question.options.max_tokens
            raise InputError(f"--max-tokens {most}: {self.name} reads and writes {self._causal.window} in all")
        return self._causal.opening_tokens(question.prompt)[-room:]

    def _write(self, prompts: Sequence[Sequence[int]], asked: SamplingOptions) -> list[WrittenText]:
        ids, mask = self._causal.padded(prompts, "left")
        drawn: dict[str, Any] = {"do_sample": False}
        if asked.temperature > 0:
            drawn = {"do_sample": True, "temperature": asked.temperature, "top_p": asked.top_p, "top_k": 0}
        noted, cache = NoteLogprobs(), self._causal.read_once(prompts)
        with torch.inference_mode():
            out = self._causal.network.generate(
                ids,
                attention_mask=mask,
                max_new_tokens=asked.max_tokens,
                pad_token_id=self._causal.padding,
                stopping_criteria=[StopAtTexts(self._causal, asked.stop, ids.shape[1])],
                logits_processor=[noted] if asked.logprobs else [],
                **drawn,
                **({} if cache is None else {"past_key_values": cache}),
            )
        new = out[:, ids.shape[1] :].tolist()
        scores = noted.of(out).tolist() if asked.logprobs else [[]] * len(new)
        return [self._written(row, score, asked.stop) for row, score in zip(new, scores, strict=True)]

    def _written(self, row: list[int], scores: list[float], stop: Sequence[str]) -> WrittenText:
        """Return what a row says up to its stop sequence, with the tokens that it took."""
        end = next((at for at, token in enumerate(row) if token in self._causal.ends), len(row))
        whole = self._causal.text_of(row[:end])
        text = cut(whole, stop)
        kept = taken = end
        if len(text) < len(whole):
            kept = self._tokens_until(row[:end], len(text))
            ended = min(len(text) + len(each) for each in stop if whole.startswith(each, len(text)))
            taken = self._tokens_until(row[:end], ended)
        logprob = logprob_sum(scores[:kept]) if scores else None
        return WrittenText(text, taken + (taken == end < len(row)), logprob)

    def _tokens_until(self, row: list[int], length: int) -> int:
        """Return how many tokens begin a row with so many letters."""
        return bisect_left(range(len(row)), length, key=lambda count: len(self._causal.text_of(row[:count])))

    def _completions(self, question: SamplingQuestion, written: Sequence[WrittenText]) -> Completions:
        n = question.options.n
        texts = tuple(each.text for each in written) * (n // len(written))
        logprobs = tuple(each.logprob for each in written) * (n // len(written))
        spent = sum(each.tokens for each in written)
        return Completions(texts, len(self._prompt(question)), spent, logprobs if question.options.logprobs else ())


def _drawn(asked: SamplingOptions) -> int:
    """Return how many texts are written: one is all where nothing is random."""
    return asked.n if asked.temperature > 0 else 1
