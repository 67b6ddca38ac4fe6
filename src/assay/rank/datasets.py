"""Build, split and mix the datasets that rankers learn from, and read and write them in every format.

The fault is the one truth of a row; the five label sets of Inala et al. 2022 are derived from it and written beside it
for readers without this package. On reading the fault counts.

A folder is CodeRanker's; a file holds our rows or CodeRanker's, in any form that `assay.io.rows` reads. A row of a file
that cannot be used is reported as FILE:ROW and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from assay import faults
from assay.errors import InputError
from assay.faults import EXECUTION, INTENT, Fault
from assay.io import files, rows
from assay.io.digest import digest, hex_digest
from assay.io.fields import FieldError, Fields
from assay.programs.logprobs import logprob_fields, logprob_of
from assay.values import LogProbability, Outcome, Problem, Program, Task

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """One program of a task, its fault, and its split."""

    task_id: str
    program_id: str
    prompt: str
    source: str
    fault: Fault
    line: int = -1
    """Of the program, 1-based; -1 if no line is at fault."""
    n: int = 1
    """How often it was sampled."""
    model: str = ""
    config: str = ""
    split: str = ""
    """One of `SPLITS`, or empty."""
    ran_all: bool | None = None
    """Whether it ran all tests without an execution error; None if unknown."""
    logprob: LogProbability | None = None
    """Its log-probability under the model that wrote it, if known."""
    message: str = ""
    """The message of its exception, with the type first."""

    @property
    def runs(self) -> bool:
        """Whether exec@k counts it."""
        return not self.fault.is_execution if self.ran_all is None else self.ran_all

    def labels(self) -> dict[str, str | int]:
        """Return its class in each label set, and the line of the fifth."""
        execution, line = faults.execution_line(self.fault, self.line)
        return {
            "binary": faults.binary(self.fault),
            "ternary": faults.ternary(self.fault),
            "intent": faults.intent(self.fault),
            "execution": execution,
            "error_line": line,
        }

    def record(self) -> dict[str, Any]:
        """Return its row for a file."""
        fields = {**asdict(self), "fault": str(self.fault), **self.labels(), **logprob_fields(self.logprob)}
        return {name: value for name, value in fields.items() if name != "logprob"}

    @property
    def program(self) -> Program:
        """Return the program as rankers take it."""
        tags = {name: value for name, value in (("model", self.model), ("config", self.config)) if value}
        return Program(self.task_id, self.source, self.program_id, self.n, tags, self.logprob)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows of a dataset, in order."""

    examples: tuple[Example, ...]
    problems: tuple[Problem, ...] = ()


def examples_of(tasks: Iterable[Task], programs: Sequence[Program], outcomes: Iterable[Outcome]) -> Dataset:
    """Join programs with their outcomes; programs without an outcome are reported and left out.

    Outcomes of the same programs in the same order are theirs one by one. Others are found by their id, and an id that
    stands for several different outcomes is not used.
    """
    of = {task.id: task for task in tasks}
    examples: list[Example] = []
    problems: list[Problem] = []
    for program, found in zip(programs, _joined(programs, tuple(outcomes)), strict=True):
        if isinstance(found, str):
            problems.append(Problem(program.id, found))
        elif found.fault is None:
            why = f"missing module {found.missing}" if found.missing else found.detail or "the sandbox failed"
            problems.append(Problem(program.id, f"undecided, left out: {why}"))
        else:
            example = _example(of[program.task_id], program, found.fault, found.line)
            message = found.detail if found.fault.is_execution else ""
            examples.append(replace(example, ran_all=found.ran_all, message=message))
    return Dataset(tuple(examples), tuple(problems))


def without(tasks: Sequence[Task], failing: Mapping[str, str]) -> tuple[Task, ...]:
    """Return the tasks without those whose own reference fails."""
    return tuple(task for task in tasks if task.id not in failing)


