"""A data set in, the same rows with their split out, or several data sets mixed to one.

Split by task and never by program: programs of one task are near copies, and a ranker that saw some of them knows the
others (in a first study that alone lifted a simple model from 25.6 to 36.0). Tasks with the same prompt are one task,
whatever they are called. Which side a task falls on is a hash of the seed and its name, so it does not depend on what
else is in the file. As in the paper only tasks with a correct program are kept to validate on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import ceil

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.dataset.examples import Example


def split(examples: Sequence[Example], *, valid: float = 0.1, test: float = 0.0, seed: int = 0) -> list[Example]:
    """Return the rows with their split; `valid` and `test` are shares of the tasks."""
    if not (0 <= valid < 1 and 0 <= test < 1 and valid + test < 1):
        raise InputError(f"shares {valid} and {test} of the tasks, wanted at least 0 and less than 1 together")
    groups = _groups(examples)
    solved = {groups[each.task_id] for each in examples if each.fault is Fault.CORRECT}
    sides = {group: _side(_lot(seed, group), valid, test) for group in set(groups.values())}
    sides = {group: "train" if side == "valid" and group not in solved else side for group, side in sides.items()}
    return [replace(each, split=sides[groups[each.task_id]]) for each in examples]


def mix(sets: Mapping[str, Sequence[Example]], size: str, *, seed: int = 0) -> list[Example]:
    """Return all rows of all sets (`large`), or a random part of each, as many together as one set has (`small`)."""
    if size == "large":
        return [each for examples in sets.values() for each in examples]
    if size != "small":
        raise InputError(f"mix of size '{size}', wanted small or large")
    mixed: list[Example] = []
    for name, examples in sets.items():
        drawn = sorted(range(len(examples)), key=lambda place: _lot(seed, f"{name}\0{place}"))
        mixed += [examples[place] for place in sorted(drawn[: round(len(examples) / len(sets))])]
    return mixed


def fewer_tasks(examples: Sequence[Example], fraction: float, seed: int = 0) -> list[Example]:
    """Return the rows with a fraction of the tasks to train on; a larger fraction has all tasks of a smaller one."""
    if not 0 < fraction <= 1:
        raise InputError(f"fraction {fraction} of the training tasks, wanted more than 0 and at most 1")
    learned = {each.task_id for each in examples if each.split in {"", "train"}}
    drawn = sorted(learned, key=lambda task: _lot(seed, f"{task}\0train"))
    left_out = set(drawn[ceil(fraction * len(drawn)) :])
    return [each for each in examples if each.task_id not in left_out]


def leaks(examples: Iterable[Example]) -> list[str]:
    """Return the tasks that stand in more than one split, which makes every figure a lie."""
    seen: dict[str, set[str]] = {}
    for each in examples:
        seen.setdefault(each.task_id, set()).add(each.split)
    return [task for task, splits in seen.items() if len(splits) > 1]


def _groups(examples: Iterable[Example]) -> dict[str, str]:
    """Return a name for each task that it shares with all tasks of the same prompt."""
    root: dict[str, str] = {}
    of_prompt: dict[str, str] = {}

    def top(task: str) -> str:
        while root[task] != task:
            task = root[task]
        return task

    for each in examples:
        task = top(each.task_id) if each.task_id in root else root.setdefault(each.task_id, each.task_id)
        prompt = " ".join(each.prompt.split())
        if prompt:
            other = top(of_prompt.setdefault(prompt, task))
            root[max(task, other)] = min(task, other)
    return {task: top(task) for task in root}


def _side(lot: float, valid: float, test: float) -> str:
    return "test" if lot < test else "valid" if lot < test + valid else "train"


def _lot(seed: int, name: str) -> float:
    """Return a number from 0 to 1 that a name always has."""
    digest = blake2b(f"{seed}\0{name}".encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
