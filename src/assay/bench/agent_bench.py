"""Find in an agent's transcripts what it searched and then edited, and replay its questions against other systems.

A *task* is a part of a session: it begins with the session, or with the first prompt after an edit. A *question* is the
first prompt of a task, or a search in it; its right answers are the files that the task edits for the first time after
it. Each repository is searched as it was committed when the session began, so that no system sees the edits. What the
agent's own search returned is one more system, `transcript`; for a prompt that is the first search of the task. Figures
are means over sessions, for the questions of one session are alike: intervals and tests count sessions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os.path import isdir
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.bench import experiment
from assay.bench.answer_runs import RunFile, SystemAnswer
from assay.bench.matrix import BenchPlan, SetSpec, SystemSpec
from assay.bench.results import Results
from assay.bench.transcripts import AgentSession, Step
from assay.corpus.git import answer
from assay.corpus.pinned import commit_of, is_repository, tree
from assay.errors import InputError, counted
from assay.measure.compare import Values, compare, interval, sample_size
from assay.measure.line_spans import Span
from assay.measure.measures import parse
from assay.report import document as doc
from assay.report.plain_text import cell_text, rows_as_lines, value_text
from assay.truth import truth_formats
from assay.truth.ground_truth import Truth
from assay.values import Judgment, Query

OWN = "transcript"
FOUND, TOKENS = "Hit@10", "tokens@10"
_MEASURES = (FOUND, "MRR", "Recall@10", TOKENS)
_NAMED = 8
"""Types of records that are named."""
_MIN_PROMPT_WORDS = 4
"""Words of a prompt that asks for something; shorter ones (*yes, do it*) refer to what was said before."""


class EditedFile(NamedTuple):
    """What it took until a file was edited for the first time in a task."""

    calls: int
    tokens: int
    returned: bool
    """Whether a search had returned its path."""
    opened: bool
    """Whether it was read, and no search had returned its path."""


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """Something that an agent searched for, or was asked to do."""

    task: tuple[str, int]
    """The id of the session, and the number of the task in it."""
    source: str
    """`prompt` or `search`."""
    text: str
    expected: tuple[str, ...]
    """The files that were edited for the first time after it."""
    found: tuple[str, ...]
    """The paths in the agent's own result."""
    tokens: int


def tasks_of(session: AgentSession) -> Iterator[list[Step]]:
    """Yield the tasks of a session."""
    task: list[Step] = []
    for step in session.steps:
        if step.kind == "prompt" and any(each.kind == "edit" for each in task):
            yield task
            task = []
        task.append(step)
    yield task


def edited_files(task: Sequence[Step]) -> dict[str, EditedFile]:
    """Return each file that a task edits, with what came before its first edit."""
    found: dict[str, EditedFile] = {}
    seen: dict[str, set[str]] = defaultdict(set)
    calls = tokens = 0
    for step in task:
        for path in step.paths if step.kind == "edit" else ():
            is_returned = path in seen["search"]
            found.setdefault(path, EditedFile(calls, tokens, is_returned, path in seen["read"] and not is_returned))
        seen[step.kind].update(step.paths)
        calls, tokens = calls + (step.kind != "prompt"), tokens + step.tokens
    return found


def questions_of(session: AgentSession) -> Iterator[AgentQuestion]:
    """Yield the questions of a session, each text once a task."""
    for number, task in enumerate(tasks_of(session)):
        edited, asked, calls = edited_files(task), {""}, 0
        first = next((step for step in task if step.kind == "search"), Step("search"))
        for step in task:
            calls += step.kind != "prompt"
            is_prompt = step.kind == "prompt" and len(step.text.split()) >= _MIN_PROMPT_WORDS and "prompt" not in asked
            expected = tuple(path for path, each in edited.items() if each.calls >= calls)
            if expected and step.text not in asked and (is_prompt or step.kind == "search"):
                asked.add("prompt" if is_prompt else step.text)
                own, source = (first, "prompt") if is_prompt else (step, "search")
                yield AgentQuestion((session.id, number), source, step.text, expected, own.paths, own.tokens)