def failing_references(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return the tasks whose reference does not pass their tests, each with its fault."""
    return {
        outcome.task_id: f"{outcome.fault or 'undecided'}: {outcome.detail}".rstrip(": ")
        for outcome in outcomes
        if outcome.fault is not Fault.CORRECT
    }


def by_task(examples: Iterable[Example]) -> dict[str, list[Example]]:
    """Return the rows of each task, in their order."""
    grouped: dict[str, list[Example]] = {}
    for example in examples:
        grouped.setdefault(example.task_id, []).append(example)
    return grouped


def _joined(programs: Sequence[Program], outcomes: Sequence[Outcome]) -> list[Outcome | str]:
    """Return the outcome of each program, or the reason why it has none."""
    names = [(program.task_id, program.id) for program in programs]
    if names == [(outcome.task_id, outcome.program_id) for outcome in outcomes]:
        return list(outcomes)
    found: dict[tuple[str, str], Outcome | str] = {}
    for outcome in outcomes:
        name = (outcome.task_id, outcome.program_id)
        known = found.setdefault(name, outcome)
        if isinstance(known, Outcome) and (known.fault, known.line) != (outcome.fault, outcome.line):
            found[name] = "several outcomes of this id differ: give each program an id of its own"
    return [found.get(name, "it has no outcome: run assay exec on these samples") for name in names]


def _example(task: Task, program: Program, fault: Fault, line: int) -> Example:
    tags = program.tags
    config = tags.get("config") or (f"temperature {tags['temperature']}" if tags.get("temperature") else "")
    model = tags.get("model", "")
    return Example(
        task.id, program.id, task.prompt, program.source, fault, line, program.n, model, config, logprob=program.logprob
    )


def split(examples: Sequence[Example], *, valid: float = 0.1, test: float = 0.0, seed: int = 0) -> list[Example]:
    """Return the rows with their split; `valid` and `test` are fractions of the tasks, or `test` is 1 for all."""
    if not (0 <= valid < 1 and test >= 0 and (valid + test < 1 or test == 1)):
        wanted = "wanted at least 0 and less than 1 together, or --test 1 for data that is only tested on"
        raise InputError(f"fractions {valid} and {test} of the tasks, {wanted}")
    groups = _groups(examples)
    solved = {groups[each.task_id] for each in examples if each.fault is Fault.CORRECT}
    sides = {group: _side(_lot(seed, group), valid, test) for group in set(groups.values())}
    sides = {group: "train" if side == "valid" and group not in solved else side for group, side in sides.items()}
    return [replace(each, split=sides[groups[each.task_id]]) for each in examples]


def mix(sets: Mapping[str, Sequence[Example]], size: str, *, seed: int = 0) -> list[Example]:
    """Return all rows of all datasets (`large`), or a random part of each, together as many as one has (`small`)."""
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
    """Return the tasks that are in more than one split, which makes every measurement wrong."""
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
    """Return a number from 0 to 1 that depends only on seed and name."""
    return int.from_bytes(digest(f"{seed}\0{name}", 8)) / 2**64


_HEADING = re.compile(
    r"^\W*(?:(?:sample|example)s?(?:\s+(?:test\s*cases?|tests?|cases?|inputs?|outputs?|usage|[0-9]+))*"
    r"|for\s+(?:example|instance)|e\.?g\.?|test\s*cases?)"
    r"(?:\s*[#0-9]+)?\s*(?::|-{2,}|\W*$)",
    re.IGNORECASE,
)
_SECTION = re.compile(r"^\W*-{3,}\s*(?P<name>[A-Za-z][\w /()]*?)\s*-{3,}\W*$")
_SHOWN_SECTION = re.compile(r"sample|example", re.IGNORECASE)
_EXAMPLE_LABEL = re.compile(r"^\W*(?:inputs?|outputs?|explanation)\W*$|^\W*(?:inputs?|outputs?)\s*:", re.IGNORECASE)
_FENCE = "```"
_CALL = re.compile(
    r"^\W*(?:[A-Za-z_][\w.]*\s*)?\b[A-Za-z_][\w.]*\([^\n]*\)\s*;?\s*"
    r"(?:==|=>|->|➞|→|=|returns?\b|should (?:return|be)\b)\s*\S"
)
_DEFINES = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s")
_QUOTES = ('"""', "'''")


def without_examples(prompt: str) -> str:
    """Return a prompt without its examples; one without any is unchanged."""
    kept: list[str] = []
    state = ""
    for line in prompt.split("\n"):
        state, keep = _step(line, state)
        if keep:
            kept.append(line)
        elif any(quotes in line for quotes in _QUOTES):
            state = ""
            kept.append(_quotes_of(line))
    return "\n".join(kept)


def _step(line: str, state: str) -> tuple[str, bool]:  # noqa: PLR0911  one a kind of line
    """Return the state for the next line, and whether this line is kept."""
    bare = line.strip()
    section = _SECTION.match(line)
    if section:
        shown = bool(_SHOWN_SECTION.search(section["name"]))
        return ("section", False) if shown else ("", True)
    if state == "section":
        return state, False
    if bare.startswith(">>>"):
        return "printed", False
    if state == "printed" and bare and not _ends(line):
        return state, False
    if _DEFINES.match(line):
        return "", True
    if _HEADING.match(bare):
        return "below", False
    if re.match(r"^\W*assert\b", bare) or _CALL.match(bare):
        return ("begun" if state == "below" else state), False
    return _below(line, bare, state) if state in {"below", "begun", "behind", "fenced"} else ("", True)


def _below(line: str, bare: str, state: str) -> tuple[str, bool]:  # noqa: PLR0911  one a kind of line
    """Return the state below a heading: blank lines before its examples belong to it, one behind them ends it."""
    if _ends(line):
        return "", True
    if state == "fenced":
        return ("", False) if bare == _FENCE else (state, False)
    if bare.startswith(_FENCE):
        return "fenced", False
    if _EXAMPLE_LABEL.match(bare):
        return "below" if bare.rstrip("*: ")[-1:].isalpha() else "begun", False
    if state == "behind":
        return (state, True) if not bare else ("", True)
    if not bare:
        return (state, False) if state == "below" else ("behind", True)
    return "begun", False


def _ends(line: str) -> bool:
    return any(line.strip() == quotes for quotes in _QUOTES)


def _quotes_of(line: str) -> str:
    """Return the opening or closing quotes of a removed line, so that the code around it stays valid."""
    indent = line[: len(line) - len(line.lstrip())]
    quotes = next(quotes for quotes in _QUOTES if quotes in line)
    return f"{indent}{quotes}" if line.count(quotes) == 1 else f"{indent}{quotes}{quotes}"


FILES = {"train": "train", "valid": "val", "test": "test"}
"""Our splits to the names of its files."""
CORRECT, INTENT_ERROR, EXECUTION_ERROR, MISC = "correct", "intent error", "execution error", "misc"
_NAMES = {
    Fault.TIMEOUT: "timeoutexception",
    Fault.FUNCTION_NOT_FOUND: "function not found",
    Fault.EXECUTION_OTHER: MISC,
    Fault.INTENT_OTHER: MISC,
}


def fault_of(record: Fields) -> Fault:
    """Return the fault of a row of CodeRanker's, as precisely as its labels say."""
    kind = record.text("ternary_label", record.text("binary_label", "")).casefold()
    intent = record.text("intent_error_label", "").casefold()
    execution = record.text("execution_error_label", "").casefold()
    if CORRECT in (kind, intent, execution):
        return Fault.CORRECT
    for label, members in ((execution, EXECUTION), (intent, INTENT)):
        if label and label not in (INTENT_ERROR, EXECUTION_ERROR):
            return _named(members).get(label) or _other(members)
    broad = {INTENT_ERROR: Fault.INTENT_OTHER, EXECUTION_ERROR: Fault.EXECUTION_OTHER}
    found = broad.get(kind) or broad.get(intent) or broad.get(execution)
    if found is None:
        raise FieldError(f"its labels ('{kind}', '{intent}', '{execution}') do not say how it failed")
    return found


def _named(members: frozenset[Fault]) -> dict[str, Fault]:
    return {_NAMES.get(fault, str(fault).casefold()): fault for fault in members}


def _other(members: frozenset[Fault]) -> Fault:
    return Fault.EXECUTION_OTHER if members is EXECUTION else Fault.INTENT_OTHER


def unknown_label(record: Fields) -> str:
    """Say how an unknown label of a row of CodeRanker's is read; empty if all are known."""
    for name, members in (("execution_error_label", EXECUTION), ("intent_error_label", INTENT)):
        label = record.text(name, "").casefold()
        if label and label not in {CORRECT, INTENT_ERROR, EXECUTION_ERROR, *_named(members)}:
            return f"{name} {label!r:.60} is unknown, read as {_other(members)}"
    return ""


def _example_of(record: Fields, split: str) -> Example:
    """Convert a row of CodeRanker's to an example."""
    prompt, fault = record.text("prompt"), fault_of(record)
    line = record.whole("error_line_number", -1, least=-1)
    task = hex_digest(" ".join(prompt.split()), 6)
    return Example(
        record.name("task_id") if "task_id" in record else f"prompt-{task}",
        record.text("program_id", ""),
        prompt,
        record.text("completion"),
        fault,
        line + 1 if fault in EXECUTION and line >= 0 else -1,
        model=record.text("model", ""),
        config=record.text("config", ""),
        split=split,
    )


def collapsed(rows: Iterable[tuple[Example, bool]]) -> Iterator[Example]:
    """Yield each row once with its count, for datasets that repeat a row for each copy."""
    held: dict[Example, int] = {}
    for each, is_single in rows:
        if is_single:
            held[each] = held.get(each, 0) + each.n
        else:
            yield each
    yield from (replace(each, n=count) for each, count in held.items())


PARQUET = ".parquet"
_FAULTS = {str(fault).casefold(): fault for fault in Fault}


def read(path: Path) -> Dataset:
    """Read a dataset; report unusable rows, and raise InputError if no row is usable."""
    problems: list[Problem] = []
    return Dataset(tuple(stream(path, problems)), tuple(problems))


def stream(path: Path, problems: list[Problem]) -> Iterator[Example]:
    """Yield the rows of a dataset as they are read; raise InputError at the end if no row was usable."""
    none = True
    for example in _folder(path, problems) if path.is_dir() else _file(path, "", problems):
        none = False
        yield example
    if none:
        first = f": {problems[0]}" if problems else ""
        raise InputError(f"'{path}' has no usable row{first}; 'assay rank data' writes such rows")


def check_place(path: Path) -> None:
    """Refuse a path that a dataset cannot be written to."""
    if path.is_dir() or not path.suffix:
        raise InputError(f"cannot write a dataset to '{path}': give a file that ends in .jsonl or {PARQUET}")


def write(path: Path, examples: Sequence[Example]) -> None:
    """Write a dataset to a file, atomically."""
    check_place(path)
    if path.suffix == PARQUET:
        with files.replacing(path) as beside:
            rows.parquet(path).write(beside, _even([each.record() for each in examples]))
    else:
        files.write_rows(path, (each.record() for each in examples))


def _even(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the same fields: all fields of any of them."""
    names = dict.fromkeys(name for record in records for name in record)
    return [{name: record.get(name) for name in names} for record in records]


def _folder(path: Path, problems: list[Problem]) -> Iterator[Example]:
    """Yield the rows of the files of a folder, with the split that the file name gives."""
    found = [(split, path / f"{name}.json") for split, name in FILES.items()]
    if not any(file.exists() for _, file in found):
        names = ", ".join(f"{name}.json" for name in FILES.values())
        raise InputError(f"'{path}' is a folder without {names}; give a file, or a folder laid out like CodeRanker's")
    for split, file in found:
        if file.exists():
            yield from _file(file, split, problems)


def _file(path: Path, split: str, problems: list[Problem]) -> Iterator[Example]:
    yield from collapsed(_examples(path, split, problems))


def _examples(path: Path, split: str, problems: list[Problem]) -> Iterator[tuple[Example, bool]]:
    """Yield each row, and whether it is one of CodeRanker's, which repeats a row for each copy."""
    for row, fields in rows.objects(path, problems):
        try:
            record = Fields(fields)
            if "completion" in fields and "fault" not in fields:
                yield _example_of(record, split), True
                if unknown := unknown_label(record):
                    problems.append(Problem(rows.place(path, row), unknown))
            else:
                yield _own(record, split), False
        except FieldError as error:
            problems.append(Problem(rows.place(path, row), str(error)))


def _own(record: Fields, split: str) -> Example:
    fault = _FAULTS.get(record.text("fault").casefold())
    if fault is None:
        raise FieldError(f"field 'fault' is {record.text('fault')!r:.60}, wanted one of {', '.join(Fault)}")
    return Example(
        record.name("task_id"),
        record.text("program_id", ""),
        record.text("prompt", ""),
        record.text("source"),
        fault,
        record.whole("line", -1, least=-1) or -1,
        record.whole("n", 1, least=1),
        record.text("model", ""),
        record.text("config", ""),
        record.choice("split", ("", *SPLITS), split) or split,
        ran if isinstance(ran := record.values.get("ran_all"), bool) else None,
        logprob_of(record),
        record.text("message", ""),
    )
