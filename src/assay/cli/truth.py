"""Commands of ground truth: extract, write, check, audit, correct and convert it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted, printable
from assay.io.files import dumps, write_rows
from assay.io.terminal import harmless, say, say_problems
from assay.truth.requests import AuditRequest, CheckRequest, ConvertRequest, CorrectRequest, MineRequest, WriteRequest

if TYPE_CHECKING:
    from assay.bench.query_sets import Prepared
    from assay.measure.line_spans import Span
    from assay.operations.truth import JudgedTruth
    from assay.truth.audit import Audit, AuditFinding
    from assay.truth.ground_truth import Truth, TruthFile
    from assay.truth.mine import MinedTruth
    from assay.truth.truth_check import TruthCheck
    from assay.values import Chunk, Judgment, Query


@command(MineRequest, example="assay truth mine . --limit 100 --out truth.jsonl")
def mine(request: MineRequest) -> int:
    """Extract ground truth from a repository, without a language model.

    history: the title of a commit is a query for the functions that it changed, as they were at an earlier commit,
    so what is searched cannot contain the answer. docs: the first sentence of a function's documentation is a query
    for that function. tests: the name of a test is a query for the function that it tests. The lines that contain
    such a query are hidden from every index that `assay bench` builds.

    What people type and paste is mined only where --from says so. messages: a string of the code, its holes filled with
    values, is a query for the line that it stands on. names: the name of a unit is a query for its declaration.

    Without --follow the questions are about one commit, and measure Assay. With it they follow the files, and measure
    what a change of these does to search: --fail-if-worse of assay bench then fails on it.

    REPO is a folder with its history; a shallow clone has almost none. FILE ends in .jsonl, which can hold
    everything, or in .csv.

    Exits 0 if there is a query, 1 if there is none, 2 on an error.
    """
    from assay.corpus.addresses import is_url
    from assay.truth.ground_truth import Truth
    from assay.truth.mine import mine as mined_from
    from assay.truth.truth_formats import form_to

    if is_url(request.repository):
        raise InputError(f"'{request.repository}' is a URL: clone it with all its history, then give the folder")
    root = Path(request.repository).resolve()
    path = request.out or Path(f"{root.name or 'root'}.jsonl")
    form = form_to(path, Truth(path.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        mined = mined_from(root, request.mining, watch)
    return _write_mined(mined, path, form, request.mining.limit, lossy=request.lossy)


def _write_mined(mined: MinedTruth, path: Path, form: str, limit: int, *, lossy: bool) -> int:
    """Write what was found, print what was left out, and return the exit status."""
    from assay.truth.truth_formats import write as write_truth

    for note in mined.notes:
        say(note)
    if mined.truth.queries:
        if dropped := write_truth(mined.truth, path, form, lossy=lossy):
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {path}")
    click.echo("\n".join(_mined_text(mined, limit)))
    return 0 if mined.truth.queries and not mined.is_stopped else 1


@command(WriteRequest, example="assay truth write . --chat openai:gpt-4o-mini --limit 50 --budget 2usd")
def write(request: WriteRequest) -> int:
    """Have a language model write questions about whole files of a repository, with the places that answer them.

    The model reads files, drawn at random, at the newest commit, and proposes questions with lines. Each place is read
    back: it has to exist, to have text, at most 150 lines, and to hold what the question asks by the model's own yes or
    no, asked without the rest of the file. A question must not name its answer; one without a word of its answer's
    path, names or signature is tagged hard. What is refused is counted by reason.

    The files go to the endpoint of the model. Every reply is recorded in assay-bench, beside FILE, before it is used:
    the same command continues an interrupted run, and one with a larger --limit goes on.

    Exits 0 if there is a query, 1 if there is none or it stopped before the end, 2 on an error.
    """
    from assay.operations.truth import write_questions
    from assay.truth.ground_truth import Truth
    from assay.truth.truth_formats import form_to

    path = request.out or Path(f"{Path(request.repository).resolve().name or 'root'}.jsonl")
    form = form_to(path, Truth(path.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        written = write_questions(request, path, watch)
    return _write_mined(written, path, form, request.limit, lossy=request.lossy)


def _mined_text(mined: MinedTruth, limit: int) -> Iterator[str]:
    """Yield what was found and what was left out, one line per source and per reason."""
    at = f" at {mined.truth.commit[:12]}" if mined.truth.commit else ""
    answers = counted(len(mined.truth.judgments), "answer")
    yield f"{counted(len(mined.truth.queries), 'query')}, {answers}{at}; at most {limit} of each source (--limit)"
    for source, reasons in mined.left_out.items():
        kinds = Counter(query.tags["kind"] for query in mined.truth.queries if query.tags["source"] == source)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        yield f"{source}: {counted(kinds.total(), 'query')}{f' ({listed})' if listed else ''}"
        for reason, count in reasons.items():
            yield f"  {count:>6} left out: {reason}"


@command(CheckRequest, example="assay truth check truth.jsonl --corpus checkout")
def check(request: CheckRequest) -> int:
    """Check the ground truth in FILE, row by row, and its targets against the checkout in FOLDER.

    Every file, range of lines and symbol must exist at the commit that FILE is about; the work tree is not changed.
    What moved, changed or was removed between that commit and HEAD is counted, but is not an error, because a
    benchmark searches that commit. --fix writes a copy that is about HEAD: it follows moved lines, and changed ones
    as far as possible (review these), and leaves out what is gone or was wrong. A FILE without a commit is about the
    files as they are: a symbol that moved to another file is followed, and one that is gone is a problem.

    Exits 0 if all is well, 1 if there are problems, 2 on an error or if nothing can be used.
    """
    from assay.bench.system import checkout_of
    from assay.truth import truth_check as checks
    from assay.truth.truth_formats import read, write

    reading = read(request.file, request.source)
    if request.commit:
        reading = replace(reading, truth=replace(reading.truth, commit=request.commit))
    checked = checks.check(reading, checkout_of(reading.truth, request.corpus))
    if request.fix:
        write(checks.repinned(reading.truth, checked), request.fix)
    if request.form == "json":
        click.echo(dumps(_check_as_json(reading, checked)))
    else:
        click.echo("\n".join(map(printable, _check_text(reading, checked, request.fix, verbose=request.verbose))))
    return 1 if checked.problems else 0


def _check_as_json(reading: TruthFile, checked: TruthCheck) -> dict[str, Any]:
    return {
        "name": reading.truth.name,
        "queries": len(reading.truth.queries),
        "judgments": len(reading.truth.judgments),
        "documents": len(reading.truth.documents),
        "targets": checked.targets,
        "checked": checked.looked,
        "commit": checked.commit,
        "head": checked.head,
        "problems": [asdict(problem) for problem in checked.problems],
        "drift": [asdict(drift) for drift in checked.drift],
        "uncommitted": list(checked.uncommitted),
    }


def _check_text(reading: TruthFile, checked: TruthCheck, fix: Path | None, *, verbose: bool) -> Iterator[str]:
    from assay.truth.ground_truth import disagreement

    yield from map(str, checked.problems)
    yield from filter(None, [disagreement(reading.truth)])
    yield from (str(drift) for drift in checked.drift if verbose)
    yield from (f"{path}: changed in the work tree and not committed" for path in checked.uncommitted)
    where = f" at {checked.commit[:12]}" if checked.commit else ""
    if not checked.looked and not reading.truth.documents:
        where = "; no file was looked at: give --corpus FOLDER"
    held = f"{counted(len(reading.truth.queries), 'query')}, {counted(checked.targets, 'target')}"
    yield f"{held}: {counted(len(checked.problems), 'problem')}{where}"
    if checked.drift:
        states = Counter(drift.state for drift in checked.drift)
        counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
        hint = "" if fix else " (-v lists them, --fix OUT follows them)"
        since = f"between {checked.commit[:12]} and HEAD {checked.head[:12]}" if checked.commit else "to another file"
        yield f"{counts} {since}{hint}"
    if fix:
        yield f"written to {fix}{f', at {checked.head[:12]}' if checked.commit else ''}"


@command(AuditRequest, example="assay truth audit truth.jsonl --corpus checkout")
def audit(request: AuditRequest) -> int:
    """Find errors in the ground truth in FILE.

    Findings are equal texts, queries that ask the same, judgments that contradict one another, equal code with
    different judgments, and queries without an answer. Hints from rules of thumb do not count. The N
    worst examples of each are shown.

    With --judge, judges look at each judged place, whatever its grade. Places about which one of them disagrees with
    FILE are listed, the worst first, with kappa. Each is also asked about places that answer other questions, for a
    judge that accepts these says little. --budget and --rate count for each judge; nothing is paid for twice.

    With --collapse, the first of equal documents stays and gets all their judgments; the highest grade wins.

    Exits 0 if nothing was found, 1 if something was, 2 on an error.
    """
    from assay.bench.system import cached, corpus_of
    from assay.truth.audit import audit as find
    from assay.truth.audit import corpus_at
    from assay.truth.truth_formats import read

    reading = read(request.file, request.source)
    truth, root = reading.truth, None
    if request.corpus and not truth.documents:  # the checkout at the truth's commit
        root = corpus_of(truth, request.corpus, cached()).root
    judged = _judged_truth(request) if request.judges else None
    found_in = corpus_at(truth, root)
    found = find(truth, found_in, examples=request.examples)
    fields: dict[str, Any] = {"problems": [*map(str, reading.problems)]}
    if request.collapse:
        fields |= _collapse(truth, found_in.texts, request.collapse)
    if request.form == "json":
        fields |= {"judges": asdict(judged)} if judged else {}
        click.echo(dumps({**_audit_as_json(truth.name, found), **fields}))
    else:
        lines = [*_audit_text(truth.name, found), *_rest_text(fields, verbose=request.verbose)]
        click.echo("\n".join([*lines, *(_judged_text(judged, request.examples) if judged else ())]))
    return 1 if any(found) or (judged and judged.disputes) else 0


def _opened(file: Path, request: AuditRequest | CorrectRequest) -> tuple[Prepared, Callable[[Span], str]]:
    """Open a ground truth as `assay bench` does, and return a reader of its places."""
    from assay.bench.matrix import SetSpec
    from assay.bench.query_sets import prepare
    from assay.bench.system import text_of

    ready = prepare(SetSpec(file.stem, file, request.corpus, form=request.source), request.file, say)
    say_problems(ready.problems, every=request.verbose)
    texts = {document.id: document.text for document in ready.corpus.documents}
    return ready, lambda span: texts.get(span.path) or text_of(ready.corpus, span)


def _judged_truth(request: AuditRequest) -> JudgedTruth:
    from assay.operations.truth import audit_places

    ready, text_of = _opened(request.file, request)
    with progress() as watch:
        return audit_places(request, ready.expected, text_of, watch)


def _judged_text(judged: JudgedTruth, show: int) -> Iterator[str]:
    """Yield how far judges agree with the file and with one another, and the disputed places."""
    from assay.cli.judge_labels import agreement_tables

    yield from agreement_tables(judged.agreement)
    total = len(judged.disputes)
    worst = f", the worst {show}" if total > show else ""
    yield from ("", f"disputed places: {total:,} of {judged.agreement.pairs:,}{worst}")
    for each in judged.disputes[:show]:
        grades = ", ".join(
            f"{'undecided' if grade is None else grade} by {name}" for name, grade in each.judges.items()
        )
        yield printable(f"  {each.target}: {each.grade} in the file, {grades}")
        yield printable(f"      {each.query_id}: {' '.join(each.query.split())}")
        yield from (printable(f"      {name}: {' '.join(why.split())[:160]}") for name, why in each.reasons.items())


_MAX_LINES = 40
"""Lines of a proposal's text that are printed."""


