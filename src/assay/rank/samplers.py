"""Ask models to write programs for tasks: build the prompts, and read the answers of endpoints.

A file has parts behind lines such as `<!-- prompt -->`; one without such lines is a prompt alone. A field, `{prompt}`,
is put in once, so that braces in a task's text mean nothing, and so do all other braces of a file. Where the prompt
ends with `{prompt}`, a model goes on where the task's text ends; anywhere else it writes a whole program.

An endpoint is named as every other chat is. What it refuses, such as many samples at once, is learned and said once.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from assay.errors import InputError, NoAnswer, Notice, nearest, printable
from assay.io.digest import digest, hex_digest
from assay.llm.endpoint import PROVIDERS, ChatOptions, Endpoint, endpoint
from assay.llm.openai import Author, ask, count_in, is_log_probability, open_client
from assay.programs.extraction import code_of, cut
from assay.programs.logprobs import logprob_sum
from assay.programs.shown_examples import examples_in
from assay.rank.datasets import without_examples
from assay.rank.requests import SamplingOptions
from assay.values import Call, LogProbability, Stdin, Task, Test

BUILT_IN = ("plain", "few-shot", "apps")
_PARTS = ("prompt", "chat", "shot", "stop")
_PART = re.compile(r"^<!-- *([\w-]+) *-->\n", re.MULTILINE)
_FIELD = re.compile(r"\{(\w+)\}")
_OF_TASK = ("prompt", "entry_point", "name", "starter", "format", "examples", "tests")
_MAX_SHOWN_TESTS = 3
_CALLED = "Use call-based format: define `{}`, which takes the inputs as arguments and returns the answer."
_READ = "Use standard input format: read the input from standard input and print the answer."


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The parts of a template file."""

    name: str
    prompt: str
    chat: str = ""
    """What a chat model is told instead; empty for the same."""
    shot: str = ""
    """How a solved task is shown."""
    stop: tuple[str, ...] = ()
    version: str = ""
    """A hash of the file; none of `plain`, which is what there is without a file."""

    @property
    def continues(self) -> bool:
        """Whether a model continues the text of the task."""
        return self.prompt.endswith("{prompt}")

    @property
    def wants_shots(self) -> bool:
        """Whether it has a hole for solved tasks."""
        return "{shots}" in self.prompt

    def __str__(self) -> str:
        """Return the template as text for a manifest."""
        return f"{self.name} {self.version}".rstrip()


@cache
def load_template(name: str = "plain") -> PromptTemplate:
    """Load a template of this package, or one from a file."""
    if name in BUILT_IN:
        file = Path(str(resources.files("assay.rank"))) / "templates" / f"{name}.md"
    else:
        file = Path(name).expanduser()
        if not file.is_file():
            raise InputError(f"--template {name}: no such file, nor a template; {nearest(name, BUILT_IN)}")
    try:
        whole = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the template {file}: {error}") from error
    version = "" if name == "plain" else hex_digest(whole, 6)
    parts = _parts(whole, file)
    stop = tuple(line.replace("\\n", "\n") for line in parts.get("stop", "").splitlines() if line.strip())
    label = name if name in BUILT_IN else file.name
    template = PromptTemplate(label, parts["prompt"], parts.get("chat", ""), parts.get("shot", ""), stop, version)
    _check(template, file)
    return template


def render(template: PromptTemplate, task: Task, *, shots: str = "", chat: bool = False, strip: bool = False) -> str:
    """Return the prompt of a task, without its examples if `strip` is set."""
    text = template.chat if chat and template.chat else template.prompt
    return _filled(text, {**_fields(task, strip=strip), "shots": shots})


def plain_lines(source: str) -> str:
    """Return a program with line feeds as line ends, as a model should write them."""
    return source.replace("\r\n", "\n")


def _parts(whole: str, file: Path) -> dict[str, str]:
    pieces = _PART.split(whole)
    if len(pieces) == 1:
        return {"prompt": whole.removesuffix("\n")}
    parts = {name: text.removesuffix("\n") for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}
    for name in parts:
        if name not in _PARTS:
            raise InputError(f"template {file}: unknown part <!-- {name} -->; {nearest(name, _PARTS)}")
    if pieces[0].strip() or "prompt" not in parts:
        raise InputError(f"template {file}: wanted <!-- prompt --> at its beginning, or no such line at all")
    return parts


