"""The command `assay judge agreement`: how far labels agree, and where they differ."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import tables
from assay.cli.adapter import command
from assay.cli.options import GateOptions
from assay.cli.tables import estimate, nulled
from assay.errors import counted, printable
from assay.io.rows import plain
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, form, option, shared, verbose
from assay.report.document import Cell, Number, Table, fraction
from assay.report.plain_text import cell_text, one_line, shown_line, table_lines

if TYPE_CHECKING:
    from assay.judge.accounts import CampaignCosts
    from assay.judge.labels import Annotator, Key, LabelAgreement, LabelDifference, Texts
    from assay.values import Problem

    Costs = Mapping[str, CampaignCosts]
    Reasons = Mapping[str, Mapping[Key, str]]

MARKS = {1: "match", 0: "no match", None: "undecided"}
_LINES, _WIDEST = 8, 110
_FIGURES = ("accuracy", "of_all", "precision", "recall", "f1", "kappa")


class JudgeAgreementOptions(Options):
    """Options of `assay judge agreement`."""

    labels: tuple[str, ...] = argument("LABELS...", required=True)
    gold: tuple[str, ...] = option(
        "--gold FILE", "The true labels. Repeatable: the majority of several annotators is the truth."
    )
    match: int = option("--match GRADE", "The lowest grade that counts as a match.", least=1, default=1)
    show: int = option("--show N", "Print at most N disagreements.", least=0, default=10)
    results: Path | None = option(
        "--results FOLDER", "Write results.json, RESULTS.md and report.html there; needs --gold.", kind="folder"
    )
    gating: GateOptions = shared(GateOptions)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(JudgeAgreementOptions, example="assay judge agreement anna=a.jsonl ben=b.jsonl --gold gold.jsonl")
def agreement(given: JudgeAgreementOptions) -> int:
    """Compare the LABELS of several annotators: records of `assay judge run`, JSON, CSV, TSV or TREC's qrels.

    NAME=FILE gives an annotator a name. Prints accuracy, precision, recall, F1 and Cohen's kappa against the truth,
    kappa of every two annotators, Krippendorff's nominal alpha of all, and pairs with two labels: who gave which
    label and why; of records also calls, tokens, cost and time. Brackets hold 95% bootstrap intervals over queries;
    those of fractions are at least as wide as Wilson's. Pairs that somebody left undecided are counted.

    With --gold, --fail-under takes of_all, accuracy, precision, recall, f1 or kappa, of the first annotator or as
    NAME:kappa=0.6; --baseline compares which of all pairs are right, query by query, with an earlier results.json.

    Exits 0 if all gates hold, 1 if one does not, 2 on an error, such as labels of other pairs.
    """
    from assay.bench import experiment, gates
    from assay.bench.labelling import MEASURES, results_of
    from assay.judge.accounts import accounts, costs_as_json
    from assay.judge.labels import compare, labels_of
    from assay.judge.records import is_records, verdicts

    gating = given.gating
    gate = gates.gates_of(gating.floors, gating.baseline, fail_if_worse=gating.fail_if_worse, names=MEASURES)
    texts: dict[Key, tuple[str, str]] = {}
    problems: list[Problem] = []
    truth = [annotator for spec in given.gold for annotator in _read(spec, texts, problems)]
    annotators = [annotator for spec in given.labels for annotator in _read(spec, texts, problems)]
    say_problems(problems, every=given.verbose)
    found = compare(annotators, truth, match=given.match, texts=texts)
    reasons = {each.name: each.reasons for each in (*truth, *annotators)}
    files = [_named(spec) for spec in given.labels]
    costs = {name: accounts(verdicts(file)) for file, name in files if is_records(file) and name in found.counts}
    if given.form == "json":
        taken = {name: costs_as_json(each) for name, each in costs.items()}
        click.echo(dumps({**as_dict(found, reasons, texts), "costs": taken, "problems": [*map(str, problems)]}))
    else:
        click.echo("\n".join(as_text(found, reasons, texts, costs, show=given.show, problems=len(problems))))
    if not (given.results or gating.floors or gating.baseline):
        return 0
    labels = labels_of(annotators, truth, match=given.match, texts=texts)
    results = results_of(found, labels, f"assay {shlex.join(sys.argv[1:])}")
    if given.results:
        experiment.write(results, given.results, say, experiment.earlier_in(given.results / experiment.RESULTS))
        say(f"written to {given.results}")
    return 1 if gates.failures(results, gate, say) else 0


def _named(spec: str) -> tuple[Path, str]:
    """Return the file of FILE or NAME=FILE, and what its only annotator is called."""
    name, equals, file = spec.partition("=")
    if equals and not Path(spec).exists():
        return Path(file), name
    return Path(spec), plain(Path(spec)).stem


def _read(spec: str, texts: dict[Key, tuple[str, str]], problems: list[Problem]) -> list[Annotator]:
    """Read a file given as FILE or NAME=FILE."""
    from assay.judge.labels import read_labels

    file, name = _named(spec)
    found = read_labels(file, name if file != Path(spec) else "")
    for key, two in found.texts.items():
        texts.setdefault(key, two)
    problems += found.problems
    return found.annotators


def as_dict(found: LabelAgreement, reasons: Reasons, texts: Texts) -> dict[str, Any]:
    """Return all of it as JSON has it; what is not defined is null."""
    fields: dict[str, Any] = nulled(asdict(found))
    for row, difference in zip(fields["differences"], found.differences, strict=True):
        row["query_id"], row["code_id"] = row.pop("key")
        row["query"], row["code"] = texts.get(difference.key, (None, None))
        why = {name: reasons[name].get(difference.key) for name in difference.said}
        row["reasons"] = {name: reason for name, reason in why.items() if reason}
    return fields


def as_text(
    found: LabelAgreement, reasons: Reasons, texts: Texts, costs: Costs | None = None, *, show: int, problems: int
) -> Iterator[str]:
    """Yield lines for people."""
    unusable = f"; {problems:,} rows cannot be used" if problems else ""
    yield f"{counted(found.pairs, 'pair')} of {counted(found.queries, 'query')}{unusable}"
    for table in _tables(found, costs or {}):
        yield from ("", *([one_line(table.title)] if table.title else []), *table_lines(table, indent=""))
    if found.kappas:
        alpha = cell_text(estimate(found.alpha))
        yield f"alpha of all  {alpha}  over {found.labelled_twice:,} pairs with two labels or more"
    total = len(found.differences)
    yield ""
    yield f"{total:,} pairs are labelled in two ways" + (f"; the first {show:,}:" if total > show > 0 else "")
    for difference in found.differences[:show]:
        yield ""
        yield from _side_by_side(difference, reasons, texts)


def _tables(found: LabelAgreement, costs: Costs) -> Iterator[Table]:
    """Yield how labels spread, how far they agree with the truth, and with one another, and what they took."""
    counts = {**({"(the truth)": found.true} if found.true else {}), **found.counts}
    rows: list[tuple[str | int | Cell, ...]]
    rows = [(name, one.match, one.non_match, one.undecided, one.absent) for name, one in counts.items()]
    yield tables.table(("annotator", "match", "no match", "undecided", "absent"), rows, "Labels")
    if found.true:
        of = " and ".join(found.truth) if len(found.truth) < 3 else f"{len(found.truth)} annotators"
        alpha = f" (alpha of those: {cell_text(estimate(found.truth_alpha))})" if found.truth_alpha else ""
        heads = ("annotator", "decided", "accuracy", "of all pairs", "precision", "recall", "F1", "kappa")
        rows = [
            (name, one.decided, *(estimate(getattr(one, each)) for each in _FIGURES))
            for name, one in found.against.items()
        ]
        yield tables.table(heads, rows, f"against {'the majority of ' if len(found.truth) > 1 else ''}{of}{alpha}")
    if found.kappas:
        rows = [
            (f"{two.a}, {two.b}", estimate(two.kappa), _percent(two.same, two.pairs), two.pairs) for two in found.kappas
        ]
        yield tables.table(("annotators", "kappa", "the same", "pairs in common"), rows, "Two at a time")
    if costs:
        taken = ("annotator", "pairs", "calls", "tokens", "$ a pair", "$", "model s", "sandbox s", "programs that run")
        yield tables.table(taken, [_cost(name, made) for name, made in costs.items()], "What a pair took")


def _percent(part: int, whole: int) -> Number:
    return fraction(part / whole if whole else None, digits=1)


def _cost(name: str, made: CampaignCosts) -> tuple[str | int | Cell, ...]:
    pairs, usd = max(made.pairs, 1), made.total("cost")
    is_priced = not made.total("unpriced")
    return (
        name,
        made.pairs,
        Number(made.total("calls") / pairs, digits=2),
        Number((made.total("tokens_in") + made.total("tokens_out")) / pairs, digits=0),
        Number(usd / pairs if is_priced else None, digits=6),
        Number(usd if is_priced else None, digits=2),
        Number(made.total("model_s") / pairs, digits=2),
        Number(made.total("sandbox_s") / pairs, digits=2),
        _percent(made.executable, made.ran),
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
    return (text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…").rstrip()
