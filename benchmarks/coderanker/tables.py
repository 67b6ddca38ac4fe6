"""Each table and figure of *Fault-Aware Neural Code Rankers* (Inala et al. 2022) by one command, made of Assay's.

    python benchmarks/coderanker/tables.py table6 table14 figure4 --learn apps.jsonl --base microsoft/codebert-base
    python benchmarks/coderanker/tables.py table8 --learn apps.jsonl --test HumanEval=humaneval.jsonl
    python benchmarks/coderanker/tables.py all --learn FILE --test HumanEval=FILE --test MBPP=FILE
    python benchmarks/coderanker/tables.py needs              # what each takes at the paper's size

FILE is labelled programs as `assay rank data` writes them: rankers learn from the split `train`, are chosen on `valid`,
table 7 is about `test`; the model of a program says who generated it, its configuration the temperature. `--out FOLDER`
(default: coderanker) gets a file a table, and tables.html with all. A ranker is not trained twice, and a training
that was cut off goes on. What stands behind `--` goes to `assay rank train`: `-- --set window=256`.
`--dry-run` prints the commands and runs none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import rank_tables
from needs import NEEDS, TITLES
from rank_tables import MadeTable
from study import Study, TrainedRanker, learned, seconds_of

from assay.cli.main import guarded
from assay.errors import InputError, counted
from assay.io import files
from assay.report.document import Block, Report, Section, as_json_text, load_report, words
from assay.report.plain_text import as_markdown, as_text
from assay.report.web_page import write_page

TABLES: dict[str, Callable[[Study], MadeTable]] = {
    name: getattr(rank_tables, name) for name in TITLES if hasattr(rank_tables, name)
}
TASKS = ("B", "T", "I", "E", "E+L")
CODEBERT = "microsoft/codebert-base"


def parsed(arguments: Sequence[str]) -> tuple[list[str], Study]:
    """Return which tables are asked for, and of what."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", choices=[*TABLES, "all", "needs"], metavar="TABLE")
    parser.add_argument("--learn", type=Path, metavar="FILE")
    parser.add_argument("--test", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--base", action="append", default=[], metavar="[NAME=]MODEL", help=f"[default: {CODEBERT}]")
    parser.add_argument("--task", action="append", default=[], choices=TASKS, help="[default: all]")
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="[default: all of FILE]")
    parser.add_argument("--together", action="store_true", help="learn from all models as if they were one")
    parser.add_argument("--beside", action="append", default=[], metavar="SPEC", help="{} is the trained ranker")
    parser.add_argument("--out", type=Path, default=Path("coderanker"), metavar="FOLDER")
    parser.add_argument("--dry-run", action="store_true")
    read = parser.parse_args(arguments[:at])
    given = Study(
        read.learn,
        {name: Path(file) for name, _, file in (each.partition("=") for each in read.test)},
        dict(_base(each) for each in read.base or [CODEBERT]),
        tuple(read.task or TASKS),
        tuple(read.model),
        read.together,
        tuple(read.beside),
        read.out,
        tuple(arguments[at + 1 :]),
        read.dry_run,
    )
    return [name for name in TABLES if name in read.tables or "all" in read.tables] if read.tables != [
        "needs"
    ] else [], given


def _base(text: str) -> tuple[str, str]:
    name, equals, spec = text.partition("=")
    return (name, spec) if equals else (Path(text).name, text)


def section(name: str, made: MadeTable) -> Section:
    """Return a table with what it is about, what it needs, and what it took here."""
    blocks: list[Block] = [words(TITLES[name], "lead"), *made.blocks]
    blocks += [words(f"At the paper's size: {NEEDS[name]}", "note")]
    if made.rankers:
        blocks.append(words(f"Here: {took(made.rankers)}", "note"))
    return Section(name, f"{name[:-2].rstrip('1').capitalize()}", tuple(blocks), name)


def took(rankers: Sequence[TrainedRanker]) -> str:
    """Return how long the trainings took."""
    steps, seconds = (sum(each) for each in zip(*map(seconds_of, rankers), strict=True))
    most = max(learned(each.data) for each in rankers)
    learnt = f"{counted(len(rankers), 'ranker')}, each of at most {most:,} programs"
    return f"{learnt}, {steps:,} steps, {seconds:,.0f} s of training."


def write(name: str, given: Study, made: MadeTable) -> Report:
    """Write a table as text and JSON, and all tables of the folder as one page."""
    facts = (str(given.learn.name), ", ".join(given.bases))
    report = Report(f"CodeRanker: {name}", "Assay benchmarks", facts, (section(name, made),), "Written by Assay.")
    files.write(given.out / f"{name}.json", as_json_text(report))
    files.write(given.out / f"{name}.md", as_markdown(report))
    found = [load_report(file) for each in TABLES if (file := given.out / f"{each}.json").exists()]
    sections = tuple(part for each in found for part in each.sections)
    write_page(
        Report("Fault-Aware Neural Code Rankers", "Assay benchmarks", facts, sections, "Written by Assay."),
        given.out / "tables.html",
    )
    return report


def main() -> None:
    """Make each table that was asked for."""
    names, given = parsed(sys.argv[1:])
    sys.exit(guarded(lambda: _make(names, given)))


def _make(names: Sequence[str], given: Study) -> None:
    if not names:
        print("\n".join(f"{name}\t{NEEDS[name]}" for name in TABLES))
        return
    if given.learn is None or not given.learn.exists():
        raise InputError(
            f"no such file: '{given.learn}'; --learn wants labelled programs, as 'assay rank data' writes them"
        )
    given.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        made = TABLES[name](given)
        if not given.dry_run:
            print(as_text(write(name, given, made)), end="", flush=True)


if __name__ == "__main__":
    main()
