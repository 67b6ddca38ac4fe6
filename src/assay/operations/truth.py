"""Have models write ground truth, and have judges look at its places; an interrupted run goes on in its records."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from assay.corpus.git_history import head
from assay.corpus.languages import BY_EXTENSION
from assay.corpus.pinned import is_repository
from assay.corpus.walk import OWN_REPORTS
from assay.errors import BudgetSpent, EndpointRefused, InputError, Interrupted
from assay.io.files import safe_name
from assay.judge.campaign import Tally
from assay.judge.labels import Annotator, Key, LabelAgreement, compare
from assay.judge.records import past
from assay.llm.recorded import REPLY
from assay.measure.line_spans import Span
from assay.operations.face import Index
from assay.operations.judge import judge_options_of, judge_pairs, open_chats
from assay.protocols import Progress, Say
from assay.runs.local import in_flight
from assay.runs.options import ModelOptions
from assay.runs.record import Journal, sole_writer, start_fresh
from assay.truth.ground_truth import Qrels, Truth
from assay.truth.judging_pool import Pool, as_pairs, pool
from assay.truth.minable import MinedQueries
from assay.truth.mine import open_files
from assay.truth.requests import WriteRequest
from assay.truth.written import FAILED, REFUSED, QuestionWriter, files_to_ask, gather
from assay.values import Chunk, Judgment, Query

Pairs = Sequence[tuple[Query, Chunk]]
MAX_CONTROLS = 20
MIN_CONTROLS = 4
"""Fewer say nothing about a judge."""
_MAX_FAILED = 3
"""Files in a row for which the endpoint fails: then it is down."""
_MIN_CHECKED = 10


def records_of(file: Path, name: str) -> Path:
    """Return where the records of a ground truth lie: beside it, in a folder that no search looks into."""
    return file.parent / OWN_REPORTS / "truth" / file.name / f"{safe_name(name)}.jsonl"


@dataclass(frozen=True, slots=True)
class WrittenTruth:
    """What a model wrote, and why it is not more."""

    truth: Truth
    left_out: Mapping[str, int]
    files: int
    """Files that were asked about."""
    usd: float
    tokens: int
    """What all runs with these records took."""
    stopped: str = ""

    @property
    def refuses_nothing(self) -> bool:
        """Whether the model accepted each of many places that it was asked about."""
        return not self.left_out.get(REFUSED) and len(self.truth.judgments) >= _MIN_CHECKED


def write_questions(request: WriteRequest, out: Path, watch: Progress) -> WrittenTruth:
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
        writer = QuestionWriter(chat, journal, files, request.writing)
        paths = files_to_ask(files, request.seed)
        results, stopped = _write_all(writer.write, paths, request, watch)
    if not results and not stopped:
        raise InputError(f"'{root}' has no file with a function, type or section to ask about")
    found, took = gather(results, request.limit), past(records)
    queries, judgments = tuple(found.queries), tuple(found.judgments)
    truth = Truth(root.name or "root", queries, judgments, repository=str(root), commit=commit)
    left_out = dict(found.left_out.most_common())
    return WrittenTruth(truth, left_out, len(results), took.cost, took.tokens, stopped)


def _write_all(
    write: Callable[[str], MinedQueries], paths: Iterator[str], request: WriteRequest, watch: Progress
) -> tuple[list[MinedQueries], str]:
    """Return what was written about files, in their order and enough of it, and why it ended early."""
    done: dict[int, MinedQueries] = {}
    whole: list[MinedQueries] = []  # the results of the first files, with no gap: the same whichever ends first
    kept, stopped = 0, ""

    def work(item: tuple[int, str]) -> tuple[int, MinedQueries]:
        return item[0], write(item[1])

    def is_enough() -> bool:
        return bool(stopped) or kept >= request.limit

    threads = request.models.workers
    with closing(in_flight(work, enumerate(paths), threads, is_stopped=is_enough)) as ends:
        for future in ends:
            try:
                at, one = future.result()
            except Interrupted:
                continue
            except (BudgetSpent, EndpointRefused) as end:
                if isinstance(end, EndpointRefused) and not done:
                    raise
                stopped = str(end)
                continue
            done[at] = one
            while len(whole) in done and kept < request.limit:
                whole.append(done[len(whole)])
                kept = len(gather(whole, request.limit).queries)
            watch("writing questions", kept, request.limit)
            if len(whole) >= _MAX_FAILED and all(FAILED in each.left_out for each in whole[-_MAX_FAILED:]):
                stopped = f"the endpoint failed for {_MAX_FAILED} files in a row"
    return [*whole, *(done[at] for at in sorted(done) if stopped and at >= len(whole))], stopped


@dataclass(frozen=True, slots=True)
class PlaceLabels:
    """What a judge says about places."""

    judge: str
    grades: Mapping[Key, int | None]
    """None is undecided."""
    reasons: Mapping[Key, str]
    accepted: int
    controls: int
    """Of so many places that answer other questions it accepted so many."""
    stopped: str = ""

    def distance(self, key: Key, grade: int, *, is_graded: bool) -> int:
        """Return how far the judge is from a grade; where one of the two knows only yes and no, 1 is as good as 2."""
        said = self.grades.get(key)
        is_graded = is_graded and self.judge.startswith("grades:")
        return 0 if said is None or (said and grade and not is_graded) else abs(said - grade)

    @property
    def warning(self) -> str:
        """Say so where its yes means little."""
        if self.controls < MIN_CONTROLS or 2 * self.accepted <= self.controls:
            return ""
        count = f"{self.accepted} of {self.controls} places that answer other questions"
        return f"the judge {self.judge} also accepts {count}: its yes says little; name another --judge"


def ask_judges(  # noqa: PLR0913, PLR0917  each is one thing
    specs: Sequence[str], models: ModelOptions, pairs: Pairs, right: Pairs, file: Path, say: Say, watch: Progress
) -> list[PlaceLabels]:
    """Return what each judge says about pairs, and about some right places of other questions as a control."""
    keys = [(query.id, code.id) for query, code in pairs]
    controls = _controls(right, {*keys, *((query.id, code.id) for query, code in right)})
    labels = []
    for spec in dict.fromkeys(specs):

        def on_verdict(tally: Tally, spec: str = spec) -> None:
            watch(f"judging by {spec}", tally.done, len(pairs) + len(controls))

        asks_model = spec.partition(":")[0] != "signals" or len(specs) == 1
        judging = judge_options_of(spec, models.budget if asks_model else "", option="--budget")
        rate = models.rate if asks_model else ""
        judging = replace(judging, rate=rate, workers=models.workers, no_cache=models.no_cache)
        records = records_of(file, spec)
        judgments, tally = judge_pairs(judging, [*pairs, *controls], records, say, on_verdict)
        said = {(each.query_id, each.target): each for each in judgments}
        judged = [said[query.id, code.id].grade > 0 for query, code in controls if (query.id, code.id) in said]
        grades = {key: said[key].grade if key in said else None for key in keys}
        reasons = {key: said[key].reason for key in keys if key in said}
        if not said and pairs:
            why = tally.stopped or tally.last_problem or "it left all undecided"
            raise InputError(f"the judge {spec} decided about none of {len(pairs):,} places: {why}")
        labels.append(PlaceLabels(spec, grades, reasons, sum(judged), len(judged), tally.stopped))
    for each in labels:
        for line in filter(None, (each.warning, each.stopped and f"{each.judge} stopped: {each.stopped}")):
            say(line)
    return labels


def _controls(right: Pairs, known: Container[Key]) -> list[tuple[Query, Chunk]]:
    """Return some queries, each with a place of another file that answers another one and is not judged for it."""
    found = []
    first = {query.id: (at, query) for at, (query, _) in reversed([*enumerate(right)])}
    for at, query in sorted(first.values(), key=lambda each: each[0])[:MAX_CONTROLS]:
        own = right[at][1].path
        others = (
            code for _, code in (*right[at:], *right[:at]) if code.path != own and (query.id, code.id) not in known
        )
        found += [(query, code) for code in [next(others, None)] if code]
    return found


def judged_places(truth: Truth, text_of: Callable[[Span], str], spans: Mapping[str, Span]) -> tuple[Pairs, list[int]]:
    """Return each judged place once, as a pair with its text, and its grade, the highest of several; gone ones not."""
    queries, best = {query.id: query for query in truth.queries}, dict[Key, int]()
    for each in truth.judgments:
        key = each.query_id, each.target
        if each.query_id in queries and each.target in spans:
            best[key] = max(each.grade, best.get(key, 0))
    pairs = []
    for query_id, target in best:
        span = spans[target]
        language = BY_EXTENSION.get(span.path.rpartition(".")[2], "")
        pairs.append((queries[query_id], Chunk(target, text_of(span), language, span.path, span.start, span.end)))
    held = [(pair, grade) for pair, grade in zip(pairs, best.values(), strict=True) if pair[1].text.strip()]
    return [pair for pair, _ in held], [grade for _, grade in held]


@dataclass(frozen=True, slots=True)
class JudgedTruth:
    """A ground truth beside what judges say of its places."""

    labels: Sequence[PlaceLabels]
    agreement: LabelAgreement
    disputes: Sequence[tuple[Key, int]]
    """Places with their grade in the file that a judge, or two judges, disagree about; the worst first."""
    texts: Mapping[Key, tuple[str, str]]


def audit_places(pairs: Pairs, grades: Sequence[int], labels: Sequence[PlaceLabels], name: str) -> JudgedTruth:
    """Compare judges with a file, and with one another."""
    of_file = {(query.id, code.id): grade for (query, code), grade in zip(pairs, grades, strict=True)}
    texts = {(query.id, code.id): (query.text, code.text) for query, code in pairs}
    annotators = [Annotator(each.judge, dict(each.grades), dict(each.reasons)) for each in labels]
    agreement = compare(annotators, [Annotator(name, {**of_file})], texts=texts)
    is_graded = max(grades, default=0) > 1
    far = {key: [each.distance(key, grade, is_graded=is_graded) for each in labels] for key, grade in of_file.items()}
    worst = sorted((key for key in far if any(far[key])), key=lambda key: (-max(far[key]), -sum(far[key])))
    return JudgedTruth(labels, agreement, [(key, of_file[key]) for key in worst], texts)


def search_unjudged(right: Qrels, root: Path, k: int, text_of: Callable[[Span], str], watch: Progress) -> Pool:
    """Return the first results of a search of each query that no judgment covers."""
    index = Index(root, progress=watch)
    found: dict[str, list[Span]] = {}
    for at, query in enumerate(right.queries, 1):
        hits = index.search(query, limit=k)
        found[query.id] = [Span(hit.path, hit.start_line, hit.end_line) for hit in hits]
        watch("searching", at, len(right.queries))
    return pool(right, {"assay": found}, k, text_of)


def proposals_of(found: Pool, right: Qrels, labels: Sequence[PlaceLabels]) -> list[tuple[Query, Chunk, Judgment]]:
    """Return the answers that all judges accept, each as the secondary answer that it would be."""
    names = " + ".join(each.judge for each in labels)
    accepted = []
    for query, code in as_pairs(found, right.queries):
        key = query.id, code.id
        if all(each.grades.get(key) for each in labels):
            reason = "; ".join(filter(None, (each.reasons.get(key, "") for each in labels)))
            accepted.append((query, code, Judgment(query.id, code.id, 1, names, reason)))
    return accepted
