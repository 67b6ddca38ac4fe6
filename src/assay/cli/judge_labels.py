"""Commands for labels by people: label pairs, choose between codes, compare labels."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.errors import InputError, MissingExtra, counted, printable
from assay.io.files import dumps
from assay.io.rows import plain
from assay.io.terminal import say, say_problems
from assay.judge.requests import AgreementRequest, LabelRequest, PreferRequest
from assay.report.document import Cell, Number, Table, fraction, table
from assay.report.plain_text import cell_text, shown_line, table_lines
from assay.runs.options import SampleDraw
from assay.runs.record import start_fresh

if TYPE_CHECKING:
    from assay.judge.accounts import CampaignCosts
    from assay.judge.label_ballots import LabelStudy
    from assay.judge.labels import Annotator, Key, LabelAgreement, LabelDifference, Texts
    from assay.judge.pairs import Pair
    from assay.judge.preferences import Preference
    from assay.measure.agreement import Estimate
    from assay.serve.http.ballots import Ballot
    from assay.values import Problem

    Costs = Mapping[str, CampaignCosts]
    Reasons = Mapping[str, Mapping[Key, str]]

MARKS = {1: "match", 0: "no match", None: "undecided"}
_LINES, _MAX_LINE_CHARS = 8, 110
_COSTS = "annotator,pairs,calls,tokens,$ a pair,$,$ without the cache,model s,sandbox s,programs that run".split(",")
_FIGURES = ("accuracy", "of_all", "precision", "recall", "f1", "kappa", "auc")


@command(AgreementRequest, example="assay judge agreement anna=a.jsonl ben=b.jsonl --gold gold.jsonl")
def agreement(request: AgreementRequest) -> None:
    """Compare the LABELS of several annotators: records of `assay judge run`, JSON, CSV or TSV.

    NAME=FILE gives an annotator a name. Prints accuracy, precision, recall, F1, Cohen's kappa and, of judges that say
    how likely a match is, ROC-AUC against the truth; kappa of every two annotators, Krippendorff's nominal alpha of
    all, and pairs with two labels: who gave which label and why; of records also calls, tokens, cost and time.
    Brackets hold 95% bootstrap intervals over queries; those of fractions are at least as wide as Wilson's. A pair
    left undecided counts as wrong in *of all seen*; a pair that an annotator was not shown is in none of its figures.

    Exits 0, or 2 on an error, such as labels of other pairs.
    """
    from assay.judge.accounts import accounts, costs_as_json
    from assay.judge.labels import compare
    from assay.judge.records import is_records, verdicts

    texts: dict[Key, tuple[str, str]] = {}
    problems: list[Problem] = []
    truth = [annotator for spec in request.gold for annotator in _read(spec, texts, problems)]
    annotators = [annotator for spec in request.labels for annotator in _read(spec, texts, problems)]
    say_problems(problems, every=request.verbose)
    found = compare(annotators, truth, match=request.match, texts=texts)
    reasons = {each.name: each.reasons for each in (*truth, *annotators)}
    files = [_named(spec) for spec in request.labels]
    costs = {name: accounts(verdicts(file)) for file, name in files if is_records(file) and name in found.counts}
    if request.form == "json":
        taken = {name: costs_as_json(each) for name, each in costs.items()}
        click.echo(
            dumps({**agreement_as_json(found, reasons, texts), "costs": taken, "problems": [*map(str, problems)]})
        )
    else:
        click.echo("\n".join(_agreement_text(found, reasons, texts, costs, show=request.show, problems=len(problems))))


def _named(spec: str) -> tuple[Path, str]:
    """Return the file of FILE or NAME=FILE, and the name of its only annotator."""
    name, equals, file = spec.partition("=")
    if equals and not Path(spec).exists():
        return Path(file), name
    return Path(spec), plain(Path(spec)).stem


def _read(spec: str, texts: dict[Key, tuple[str, str]], problems: list[Problem]) -> list[Annotator]:
    """Read a file given as FILE or NAME=FILE."""
    from assay.judge.labels import read_labels

    file, name = _named(spec)
    found = read_labels(file, name if file != Path(spec) else "")
    if renamed := found.named_as(texts):
        say(f"{counted(renamed, 'pair')} of {file} matched by their texts, as the ids differ")
    for key, two in found.texts.items():
        texts.setdefault(key, two)
    problems += found.problems
    return found.annotators


def agreement_as_json(result: LabelAgreement, reasons: Reasons, texts: Texts) -> dict[str, Any]:
    """Return an agreement for JSON; undefined values are null."""
    fields: dict[str, Any] = asdict(result)
    for row, difference in zip(fields["differences"], result.differences, strict=True):
        row["query_id"], row["code_id"] = row.pop("key")
        row["query"], row["code"] = texts.get(difference.key, (None, None))
        why = {name: reasons[name].get(difference.key) for name in difference.said}
        row["reasons"] = {name: reason for name, reason in why.items() if reason}
    return fields


def _agreement_text(
    result: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs | None = None, *, show: int, problems: int
) -> Iterator[str]:
    """Yield an agreement as lines for a terminal."""
    unusable = f"; {problems:,} rows cannot be used" if problems else ""
    yield f"{counted(result.pairs, 'pair')} of {counted(result.queries, 'query')}{unusable}"
    yield from agreement_tables(result, costs)
    total = len(result.differences)
    yield ""
    yield f"{counted(total, 'pair')} {'is' if total == 1 else 'are'} labelled in two ways" + (
        f"; the first {show:,}:" if total > show > 0 else ""
    )
    for difference in result.differences[:show]:
        yield ""
        yield from _side_by_side(difference, reasons, texts)


def estimate(one: Estimate) -> Number:
    """Return the table cell of a value with its interval."""
    return Number(one.value, one.low, one.high)


def agreement_tables(result: LabelAgreement, costs: Costs | None = None) -> Iterator[str]:
    """Yield the lines of all tables."""
    for one in _agreement_tables(result, costs or {}):
        yield from ("", *([printable(one.title)] if one.title else []), *table_lines(one, indent=""))
    if result.kappas:
        alpha = cell_text(estimate(result.alpha))
        yield f"alpha of all  {alpha}  over {result.labelled_twice:,} pairs with two labels or more"


def _agreement_tables(result: LabelAgreement, costs: Costs) -> Iterator[Table]:
    """Yield tables of the labels, their agreement with the truth and with one another, and their costs."""
    counts = {**({"(the truth)": result.true} if result.true else {}), **result.counts}
    rows: list[tuple[str | int | Cell, ...]]
    rows = [(name, one.match, one.non_match, one.undecided, one.absent) for name, one in counts.items()]
    yield table("Labels", ("annotator", "match", "no match", "undecided", "absent"), rows)
    if result.true:
        of = " and ".join(result.truth) if len(result.truth) < 3 else f"{len(result.truth)} annotators"
        alpha = f" (alpha of those: {cell_text(estimate(result.truth_alpha))})" if result.truth_alpha else ""
        heads = "annotator,decided,not seen,accuracy,of all seen,precision,recall,F1,kappa,ROC-AUC".split(",")
        rows = [
            (name, one.decided, one.unseen or "", *(estimate(getattr(one, each)) for each in _FIGURES))
            for name, one in result.against.items()
        ]
        yield table(f"against {'the majority of ' if len(result.truth) > 1 else ''}{of}{alpha}", heads, rows)
    if result.kappas:
        rows = [
            (f"{two.a}, {two.b}", estimate(two.kappa), _percent(two.same, two.pairs), two.pairs)
            for two in result.kappas
        ]
        yield table("Two at a time", ("annotators", "kappa", "the same", "pairs in common"), rows)
    if costs:
        yield table("What a pair took", _COSTS, [_cost(name, campaign) for name, campaign in costs.items()])
        paths = {(name, path): each for name, campaign in costs.items() for path, each in campaign.paths.items()}
        rows = [
            (*of, each.pairs, Number(each.seconds_a_pair, digits=2), _dollars(each.cost, each.pairs))
            for of, each in paths.items()
        ]
        yield table("By what decided", ("annotator", "path", "pairs", "s a pair", "$ a pair"), rows)


def _percent(part: int, whole: int) -> Number:
    return fraction(part / whole if whole else None, digits=1)


def _dollars(cost: float | None, pairs: int) -> Number:
    return Number(None if cost is None else cost / max(pairs, 1), digits=6)


def _cost(name: str, campaign: CampaignCosts) -> tuple[str | int | Cell, ...]:
    pairs, sums = max(campaign.pairs, 1), campaign.sums
    return (
        name,
        campaign.pairs,
        Number(sums["calls"] / pairs, digits=2),
        Number((sums["tokens_in"] + sums["tokens_out"]) / pairs, digits=0),
        _dollars(campaign.cost, pairs),
        Number(campaign.cost, digits=2),
        Number(None if campaign.cost is None or campaign.saved is None else campaign.cost + campaign.saved, digits=2),
        Number(sums["model_s"] / pairs, digits=2),
        Number(sums["sandbox_s"] / pairs, digits=2),
        _percent(sums["executable"], sums["ran"]),
    )


def _side_by_side(difference: LabelDifference, reasons: Reasons, texts: Texts) -> Iterator[str]:
    query, code = texts.get(difference.key, ("", ""))
    yield _cut(f"{', '.join(map(printable, difference.key))}  {printable(query)}")
    for name, label in difference.said.items():
        yield _cut(f"    {MARKS[label]:<10}{printable(name)}  {printable(reasons[name].get(difference.key, ''))}")
    lines = [line for line in code.splitlines() if line.strip()]
    yield from (_cut(f"    | {shown_line(line)}") for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"    | … {len(lines) - _LINES:,} more lines"


def _cut(text: str) -> str:
    return (text if len(text) <= _MAX_LINE_CHARS else text[: _MAX_LINE_CHARS - 1] + "…").rstrip()


@command(LabelRequest, example="assay judge label pairs.jsonl --person ann --out labels")
def label(request: LabelRequest) -> int:
    """Let a person label PAIRS on a page on this machine: match or not, and why.

    PAIRS is what `assay judge run` takes, or its records. FOLDER/NAME.jsonl holds the labels of a person, as records
    of a judge; nobody is shown those of others before their own are finished. Keys: 1 match, 0 no match, u unsure,
    r writes a reason, Backspace goes back. Where two people differ, a third settles it with --disputed. What the
    majority says is written to FOLDER.jsonl, as records.

    Prints how the labels spread, how far people agree, and pairs with two labels: after a session of the pairs that
    the person finished, with --summary of all. `assay judge agreement FOLDER/*.jsonl` compares labels with true ones.

    Exits 0 if there are labels, 1 if there are none yet, 2 on an error.
    """
    from assay.judge import label_ballots as ballots

    if not request.summary and not request.person:
        raise InputError("--person NAME says who labels; --summary only prints the result so far")
    ballots.decided_file(request.out, (request.pairs, request.queries, request.corpus, request.tests))
    if not request.summary and not _label(request):
        return 0  # whoever goes on tomorrow does not see what others said
    study = ballots.read_study(request.out)
    out = ballots.write_decided(request.out, study) if any(study.labels.values()) else None
    if not request.summary:
        study = study.of_pairs(ballots.finished_pairs(ballots.file_of(request.out, request.person)))
    found = ballots.compare_people(study)
    if request.form == "json":
        agreement = agreement_as_json(found, _reasons(study), study.texts()) if found else None
        figures = ballots.results(study)
        click.echo(dumps({**figures, "agreement": agreement, "out": str(request.out)}))
    else:
        click.echo("\n".join(_study_text(study, found)))
    say(f"what is decided is in {out}" if out else f"no label in {request.out}")
    return 0 if out else 1


def _label(request: LabelRequest) -> bool:
    """Serve the page to one person until it is finished, and return that; or until Ctrl+C."""
    from assay.judge import label_ballots as ballots

    file, pairs = ballots.file_of(request.out, request.person), _pairs_to_label(request)
    tests: dict[str, dict[str, Any]] = {}
    if request.tests:
        tests = ballots.shown_tests(request.tests, {pair.digest for pair in pairs})
        pairs = _keep_pairs(pairs, tests, "without tests", f"no pair of {request.pairs} has tests in {request.tests}")
    if request.disputed:
        why = f"no labels differ in {request.out}: there is nothing to settle yet"
        disputed = ballots.read_study(request.out).disputed(request.person)
        pairs = _keep_pairs(pairs, disputed, "whose labels agree", why)
    if request.fresh:
        start_fresh(file)
    state = ("shown" if request.show_tests else "hidden") if tests else ""
    settings = ballots.LabelSettings(person=request.person, graded=request.graded, tests=state)
    ballots.refuse_other_ways(request.out, settings)

    def results() -> dict[str, Any]:
        return ballots.results(ballots.read_study(request.out).of_pairs(ballots.finished_pairs(file)))

    with ballots.LabelBallot(pairs, request.out, settings, tests=tests, seed=request.seed, results=results) as ballot:
        say(f"{ballot.left:,} of {len(ballot):,} to label; Ctrl+C to go on another day")
        _serve_ballot(ballot, request.port)
        if not ballot.finished:
            click.echo(f"{ballot.left:,} of {len(ballot):,} to label")
        return ballot.finished


def _pairs_to_label(request: LabelRequest) -> list[Pair]:
    """Return the pairs of a file, or of the records of a judge; print what cannot be labelled."""
    from assay.judge.campaign import pair_of
    from assay.judge.pairs import Pair, read
    from assay.judge.records import is_records, verdicts

    if is_records(request.pairs):
        return [pair_of(record) for record in verdicts(request.pairs)]
    rows = list(read(request.pairs, queries=request.queries, corpus=request.corpus))
    pairs = [each for each in rows if isinstance(each, Pair)]
    problems = [each for each in rows if not isinstance(each, Pair)]
    say_problems(problems, every=request.verbose)
    if not pairs:
        raise InputError(f"'{request.pairs}' holds no pair{f': {problems[0]}' if problems else ''}")
    return pairs


def _keep_pairs(pairs: list[Pair], digests: Container[str], what: str, why: str) -> list[Pair]:
    """Return the pairs with some digests, and print how many others there are."""
    chosen = [pair for pair in pairs if pair.digest in digests]
    if not chosen:
        raise InputError(why)
    if len(chosen) < len(pairs):
        say(f"{counted(len(pairs) - len(chosen), 'pair')} {what}: skipped")
    return chosen


def _study_text(study: LabelStudy, result: LabelAgreement | None) -> Iterator[str]:
    from assay.judge.label_ballots import seconds_a_label

    for name, labels in study.labels.items():
        yield f"{printable(name)}  {counted(len(labels), 'label')}, {seconds_a_label(labels):.0f} s a label"
    if result:
        yield ""
        yield from _agreement_text(result, _reasons(study), study.texts(), show=10, problems=0)
    if disputed := study.disputed():
        yield f"{counted(len(disputed), 'pair')} disputed: a third person settles them with --disputed --person NAME"


def _reasons(study: LabelStudy) -> dict[str, dict[Key, str]]:
    return {each.name: each.reasons for each in study.annotators()}


@command(PreferRequest, example="assay judge prefer cosqa.json records.jsonl --person ann")
def prefer(request: PreferRequest) -> int:
    """Let a person choose which code answers a query better, one of A or one of B, on a page on this machine.

    A and B are records of assay judge run, or ground truth with its code; their matches are taken. For each query
    that both answer one code of each is drawn. Nothing says whose a code is, and each set stands left in half of a
    person's queries. Keys: 1 left, 2 right, 0 neither, Backspace goes back. A choice is on disk before the next one.

    Prints the fraction of queries that A wins with its 95% Wilson interval, the exact sign test, and the fraction of
    choices that fell on the left.

    Exits 0 if there are choices, 1 if there are none yet, 2 on an error.
    """
    from assay.judge import preferences
    from assay.judge.label_ballots import file_of

    if not request.summary and not request.person:
        raise InputError("--person NAME says who chooses; --summary only prints the result so far")
    sample = SampleDraw(size=request.sample, seed=request.seed)
    study = preferences.paired(request.a, request.b, sample, say)
    say_problems(study.problems, every=request.verbose)
    if study.left_out:
        say(f"queries left out: {', '.join(study.left_out)}")
    if not request.summary:
        if request.fresh:
            start_fresh(file_of(request.out, request.person))
        with preferences.PreferenceBallot(study.items, request.out, request.person, sample=sample) as ballot:
            say(f"{ballot.left:,} of {len(ballot):,} to choose; Ctrl+C to go on another day")
            _serve_ballot(ballot, request.port)
    found = preferences.preference(preferences.read_choices(request.out, study.items))
    if request.form == "json":
        click.echo(dumps({**asdict(found), "asked": len(study.items), "out": str(request.out)}))
    else:
        click.echo("\n".join(_preference_text(found, len(study.items), request.a.name, request.b.name)))
    return 0 if found.choices else 1


def _preference_text(result: Preference, queries: int, a: str, b: str) -> Iterator[str]:
    who = "1 person" if result.people == 1 else f"{result.people:,} people"
    yield f"{counted(result.choices, 'choice')} of {who} on {result.items:,} of {queries:,} queries"
    yield f"A, {printable(a)}, wins {result.a:,}; B, {printable(b)}, wins {result.b:,}; neither {result.draws:,}"
    yield f"A wins {cell_text(estimate(result.rate))} of those that one set wins, sign test p {result.p:.4g}"
    yield f"chosen on the left {cell_text(estimate(result.left))}, {result.seconds:.1f} s a choice"
    if result.alpha:
        yield f"alpha of the people {cell_text(estimate(result.alpha))}"


def _serve_ballot(ballot: Ballot, port: int) -> None:
    """Serve a ballot, and print its URL."""
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise MissingExtra("this page", "fastapi and uvicorn", "serve")
    from assay.serve.http.ballots import BallotServer

    server = BallotServer(ballot, port)
    say(f"open {server.address}")
    server.serve()
    if not server.finished.is_set():
        say("stopped; the same command goes on")
