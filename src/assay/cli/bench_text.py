"""Results of a bench to text for a terminal: the first figures of each set, and each question where that is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.bench.bench_report import summary_of
from assay.bench.results import MeasuredCell, MeasuredSet, Results, rank_of
from assay.report.plain_text import as_text, shown_line

_TARGETS, _INSTEAD = 3, 3
"""Right answers of a question that are named, and results that stood before the first of them."""


def text(results: Results, *, questions: bool = False) -> str:
    """Return all of it, plain; with each question, and where its answer stood, if that is wanted."""
    lines = [as_text(summary_of(results))]
    for name, of in results.sets.items() if questions else ():
        cells = [cell for cell in results.cells if cell.set == name]
        lines += [f"\n{shown_line(line)}\n" for line in (name,)] if cells else []
        lines += [f"{shown_line(line)}\n" for line in _questions(of, cells)] if cells else []
    return "".join(lines)


def _questions(of: MeasuredSet, cells: Sequence[MeasuredCell]) -> Iterator[str]:
    """Yield each question, and for each system where its first right answer stands and what stands before it."""
    width = max(len(cell.system) for cell in cells)
    for place, query in enumerate(of.queries):
        right = [target for target, grade in query.expected if grade > 0]
        yield f"  {query.id}: {' '.join(query.text.split())}"
        yield f"      wanted {', '.join(right[:_TARGETS]) or 'nothing: it has no right answer'}{_more(right, _TARGETS)}"
        for cell in cells:
            answers, error = cell.answers[place], cell.errors.get(query.id, "")
            rank = rank_of(answers, right)
            instead = answers[: rank - 1 if rank else None]
            other = f"; instead {', '.join(instead[:_INSTEAD])}{_more(instead, _INSTEAD)}" if instead else ""
            failed = f"; {error}" if error else "" if answers else "; no result"
            yield f"      {cell.system:<{width}}  {f'rank {rank}' if rank else 'MISS'}{other}{failed}"


def _more(items: Sequence[str], shown: int) -> str:
    return f" and {len(items) - shown} more" if len(items) > shown else ""