@command(CorrectRequest, example="assay truth correct truth.jsonl --corpus . --judge grades:ollama:qwen3")
def correct(request: CorrectRequest) -> int:
    """Add right answers to the ground truth in FILE that search finds and FILE does not know.

    Each question is searched. Results that no judgment covers go to the judges; what all of them accept is proposed as
    a secondary answer, grade 1. A person confirms each proposal on the terminal: the judgment, 1 or 0, is in OUT at
    once, with who judged, and the same command continues. --yes takes all. Without a terminal and without --yes the
    proposals go to a file in assay-bench, as pairs that assay judge label reads. FILE stays as it is.

    Exits 0 if there is a proposal, 1 if there is none, 2 on an error.
    """
    from assay.operations.truth import propose, records_of
    from assay.truth.truth_formats import form_to, read

    out = request.out or request.file.with_name(f"{request.file.stem}.corrected.jsonl")
    source = out if out.exists() else request.file
    truth = read(source, request.source if source == request.file else "").truth
    form_to(out, truth)  # before the work, not after it
    ready, text_of = _opened(source, request)
    with progress() as watch:
        proposals = propose(request, ready.expected, ready.corpus.root, text_of, watch)
    before = f"; those that are in {out} already are judged" if source == out else ""
    click.echo(f"{counted(len(proposals), 'answer')} proposed, which every judge accepts{before}")
    if request.yes and proposals and {*request.judges} == {"signals"}:
        say("signals judges by words alone: review these answers before you use them; without --yes a person confirms")
    if request.yes and proposals:
        _add([each.judgment for each in proposals], truth, out)
    elif proposals and sys.stdin.isatty() and sys.stdout.isatty():
        judgments: list[Judgment] = []
        for at, proposal in enumerate(proposals, 1):
            if (judgment := _confirmed(*proposal, f"{at} of {len(proposals)}")) is None:
                break
            judgments.append(judgment)
            _add(judgments, truth, out)
    elif proposals:
        later = records_of(out, "proposals")
        write_rows(later, (_as_row(*each) for each in proposals))
        click.echo(f"written to {later}; run this on a terminal to confirm each, or take all with --yes")
    return 0 if proposals else 1


