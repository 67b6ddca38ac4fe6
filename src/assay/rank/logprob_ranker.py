"""`logprob`: programs to how likely a language model finds them, the likeliest first (Inala et al. 2022, table 19).

Without more, the log-probabilities count that samples came with, those of the model that wrote them;
`logprob:hf:FOLDER` asks a causal language model on this machine about any text instead. The score is the mean of a
token, with `sum` the sum, which prefers short programs. An answer without any token comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from assay.errors import InputError
from assay.types import LogProbability, Program, Ranked, Task

_SCORES = ("mean", "sum")


class TextScorer(Protocol):
    """A language model that says how likely texts are."""

    @property
    def name(self) -> str:
        """The spec that makes it again."""

    def logprobs(self, task: Task, sources: Sequence[str]) -> list[LogProbability]:
        """Return how likely each program is behind the text of its task."""


class LogprobRanker:
    """Programs by their log-probability."""

    def __init__(self, score: str = "mean", scorer: TextScorer | None = None) -> None:
        self._score, self._scorer = score, scorer
        parts = ["logprob", *(["sum"] if score == "sum" else []), *([scorer.name] if scorer else [])]
        self.name = ":".join(parts)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return each program with the mean or the sum of its log-probabilities."""
        found = self._scored(task, programs) if self._scorer else _stored(task, programs)
        lowest = min((self._of(each) for each in found if each.tokens), default=0.0) - 1
        scores = [self._of(each) if each.tokens else lowest for each in found]
        return [
            Ranked(program, score, why={"mean": each.mean, "sum": each.total, "tokens": float(each.tokens)})
            for program, score, each in zip(programs, scores, found, strict=True)
        ]

    def _scored(self, task: Task, programs: Sequence[Program]) -> list[LogProbability]:
        assert self._scorer is not None
        sources = list(dict.fromkeys(program.source for program in programs))
        of = dict(zip(sources, self._scorer.logprobs(task, sources), strict=True))
        return [of[program.source] for program in programs]

    def _of(self, logprob: LogProbability) -> float:
        return logprob.total if self._score == "sum" else logprob.mean


def open_logprob(argument: str = "") -> LogprobRanker:
    """Return the ranker of `logprob`, `logprob:sum`, `logprob:hf:FOLDER` or `logprob:sum:hf:FOLDER`."""
    score, _, rest = argument.partition(":") if argument.partition(":")[0] in _SCORES else ("mean", "", argument)
    if not rest:
        return LogprobRanker(score)
    kind, _, model = rest.partition(":")
    if kind != "hf" or not model:
        raise InputError(f"logprob:{argument}: wanted nothing, sum, or a model as in logprob:hf:FOLDER")
    from assay.rank.causal.open_causal import open_scorer

    return LogprobRanker(score, open_scorer(model))


def _stored(task: Task, programs: Sequence[Program]) -> list[LogProbability]:
    """Return what the programs came with; one that came without any cannot be placed."""
    found = [program.logprob for program in programs if program.logprob is not None]
    if len(found) < len(programs):
        lacking = next(program for program in programs if program.logprob is None)
        raise InputError(
            f"{len(programs) - len(found):,} of {len(programs):,} samples of {task.id} have no log-probability, "
            f"{lacking.id or 'the first'} among them: sample them with 'assay rank sample', or let a model score them, "
            "--ranker logprob:hf:FOLDER"
        )
    return found