def session_figures(sessions: Sequence[AgentSession]) -> dict[str, Any]:
    """Return what sessions did before their edits: by agent, means over the sessions with an edit; searches by tool."""
    edited: dict[str, list[list[EditedFile]]] = defaultdict(list)
    tools: dict[str, list[str]] = defaultdict(list)
    for session in sessions:
        if files := [each for task in tasks_of(session) for each in edited_files(task).values()]:
            edited[session.agent].append(files)
        for step in session.steps:
            tools[step.tool] += [session.id] if step.kind == "search" else []
    means: dict[str, dict[str, doc.Mean]] = defaultdict(dict)
    for agent, every in edited.items():
        for at, name in enumerate(EditedFile._fields):
            means[agent][name] = _mean(np.array([np.mean([each[at] for each in files]) for files in every]))
    return {
        "sessions": Counter(each.agent for each in sessions),
        "with_edits": {agent: len(every) for agent, every in edited.items()},
        "before_edits": means,
        "tools": {tool: (len({*each}), len(each)) for tool, each in tools.items() if each},
    }


State = tuple[Path, str]
"""A repository and its commit."""
Asked = Mapping[str, AgentQuestion]
"""Questions by the id of their query."""


def plan_replay(
    sessions: Sequence[AgentSession], repository: Path | None
) -> tuple[dict[State, dict[str, AgentQuestion]], Counter[str]]:
    """Return the questions about files that were there when their session began, and why sessions have none."""
    left_out: Counter[str] = Counter()
    planned: dict[State, dict[str, AgentQuestion]] = {}
    known: dict[State, frozenset[str]] = {}
    for session in sessions:
        try:
            state = _state_of(session, repository)
        except InputError as error:
            left_out[str(error)] += 1
            continue
        paths = known[state] = known[state] if state in known else frozenset(tree(*state))
        ready = [
            replace(each, expected=expected, found=tuple(filter(paths.__contains__, each.found)))
            for each in questions_of(session)
            if (expected := tuple(path for path in each.expected if path in paths and ":" not in path))
        ]
        left_out["no question before an edit of a file that was there when they began"] += not ready
        if ready:
            planned.setdefault(state, {}).update({f"{session.id}:{at}": each for at, each in enumerate(ready)})
    return planned, +left_out


def _state_of(session: AgentSession, repository: Path | None) -> State:
    """Return what a session saw when it began; if that is not known, the error says why."""
    folder, start = repository or Path(session.folder), session.steps[0].when
    if not session.folder or not isdir(folder) or not is_repository(folder):  # noqa: PTH112  of any text
        raise InputError("their folder is not a git repository of this machine (--repo FOLDER names it)")
    if session.commit:
        with suppress(InputError):
            return folder, commit_of(folder, session.commit)
    if start and (before := answer(folder, "rev-list", "-1", f"--before={start}", "HEAD")):
        return folder, before
    raise InputError("their repository has no commit before they began")


def replay(
    planned: Mapping[State, Asked], systems: Sequence[SystemSpec], setting: experiment.Setting, *, fresh: bool
) -> Results:
    """Ask every system every question; ground truth, answers and a report are written to the folder of the setting."""
    experiment.claim_output(setting.out)
    own = setting.out / "truth" / f"{OWN}.jsonl"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.unlink(missing_ok=True)
    sets = []
    with RunFile(own, OWN, {"system": OWN}) as run:
        names = Counter[str]()
        for (folder, commit), asked in planned.items():
            name = f"{folder.resolve().name}-{commit[:10]}"
            names[name.lower()] += 1
            if names[name.lower()] > 1:
                name += f"-{names[name.lower()]}"
            queries = tuple(Query(key, each.text, tags={"source": each.source}) for key, each in asked.items())
            right = tuple(Judgment(key, path, 1) for key, each in asked.items() for path in each.expected)
            truth_formats.write(Truth(name, queries, right, commit=commit), own.with_name(f"{name}.jsonl"))
            sets.append(SetSpec(name, own.with_name(f"{name}.jsonl"), folder))
            for key, each in asked.items():
                scores = tuple(1 / rank for rank in range(1, len(each.found) + 1))
                run.add(SystemAnswer(key, tuple(map(Span, each.found)), scores))
    every = (SystemSpec(OWN, f"run:{own}"), *systems)
    return experiment.run(BenchPlan(tuple(sets), every, tuple(map(parse, _MEASURES))), setting, fresh=fresh)