def _as_row(query: Query, code: Chunk, judgment: Judgment) -> dict[str, object]:
    texts = {"query": query.text, "code_id": code.id, "code": code.text, "language": code.language}
    return {**asdict(judgment), **texts}


def _add(judgments: Sequence[Judgment], truth: Truth, out: Path) -> None:
    from assay.truth.truth_formats import write as write_truth

    write_truth(replace(truth, judgments=(*truth.judgments, *judgments)), out)
    right = sum(judgment.grade for judgment in judgments)
    click.echo(f"{counted(right, 'answer')} added, {len(judgments) - right} refused; written to {out}")


def _confirmed(query: Query, code: Chunk, judgment: Judgment, at: str) -> Judgment | None:
    """Return a person's decision on a proposal as a judgment of grade 1 or 0, or None to stop."""
    lines = code.text.splitlines()
    more = [f"… {len(lines) - _MAX_LINES:,} more lines"] if len(lines) > _MAX_LINES else []
    click.echo(f"\n{at}  {printable(query.text)}\n{printable(f'{code.id}  {judgment.reason}')}")
    click.echo("\n".join(f"  | {harmless(line)}" for line in [*lines[:_MAX_LINES], *more]))
    said = click.prompt("does it help to answer?", type=click.Choice(["y", "n", "q"]), prompt_suffix=" ")
    who = f"{judgment.judge}, {'confirmed' if said == 'y' else 'refused'} by a person"
    return None if said == "q" else replace(judgment, grade=int(said == "y"), judge=who)


