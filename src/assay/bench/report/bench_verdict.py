"""What came out, in one sentence, one table of quality and one of cost, and what to be wary of."""

from __future__ import annotations

from assay.bench.caveats import caveats
from assay.bench.report.result_tables import cost, digits_of, quality, system_phrase
from assay.bench.study import Experiment, SetView, significant
from assay.errors import counted
from assay.report.document import Block, Bullets, Number, Paragraph, Phrase, Section, figure, listed, probability, words
from assay.report.plain_text import interval_text, value_text

_BESIDE = 4
"""Measures a role, where two roles stand side by side."""
_TO = "\N{EN DASH}"
_SPACE = "\N{NO-BREAK SPACE}"
_ROLES = {
    "test": "which nobody tuned on",
    "dev": "which settings were tuned on",
    "": "not told whether tuned on or unseen",
}


def title(study: Experiment) -> str:
    """Return the verdict, short."""
    if not study.measured:
        return "Nothing was measured"
    view = study.overviews[0]
    unit = study.units(view)[0]
    best, *others = [system for system in study.ranked(view, unit) if study.whole(view, system)] or [""]
    if not others:
        return f"{best or 'No system'} was measured on {counted(study.queries(view), 'query')}"
    pairs = {other: study.compared(view, unit, study.primary, (best, other)) for other in others}
    tied = [other for other, pair in pairs.items() if pair and not significant(pair)]
    if tied:
        return f"{best} leads, but {listed(tied)} cannot be told apart from it"
    if all(pairs.values()):
        return f"{best} is ahead of {'all ' + str(len(others)) + ' others' if len(others) > 1 else others[0]}"
    return f"{best} has the highest {study.primary}"


def verdict(study: Experiment) -> Section:
    """Return the top of the report."""
    found = tuple(map(words, caveats(study.results)))
    warned: list[Block] = [Bullets("Before you believe a figure", found, warning=True)] if found else []
    if not study.measured:
        return Section("verdict", "Verdict", tuple(warned), untitled=True)
    views = study.overviews
    measures = study.main[:_BESIDE] if len(views) > 1 else study.main
    tables = (quality(study, views, measures, "Quality: mean and 95% interval"), _legend(study), _cost(study))
    return Section("verdict", "Verdict", (*sentence(study, views[0]), *warned, *tables), untitled=True)


def sentence(study: Experiment, view: SetView) -> list[Paragraph]:
    """Return who scores how much, and what is known of the next."""
    unit = study.units(view)[0]
    best, *others = study.ranked(view, unit)
    mean = study.figure(view, best, unit, study.primary)
    if mean is None:
        return []
    shown = figure(mean, digits_of(study.primary))
    sets = f" of {counted(len(view.sets), 'set')}" if len(view.sets) > 1 else ""
    interval = f"95% interval {interval_text(shown, to=_TO)}"
    queries = f"over {counted(study.queries(view), 'query')}{sets}, {_ROLES[view.role]}"
    scored = Phrase(f" scores {study.primary} {value_text(shown)} ({interval}) by {unit} {queries}.")
    start = (system_phrase(study, best), scored)
    rival = next((other for other in others if study.whole(view, other)), None)
    pair = study.compared(view, unit, study.primary, (best, rival)) if rival else None
    if rival is None or pair is None:
        return [Paragraph(start, "lead")]
    gap = Number(pair.difference, pair.low, pair.high, signed=True)
    p = value_text(probability(pair.holm))
    equals = "" if p.startswith("<") else "= "
    span = interval_text(gap).replace(", ", " to ")
    gap_text = f"{value_text(gap)} ({span})".replace("-", "\N{MINUS SIGN}")
    rest = f": {gap_text}, p{_SPACE}{equals}{p} after Holm's correction."
    return [Paragraph((*start, Phrase(" Against the next, "), system_phrase(study, rival), Phrase(rest)), "lead")]


def _legend(study: Experiment) -> Paragraph:
    text = (
        " below the best by more than chance (paired randomisation test, Holm-adjusted p < 0.05; "
        f"tested for {study.primary}). A query without an answer counts zero."
    )
    if any(len(view.sets) > 1 for view in study.overviews):
        text += " Several sets: the mean over all their queries; their intervals combine as independent samples."
    parts = (
        Phrase("bold", mark="best"),
        Phrase(" best of its column \N{MIDDLE DOT} "),
        Phrase("\N{ALMOST EQUAL TO}", mark="tied"),
        Phrase(" chance may explain the distance to the best \N{MIDDLE DOT} "),
        Phrase("\N{BLACK DOWN-POINTING SMALL TRIANGLE}", mark="below"),
        Phrase(text),
    )
    return Paragraph(parts, "note")


def _cost(study: Experiment) -> Block:
    view = SetView("", "", tuple(dict.fromkeys(name for name, _ in study.cells)))
    several = ": times and sizes are those of the set where they are largest" if len(view.sets) > 1 else ""
    return cost(study, view, f"Cost, over {counted(len(view.sets), 'set')}{several}")