def replay_figures(questions: Asked, results: Results, difference: float) -> dict[str, Any]:
    """Return what each system would have given the agents, and how the first one differs from the others.

    `found` is the fraction of questions of which an edited file is among the first ten files; of the transcript, in all
    of its result. `calls` and `tokens` are those of a task's searches, one after another, up to the first that finds.
    """
    rows: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for cell in results.cells:
        for at, query in enumerate(results.sets[cell.set].queries):
            row, each = {name: values[at] for name, values in cell.values["file"].items()}, questions[query.id]
            own = {FOUND: float(not {*each.found}.isdisjoint(each.expected)), TOKENS: float(each.tokens)}
            rows[cell.system][query.id] = row | (own if cell.system == OWN else {})
    columns = {name: _columns(questions, of) for name, of in rows.items() if len(of) == len(questions)}
    first = next((name for name in columns if name != OWN), OWN)
    found = {name: of["found"] for name, of in columns.items()}
    return {
        "questions": Counter(each.source for each in questions.values()),
        "sessions": len(found[first]),
        "systems": {name: {key: _mean(each) for key, each in of.items()} for name, of in columns.items()},
        "incomplete": sorted(rows.keys() - columns.keys()),
        "differences": compare(found, [(first, name) for name in found if name != first]),
        "difference": difference,
        "sessions_needed": {
            name: sample_size(found[first] - each, difference)
            for name, each in found.items()
            if len(each) > 1 and (found[first] - each).any()
        },
    }


def _columns(questions: Asked, rows: Mapping[str, Mapping[str, float]]) -> dict[str, Values]:
    """Return each figure of a system, one value a session, in the order of the questions."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    searches: dict[tuple[str, int], list[Mapping[str, float]]] = defaultdict(list)
    for key, each in questions.items():
        row = rows[key]
        figures = {"found": FOUND, f"found {each.source}": FOUND, "MRR": "MRR", "Recall@10": "Recall@10"}
        for name, measure in figures.items():
            found[name][each.task[0]].append(row[measure])
        if each.source == "search" and not any(before[FOUND] for before in searches[each.task]):
            searches[each.task].append(row)
    for (session, _), needed in searches.items():
        found["calls"][session].append(len(needed))
        found["tokens"][session].append(sum(row[TOKENS] for row in needed))
    order = sorted(found, key=lambda name: (not name.startswith("found"), name.islower(), name))
    return {name: np.array([np.mean(each) for each in found[name].values()]) for name in order}


def _mean(values: Values) -> doc.Mean:
    return doc.Mean(float(values.mean()), *interval(values))


def lines_of(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as tables for a terminal."""
    about, replayed = figures["transcripts"], figures.get("replay")
    counts = (f"{counted(n, 'session')} of {agent}" for agent, n in about["sessions"].items())
    yield f"{', '.join(counts)}; before the first edit of a file: means over sessions with an edit, 95% intervals"
    yield from _table("agent", about["before_edits"])
    yield from rows_as_lines(("tool", "sessions", "searches"), [(tool, *n) for tool, n in about["tools"].items()], "  ")
    yield from (f"{counted(n, 'session')} not replayed: {why}" for why, n in figures["left_out"].items())
    if kinds := ", ".join(f"{kind} {n:,}" for kind, n in figures["skipped"].most_common(_NAMED)):
        yield f"records of other types: {kinds}"
    if replayed:
        asked = " and ".join(counted(n, source) for source, n in sorted(replayed["questions"].items()))
        yield ""
        yield f"{asked} of {counted(replayed['sessions'], 'session')}, replayed: means over sessions, 95% intervals"
        yield from _table("system", replayed["systems"])
        for each in replayed["differences"]:
            found = cell_text(doc.figure(doc.Mean(each.difference, each.low, each.high), signed=True))
            p = value_text(doc.probability(each.holm))
            count = replayed["sessions_needed"].get(each.b)
            needed = f"; {replayed['difference']:g} shows in {counted(count, 'session')} (80% power)" if count else ""
            yield f"  {each.a} - {each.b}: found {found}, p {p} (Holm){needed}"
        yield from (f"  {name} is not compared: it did not answer every set" for name in replayed["incomplete"])


def _table(head: str, rows: Mapping[str, Mapping[str, doc.Mean]]) -> Iterator[str]:
    names = dict.fromkeys(name for row in rows.values() for name in row)
    cells = ((of, *(doc.figure(each, 3 if each.mean < 1 else 1) for each in row.values())) for of, row in rows.items())
    return rows_as_lines((head, *names), cells, "  ")