def _collapse(truth: Truth, texts: Sequence[Chunk], out: Path) -> dict[str, Any]:
    from assay.truth.audit import collapsed, twins
    from assay.truth.truth_formats import write

    reading = collapsed(truth, twins([text.text for text in texts]))
    write(reading.truth, out)
    sizes = [len(truth.documents), len(reading.truth.documents)]
    return {"collapsed": sizes, "written": str(out), "contradictions": [str(problem) for problem in reading.problems]}


def _audit_as_json(name: str, result: Audit) -> dict[str, Any]:
    def listed(findings: Iterable[AuditFinding]) -> list[dict[str, Any]]:
        rows = list(map(asdict, findings))
        for row in rows:
            del row["hint"]
        return rows

    return {"name": name, **result.facts, "findings": listed(result), "hints": listed(result.hints)}


def _audit_text(name: str, result: Audit) -> Iterator[str]:
    facts = result.facts
    texts = f"{facts['documents']:,} documents" if facts["documents"] else f"{facts['texts']:,} chunks of the checkout"
    looked = texts if facts["texts"] else "no corpus: give --corpus FOLDER to look for twins"
    yield f"{name}: {facts['queries']:,} queries, {facts['judgments']:,} judgments, {looked}"
    yield "grades   " + "  ".join(f"{grade}: {count:,}" for grade, count in facts["grades"].items())
    spread = facts["answers"]
    yield "answers  " + ", ".join(f"{spread[key]:g} {key}" for key in ("least", "median", "mean", "most")) + " a query"
    yield from _findings_text("findings", tuple(result))
    yield from _findings_text("hints", result.hints)


