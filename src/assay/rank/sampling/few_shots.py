"""Solved tasks and a task in, the few of them that are shown before it out: never itself, never one that is sampled.

Which ones follows from the seed and their names alone, so that adding tasks to the file changes as little as can be.
Tasks whose programs get their input in the same way, by a call or from standard input, come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice

from assay.errors import InputError
from assay.rank.sampling.prompt_templates import PromptTemplate, render_shot
from assay.types import Task


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
        return "".join(f"{render_shot(template, each, strip=strip)}\n" for each in self.of(task))

    @property
    def version(self) -> str:
        """Return a hash of what may be shown."""
        told = repr([(task.id, task.prompt, task.reference) for task, _ in self._solved])
        return f"{self._count} of {blake2b(told.encode('utf-8', 'backslashreplace'), digest_size=6).hexdigest()}"

    def _lot(self, task: Task) -> bytes:
        return blake2b(f"{self._seed}\0{task.id}".encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _words(prompt: str) -> str:
    return " ".join(prompt.split())