def _check(template: PromptTemplate, file: Path) -> None:
    known = {"prompt": (*_OF_TASK, "shots"), "chat": (*_OF_TASK, "shots"), "shot": (*_OF_TASK, "program")}
    for part, names in known.items():
        for name in _FIELD.findall(getattr(template, part)):
            if name not in names:
                raise InputError(f"template {file}: <!-- {part} --> has the field {{{name}}}; {nearest(name, names)}")
    for part, wanted in (("prompt", "prompt"), ("chat", "prompt"), ("shot", "program")):
        text = getattr(template, part)
        if (text or part == "prompt") and f"{{{wanted}}}" not in text:
            raise InputError(f"template {file}: <!-- {part} --> has no field {{{wanted}}}")
    if template.wants_shots and not template.shot:
        raise InputError(f"template {file}: it has {{shots}}, and no <!-- shot --> says how one is shown")


def _fields(task: Task, *, strip: bool) -> dict[str, str]:
    examples = () if strip else examples_in(task)
    return {
        "prompt": without_examples(task.prompt) if strip else task.prompt,
        "entry_point": task.entry_point,
        "name": "" if _is_named(task) else f"Name the function `{task.entry_point}`.",
        "starter": task.tags.get("starter_code", "").strip("\n"),
        "format": _CALLED.format(task.entry_point) if task.entry_point else _READ,
        "examples": "\n".join(_as_text(test, task) for test in examples),
        "tests": "\n".join(_as_text(test, task) for test in task.tests[:_MAX_SHOWN_TESTS]),
    }


def _is_named(task: Task) -> bool:
    """Say whether the text of a task names the function under test, or there is none."""
    name = re.escape(task.entry_point)
    return not name or bool(re.search(rf"\bdef\s+{name}\b|(?<!\w){name}\(", task.prompt))


def _filled(text: str, fields: Mapping[str, str]) -> str:
    """Fill in fields; a line with only an empty field is removed."""
    for name in _FIELD.findall(text):
        if not fields[name]:
            text = text.replace(f"\n{{{name}}}\n", "\n")
    return _FIELD.sub(lambda field: fields[field[1]], text)


def _as_text(test: Test, task: Task) -> str:
    if isinstance(test, Call):
        return f"assert {task.entry_point}({', '.join(map(repr, test.args))}) == {test.expected!r}"
    if isinstance(test, Stdin):
        return f"Input:\n{test.text.rstrip()}\nOutput:\n{test.expected.rstrip()}"
    return test.source.strip("\n")


class FewShots:
    """Solved tasks that few-shot prompts show."""

    def __init__(self, solved: Iterable[Task], count: int, *, sampled: Sequence[Task] = (), seed: int = 0) -> None:
        """Take tasks with references, without the sampled ones unless that leaves none."""
        self._count, self._seed = count, seed
        known = [(task, _words(task.prompt)) for task in solved if task.reference]
        names, texts = {task.id for task in sampled}, {_words(task.prompt) for task in sampled}
        others = [(task, words) for task, words in known if task.id not in names and words not in texts]
        self._solved = sorted(others or known, key=lambda each: self._lot(each[0]))
        if len(self._solved) < count:
            raise InputError(f"--shots: {len(self._solved):,} tasks have a reference, and {count:,} are to be shown")

    def of(self, task: Task) -> list[Task]:
        """Return the solved tasks to show before a task."""
        own = _words(task.prompt)
        chosen: list[Task] = []
        for alike in (True, False):
            others = (
                each
                for each, words in self._solved
                if each.id != task.id and words != own and (bool(each.entry_point) == bool(task.entry_point)) is alike
            )
            chosen += islice(others, self._count - len(chosen))
        if len(chosen) < self._count:
            raise InputError(f"--shots: {len(chosen):,} tasks are left to be shown before {task.id}; give more")
        return chosen

    def text_of(self, task: Task, template: PromptTemplate, *, strip: bool = False) -> str:
        """Return the text of the solved tasks before a task."""
        shown = (
            {**_fields(each, strip=strip), "program": plain_lines(each.reference).strip("\n")} for each in self.of(task)
        )
        return "".join(f"{_filled(template.shot, fields)}\n" for fields in shown)

    @property
    def version(self) -> str:
        """Return a hash of all solved tasks."""
        solved = repr([(task.id, task.prompt, task.reference) for task, _ in self._solved])
        return f"{self._count} of {hex_digest(solved, 6)}"

    def _lot(self, task: Task) -> bytes:
        return digest(f"{self._seed}\0{task.id}", 8)


def _words(prompt: str) -> str:
    return " ".join(prompt.split())


class SamplingQuestion(NamedTuple):
    """One prompt with its sampling options."""

    prompt: str
    options: SamplingOptions


