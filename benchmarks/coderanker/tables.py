"""Make each table and figure of *Fault-Aware Neural Code Rankers* (Inala et al. 2022) by one command.

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
import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import rank_tables
import study
from rank_tables import MadeTable
from study import Study, TrainedRanker, learned, seconds_of

from assay.cli.main import guarded
from assay.errors import InputError, counted
from assay.io import files
from assay.io.fields import read_value
from assay.report.document import Block, Report, Section, as_json_text, words
from assay.report.plain_text import as_markdown, as_text
from assay.report.web_page import write_page

RANKER = "390,000 programs, 30 epochs of 512 tokens in batches of 512 (22,900 steps), 192 GPU hours (V100)"
"""One ranker of section 4.3: 12 hours on 16 of them."""
TITLES = {
    "table2": "How the programs that rankers learn from are distributed",
    "table3": "Programs with their labels",
    "table4": "Classes of execution errors (tables 4 and 12, figure 2)",
    "table5": "Classes of intent errors (tables 5 and 13, figure 3)",
    "figure6": "How frequent each class is",
    "table6": "How the best ranker of each generating model does on the validation tasks",
    "table7": "The same rankers on the test tasks",
    "table8": "The same rankers on HumanEval, of which they learned nothing",
    "table9": "The same rankers on MBPP, of which they learned nothing",
    "table10": "The best ranker of each generating model",
    "table11": "Samples of several temperatures",
    "table14": "What rankers learn to predict (tables 14 and 15)",
    "table16": "What rankers learn from: one model's programs, another's, or a mix (table 16 and figure 5)",
    "table17": "Base models: encoders and decoders (table 17 and figure 8)",
    "table18": "Prompts with and without their example tests",
    "shares": "What more programs bring (not in the paper)",
    "table19": "The generating model's own probability as a ranker",
    "figure4": "Ranked pass@1 on the validation tasks in training",
    "figure7": "Ranked exec@1 on the validation tasks in training",
}
_ALL = f"20 rankers (4 models, 5 tasks), each {RANKER}"
_RUNS = "running 3.7 million programs of 10,000 tasks (4 models, 100 samples a task) in the sandbox"
NEEDS = {
    "table2": f"{_RUNS}.",
    "table3": "The programs of table 2.",
    "table4": "The programs of table 2.",
    "table5": "The programs of table 2.",
    "figure6": "The training programs of table 2.",
    "table6": f"{_ALL}; 60,000 programs a model to rank.",
    "table7": "The rankers of table 6; 500,000 programs a model to rank.",
    "table8": "The rankers of table 6; 16,400 programs a model to rank.",
    "table9": "The rankers of table 6; 50,000 programs a model to rank.",
    "table10": "The rankers of table 6.",
    "table11": "The rankers of table 6; 66,400 programs of Codex at two temperatures.",
    "table14": "The rankers of table 6.",
    "table16": f"The rankers of table 6, and 10 of mixes: 5 each {RANKER}, 5 of 1.5 million programs, four times that.",
    "table17": "The ternary ranker of CodeBERT, one of GPT-Neo 125M, about as dear, and one of GPT-Neo 1.3B: "
    "1,500 GPU hours (V100) for 7 epochs.",
    "table18": f"2 rankers, each {RANKER}.",
    "table19": "The rankers of GPT-Neo 125M, and the log-probabilities of its samples.",
    "shares": f"4 rankers on 1/8, 1/4, 1/2 and all of the training tasks, the last {RANKER}.",
    "figure4": "The rankers of table 6.",
    "figure7": "The rankers of table 6.",
}


ALSO = {
    "table12": "table4",
    "table13": "table5",
    "table15": "table14",
    "figure2": "table4",
    "figure3": "table5",
    "figure5": "table16",
    "figure8": "table17",
}
"""Which table shows what has another name in the paper."""
TASKS = ("B", "T", "I", "E", "E+L")
CODEBERT = "microsoft/codebert-base"


def parsed(arguments: Sequence[str]) -> tuple[list[str], Study]:
    """Return which tables are asked for, and of what."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", choices=[*TITLES, *ALSO, "all", "needs"], metavar="TABLE")
    parser.add_argument(
        "--learn", type=Path, default=Path("learn.jsonl"), metavar="FILE", help="[default: learn.jsonl]"
    )
    parser.add_argument("--test", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--base", action="append", default=[], metavar="[NAME=]MODEL", help=f"[default: {CODEBERT}]")
    parser.add_argument("--task", action="append", default=[], choices=TASKS, help="[default: all]")
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="[default: all of FILE]")
    parser.add_argument("--together", action="store_true", help="learn from all models as if they were one")
    parser.add_argument("--beside", action="append", default=[], metavar="SPEC", help="{} is the trained ranker")
    parser.add_argument("--logprob", default="logprob", metavar="SPEC", help="[default: logprob, what samples say]")
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
        read.logprob,
        read.out,
        tuple(arguments[at + 1 :]),
        read.dry_run,
    )
    asked = {ALSO.get(name, name) for name in read.tables}
    return [name for name in TITLES if name in asked or "all" in asked], given


