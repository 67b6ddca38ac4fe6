"""What questions in other languages find beside the same questions in English, and what is said where none is read.

    python benchmarks/languages.py development --truths SETS --checkouts CHECKOUTS
    python benchmarks/languages.py unseen

Each file in benchmarks/truth/languages holds questions of ground truths with their translations, written by hand
before there was a lexicon: `development` those that the lexicons were tuned on, `unseen` others about twelve more
repositories, `more` some for the languages beyond the first five. SETS and CHECKOUTS are as for `assay train ranking`.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.assemble.indexes import root_of
from assay.assemble.pipeline import translator
from assay.assemble.search_answer import Answer, answer
from assay.assemble.workspace import Workspace, open_workspace
from assay.measure.compare import interval
from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.search.asked_language import NAMES
from assay.search.translation import unread_note
from assay.settings import Settings
from assay.train.ranking_examples import JudgedQuery, judged_queries

TRUTHS = Path(__file__).parent / "truth"
FOUND = 20


def main() -> None:
    """Print a row a language, how often English is taken for another language, and what is refused."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("questions", choices=("development", "unseen", "more"))
    options.add_argument("--truths", type=Path, default=TRUTHS)
    options.add_argument("--checkouts", type=Path, required=True)
    given = options.parse_args()
    rows = rows_of(given.questions)
    names = list(dict.fromkeys(row["repository"] for row in rows))
    truth = judged_queries([given.truths / f"{name}.csv" for name in names], given.checkouts)
    judged = {(one.repository, one.query.text): one for one in truth}
    asked = [judged[row["repository"], row["query"]] for row in rows]
    opened = {name: open_workspace(root_of(str(given.checkouts / name)), Settings()) for name in names}
    print("language    Hit@5                  MRR                    read  relevant  ms")
    for column in [name for name in rows[0] if name != "repository"]:
        print(row_of(column, [row[column] for row in rows], asked, opened))
    everything = judged_queries(sorted(given.truths.glob("*.csv")), given.checkouts)
    foreign = [one.query.text for one in everything if translator().read(one.query.text).language]
    print(f"taken for another language: {len(foreign)} of {len(everything):,} questions in English", *foreign, sep="\n")
    refused = [(row, answer_to(row["query"], asked[0], opened)) for row in rows_of("unread")]
    right = sum(unread_note(row["language"]) in found.notes and not found.relevant for row, found in refused)
    print(f"refused by name: {right} of {len(refused)} questions in languages that are not read")


def row_of(column: str, texts: list[str], asked: list[JudgedQuery], opened: dict[str, Workspace]) -> str:
    """Return the figures of one language."""
    started = time.process_time()
    answers = [answer_to(text, one, opened) for text, one in zip(texts, asked, strict=True)]
    took = (time.process_time() - started) / len(texts) * 1000
    run = {str(at): list(spans(found)) for at, found in enumerate(answers)}
    matched = match(run, {str(at): one.entries for at, one in enumerate(asked)}, "line")
    cells = []
    for measure in ("Hit@5", "MRR"):
        values = parse(measure).of(matched)
        low, high = interval(values)
        cells.append(f"{values.mean():.3f} [{low:.3f}, {high:.3f}]")
    name = NAMES.get(column, "English")
    read = np.mean([found.language == ("" if name == "English" else name) for found in answers])
    relevant = np.mean([found.relevant for found in answers])
    return f"{name:<11} {'   '.join(cells)}   {read:.2f}  {relevant:.2f}      {took:.1f}"


def answer_to(text: str, one: JudgedQuery, opened: dict[str, Workspace]) -> Answer:
    """Return the answer to a question in other words, asked where the judged one is."""
    return answer([opened[one.repository]], [replace(one.query, text=text)], FOUND)


def spans(found: Answer) -> Iterator[Span]:
    """Yield the places of an answer."""
    return (Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found)


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of questions."""
    with (TRUTHS / "languages" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
