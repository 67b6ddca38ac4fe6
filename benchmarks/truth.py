"""Hand-judged queries and the checkouts they speak of in, questions with graded entries out.

`benchmarks/truth/NAME.csv` holds queries about the code of repository NAME, `NAME_docs.csv` about its documentation,
in octocode's format (`query,kind,result1..n`, each result `path:start-end:grade`). The `.meta.json` beside it names
repository and commit; check each out as a folder NAME of one parent folder and give that to the benchmarks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.bench.files import read as read_truth
from assay.corpus.chunk import parse
from assay.corpus.walk import Skipped, read, walk
from assay.encode.view import text_for
from assay.measure.lines import Entry, Span, span_of
from assay.measure.matched import match
from assay.measure.measures import parse as measure
from assay.protocols import Encoder
from assay.store.snapshot import Snapshot

HERE = Path(__file__).parent / "truth"


@dataclass(frozen=True, slots=True)
class Asked:
    """One judged query."""

    set: str
    text: str
    kind: str
    entries: tuple[Entry, ...]

    @property
    def repository(self) -> str:
        """The folder of the checkout."""
        return self.set.removesuffix("_docs")

    @property
    def mode(self) -> str:
        """`code` or `docs`."""
        return "docs" if self.set.endswith("_docs") else "code"


def load(folder: Path = HERE) -> Iterator[Asked]:
    """Yield every query of every set in a folder, in order."""
    for path in sorted(folder.glob("*.csv")):
        truth = read_truth(path).truth
        entries: defaultdict[str, list[Entry]] = defaultdict(list)
        for judgment in truth.judgments:
            entries[judgment.query_id].append(Entry(span_of(judgment.target), judgment.grade))
        for query in truth.queries:
            yield Asked(path.stem, query.text, query.tags["kind"], tuple(entries[query.id]))


def measured(answers: Sequence[Sequence[Span]], asked: Sequence[Asked], names: Sequence[str]) -> NDArray[np.float64]:
    """Return strict measures of the answer to each query, shape `(queries, len(names))`."""
    run = {str(number): answer for number, answer in enumerate(answers)}
    truth = {str(number): one.entries for number, one in enumerate(asked)}
    matched = match(run, truth, "line")
    return np.stack([measure(name).of(matched) for name in names], axis=1)


def snapshot(root: Path, encoder: Encoder) -> Snapshot:
    """Chunk and encode a checkout in memory, as an index does."""
    chunks = []
    for entry in walk(root).files:
        text = read(root, entry)
        if not isinstance(text, Skipped):
            chunks.extend(parse(entry.path, text).chunks)
    return Snapshot.of(chunks, encoder.encode([text_for(encoder.name, chunk) for chunk in chunks], "code"))