def _base(text: str) -> tuple[str, str]:
    name, equals, spec = text.partition("=")
    return (name, spec) if equals else (Path(text).name, text)


def table_of(name: str, given: Study) -> MadeTable:
    """Return a table of the data, or one of rankers, which are trained for it."""
    if hasattr(study, name):
        return MadeTable(tuple(getattr(study, name)(given)))
    made: MadeTable = getattr(rank_tables, name)(given)
    return made


def section(name: str, made: MadeTable) -> Section:
    """Return a table with what it is about, what it needs, and what it took here."""
    blocks: list[Block] = [words(TITLES[name], "lead"), *made.blocks]
    blocks += [words(f"At the paper's size: {NEEDS[name]}", "note")]
    if made.rankers:
        blocks.append(words(f"Here: {took(made.rankers)}", "note"))
    return Section(name, called(name), tuple(blocks), called(name))


def called(name: str) -> str:
    """Return `Table 6` for `table6`."""
    return re.sub(r"(\d+)$", r" \1", name).capitalize()


def took(rankers: Sequence[TrainedRanker]) -> str:
    """Return how long the trainings took."""
    steps, seconds = (sum(each) for each in zip(*map(seconds_of, rankers), strict=True))
    most = max(learned(each.data) for each in rankers)
    learnt = f"{counted(len(rankers), 'ranker')}, each of at most {most:,} programs"
    return f"{learnt}, {steps:,} steps, {seconds:,.0f} s of training."


def write(name: str, given: Study, made: MadeTable) -> Report:
    """Write a table as text and JSON, and all tables of the folder as one page."""
    facts = (str(given.learn.name), ", ".join(given.bases))
    report = Report(
        f"CodeRanker: {called(name)}", "Assay benchmarks", facts, (section(name, made),), "Written by Assay."
    )
    files.write(given.out / f"{name}.json", as_json_text(report))
    files.write(given.out / f"{name}.md", as_markdown(report))
    made_before = (file for each in TITLES if (file := given.out / f"{each}.json").exists())
    found = [read_value(Report, json.loads(file.read_text("utf-8"))) for file in made_before]
    sections = tuple(part for each in found for part in each.sections)
    write_page(
        Report("Fault-Aware Neural Code Rankers", "Assay benchmarks", facts, sections, "Written by Assay."),
        given.out / "tables.html",
    )
    return report


def main() -> None:
    """Make each table that was asked for; one that cannot be made keeps no other from being made."""
    names, given = parsed(sys.argv[1:])
    if not names:
        print("\n".join(f"{name}\t{NEEDS[name]}" for name in TITLES))
        return
    if not given.learn.exists():
        sys.exit(f"assay: no such file: '{given.learn}'; --learn FILE takes what 'assay rank data' wrote")
    for name, file in given.tests.items():
        if seen := sorted(study.learned_tasks(given.learn) & {each.task_id for each in study.examples_of(file)}):
            sys.exit(f"assay: --test {name}: rankers learn from {counted(len(seen), 'task')} of {file}, like {seen[0]}")
    given.out.mkdir(parents=True, exist_ok=True)
    sys.exit(max(guarded(partial(make, name, given)) for name in names))


def make(name: str, given: Study) -> None:
    """Make one table and print it."""
    print(f"# {name}: {TITLES[name]}", flush=True)
    try:
        made = table_of(name, given)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    if not given.dry_run:
        print(as_text(write(name, given, made)), end="", flush=True)


if __name__ == "__main__":
    main()
