"""Tasks and a sampler in, a file of samples out, to which nothing is done twice.

Each sample is one line, on disk before the next question is asked, with all that it was asked with. A run that was cut
off asks for what is missing; lines of another model or another temperature are an error and are never mixed in. What a
model says is kept whole: where a completion ends is for the reader to say, by a rule that can be changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assay import plugins, records
from assay.errors import InputError, nearest
from assay.sandbox.samples import STOPS
from assay.types import Task

if TYPE_CHECKING:
    from assay.protocols import Progress


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a model."""

    n: int = 10
    temperature: float = 0.8
    top_p: float = 0.95
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
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

    def sample(self, prompt: str, asked: Asked) -> Sampled:
        """Return at least one answer."""


@dataclass(frozen=True, slots=True)
class Spent:
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
    asked: Asked,
    out: Path,
    *,
    batch: int = 10,
    stop: str = "human-eval",
    report: Progress | None = None,
) -> Spent:
    """Ask for what is missing in `out` until each task has `asked.n` samples, and return what all of it took."""
    if stop not in STOPS:
        raise InputError(f"unknown stop rule '{stop}'; {nearest(stop, list(STOPS))}")
    sent = replace(asked, stop=() if model.whole else STOPS[stop])
    settings = _settings(model, sent)
    there = _there(out, settings)
    out.parent.mkdir(parents=True, exist_ok=True)
    total = asked.n * len(tasks)
    for task in tasks:
        while there[task.id] < asked.n:
            count = min(batch, asked.n - there[task.id])
            question = replace(sent, n=count, seed=_seed(asked.seed, task.id, there[task.id]))
            answer = model.sample(task.prompt, question)
            lines = list(_lines(task, answer, there[task.id], settings, model, asked.n))
            records.append(out, lines)
            there[task.id] += len(lines)
            if report:
                report("samples", sum(min(each, asked.n) for each in there.values()), total)
    return spent(out)


def spent(out: Path) -> Spent:
    """Return what a file of samples took."""
    samples = requests = prompt = completion = 0
    for record in records.read(out):
        usage = record.get("usage")
        samples += 1
        if isinstance(usage, dict):
            requests += 1
            prompt += usage.get("prompt_tokens", 0)
            completion += usage.get("completion_tokens", 0)
    return Spent(samples, requests, prompt, completion)


def _settings(model: Sampler, asked: Asked) -> dict[str, Any]:
    settings = {"model": model.name, "temperature": asked.temperature, "top_p": asked.top_p}
    return {**settings, "max_tokens": asked.max_tokens, "seed": asked.seed}


def _there(out: Path, settings: dict[str, Any]) -> Counter[str]:
    """Return how many samples each task has; those of other settings are an error."""
    there = Counter[str]()
    for record in records.read(out):
        changed = [name for name in settings if record.get(name) != settings[name]]
        if changed:
            had = ", ".join(f"{name} {record.get(name)!r}" for name in changed)
            raise InputError(f"{out} holds samples of other settings ({had}); give another --out")
        there[str(record.get("task_id"))] += 1
    return there


def _lines(  # noqa: PLR0913, PLR0917  each is one thing
    task: Task, answer: Sampled, start: int, settings: dict[str, Any], model: Sampler, most: int
) -> Iterator[dict[str, Any]]:
    """Yield a line a sample; the first of an answer has what the answer took."""
    for place, text in enumerate(answer.texts[: most - start]):
        line = {"task_id": task.id, "id": f"{task.id}#{start + place}", **_program(task, text, whole=model.whole)}
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
