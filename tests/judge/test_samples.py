"""Random samples of pairs and of labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.labels import Annotator, compare
from assay.judge.pairs import Pair, read_sample
from assay.runs.options import SampleDraw
from assay.values import Problem

ROWS = [
    {
        "query_id": f"q{at // 5}",
        "query": f"ask {at // 5}",
        "code_id": f"c{at}",
        "code": f"x = {at}",
        "label": at % 4 == 0,
    }
    for at in range(200)
]


def written(folder: Path, rows: Sequence[dict]) -> Path:
    file = folder / f"{len(list(folder.iterdir()))}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def ids(file: Path, sample: SampleDraw) -> set[tuple[str, str]]:
    found = read_sample(file, sample)
    pairs = [each for each in found.pairs if isinstance(each, Pair)]
    assert len(pairs) == found.total
    return {(pair.query.id, pair.code.id) for pair in pairs}


def test_rows_that_are_no_pairs_are_told_and_not_drawn(tmp_path: Path):
    rows = [{**row, "code": "" if at % 2 else row["code"]} for at, row in enumerate(ROWS)]
    found = read_sample(written(tmp_path, rows), SampleDraw(size=90, by="pair"))
    each = list(found.pairs)
    assert (len(each), found.total) == (190, 190)
    assert sum(isinstance(one, Problem) for one in each) == 100


def test_a_field_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"--sample-by kind: .* has no such field; wanted query, pair or one of code, "
    ):
        read_sample(written(tmp_path, ROWS), SampleDraw(size=3, by="kind"))


def test_queries_of_the_same_words_are_drawn_together():
    truth = Annotator("t", {(f"q{at}", f"c{at}"): int(at < 40) for at in range(80)})
    said = Annotator("a", {(f"q{at}", f"c{at}"): int(at % 4 > 0) for at in range(80)})
    texts = {(f"q{at}", f"c{at}"): (f"Sort  {at // 40}" if at % 2 else f"sort {at // 40}", "x") for at in range(80)}
    by_id, by_text = compare([said], [truth]), compare([said], [truth], texts=texts)
    assert (by_id.queries, by_text.queries) == (80, 2)
    assert by_id.against["a"].kappa.value == by_text.against["a"].kappa.value
    widths = [found.against["a"].f1.high - found.against["a"].f1.low for found in (by_id, by_text)]
    assert widths[1] > 2 * widths[0]
