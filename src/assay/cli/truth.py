"""Commands of ground truth: extract, check, audit and convert it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted, printable
from assay.io.files import dumps
from assay.io.terminal import say, say_problems
from assay.truth.requests import AuditRequest, CheckRequest, ConvertRequest, MineRequest

if TYPE_CHECKING:
    from assay.truth.audit import Audit, AuditFinding
    from assay.truth.ground_truth import Truth, TruthFile
    from assay.truth.mine import MinedTruth
    from assay.truth.truth_check import TruthCheck
    from assay.values import Chunk


@command(MineRequest, example="assay truth mine . --limit 100 --out truth.jsonl")
def mine(request: MineRequest) -> int:
    """Extract ground truth from a repository, without a language model.

    history: the title of a commit is a query for the functions that it changed, as they were at an earlier commit,
    so what is searched cannot contain the answer. docs: the first sentence of a function's documentation is a query
    for that function. tests: the name of a test is a query for the function that it tests. The lines that contain
    such a query are hidden from every index that `assay bench` builds. --limit counts for each of the three sources.

    Without --follow the questions are about one commit, and measure Assay. With it they follow the files, and measure
    what a change of these does to search: --fail-if-worse of assay bench then fails on it.

    REPO is a folder with its history; a shallow clone has almost none. FILE ends in .jsonl, which can hold
    everything, or in .csv.

    Exits 0 if there is a query, 1 if there is none, 2 on an error.
    """
    from assay.corpus.addresses import is_url
    from assay.truth.ground_truth import Truth
    from assay.truth.mine import mine as mined_from
    from assay.truth.truth_formats import form_to, write

    if is_url(request.repository):
        raise InputError(f"'{request.repository}' is a URL: clone it with all its history, then give the folder")
    root = Path(request.repository).resolve()
    path = request.out or Path(f"{root.name or 'root'}.jsonl")
    form = form_to(path, Truth(path.stem, (), ()))  # before the work, not after it
    with progress() as watch:
        mined = mined_from(root, request.mining, watch)
    for note in mined.notes:
        say(note)
    if mined.truth.queries:
        if dropped := write(mined.truth, path, form, lossy=request.lossy):
            say(f"dropped: {', '.join(dropped)}")
        click.echo(f"written to {path}")
    click.echo("\n".join(_mined_text(mined, request.mining.limit)))
    return 0 if mined.truth.queries else 1


def _mined_text(mined: MinedTruth, limit: int) -> Iterator[str]:
    """Yield what was found and what was left out, a source a line and a reason a line."""
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

    With --judge, judges look at each judged place that FOLDER has, whatever its grade. What they and FILE disagree
    about is listed, the worst first, with kappa; they are also asked about places that answer other questions, since a
    judge that accepts these says little. --budget and --rate are for each judge; judged places are not paid for twice.

    With --collapse, the first of equal documents stays and gets all their judgments; the highest grade wins.

    Exits 0 if nothing was found, 1 if something was, 2 on an error.
    """
    from assay.bench.system import cached, corpus_of
    from assay.cli.truth_models import judged_as_json, judged_text, judged_truth
    from assay.truth.audit import audit as find
    from assay.truth.audit import corpus_at
    from assay.truth.truth_formats import read

    reading = read(request.file, request.source)
    truth, root = reading.truth, None
    judged = judged_truth(reading, request) if request.judges else None
    if request.corpus and not truth.documents:  # the checkout at the truth's commit
        root = corpus_of(truth, request.corpus, cached()).root
    found_in = corpus_at(truth, root)
    found = find(truth, found_in, examples=request.examples)
    fields: dict[str, Any] = {"problems": [*map(str, reading.problems)]}
    if request.collapse:
        fields |= _collapse(truth, found_in.texts, request.collapse)
    if request.form == "json":
        judging = {"judges": judged_as_json(judged)} if judged else {}
        click.echo(dumps({**_audit_as_json(truth.name, found), **fields, **judging}))
    else:
        click.echo("\n".join([*_audit_text(truth.name, found), *_rest_text(fields, verbose=request.verbose)]))
        click.echo("".join(f"{line}\n" for line in judged_text(judged, request.examples) if judged), nl=False)
    return 1 if any(found) or (judged and judged.disputes) else 0


