"""Tasks and a sampler in, a file of samples out, to which nothing is done twice.

Each sample is one line, on disk before the next question is asked, with all that it was asked with. A run that was cut
off asks for what is missing; lines of another model or another temperature are an error and are never mixed in. What a
model says is kept whole: where a completion ends is for the reader to say, by a rule that can be changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assay import plugins
from assay.errors import InputError, nearest
from assay.programs.samples import STOPS
from assay.runs.record import (
    append_lines,
    differing,
    is_begun,
    manifest_of,
    read_lines,
    refuse,
    sole_writer,
    stored_settings,
)
from assay.runs.run_manifest import write_manifest
from assay.types import Task

if TYPE_CHECKING:
    from assay.protocols import Progress


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """One question to a model."""

    n: int = 10
    temperature: float = 0.8
    top_p: float = 0.95
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """What decides about samples, as the manifest says it; each line has all but the last."""

    model: str
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    stop: tuple[str, ...]

    def of_row(self) -> dict[str, Any]:
        """Return what a line says of it."""
        return {name: value for name, value in asdict(self).items() if name != "stop"}


@dataclass(frozen=True, slots=True)
class Completions:
    """What a model answered, and what it took."""

    texts: tuple[str, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Sampler(Protocol):
    """A model that writes programs."""

    @property
    def name(self) -> str:
        """The spec that makes it again."""

    @property
    def whole(self) -> bool:
        """Whether it writes whole programs, rather than going on where the prompt ends."""

    def sample(self, prompt: str, asked: SamplingOptions) -> Completions:
        """Return at least one answer."""


@dataclass(frozen=True, slots=True)
class SamplingCost:
    """What a file of samples took so far."""

    samples: int
    requests: int
    prompt_tokens: int
    completion_tokens: int

    def cost(self, per_million: tuple[float, float]) -> float:
        """Return what that costs, at prices of a million tokens in and out."""
        return (self.prompt_tokens * per_million[0] + self.completion_tokens * per_million[1]) / 1e6


def sampler(spec: str) -> Sampler:
    """Return the sampler of a spec: `chat:MODEL`, `completions:MODEL`, `hf:FOLDER`."""
    made: Sampler = plugins.make("sampler", spec)
    return made


def sample(  # noqa: PLR0913  each is one thing
    tasks: Sequence[Task],
    model: Sampler,
    asked: SamplingOptions,
    out: Path,
    *,
    batch: int = 10,
    stop: str = "human-eval",
    report: Progress | None = None,
) -> SamplingCost:
    """Ask for what is missing in `out` until each task has `asked.n` samples, and return what all of it took."""
    if stop not in STOPS:
        raise InputError(f"unknown stop rule '{stop}'; {nearest(stop, list(STOPS))}")
    sent = replace(asked, stop=() if model.whole else STOPS[stop])
    with sole_writer(out):
        _fill(tasks, model, sent, out, batch, report)
    return spent(out)


def _fill(  # noqa: PLR0913, PLR0917  each is one thing
    tasks: Sequence[Task], model: Sampler, sent: SamplingOptions, out: Path, batch: int, report: Progress | None
) -> None:
    """Ask until each task has its samples; each answer is on disk before the next question."""
    settings = SamplingSettings(model.name, sent.temperature, sent.top_p, sent.max_tokens, sent.seed, sent.stop)
    there = _resumed(out, settings)
    write_manifest(manifest_of(out), settings, seed=sent.seed)
    total = sent.n * len(tasks)
    for task in tasks:
        while there[task.id] < sent.n:
            count = min(batch, sent.n - there[task.id])
            question = replace(sent, n=count, seed=_seed(sent.seed, task.id, there[task.id]))
            answer = model.sample(task.prompt, question)
            lines = list(_lines(task, answer, there[task.id], settings.of_row(), whole=model.whole))
            lines = lines[: sent.n - there[task.id]]
            append_lines(out, lines)
            there[task.id] += len(lines)
            if report:
                report("samples", sum(min(each, sent.n) for each in there.values()), total)


def spent(out: Path) -> SamplingCost:
    """Return what a file of samples took."""
    samples = requests = prompt = completion = 0
    for record in read_lines(out):
        usage = record.get("usage")
        samples += 1
        if isinstance(usage, dict):
            requests += 1
            prompt += usage.get("prompt_tokens", 0)
            completion += usage.get("completion_tokens", 0)
    return SamplingCost(samples, requests, prompt, completion)


def _resumed(out: Path, settings: SamplingSettings) -> Counter[str]:
    """Return how many samples each task has; those of other settings are refused."""
    now = asdict(settings)
    refuse(out, "samples", differing(now | (stored_settings(out) or {}), now) if is_begun(out) else ())
    there = Counter[str]()
    for line in read_lines(out):
        refuse(out, "samples", differing(line, settings.of_row()))
        there[str(line.get("task_id"))] += 1
    return there


def _lines(
    task: Task, answer: Completions, start: int, settings: dict[str, Any], *, whole: bool
) -> Iterator[dict[str, Any]]:
    """Yield a line a sample; the first of an answer has what the answer took."""
    for place, text in enumerate(answer.texts):
        line = {"task_id": task.id, "id": f"{task.id}#{start + place}", **_program(task, text, whole=whole)}
        usage = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
        yield {**line, **settings, **({} if place else {"usage": usage})}


def _program(task: Task, text: str, *, whole: bool) -> dict[str, str]:
    """Return an answer as a program or as what goes behind the prompt: a body alone is no program."""
    if whole and (not task.entry_point or f"def {task.entry_point}" in text):
        return {"code": text}
    return {"completion": text}


def _seed(seed: int, task: str, start: int) -> int:
    digest = blake2b(f"{seed}\0{task}\0{start}".encode("utf-8", "backslashreplace"), digest_size=4).digest()
    return int.from_bytes(digest) % 2**31
