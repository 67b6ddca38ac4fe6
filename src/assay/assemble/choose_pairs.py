"""Choose the pairs worth judging among files of queries and of code, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.assemble.indexes import encoder_of
from assay.judge.candidates import (
    CandidateCounts,
    Depths,
    Sources,
    candidates,
    codes_of,
    depths,
    filter_testable,
    labels_of,
    queries_of,
)
from assay.protocols import Encoder, Progress
from assay.runs.draw_sample import EVERYTHING, SampleDraw, draw
from assay.runs.record import read_lines, start_fresh
from assay.search.retrievers import exhaustive
from assay.settings import EncoderSettings, Settings
from assay.values import Problem

DEFAULT_ENCODER = EncoderSettings().spec


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """Which pairs are wanted."""

    specs: tuple[str, ...] = ()
    """Encoders, whose cosines are averaged; none is the default one."""
    k: int = 20
    """Code snippets for each query."""
    testable: bool = False
    """Whether only Python functions with a parameter that return a value are wanted."""
    labels: Path | None = None
    """What says how many snippets are right at each rank."""
    sample: SampleDraw = EVERYTHING
    """Which of the queries are taken."""
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class PairChoice:
    """What was chosen from what."""

    queries: int
    asked: int
    """Queries that were drawn, or all of them."""
    codes: int
    twins: int
    """Code snippets with the text of another one."""
    counts: CandidateCounts
    kinds: Mapping[str, int] | None = None
    """How many snippets are testable, and how many are not for which reason; None where nobody asked."""
    depths: Depths | None = None


def choose_pairs(
    files: tuple[Path, Path],
    out: Path,
    options: ChoiceOptions,
    *,
    report: Callable[[Sequence[Problem]], None],
    progress: Progress | None = None,
) -> PairChoice:
    """Write the pairs of a file of queries and one of code to `out`; `report` hears of rows that cannot be used."""
    problems: list[Problem] = []
    every_query, codes = queries_of(files[0], problems), codes_of(files[1], problems)
    drawn = draw((query.id for query in every_query), options.sample.size, options.sample.seed)
    queries = [query for query in every_query if query.id in drawn]
    every, twins = len(codes), len(codes) - len({code.text for code in codes})
    codes, kinds = filter_testable(codes) if options.testable else (codes, None)
    report(problems)
    encoders = _encoders(options.specs or (DEFAULT_ENCODER,))
    if options.fresh:
        start_fresh(out)
    counts = candidates(Sources(queries, codes, encoders, options.k, exhaustive, str(options.sample)), out, progress)
    known = {code.id for code in codes}
    ranks = depths(read_lines(out), labels_of(options.labels), known) if options.labels else None
    return PairChoice(
        len(every_query),
        len(queries),
        every,
        twins,
        counts,
        kinds,
        ranks,
    )


def _encoders(specs: Sequence[str]) -> dict[str, Encoder]:
    """Return the encoders by spec; those that are slower than a look-up remember what they encoded."""
    return {spec: encoder_of(Settings(encoder=EncoderSettings(spec=spec))) for spec in specs}
