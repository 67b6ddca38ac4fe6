"""Commands of ground truth that ask models: write questions, have places judged, correct what is missing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted, printable
from assay.io.files import write_rows
from assay.io.terminal import harmless, say, say_problems
from assay.truth.requests import AuditRequest, CorrectRequest, WriteRequest

if TYPE_CHECKING:
    from assay.bench.system import SystemCorpus
    from assay.measure.line_spans import Span
    from assay.operations.truth import JudgedTruth, PlaceLabels, WrittenTruth
    from assay.truth.ground_truth import Truth, TruthFile
    from assay.values import Chunk, Judgment, Query

    Proposal = tuple[Query, Chunk, Judgment]
_SHOWN_LINES = 40


@command(
    WriteRequest, example="assay truth write . --chat openai:gpt-4o-mini --limit 50 --budget 2usd --out written.jsonl"
)
def write(request: WriteRequest) -> int:
    """Have a language model write questions about whole files of a repository, with the places that answer them.

    The model reads files, drawn at random, at the newest commit, and proposes questions with lines. Each place is read
    back: it has to be there, not blank, of at most 150 lines, and hold what the question asks by the model's own yes or
    no, asked without the rest of the file. A question must not name its answer. What is refused is counted by reason.
    A question without a word of its answer's path, names or signature is tagged hard.

    The text of the files goes to the endpoint of the model. Every reply is recorded in assay-bench, beside FILE, before
    it is used: the same command continues an interrupted run, and a larger --limit goes on.

    Exits 0 if there is a question, 1 if there is none or it stopped before the end, 2 on an error.
    """
    from assay.operations.truth import records_of, write_questions
    from assay.truth.ground_truth import Truth
    from assay.truth.truth_formats import form_to
    from assay.truth.truth_formats import write as write_truth

    out = request.out or Path(f"{Path(request.repository).resolve().name or 'root'}.jsonl")
    form = form_to(out, Truth(out.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        written = write_questions(request, out, watch)
    if written.truth.queries:
        if dropped := write_truth(written.truth, out, form, lossy=request.lossy):
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {out}")
    click.echo("\n".join(map(printable, _written_text(written, request, out))))
    say(f"records are in {records_of(out, 'written')}")
    return 0 if written.truth.queries and not written.stopped else 1


def _written_text(written: WrittenTruth, request: WriteRequest, out: Path) -> Iterator[str]:
    kinds = Counter(query.tags["kind"] for query in written.truth.queries)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    what = f"{counted(kinds.total(), 'question')}{f' ({listed})' if listed else ''}"
    answers = counted(len(written.truth.judgments), "place")
    yield f"{what}, {answers}, of {counted(written.files, 'file')}; at most {request.limit} (--limit)"
    yield from (f"  {count:>6} left out: {reason}" for reason, count in written.left_out.items())
    yield f"{written.tokens:,} tokens, ${written.usd:.4f}, earlier runs included"
    if written.refuses_nothing:
        yield f"the model accepted every place; ask another: assay truth audit {out} --corpus FOLDER --judge SPEC"
    if written.stopped:
        yield f"stopped: {written.stopped}; the same command goes on"


def _places_of(reading: TruthFile, corpus: SystemCorpus) -> tuple[TruthFile, dict[str, Span], Callable[[Span], str]]:
    """Return a ground truth of lines alone, where each of its targets is, and what reads these."""
    from assay.bench.system import text_of
    from assay.measure.line_spans import Span, span_of
    from assay.truth.target_places import resolved

    texts = {document.id: document.text for document in corpus.documents}
    lines = resolved(replace(reading, truth=replace(reading.truth, commit="")), corpus.root, follow=True)
    targets = dict.fromkeys(each.target for each in lines.truth.judgments)
    spans = {target: Span(target) if target in texts else span_of(target) for target in targets}
    return lines, spans, lambda span: texts.get(span.path) or text_of(corpus, span)


def judged_truth(reading: TruthFile, request: AuditRequest) -> JudgedTruth:
    """Ask the judges of a request about each judged place of a ground truth."""
    from assay.bench.system import cached, checkout_of, corpus_of
    from assay.operations.truth import ask_judges, audit_places, judged_places

    corpus = corpus_of(reading.truth, checkout_of(reading.truth, request.corpus), cached())
    lines, spans, text_of = _places_of(reading, corpus)
    pairs, grades = judged_places(lines.truth, text_of, spans)
    if not pairs:
        raise InputError(
            f"no judged place of '{request.file}' is in the corpus: give its checkout with --corpus FOLDER"
        )
    right = [pair for pair, grade in zip(pairs, grades, strict=True) if grade]
    with progress() as watch:
        labels = ask_judges(request.judges, request.models, pairs, right, request.file, say, watch)
    return audit_places(pairs, grades, labels, request.file.name)


def judged_as_json(judged: JudgedTruth) -> dict[str, Any]:
    """Return what judges say as JSON has it."""
    from assay.cli.judge_labels import agreement_as_json

    reasons = {each.judge: each.reasons for each in judged.labels}
    names = [*judged.agreement.truth]
    return {
        "controls": {each.judge: {"accepted": each.accepted, "of": each.controls} for each in judged.labels},
        "disputes": [
            {"query_id": key[0], "target": key[1], "grade": grade, "judges": _grades_at(judged, key)}
            for key, grade in judged.disputes
        ],
        "agreement": agreement_as_json(
            judged.agreement, {name: reasons.get(name, {}) for name in (*names, *reasons)}, judged.texts
        ),
    }


def _grades_at(judged: JudgedTruth, key: tuple[str, str]) -> dict[str, int | None]:
    return {each.judge: each.grades.get(key) for each in judged.labels}


def judged_text(judged: JudgedTruth | None, show: int) -> Iterator[str]:
    """Yield what judges say, for people: how far they agree, and the places that are disputed, the worst first."""
    from assay.cli.judge_labels import agreement_tables

    if judged is None:
        return
    yield from ("", f"{counted(judged.agreement.pairs, 'judged place')}, by {counted(len(judged.labels), 'judge')}")
    yield from agreement_tables(judged.agreement)
    yield from map(_control_text, judged.labels)
    yield ""
    total = len(judged.disputes)
    more = f"; the worst {show:,} (--examples)" if total > show else ""
    yield f"disputed places: {f'{total:,}{more}' if total else 'none'}"
    for key, grade in judged.disputes[:show]:
        said = ", ".join(
            f"{name} says {'nothing' if it is None else it}" for name, it in _grades_at(judged, key).items()
        )
        yield printable(f"  {key[1]}: {grade} in the file, {said}")
        yield printable(f"      {key[0]}: {' '.join(judged.texts[key][0].split())}")
        for each in judged.labels:
            if reason := each.reasons.get(key):
                yield printable(f"      {each.judge}: {' '.join(reason.split())[:160]}")


def _control_text(labels: PlaceLabels) -> str:
    count = f"{labels.accepted} of {labels.controls} places that answer other questions"
    return printable(f"{labels.judge} accepts {count}")


@command(
    CorrectRequest,
    example="assay truth correct truth.jsonl --corpus . --judge signals --judge grades:openai:gpt-4o-mini",
)
def correct(request: CorrectRequest) -> int:
    """Add right answers to the ground truth in FILE that search finds and FILE does not know.

    Each question is searched. Results that no judgment covers go to the judges, and what all of them accept is proposed
    as a secondary answer, grade 1. A person confirms each proposal on the terminal; what is confirmed or refused is
    in OUT at once, with who judged it, so the same command continues. --yes takes all proposals. Without a terminal and
    without --yes the proposals go to a file, as pairs that assay judge label reads.

    Exits 0 if there is a proposal, 1 if there is none, 2 on an error.
    """
    from assay.bench.system import cached, checkout_of, corpus_of
    from assay.corpus.walk import OWN_TRUTH
    from assay.operations import truth as work
    from assay.truth.ground_truth import qrels_of
    from assay.truth.judging_pool import as_pairs
    from assay.truth.truth_formats import form_to, read

    out = request.out or request.file.with_name(f"{request.file.stem}.corrected.jsonl")
    reading = _with_earlier(read(request.file, request.source), out)
    form_to(out, reading.truth)  # before the work, not after it
    root = checkout_of(reading.truth, request.corpus)
    own = [path for path in (request.file, out, *([root / OWN_TRUTH] if root else [])) if path.exists()]
    corpus = corpus_of(reading.truth, root, cached(), without=tuple(own))
    lines, spans, text_of = _places_of(reading, corpus)
    right = qrels_of(lines.truth, lines.where)
    pairs, grades = work.judged_places(lines.truth, text_of, spans)
    known = [pair for pair, grade in zip(pairs, grades, strict=True) if grade]
    with progress() as watch:
        found = work.search_unjudged(right, corpus.root, request.k, text_of, watch)
        unjudged = as_pairs(found, right.queries)
        labels = work.ask_judges(request.judges, request.models, unjudged, known, request.file, say, watch)
    say_problems((*lines.problems, *right.problems, *found.problems), every=request.verbose)
    proposals = work.proposals_of(found, right, labels)
    results = f"{counted(found.found, 'result')}, {counted(len(unjudged), 'place')} without a judgment"
    click.echo(f"{results}, {counted(len(proposals), 'proposal')} that {counted(len(labels), 'judge')} accept")
    if proposals:
        _decide(reading.truth, proposals, request, out)
    return 0 if proposals else 1


def _with_earlier(reading: TruthFile, out: Path) -> TruthFile:
    """Return a ground truth with the judgments that an earlier run added to its copy."""
    from assay.truth.truth_formats import read

    if not out.exists():
        return reading
    known = {(each.query_id, each.target) for each in reading.truth.judgments}
    earlier = (each for each in read(out).truth.judgments if (each.query_id, each.target) not in known)
    return replace(reading, truth=replace(reading.truth, judgments=(*reading.truth.judgments, *earlier)), rows=())


def _decide(truth: Truth, proposals: list[Proposal], request: CorrectRequest, out: Path) -> None:
    """Take all proposals, ask a person about each, or write them down for later."""
    if not request.yes and not (sys.stdin.isatty() and sys.stdout.isatty()):
        later = out.with_suffix(".proposals.jsonl")
        rows = ((query, code, judgment) for query, code, judgment in proposals)
        write_rows(later, (_row(*each) for each in rows))
        click.echo(f"written to {later}; run this on a terminal to confirm each, or take all with --yes")
        return
    taken = [each for _, _, each in proposals] if request.yes else []
    for judgment in [] if request.yes else _asked(proposals):
        taken.append(judgment)
        _add(truth, taken, out)
    if taken:
        _add(truth, taken, out)
        right = sum(each.grade > 0 for each in taken)
        click.echo(f"{counted(right, 'answer')} added, {len(taken) - right:,} refused; written to {out}")
        say(f"read the difference to {request.file} before you use it; the same command goes on with what is left")


def _row(query: Query, code: Chunk, judgment: Judgment) -> dict[str, object]:
    texts = {"query_id": query.id, "query": query.text, "code_id": code.id, "code": code.text}
    return {**texts, "language": code.language, "judge": judgment.judge, "reason": judgment.reason}


def _add(truth: Truth, taken: list[Judgment], out: Path) -> None:
    from assay.truth.truth_formats import write as write_truth

    write_truth(replace(truth, judgments=(*truth.judgments, *taken)), out)


def _asked(proposals: list[Proposal]) -> Iterator[Judgment]:
    """Yield what a person says to each proposal, until they quit: as a judgment, of grade 0 where it is refused."""
    for at, (query, code, judgment) in enumerate(proposals, 1):
        lines = code.text.splitlines()
        click.echo(
            f"\n{at} of {len(proposals)}  {printable(query.text)}\n{printable(code.id)}  {printable(judgment.reason)}"
        )
        click.echo("\n".join(f"  | {harmless(line)}" for line in lines[:_SHOWN_LINES]))
        if len(lines) > _SHOWN_LINES:
            click.echo(f"  | … {len(lines) - _SHOWN_LINES:,} more lines")
        said = click.prompt("does it help to answer?", type=click.Choice(["y", "n", "q"]), prompt_suffix=" ")
        if said == "q":
            return
        who = f"{judgment.judge}, {'confirmed' if said == 'y' else 'refused'} by a person"
        yield replace(judgment, grade=int(said == "y"), judge=who)