@dataclass(frozen=True, slots=True)
class Completions:
    """The completions of one prompt, and their token counts."""

    texts: tuple[str, ...]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    logprobs: tuple[LogProbability | None, ...] = ()
    """Of each text up to the first stop sequence; empty where nobody asked, None where the model does not say."""
    cut: tuple[bool, ...] = ()
    """Whether each text was cut at the most tokens."""


class Sampler(Protocol):
    """A model that writes programs."""

    @property
    def name(self) -> str:
        """The spec that opens the same sampler."""

    @property
    def whole(self) -> bool:
        """Whether it follows instructions and writes whole programs, instead of continuing the prompt."""

    def sample(self, question: SamplingQuestion) -> Completions:
        """Return at least one text; several threads call it."""


class ScoredToken(NamedTuple):
    """One token of an answer."""

    raw: bytes
    logprob: float


def tokens_of(choice: dict[str, Any]) -> list[ScoredToken] | None:
    """Return the tokens of a choice in the format of either OpenAI endpoint; None without a readable list."""
    said = choice.get("logprobs")
    if not isinstance(said, dict):
        return None
    try:
        if (content := said.get("content")) is not None:
            pairs = [(_bytes_of(each), each["logprob"]) for each in content]
        else:
            texts = zip(said["tokens"], said["token_logprobs"], strict=True)
            pairs = [(token.encode("utf-8", "replace"), each) for token, each in texts if each is not None]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if not all(is_log_probability(each) for _, each in pairs):
        return None
    return [ScoredToken(raw, float(each)) for raw, each in pairs]


def _bytes_of(token: dict[str, Any]) -> bytes:
    """Return a token as bytes; a number is refused, since bytes(n) would give n bytes."""
    given = token.get("bytes")
    return bytes(given) if isinstance(given, list) else token["token"].encode("utf-8", "replace")


def logprob_in(answer: str, program: str, tokens: Sequence[ScoredToken] | None) -> LogProbability | None:
    """Return the log-probability of a program within an answer; None if the answer has no tokens."""
    if tokens is None or (answer and not tokens):
        return None
    text, part = answer.encode("utf-8", "replace"), program.encode("utf-8", "replace")
    start, joined = text.find(part), b"".join(token.raw for token in tokens)
    before = joined.find(text)  # some strip what an answer begins with
    if start < 0 or before < 0:
        return logprob_sum([token.logprob for token in tokens], "answer")
    counted, at = list[float](), -before
    for token in tokens:
        if start <= at + len(token.raw) - 1 and at < start + len(part):
            counted.append(token.logprob)
        at += len(token.raw)
    return logprob_sum(counted)


_MAX_STOPS = 4  # OpenAI takes no more
_MAX_REPLY_BYTES = 32_000_000
_MAX_ERROR_CHARS = 200  # characters of an answer in a message
_ABOUT_CHOICES = re.compile(r"(?<!\\)\bn\b|best_of|n_cmpl|choices|slots", re.IGNORECASE)
"""In a refusal: that so many answers at once are too many."""
_ANY_CHOICES = 10**9
_LETTERS_A_TOKEN = 4  # of code and English, about
_COUNTS = ("prompt_tokens", "completion_tokens")
TIMEOUT_S = 600.0
"""Of one request, where its spec does not say: it may be for many samples."""


def sampler(spec: str, *, completes: bool = False) -> Sampler:
    """Return the sampler of a spec `PROVIDER:MODEL@URL`; it uses chat, or with `completes` text completion."""
    provider, _, argument = spec.partition(":")
    if provider not in PROVIDERS:
        raise InputError(f"'{spec}' is not an endpoint; {nearest(provider, list(PROVIDERS))}; write openai:MODEL@URL")
    usual = ChatOptions(timeout_s=TIMEOUT_S)
    found = endpoint(provider, argument, usual)
    if given := _unused(found.options, usual):
        raise InputError(f"'{spec}': {given} has no effect here; give it as an option of the command")
    return EndpointSampler(found, completes=completes)


def _unused(options: ChatOptions, usual: ChatOptions) -> str:
    """Return the first option of a spec that has no effect on sampling."""
    ignored = ("temperature", "seed", "max_tokens", "usd_in", "usd_out", "usd_cached")
    return next((name for name in ignored if repr(getattr(options, name)) != repr(getattr(usual, name))), "")


