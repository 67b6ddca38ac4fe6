"""`assay truth audit`: find errors in ground truth, and merge duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError
from assay.io.terminal import dumps
from assay.parameters import Options, argument, flag, form, option, verbose

if TYPE_CHECKING:
    from assay.truth.audit_findings import Audit, AuditFinding
    from assay.truth.ground_truth import Truth
    from assay.values import Chunk


class TruthAuditOptions(Options):
    """Options of `assay truth audit`."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    collapse: Path | None = option("--collapse OUT", "Write a copy of FILE in which duplicates are merged.")
    near: bool = flag("--near", "With --collapse: also merge near duplicates.")
    threshold: float = option(
        "--threshold FRACTION",
        "The fraction of five-word runs that near duplicates have in common.",
        least=0.1,
        most=1,
        default=0.8,
    )
    examples: int = option("--examples N", "Show at most N examples of each finding.", least=0, default=3)
    source: str = options.source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


@command(TruthAuditOptions, example="assay truth audit truth.jsonl --corpus checkout")
def audit(given: TruthAuditOptions) -> int:
    """Find errors in the ground truth in FILE.

    Findings are duplicate texts (equal, equal but for layout and comments, or nearly equal: both have FRACTION of
    their runs of five words in common), queries that ask the same, judgments that contradict one another, equal
    code with different judgments, and queries without an answer. Hints from rules of thumb do not count. The N
    worst examples of each are shown.

    With --collapse, the first of equal documents stays and gets all their judgments; the highest grade wins.

    Exits 0 if nothing was found, 1 if something was, 2 on an error.
    """
    from assay.bench.system import cached, corpus_of
    from assay.truth.audit import audit as find
    from assay.truth.audit import corpus_at
    from assay.truth.truth_formats import read

    if given.near and not given.collapse:
        raise InputError("--near says what --collapse makes one: give --collapse OUT, too")
    reading = read(given.file, given.source)
    truth, root = reading.truth, None
    if given.corpus and not truth.documents:  # the checkout at the truth's commit
        root = corpus_of(truth, given.corpus, cached()).root
    found_in = corpus_at(truth, root)
    with progress() as report:
        found = find(truth, found_in, threshold=given.threshold, examples=given.examples, report=report)
    fields: dict[str, Any] = {"problems": [*map(str, reading.problems)]}
    if given.collapse:
        fields |= _collapse(truth, found_in.texts, given.collapse, threshold=given.threshold, near=given.near)
    if given.form == "json":
        click.echo(dumps({**_as_dict(truth.name, found), **fields}))
    else:
        click.echo("\n".join([*_text(truth.name, found), *_rest(fields, verbose=given.verbose)]))
    return 1 if any(found) else 0


def _collapse(truth: Truth, texts: Sequence[Chunk], out: Path, *, threshold: float, near: bool) -> dict[str, Any]:
    from assay.truth.audit import collapsed
    from assay.truth.truth_formats import write
    from assay.truth.twins import twins, twins_of

    groups = twins_of(texts, threshold).near if near else twins([text.text for text in texts])
    reading = collapsed(truth, groups)
    write(reading.truth, out)
    sizes = [len(truth.documents), len(reading.truth.documents)]
    return {"collapsed": sizes, "written": str(out), "contradictions": [str(problem) for problem in reading.problems]}


def _as_dict(name: str, found: Audit) -> dict[str, Any]:
    def listed(findings: Iterable[AuditFinding]) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(finding).items() if key != "hint"} for finding in findings]

    return {"name": name, **found.facts, "findings": listed(found), "hints": listed(found.hints)}


def _text(name: str, found: Audit) -> Iterator[str]:
    facts = found.facts
    texts = f"{facts['documents']:,} documents" if facts["documents"] else f"{facts['texts']:,} chunks of the checkout"
    looked = texts if facts["texts"] else "no corpus: give --corpus FOLDER to look for twins"
    yield f"{name}: {facts['queries']:,} queries, {facts['judgments']:,} judgments, {looked}"
    yield "grades   " + "  ".join(f"{grade}: {count:,}" for grade, count in facts["grades"].items())
    spread = facts["answers"]
    yield "answers  " + ", ".join(f"{spread[key]:g} {key}" for key in ("least", "median", "mean", "most")) + " a query"
    if len(facts["judges"]) > 1:
        for judge, one in facts["judges"].items():
            shared = f"{one['differing']:,} of {one['shared']:,} shared with others differ"
            yield f"judge    {judge or '(nobody)'}: {one['judgments']:,} judgments, mean {one['mean']:g}; {shared}"
    yield from _listed("findings", tuple(found))
    yield from _listed("hints", found.hints)


def _listed(title: str, findings: tuple[AuditFinding, ...]) -> Iterator[str]:
    yield ""
    yield f"{title}: none" if not findings else title
    for finding in findings:
        share = f"{100 * finding.count / finding.of:.1f}%" if finding.of else ""
        yield f"  {finding.count:>7,} of {finding.of:,} ({share})  {finding.what}"
        yield from (f"{'':10}{example}" for example in finding.examples)


def _rest(fields: dict[str, Any], *, verbose: bool) -> Iterator[str]:
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
