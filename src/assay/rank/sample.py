"""Sample programs for tasks from a model into a file; an interrupted run continues without repeating a request.

Each sample is one line with all that it was asked with, on disk as soon as its answer is there. Several requests are
under way at once. A run that was cut off asks for the numbers that are missing, and nothing else; lines of another
model or another temperature are an error and are never mixed in. A completion is kept whole, up to a stop sequence that
its template names: where it ends is otherwise for the reader to decide, by a rule that can be changed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, NoAnswer, StorageError, nearest
from assay.io.digest import digest
from assay.programs.extraction import cut
from assay.programs.logprobs import logprob_fields
from assay.programs.samples import DEFAULT_STOP, STOPS
from assay.rank.datasets import without_examples
from assay.rank.requests import SamplingOptions
from assay.rank.samplers import Completions, FewShots, PromptTemplate, Sampler, SamplingQuestion, load_template, render
from assay.runs import record
from assay.runs.local import in_flight
from assay.values import LogProbability, Problem, Task

if TYPE_CHECKING:
    from assay.protocols import Progress

IN_FLIGHT = 8
"""Concurrent requests by default."""


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """Settings that determine the samples, for the manifest; each line has the ones common to all versions."""

    model: str
    temperature: float
    top_p: float
    max_tokens: int
    seed: int
    stop: tuple[str, ...]
    template: str = "plain"
    """Its name, and a hash of a file."""
    shots: str = ""
    """How many solved tasks are shown, of which."""
    strip_examples: bool = False
    completes: bool = False
    """Whether prompts were gone on with, rather than answered."""

    def of_row(self) -> dict[str, Any]:
        """Return the settings in a line."""
        return {name: getattr(self, name) for name in ("model", "temperature", "top_p", "max_tokens", "seed")}


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How prompts are built and sent."""

    template: PromptTemplate = field(default_factory=load_template)
    shots: FewShots | None = None
    strip_examples: bool = False
    stop: str = ""
    """The rule that ends completions, `DEFAULT_STOP` where none is said; only for what goes on behind a prompt."""
    batch: int = 10
    """Samples of a question."""
    in_flight: int = 0
    """Concurrent requests; 0 is `IN_FLIGHT`."""

    def __post_init__(self) -> None:
        """Refuse options that do not fit together."""
        if self.stop and self.stop not in STOPS:
            raise InputError(f"unknown stop rule '{self.stop}'; {nearest(self.stop, list(STOPS))}")
        if self.template.wants_shots and self.template.name == "few-shot" and self.shots is None:
            raise InputError("--template few-shot shows solved tasks: give --shots FILE, tasks with references")
        if self.shots and not self.template.wants_shots:
            raise InputError(f"--shots: the template '{self.template.name}' has no {{shots}}; give --template few-shot")

    def sent_stop(self, model: Sampler) -> tuple[str, ...]:
        """Return the stop sequences for a model."""
        ends_itself = bool(self.template.stop) or model.whole or not self.template.continues
        if self.stop and ends_itself:
            who = f"{model.name} with the template '{self.template.name}'"
            raise InputError(f"--stop {self.stop}: no rule ends the answers of {who}; leave it out")
        return self.template.stop if ends_itself else STOPS[self.stop or DEFAULT_STOP]

    def settings(self, model: Sampler, options: SamplingOptions) -> SamplingSettings:
        """Return the settings that determine the samples of a model."""
        return SamplingSettings(
            *(model.name, options.temperature, options.top_p, options.max_tokens, options.seed, options.stop),
            str(self.template),
            self.shots.version if self.shots else "",
            self.strip_examples,
            not model.whole,
        )

    def prompt_of(self, task: Task, model: Sampler) -> str:
        """Return the prompt of a task."""
        shots = self.shots.text_of(task, self.template, strip=self.strip_examples) if self.shots else ""
        return render(self.template, task, shots=shots, chat=model.whole, strip=self.strip_examples)


