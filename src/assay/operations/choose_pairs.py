"""Choose the pairs worth judging among files of queries and of code, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from assay.operations.indexes import encoder_of
from assay.protocols import Progress
from assay.runs.draw_sample import EVERYTHING, SampleDraw, draw
from assay.runs.record import read_lines, start_fresh
from assay.search.retrievers import exhaustive
from assay.settings import EncoderSettings, Settings
from assay.values import Problem

DEFAULT_ENCODER = EncoderSettings().spec


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


def choose_pairs(  # noqa: PLR0913  # what a user may choose
    files: tuple[Path, Path],
    out: Path,
    specs: Sequence[str] = (),
    *,
    k: int = 20,
    testable: bool = False,
    labels: Path | None = None,
    sample: SampleDraw = EVERYTHING,
    fresh: bool = False,
    report: Callable[[Sequence[Problem]], None],
    progress: Progress | None = None,
) -> PairChoice:
    """Write the `k` snippets nearest to each query, of a file of queries and one of code, to `out`.

    `specs` are encoders, whose cosines are averaged; `testable` keeps Python functions with a parameter that return a
    value; `labels` say how many snippets are right at each rank; `report` gets the rows that cannot be used.
    """
    problems: list[Problem] = []
    every_query, codes = queries_of(files[0], problems), codes_of(files[1], problems)
    drawn = draw((query.id for query in every_query), sample.size, sample.seed)
    queries = [query for query in every_query if query.id in drawn]
    every, twins = len(codes), len(codes) - len({code.text for code in codes})
    codes, kinds = filter_testable(codes) if testable else (codes, None)
    report(problems)
    encoders = {spec: encoder_of(Settings(encoder=EncoderSettings(spec=spec))) for spec in specs or (DEFAULT_ENCODER,)}
    if fresh:
        start_fresh(out)
    counts = candidates(Sources(queries, codes, encoders, k, exhaustive, str(sample)), out, progress)
    ranks = depths(read_lines(out), labels_of(labels), {code.id for code in codes}) if labels else None
    return PairChoice(len(every_query), len(queries), every, twins, counts, kinds, ranks)
