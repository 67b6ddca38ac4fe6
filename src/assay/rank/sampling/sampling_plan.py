"""How questions are put to a model and sent, and what of it decides about the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assay.errors import InputError, nearest
from assay.programs.samples import DEFAULT_STOP, STOPS
from assay.rank.sampling.few_shots import FewShots
from assay.rank.sampling.model_answers import Sampler, SamplingOptions
from assay.rank.sampling.prompt_templates import PromptTemplate, load_template, render
from assay.types import Task

IN_FLIGHT = 8
"""Questions under way, where nobody says."""


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """What decides about samples, as the manifest says it; each line has those that every version had."""

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

    def of_row(self) -> dict[str, Any]:
        """Return what a line says of it."""
        return {name: getattr(self, name) for name in ("model", "temperature", "top_p", "max_tokens", "seed")}


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How questions are put and sent."""

    template: PromptTemplate = field(default_factory=load_template)
    shots: FewShots | None = None
    strip_examples: bool = False
    stop: str = ""
    """The rule that ends completions, `DEFAULT_STOP` where none is said; only for what goes on behind a prompt."""
    batch: int = 10
    """Samples of a question."""
    in_flight: int = 0
    """Questions under way at a time; 0 is `IN_FLIGHT`, and one for a model on this machine."""

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        if self.stop and self.stop not in STOPS:
            raise InputError(f"unknown stop rule '{self.stop}'; {nearest(self.stop, list(STOPS))}")
        if self.template.wants_shots and self.template.name == "few-shot" and self.shots is None:
            raise InputError("--template few-shot shows solved tasks: give --shots FILE, tasks with references")
        if self.shots and not self.template.wants_shots:
            raise InputError(f"--shots: the template '{self.template.name}' has no {{shots}}; give --template few-shot")

    def sent_stop(self, model: Sampler) -> tuple[str, ...]:
        """Return the sequences that end an answer of a model."""
        ends_itself = bool(self.template.stop) or model.whole or not self.template.continues
        if self.stop and ends_itself:
            who = f"{model.name} with the template '{self.template.name}'"
            raise InputError(f"--stop {self.stop}: no rule ends the answers of {who}; leave it out")
        return self.template.stop if ends_itself else STOPS[self.stop or DEFAULT_STOP]

    def threads(self, model: Sampler) -> int:
        """Return how many questions are under way; a model on this machine works through batches instead."""
        if model.at_once == 1:
            return self.in_flight or IN_FLIGHT
        if self.in_flight > 1:
            raise InputError(f"--in-flight is for endpoints: {model.name} takes batches, as in hf:FOLDER?batch=32")
        return 1

    def settings(self, model: Sampler, sent: SamplingOptions) -> SamplingSettings:
        """Return what decides about the samples of a model."""
        return SamplingSettings(
            *(model.name, sent.temperature, sent.top_p, sent.max_tokens, sent.seed, sent.stop),
            str(self.template),
            self.shots.version if self.shots else "",
            self.strip_examples,
        )

    def prompt_of(self, task: Task, model: Sampler) -> str:
        """Return what a model reads for a task."""
        shots = self.shots.text_of(task, self.template, strip=self.strip_examples) if self.shots else ""
        return render(self.template, task, shots=shots, chat=model.whole, strip=self.strip_examples)