def _collapse(truth: Truth, texts: Sequence[Chunk], out: Path) -> dict[str, Any]:
    from assay.truth.audit import collapsed, twins
    from assay.truth.truth_formats import write

    reading = collapsed(truth, twins([text.text for text in texts]))
    write(reading.truth, out)
    sizes = [len(truth.documents), len(reading.truth.documents)]
    return {"collapsed": sizes, "written": str(out), "contradictions": [str(problem) for problem in reading.problems]}


def _audit_as_json(name: str, found: Audit) -> dict[str, Any]:
    def listed(findings: Iterable[AuditFinding]) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(finding).items() if key != "hint"} for finding in findings]

    return {"name": name, **found.facts, "findings": listed(found), "hints": listed(found.hints)}


def _audit_text(name: str, found: Audit) -> Iterator[str]:
    facts = found.facts
    texts = f"{facts['documents']:,} documents" if facts["documents"] else f"{facts['texts']:,} chunks of the checkout"
    looked = texts if facts["texts"] else "no corpus: give --corpus FOLDER to look for twins"
    yield f"{name}: {facts['queries']:,} queries, {facts['judgments']:,} judgments, {looked}"
    yield "grades   " + "  ".join(f"{grade}: {count:,}" for grade, count in facts["grades"].items())
    spread = facts["answers"]
    yield "answers  " + ", ".join(f"{spread[key]:g} {key}" for key in ("least", "median", "mean", "most")) + " a query"
    yield from _findings_text("findings", tuple(found))
    yield from _findings_text("hints", found.hints)


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
    shares no word with its answer's path, names or signature, symbol names it, any other is standard.

    Exits 0 if OUT is written, 2 on an error.
    """
    from assay.truth.formats.csn_corpus import at_least, joined
    from assay.truth.target_places import resolved
    from assay.truth.truth_formats import read, write

    reading = read(request.source, request.form)
    if request.corpus:
        reading = (joined if _holds_functions(request.corpus) else resolved)(reading, request.corpus)
    if request.kinds:
        reading = _with_kinds(reading, request.corpus)
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
    held = {"query": truth.queries, "judgment": truth.judgments, "document": truth.documents}
    counts = ", ".join(counted(len(values), thing) for thing, values in held.items())
    click.echo(f"{counts} ({counted(len(reading.problems), 'problem')}) written to {request.target}")
    if dropped:
        say(f"dropped: {', '.join(dropped)}")


def _with_kinds(reading: TruthFile, corpus: Path | None) -> TruthFile:
    from assay.bench.system import checkout_of
    from assay.truth.minable import with_kinds
    from assay.truth.target_places import Places

    if not (root := checkout_of(reading.truth, corpus)) or reading.truth.documents:
        raise InputError("--kinds reads the places of a checkout: name it with --corpus FOLDER")
    return with_kinds(reading, Places(root, reading.truth.commit, follow=not reading.truth.commit))


def _holds_functions(corpus: Path) -> bool:
    """Say whether a corpus is CodeSearchNet's files and not a checkout."""
    from assay.truth.truth_formats import UnknownFormat, form_of

    try:
        return form_of(corpus) == "csncorpus"
    except UnknownFormat:
        return False


def _parts_to_write(truth: Truth, target: Path, to: str, *, split: bool) -> list[tuple[Truth, Path]]:
    """Return what to write where."""
    from assay.truth.formats.swebench import by_checkout
    from assay.truth.truth_formats import ending_of

    if not split:
        return [(truth, target)]
    if target.is_file():
        raise InputError(f"'{target}' is a file; --split makes a folder")
    return [(part, target / f"{part.name}{ending_of(to)}") for part in by_checkout(truth)]