def _findings_text(title: str, findings: tuple[AuditFinding, ...]) -> Iterator[str]:
    yield ""
    yield f"{title}: none" if not findings else title
    for finding in findings:
        share = f"{100 * finding.count / finding.of:.1f}%" if finding.of else ""
        yield f"  {finding.count:>7,} of {finding.of:,} ({share})  {finding.what}"
        yield from (f"{'':10}{example}" for example in finding.examples)


def _rest_text(fields: dict[str, Any], *, verbose: bool) -> Iterator[str]:
    """Yield what could not be read and what was merged."""
    more = ":" if verbose else " (-v shows them)"
    if problems := fields["problems"]:
        yield from ("", f"{len(problems):,} rows could not be used{more}")
        yield from (f"  {problem}" for problem in problems if verbose)
    if "written" in fields:
        before, after = fields["collapsed"]
        yield from ("", f"{before:,} documents made {after:,}, written to {fields['written']}")
        if contradictions := fields["contradictions"]:
            yield f"{len(contradictions):,} judgments contradicted a twin's; the highest grade stays{more}"
            yield from (f"  {problem}" for problem in contradictions if verbose)


@command(ConvertRequest, example="assay truth convert truth.csv truth.jsonl")
def convert(request: ConvertRequest) -> None:
    """Convert the ground truth IN to another format, OUT.

    Formats are jsonl (Assay's own, which can hold everything), octocode, trec, beir and cosqaplus; cosqa, csn, semble
    and swebench are read only. What OUT cannot hold is an error without --lossy. Rows of IN that cannot
    be used are counted. Most formats hold no symbols (path::Class.method); --corpus turns them into lines at the
    commit of IN. CodeSearchNet's annotations become a ground truth with its code by --corpus FILES; --match 3 makes
    the 399 pairs of 95 queries on which CoSQA+ tests models. --kinds tags queries as assay truth mine does: hard
    shares no word with its answers' paths, names and signatures, symbol names one, any other is standard.

    Exits 0 if OUT is written, 2 on an error.
    """
    from assay.truth.formats.csn_corpus import at_least, joined
    from assay.truth.target_places import resolved
    from assay.truth.truth_formats import read, write

    reading = read(request.source, request.form)
    if request.corpus:
        reading = (joined if _holds_functions(request.corpus) else resolved)(reading, request.corpus)
    if request.kinds:
        reading = replace(reading, truth=_with_kinds(reading.truth, request.corpus))
    if request.match:
        reading = at_least(reading, request.match)
    to = request.to or ("jsonl" if request.split else "")
    dropped = dict.fromkeys(
        loss
        for truth, path in _parts_to_write(reading.truth, request.target, to, split=request.split)
        for loss in write(truth, path, to, lossy=request.lossy)
    )
    if request.verbose:
        say_problems(reading.problems, every=True)
    truth = reading.truth
    parts = {"query": truth.queries, "judgment": truth.judgments, "document": truth.documents}
    counts = ", ".join(counted(len(values), thing) for thing, values in parts.items())
    click.echo(f"{counts} ({counted(len(reading.problems), 'problem')}) written to {request.target}")
    if dropped:
        say(f"dropped: {', '.join(dropped)}")


def _with_kinds(truth: Truth, corpus: Path | None) -> Truth:
    from assay.bench.system import checkout_of
    from assay.truth.minable import with_kinds
    from assay.truth.target_places import Places

    if truth.documents or not (root := checkout_of(truth, corpus)):
        raise InputError("--kinds reads the places of a checkout: name it with --corpus FOLDER")
    found = with_kinds(truth, Places(root, truth.commit))
    kinds = Counter(query.tags.get("kind", "without a kind") for query in found.queries)
    click.echo(", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()))
    return found


def _holds_functions(corpus: Path) -> bool:
    """Return whether a corpus is files of CodeSearchNet rather than a checkout."""
    from assay.truth.truth_formats import UnknownFormat, form_of

    try:
        return form_of(corpus) == "csncorpus"
    except UnknownFormat:
        return False


def _parts_to_write(truth: Truth, target: Path, to: str, *, split: bool) -> list[tuple[Truth, Path]]:
    """Return which part of a truth to write to which file."""
    from assay.truth.formats.swebench import by_checkout
    from assay.truth.truth_formats import ending_of

    if not split:
        return [(truth, target)]
    if target.is_file():
        raise InputError(f"'{target}' is a file; --split makes a folder")
    return [(part, target / f"{part.name}{ending_of(to)}") for part in by_checkout(truth)]