MissingSamples = tuple[Task, tuple[int, ...]]
"""A task, and the numbers of its samples that are asked for together."""


def numbers_there(out: Path, settings: Mapping[str, Any]) -> dict[str, set[int]]:
    """Return the sample numbers of each task in a file; refuse lines of other settings."""
    there: dict[str, set[int]] = defaultdict(set)
    for line in record.read_lines(out):
        record.refuse(out, "samples", record.differing(line, settings))
        name = str(line.get("id"))
        _, _, number = name.rpartition("#")
        if not number.isdecimal():
            raise StorageError(
                f"{out}: the sample {name!r} has no number, as in TASK#0; give another --out, or --fresh"
            )
        there[str(line.get("task_id"))].add(int(number))
    return there


def missing(
    tasks: Sequence[Task], there: Mapping[str, Collection[int]], count: int, batch: int
) -> Iterator[MissingSamples]:
    """Yield the missing sample numbers of each task, at most `batch` at a time."""
    for task in tasks:
        has = there.get(task.id, ())
        gaps = [number for number in range(count) if number not in has]
        for start in range(0, len(gaps), batch):
            yield task, tuple(gaps[start : start + batch])


_MAX_REFUSED_TASKS = 25
"""Tasks that are refused before any was answered: then the next will be, too."""


@dataclass(frozen=True, slots=True)
class SamplingCost:
    """Tokens and cost of a file of samples so far."""

    samples: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    scored: int = 0
    """Samples with a log-probability."""


@dataclass(slots=True)
class SamplingTally:
    """Counts and errors of one run."""

    samples: int = 0
    """That it added."""
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    """Tasks that were refused."""

    @property
    def rate(self) -> float:
        """Return the samples per second."""
        return self.samples / self.seconds if self.seconds else 0.0


def sample(  # noqa: PLR0913  each is one thing
    tasks: Sequence[Task],
    model: Sampler,
    options: SamplingOptions,
    out: Path,
    plan: SamplingPlan | None = None,
    *,
    report: Progress | None = None,
) -> SamplingTally:
    """Sample until each task has `asked.n` samples in `out`; report refused tasks."""
    plan = plan or SamplingPlan()
    sent = replace(options, stop=plan.sent_stop(model))
    with record.sole_writer(out):
        settings = plan.settings(model, sent)
        if record.is_begun(out):
            record.refuse(out, "samples", record.differing(record.stored_settings(out) or {}, asdict(settings)))
        there = numbers_there(out, settings.of_row())
        record.write_manifest(record.manifest_of(out), settings, seed=sent.seed)
        return _Run(model, sent, out, plan, settings.of_row(), report).fill(tasks, there)


def spent(out: Path) -> SamplingCost:
    """Return the cost of a file of samples."""
    samples = requests = prompt = completion = scored = 0
    for line in record.read_lines(out):
        usage = line.get("usage")
        samples += 1
        scored += "logprob_sum" in line
        if isinstance(usage, dict):
            requests += 1
            prompt += usage.get("prompt_tokens", 0)
            completion += usage.get("completion_tokens", 0)
    return SamplingCost(samples, requests, prompt, completion, scored)


