"""Put tasks into prompts by a template file, with solved tasks before them.

A file has parts behind lines such as `<!-- prompt -->`; one without such lines is a prompt alone. A field, `{prompt}`,
is put in once, so that braces in a task's text mean nothing, and so do all other braces of a file. Where the prompt
ends with `{prompt}`, a model goes on where the task's text ends; anywhere else it writes a whole program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from itertools import islice
from pathlib import Path

from assay.errors import InputError, nearest
from assay.programs.shown_examples import examples_in
from assay.rank.dataset.rows import without_examples
from assay.values import Call, Stdin, Task, Test

BUILT_IN = ("plain", "few-shot", "apps")
_PARTS = ("prompt", "chat", "shot", "stop")
_PART = re.compile(r"^<!-- *([\w-]+) *-->\n", re.MULTILINE)
_FIELD = re.compile(r"\{(\w+)\}")
_OF_TASK = ("prompt", "entry_point", "starter", "format", "examples", "tests")
_TESTS_SHOWN = 3
_CALLED = "Use call-based format: define `{}`, which takes the inputs as arguments and returns the answer."
_READ = "Use standard input format: read the input from standard input and print the answer."


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """One template file."""

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
        """Whether a model goes on where the text of the task ends."""
        return self.prompt.endswith("{prompt}")

    @property
    def wants_shots(self) -> bool:
        """Whether it has a place for solved tasks."""
        return "{shots}" in self.prompt

    def __str__(self) -> str:
        """Return how a manifest says it."""
        return f"{self.name} {self.version}".rstrip()


@cache
def load_template(name: str = "plain") -> PromptTemplate:
    """Return a template of this package, or that of a file."""
    if name in BUILT_IN:
        file = Path(str(resources.files("assay.rank.sampling"))) / "templates" / f"{name}.md"
    else:
        file = Path(name).expanduser()
        if not file.is_file():
            raise InputError(f"--template {name}: no such file, nor a template; {nearest(name, BUILT_IN)}")
    try:
        whole = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the template {file}: {error}") from error
    version = "" if name == "plain" else blake2b(whole.encode(), digest_size=6).hexdigest()
    parts = _parts(whole, file)
    stop = tuple(line.replace("\\n", "\n") for line in parts.get("stop", "").splitlines() if line.strip())
    label = name if name in BUILT_IN else file.name
    template = PromptTemplate(label, parts["prompt"], parts.get("chat", ""), parts.get("shot", ""), stop, version)
    _check(template, file)
    return template


def render(template: PromptTemplate, task: Task, *, shots: str = "", chat: bool = False, strip: bool = False) -> str:
    """Return the prompt of a task, its text without examples where they are to be stripped."""
    text = template.chat if chat and template.chat else template.prompt
    return _filled(text, {**_fields(task, strip=strip), "shots": shots})


def plain_lines(source: str) -> str:
    """Return a program with the line ends that a model is to write."""
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
        "starter": task.tags.get("starter_code", "").strip("\n"),
        "format": _CALLED.format(task.entry_point) if task.entry_point else _READ,
        "examples": "\n".join(_as_text(test, task) for test in examples),
        "tests": "\n".join(_as_text(test, task) for test in task.tests[:_TESTS_SHOWN]),
    }


def _filled(text: str, fields: Mapping[str, str]) -> str:
    """Put fields in; a line that holds nothing but an empty field goes, too."""
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
    """The solved tasks that prompts may show."""

    def __init__(self, solved: Iterable[Task], count: int, *, sampled: Sequence[Task] = (), seed: int = 0) -> None:
        """Take tasks with references; those that are sampled are left out unless all of them are."""
        self._count, self._seed = count, seed
        known = [(task, _words(task.prompt)) for task in solved if task.reference]
        names, texts = {task.id for task in sampled}, {_words(task.prompt) for task in sampled}
        others = [(task, words) for task, words in known if task.id not in names and words not in texts]
        self._solved = sorted(others or known, key=lambda each: self._lot(each[0]))
        if len(self._solved) < count:
            raise InputError(f"--shots: {len(self._solved):,} tasks have a reference, and {count:,} are to be shown")

    def of(self, task: Task) -> list[Task]:
        """Return what is shown before a task."""
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
        """Return what a prompt shows before a task."""
        shown = (
            {**_fields(each, strip=strip), "program": plain_lines(each.reference).strip("\n")} for each in self.of(task)
        )
        return "".join(f"{_filled(template.shot, fields)}\n" for fields in shown)

    @property
    def version(self) -> str:
        """Return a hash of what may be shown."""
        solved = repr([(task.id, task.prompt, task.reference) for task, _ in self._solved])
        return f"{self._count} of {blake2b(solved.encode('utf-8', 'backslashreplace'), digest_size=6).hexdigest()}"

    def _lot(self, task: Task) -> bytes:
        return blake2b(f"{self._seed}\0{task.id}".encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _words(prompt: str) -> str:
    return " ".join(prompt.split())