class EndpointSampler:
    """A model behind HTTP that answers a chat or continues a prompt; threads may share it."""

    def __init__(self, endpoint: Endpoint, *, completes: bool = False, pause_s: float = 0.5) -> None:
        self.name, self.whole = endpoint.name, not completes
        self._endpoint = endpoint
        self._client = open_client(endpoint, pause_s=pause_s, most_bytes=_MAX_REPLY_BYTES)
        self._most_choices = _ANY_CHOICES
        self._author = Author(endpoint)

    def sample(self, question: SamplingQuestion) -> Completions:
        """Return completions, as many as the options ask for or the endpoint allows."""
        asked, lost = question.options, [0, 0]
        asked = replace(asked, n=min(asked.n, self._most_choices))

        def on_lost(_: bool) -> None:  # noqa: FBT001
            lost[0] += len(question.prompt) // _LETTERS_A_TOKEN
            lost[1] += asked.n * asked.max_tokens

        put = self._body(question.prompt, asked)
        try:
            body, texts = ask(self._client, self._endpoint, self._path, put, self._read, on_lost)
        except NoAnswer as error:
            if asked.logprobs and "logprob" in str(error).lower():
                raise InputError(f"{error}; it gives no log-probabilities: add --no-logprobs") from error
            if asked.n == 1 or not _ABOUT_CHOICES.search(error.raw):
                raise
            self._learn_most_choices(asked.n, error.raw)
            return self.sample(question)
        self._author.of(body)
        return self._completions(body, texts, asked, lost)

    def _completions(
        self, body: dict[str, Any], texts: Sequence[str], options: SamplingOptions, lost_tokens: Sequence[int]
    ) -> Completions:
        """Return the completions of the choices, with the token counts of all tries."""
        choices = body["choices"]
        tokens = [tokens_of(choice) for choice in choices]
        programs = [text if not self.whole else code_of(cut(text, options.stop)) for text in texts]
        added = "\n" if self.whole else ""  # what an answer's code block does not have, and its program does
        logprobs = [
            logprob_in(text, cut(program, options.stop).removesuffix(added), each)
            for program, text, each in zip(programs, texts, tokens, strict=True)
        ]
        read, wrote = (count_in(body.get("usage"), name) or 0 for name in _COUNTS)
        wrote = max(wrote, sum(len(each or ()) for each in tokens))  # some count one choice of several
        return Completions(
            tuple(programs), read + lost_tokens[0], wrote + lost_tokens[1], tuple(logprobs) if options.logprobs else (),
            tuple(choice.get("finish_reason") == "length" for choice in choices),
        )  # fmt: skip

    @property
    def _path(self) -> str:
        return "chat/completions" if self.whole else "completions"

    def _body(self, prompt: str, options: SamplingOptions) -> dict[str, Any]:
        """Return the request body."""
        put = {"messages": [{"role": "user", "content": prompt}]} if self.whole else {"prompt": prompt}
        question: dict[str, Any] = {"model": self._endpoint.model, "n": options.n, **put, "seed": options.seed}
        question |= {"temperature": options.temperature, "top_p": options.top_p}
        question[self._endpoint.most_key if self.whole else "max_tokens"] = options.max_tokens
        if options.stop:
            question["stop"] = list(options.stop[:_MAX_STOPS])
        if options.logprobs:
            question["logprobs"] = True if self.whole else 1
        return question

    def _read(self, body: Any) -> tuple[dict[str, Any], list[str]]:
        """Return a body and the texts of its choices; raise ValueError if there are none."""
        try:
            texts = [each["message"]["content"] if self.whole else each["text"] for each in body["choices"]]
        except (KeyError, TypeError) as error:
            said = printable(repr(body)[: 4 * _MAX_ERROR_CHARS])[:_MAX_ERROR_CHARS]
            raise ValueError(f"no choices but {said}: is it OpenAI-compatible?") from error
        if not texts:
            raise ValueError("no choice at all: is it OpenAI-compatible?")
        if not any(isinstance(text, str) for text in texts):
            choice = body["choices"][0]
            raise NoAnswer(f"{self.name} {_without_text(choice)}", raw=str(choice)[:_MAX_ERROR_CHARS])
        return body, [text if isinstance(text, str) else "" for text in texts]

    def _learn_most_choices(self, count: int, refusal: str) -> None:
        """Request fewer choices from now on: as many as a refusal names, or else half."""
        named = [int(each) for each in re.findall(r"\d{1,4}", refusal) if 0 < int(each) < count]
        most = max(named, default=count // 2)
        if most < self._most_choices:
            self._most_choices = most
            warnings.warn(f"{self.name} takes no n of {count}: it is asked for {most} at a time", Notice, 2)


def _without_text(choice: dict[str, Any]) -> str:
    """Explain an answer without text, with the next step."""
    finish = choice.get("finish_reason")
    if finish == "length":
        return "was cut before it wrote any text: give a larger --max-tokens"
    refusal = choice.get("message", choice).get("refusal")
    return f"wrote no text: {printable(str(refusal or f'finish_reason {finish}'))[:_MAX_ERROR_CHARS]}"