class _Run:
    """One run: many requests in flight, one writer."""

    def __init__(  # noqa: PLR0913, PLR0917  each is one thing
        self, model: Sampler, options: SamplingOptions, out: Path, plan: SamplingPlan, row: Mapping[str, Any],
        report: Progress | None,
    ) -> None:  # fmt: skip
        self._model, self._options, self._out, self._plan, self._report = model, options, out, plan, report
        self._row = row
        self._tally = SamplingTally()
        self._error: Exception | None = None
        self._already = self._total = 0
        self._refused = set[str]()

    def fill(self, tasks: Sequence[Task], there: dict[str, set[int]]) -> SamplingTally:
        """Request samples until none are missing, again if an endpoint gives fewer than requested."""
        began, before = time.monotonic(), -1
        self._total = self._options.n * len(tasks)
        self._already = sum(sum(number < self._options.n for number in there.get(task.id, ())) for task in tasks)
        self._show_progress()
        while before < self._tally.samples < self._total - self._already and not self._error:
            before = self._tally.samples
            self._pass_over(tasks, there)
        self._tally.seconds = time.monotonic() - began
        if self._error:
            raise self._error
        return self._tally

    def _pass_over(self, tasks: Sequence[Task], there: dict[str, set[int]]) -> None:
        """Request the missing samples once, except of refused tasks; requests in flight are always written."""
        lacking = missing(tasks, there, self._options.n, self._plan.batch)
        questions = (each for each in lacking if each[0].id not in self._refused)
        threads = self._plan.in_flight or IN_FLIGHT
        with closing(in_flight(self._ask, questions, threads, is_stopped=lambda: self._error is not None)) as ends:
            for future in ends:
                self._write(future, there)
                self._show_progress()

    def _show_progress(self) -> None:
        if self._report:
            self._report("samples", self._already + self._tally.samples, self._total)

    def _ask(self, missing: MissingSamples) -> tuple[MissingSamples, Completions | Problem]:
        task, numbers = missing
        options = replace(self._options, n=len(numbers), seed=_seed(self._options.seed, task.id, numbers[0]))
        try:
            return missing, self._model.sample(SamplingQuestion(self._plan.prompt_of(task, self._model), options))
        except NoAnswer as error:  # a prompt that is too long, for example
            return missing, Problem(task.id, str(error))

    def _write(self, future: Future[tuple[MissingSamples, Completions | Problem]], there: dict[str, set[int]]) -> None:
        try:
            (task, numbers), answer = future.result()
        except Exception as error:  # noqa: BLE001  it is raised when what else is under way has been written
            self._error = self._error or error
            return
        if isinstance(answer, Problem):
            self._refuse(answer)
            return
        lines = list(self._lines(task, numbers, answer))
        there[task.id].update(numbers[: len(answer.texts)])
        record.append_lines(self._out, lines)
        self._tally.samples += len(lines)

    def _refuse(self, problem: Problem) -> None:
        """Report a refused task once; end a run without any answer."""
        if problem.where in self._refused:
            return
        self._refused.add(problem.where)
        self._tally.problems.append(problem)
        if len(self._refused) >= _MAX_REFUSED_TASKS and not self._already + self._tally.samples:
            self._error = InputError(f"{_MAX_REFUSED_TASKS} tasks in a row were refused: {problem.what}")

    def _lines(self, task: Task, numbers: Sequence[int], answer: Completions) -> Iterator[dict[str, Any]]:
        """Yield one line per sample; the first line of an answer has its cost."""
        usage = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
        logprobs: Sequence[LogProbability | None] = answer.logprobs or (None,) * len(answer.texts)
        for place, (number, text, logprob) in enumerate(zip(numbers, answer.texts, logprobs, strict=False)):
            line = {"task_id": task.id, "id": f"{task.id}#{number}", **self._program(task, text)}
            line |= {"finish": "length"} if answer.cut[place : place + 1] == (True,) else {}
            yield {**line, **self._row, **logprob_fields(logprob), **({} if place else {"usage": usage})}

    def _program(self, task: Task, text: str) -> dict[str, str]:
        """Return an answer as a program, or as the text behind the prompt: a body alone is not a program."""
        text, defines = cut(text, self._plan.template.stop), f"def {task.entry_point}"
        if not self._plan.template.continues:
            return {"code": text}
        if self._model.whole and (not task.entry_point or defines in text or defines not in task.prompt):
            return {"code": text}
        if self._plan.strip_examples and not self._model.whole:
            return {"prompt": without_examples(task.prompt), "completion": text}
        return {"completion": text}


def _seed(seed: int, task: str, start: int) -> int:
    return int.from_bytes(digest(f"{seed}\0{task}\0{start}", 4)) % 2**31
