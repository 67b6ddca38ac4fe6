"""Write ground truth with models, and audit its places with judges; an interrupted run resumes from its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from assay.corpus.git_history import head
from assay.corpus.left_out_names import OWN_REPORTS
from assay.corpus.pinned import is_repository
from assay.errors import BudgetSpent, EndpointRefused, InputError, Interrupted
from assay.io.files import safe_name
from assay.io.terminal import say
from assay.judge.campaign import Tally
from assay.judge.labels import Annotator, Key, LabelAgreement, compare
from assay.judge.records import past
from assay.judge.requests import JudgeOptions
from assay.llm.recorded import REPLY
from assay.measure.line_spans import Span
from assay.operations.face import Index
from assay.operations.judge import judge_options_of, judge_pairs, open_chats
from assay.protocols import Progress
from assay.runs.local import in_flight
from assay.runs.options import ModelOptions
from assay.runs.record import Journal, sole_writer, start_fresh
from assay.truth.ground_truth import Qrels, Truth
from assay.truth.judging_pool import as_pair, as_pairs, pool
from assay.truth.minable import MinedQueries
from assay.truth.mine import MinedTruth, open_files
from assay.truth.requests import AuditRequest, CorrectRequest, WriteRequest
from assay.truth.written import FAILED, REFUSED, QuestionWriter, add
from assay.values import Chunk, Judgment, Query

Pairs = Sequence[tuple[Query, Chunk]]
TextOf = Callable[[Span], str]
MIN_CONTROLS, MAX_CONTROLS = 4, 20
"""Places of other questions that each judge is given; fewer would mean little."""
_MIN_CHECKED = 10


def records_of(file: Path, name: str) -> Path:
    """Return the folder of a ground truth's records: beside it, ignored by searches."""
    return file.parent / OWN_REPORTS / "truth" / file.name / f"{safe_name(name)}.jsonl"


def write_questions(request: WriteRequest, out: Path, watch: Progress) -> MinedTruth:
    """Return the questions that a model writes about a repository; each reply is recorded before it is used."""
    root, records = Path(request.repository).resolve(), records_of(out, "written")
    if not root.is_dir():
        raise InputError(f"'{root}' is not a folder; give the checkout to ask about")
    commit = head(root) if is_repository(root) else ""
    if request.fresh:
        start_fresh(records)
    with ExitStack() as stack:
        stack.enter_context(sole_writer(records))
        files = stack.enter_context(open_files(root, commit))
        (chat,) = open_chats((request.chat,), request.models, records, stack)
        journal = Journal(records, lambda _, record: record["kind"] == REPLY)
        writer = QuestionWriter(chat, journal, files, request)
        paths = (path for path in files.sample(request.seed) if files.units(path))
        found, stopped = _write_all(writer.write, paths, request, watch)
    if not records.exists() and not found.left_out and not stopped:
        raise InputError(f"'{root}' has no file with a function, type or section to ask about")
    took = past(records)
    notes = [f"{took.tokens:,} tokens, ${took.cost:.4f}, earlier runs included; records are in {records}"]
    if not found.left_out[REFUSED] and len(found.judgments) >= _MIN_CHECKED:
        notes.append(f"the model accepted every place; ask another one: assay truth audit {out} --judge SPEC")
    if stopped:
        notes.append(f"stopped: {stopped}; the same command goes on")
    queries, judgments = tuple(found.queries), tuple(found.judgments)
    truth = Truth(root.name or "root", queries, judgments, repository=str(root), commit=commit)
    return MinedTruth(truth, {"written": dict(found.left_out.most_common())}, tuple(notes), bool(stopped))


def _write_all(
    write: Callable[[str], MinedQueries], paths: Iterator[str], request: WriteRequest, watch: Progress
) -> tuple[MinedQueries, str]:
    """Return what was written about files, in order, until there is enough; and why it stopped early."""
    found, stopped = MinedQueries(), ""
    while not stopped and len(found.queries) < request.limit and (some := [*islice(paths, request.models.workers)]):
        watch("writing questions", len(found.queries), request.limit)
        done: dict[str, MinedQueries] = {}
        for future in in_flight(lambda path: (path, write(path)), some, len(some)):
            try:
                path, done[path] = future.result()
            except Interrupted:
                continue
            except (BudgetSpent, EndpointRefused) as end:
                if isinstance(end, EndpointRefused) and not found.queries:
                    raise  # a wrong address, key or model
                stopped = str(end)
        for path in filter(done.__contains__, some):
            add(found, done[path], request.limit)
        if done and all(FAILED in each.left_out for each in done.values()):
            stopped = "the endpoint failed"
    return found, stopped


def judged_pairs(right: Qrels, text_of: TextOf) -> tuple[Pairs, dict[Key, int]]:
    """Return each judged place as a pair of query and text, and its grade; places without a text are left out."""
    every = [(query, str(each.span), each) for query in right.queries for each in right.entries[query.id]]
    pairs = [as_pair(query, target, text_of(each.span)) for query, target, each in every]
    grades = {(query.id, target): each.grade for query, target, each in every}
    return [pair for pair in pairs if pair[1].text.strip()], grades


def right_of(pairs: Pairs, grades: Mapping[Key, int]) -> Pairs:
    """Return the pairs whose place is an answer."""
    return [(query, code) for query, code in pairs if grades[query.id, code.id]]


def judges_of(specs: Sequence[str], models: ModelOptions, prior: float) -> dict[str, JudgeOptions]:
    """Return the options of each judge; judges without a model, beside others with one, have no budget and no rate."""
    found = {}
    for spec in dict.fromkeys(specs):
        pays = spec.partition(":")[0] != "signals" or len(specs) == 1
        options = judge_options_of(spec, models.budget if pays else "", option="--budget")
        rate = models.rate if pays else ""
        found[spec] = replace(options, rate=rate, workers=models.workers, no_cache=models.no_cache)
        if spec.startswith("signals"):
            found[spec] = replace(found[spec], prior=prior)
    return found


def ask_judges(
    judges: Mapping[str, JudgeOptions], pairs: Pairs, right: Pairs, file: Path, watch: Progress
) -> list[Annotator]:
    """Return each judge's verdicts on pairs, and report how often it accepts places that answer other questions."""
    keys = [(query.id, code.id) for query, code in pairs]
    controls = list(_controls(right, {*keys, *((query.id, code.id) for query, code in right)}))
    labels = list[Annotator]()
    for spec, options in judges.items():

        def on_verdict(tally: Tally, spec: str = spec) -> None:
            watch(f"judging by {spec}", tally.done, len(pairs) + len(controls))

        judgments, tally = judge_pairs(options, [*pairs, *controls], records_of(file, spec), say, on_verdict)
        said = {(each.query_id, each.target): each for each in judgments}
        if pairs and not said.keys() & {*keys}:
            why = tally.stopped or tally.last_problem or "it left all undecided"
            raise InputError(f"the judge {spec} decided about none of {len(pairs):,} places: {why}")
        if tally.stopped:
            say(f"{spec} stopped: {tally.stopped}; the same command goes on")
        yes = [said[key].grade > 0 for query, code in controls if (key := (query.id, code.id)) in said]
        is_vague = len(yes) >= MIN_CONTROLS and 2 * sum(yes) > len(yes)
        hint = ": its yes says little; name another --judge" if is_vague else ""
        say(f"{spec} accepts {sum(yes)} of {len(yes)} places that answer other questions{hint}")
        grades = {key: said[key].grade if key in said else None for key in keys}
        labels.append(Annotator(spec, grades, {key: said[key].reason for key in keys if key in said}))
    return labels


def _controls(right: Pairs, judged: set[Key]) -> Iterator[tuple[Query, Chunk]]:
    """Yield some queries, each with the answer of another query, from another file, that is not judged for it."""
    first = {query.id: at for at, (query, _) in reversed([*enumerate(right)])}
    for at in sorted(first.values())[:MAX_CONTROLS]:
        query, own = right[at]
        for _, code in (*right[at:], *right[:at]):
            if code.path != own.path and (query.id, code.id) not in judged:
                yield query, code
                break


@dataclass(frozen=True, slots=True)
class DisputedPlace:
    """A judged place on which a judge disagrees with the file."""

    query_id: str
    query: str
    target: str
    grade: int
    """The grade in the file."""
    judges: Mapping[str, int | None]
    reasons: Mapping[str, str]

    @property
    def gaps(self) -> tuple[int, int]:
        """How far the farthest judge, and all together, are from the file; a yes without a grade is 1 or 2."""
        said = [(name, grade) for name, grade in self.judges.items() if grade is not None]
        plain = {name for name, grade in said if grade and self.grade and not name.startswith("grades:")}
        gaps = [abs(grade - self.grade) for name, grade in said if name not in plain]
        return max(gaps, default=0), sum(gaps)


@dataclass(frozen=True, slots=True)
class JudgedTruth:
    """A ground truth with the judges' verdicts on its places."""

    agreement: LabelAgreement
    disputes: Sequence[DisputedPlace]
    """The largest disagreements first."""


def audit_places(request: AuditRequest, right: Qrels, text_of: TextOf, watch: Progress) -> JudgedTruth:
    """Ask judges about each judged place, and compare them with the file and with one another."""
    pairs, of_file = judged_pairs(right, text_of)
    judges = judges_of(request.judges, request.models, request.prior)
    labels = ask_judges(judges, pairs, right_of(pairs, of_file), request.file, watch)
    places = []
    for query, code in pairs:
        key = query.id, code.id
        grades = {each.name: each.grades[key] for each in labels}
        reasons = {each.name: each.reasons[key] for each in labels if key in each.reasons}
        places.append(DisputedPlace(query.id, query.text, code.id, of_file[key], grades, reasons))
    agreement = compare(labels, [Annotator(request.file.name, {**of_file})])
    return JudgedTruth(agreement, sorted((each for each in places if any(each.gaps)), key=lambda each: each.gaps)[::-1])


class ProposedAnswer(NamedTuple):
    """A search result that all judges accept, with their judgment."""

    query: Query
    code: Chunk
    judgment: Judgment


def propose(
    request: CorrectRequest, right: Qrels, root: Path, text_of: TextOf, watch: Progress
) -> list[ProposedAnswer]:
    """Return search results without a judgment that all judges accept, each as a secondary answer."""
    judges = judges_of(request.judges, request.models, request.prior)  # refused before the work, not after it
    index, found = Index(root, progress=watch), dict[str, list[Span]]()
    for at, query in enumerate(right.queries, 1):
        hits = index.search(query.text, limit=request.k, mode=query.mode)
        found[query.id] = [Span(hit.path, hit.start_line, hit.end_line) for hit in hits]
        watch("searching", at, len(right.queries))
    pooled = pool(right, {"assay": found}, request.k, text_of)
    pairs, known = as_pairs(pooled, right.queries), right_of(*judged_pairs(right, text_of))
    say(f"{pooled.found:,} results, {len(pairs):,} places without a judgment")
    labels = ask_judges(judges, pairs, known, request.file, watch)
    names, accepted = " + ".join(each.name for each in labels), []
    for query, code in pairs:
        key = query.id, code.id
        if all(each.grades[key] for each in labels):
            reason = "; ".join(each.reasons[key] for each in labels if each.reasons.get(key))
            accepted.append(ProposedAnswer(query, code, Judgment(*key, 1, names, reason)))
    return accepted
