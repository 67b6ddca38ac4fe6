"""Make each table and figure of *Fault-Aware Neural Code Rankers* (Inala et al. 2022).

Programs are what `assay rank data` wrote: rankers learn from the split `train`, are chosen on `valid`, table 7 is about
`test`; the model of a program says who generated it, its configuration the temperature. A ranker is not trained twice,
and a training that was cut off goes on. A folder gets a file a table, and `tables.html` with all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from assay.bench.papers import program_tables, ranker_tables
from assay.bench.papers.ranker_tables import MadeTable
from assay.bench.papers.study import (
    Run,
    Study,
    TrainedRanker,
    Watching,
    examples_of,
    learned,
    learned_tasks,
    seconds_of,
)
from assay.bench.requests import RankTablesRequest
from assay.errors import InputError, counted, nearest
from assay.io import files
from assay.io.fields import read_value
from assay.report.document import Block, Report, Section, as_json_text, words
from assay.report.plain_text import as_markdown
from assay.report.web_page import write_page

RANKER = "390,000 programs, 30 epochs of 512 tokens in batches of 512 (22,900 steps), 192 GPU hours (V100)"
"""One ranker of section 4.3: 12 hours on 16 of them."""
_ALL = f"20 rankers (4 models, 5 tasks), each {RANKER}"
_RUNS = "running 3.7 million programs of 10,000 tasks (4 models, 100 samples a task) in the sandbox"
TABLES = {
    "table2": ("How the programs that rankers learn from are distributed", f"{_RUNS}."),
    "table3": ("Programs with their labels", "The programs of table 2."),
    "table4": ("Classes of execution errors (tables 4 and 12, figure 2)", "The programs of table 2."),
    "table5": ("Classes of intent errors (tables 5 and 13, figure 3)", "The programs of table 2."),
    "figure6": ("How frequent each class is", "The training programs of table 2."),
    "table6": (
        "How the best ranker of each generating model does on the validation tasks",
        f"{_ALL}; 60,000 programs a model to rank.",
    ),
    "table7": ("The same rankers on the test tasks", "The rankers of table 6; 500,000 programs a model to rank."),
    "table8": (
        "The same rankers on HumanEval, of which they learned nothing",
        "The rankers of table 6; 16,400 programs a model to rank.",
    ),
    "table9": (
        "The same rankers on MBPP, of which they learned nothing",
        "The rankers of table 6; 50,000 programs a model to rank.",
    ),
    "table10": ("The best ranker of each generating model", "The rankers of table 6."),
    "table11": (
        "Samples of several temperatures",
        "The rankers of table 6; 66,400 programs of Codex at two temperatures.",
    ),
    "table14": ("What rankers learn to predict (tables 14 and 15)", "The rankers of table 6."),
    "table16": (
        "What rankers learn from: one model's programs, another's, or a mix (table 16 and figure 5)",
        f"The rankers of table 6, and 10 of mixes: 5 each {RANKER}, 5 of 1.5 million programs, four times that.",
    ),
    "table17": (
        "Base models: encoders and decoders (table 17 and figure 8)",
        (
            "The ternary ranker of CodeBERT, one of GPT-Neo 125M, about as dear, and one of GPT-Neo 1.3B: "
            "1,500 GPU hours (V100) for 7 epochs."
        ),
    ),
    "table18": ("Prompts with and without their example tests", f"2 rankers, each {RANKER}."),
    "table19": (
        "The generating model's own probability as a ranker",
        "The rankers of GPT-Neo 125M, and the log-probabilities of its samples.",
    ),
    "table20": ("Programs, their errors, and what each ranker predicts", "The rankers of one model of table 6."),
    "shares": (
        "What more programs bring (not in the paper)",
        f"4 rankers on 1/8, 1/4, 1/2 and all of the training tasks, the last {RANKER}.",
    ),
    "figure4": ("Ranked pass@1 on the validation tasks in training", "The rankers of table 6."),
    "figure7": ("Ranked exec@1 on the validation tasks in training", "The rankers of table 6."),
}
"""What each shows, and what it takes at the paper's size."""
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
CODEBERT = "microsoft/codebert-base"
TASKS = ("B", "T", "I", "E", "E+L")


def chosen(names: Sequence[str]) -> list[str]:
    """Return the tables of these names in their order; `all` is all of them."""
    for name in names:
        if name not in {*TABLES, *ALSO, "all"}:
            raise InputError(f"no table '{name}'; {nearest(name, [*TABLES, *ALSO, 'all'])}")
    asked = {ALSO.get(name, name) for name in names}
    return [name for name in TABLES if name in asked or "all" in asked]


def study_of(request: RankTablesRequest, run: Run, watching: Watching) -> Study:
    """Return the study of a request; tasks to test on that rankers learn from are refused."""
    tests = dict(_named(each, "--test") for each in request.tests)
    for file in (request.learn, *tests.values()):
        if not file.exists():
            raise InputError(f"no such file: '{file}'; --learn and --test take what assay rank data wrote")
    for name, file in tests.items():
        if seen := sorted(learned_tasks(request.learn) & {each.task_id for each in examples_of(file)}):
            many = counted(len(seen), "task")
            raise InputError(f"--test {name}: rankers learn from {many} of {file}, like {seen[0]}")
    named = [each.partition("=") for each in request.bases or (CODEBERT,)]
    bases = {(name if equals else Path(name).name): spec or name for name, equals, spec in named}
    more = [word for each in request.changes for word in ("--set", each)]
    return Study(
        run,
        watching,
        request.learn,
        tests,
        bases,
        request.tasks or TASKS,
        request.models,
        request.together,
        request.beside,
        request.logprob,
        request.out,
        (*(["--recipe", request.recipe] if request.recipe else []), *more),
        request.is_dry,
    )


def _named(text: str, option: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not (equals and name):
        raise InputError(f"{option} {text}: wanted NAME=FILE")
    return name, Path(file)


def make(name: str, study: Study) -> Report | None:
    """Make one table, and all tables of the folder as one page; a dry run has none."""
    maker = getattr(program_tables, name, None) or getattr(ranker_tables, name)
    try:
        made = maker(study)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    if study.is_dry:
        return None
    return _write(name, study, made if isinstance(made, MadeTable) else MadeTable(tuple(made)))


def _write(name: str, study: Study, table: MadeTable) -> Report:
    facts, kind, footer = (study.learn.name, ", ".join(study.bases)), "Assay rank tables", "Written by Assay."
    report = Report(f"CodeRanker: {called(name)}", kind, facts, (_section(name, table),), footer)
    files.write(study.out / f"{name}.json", as_json_text(report))
    files.write(study.out / f"{name}.md", as_markdown(report))
    made_before = (file for each in TABLES if (file := study.out / f"{each}.json").exists())
    found = [read_value(Report, json.loads(file.read_text("utf-8"))) for file in made_before]
    sections = tuple(part for each in found for part in each.sections)
    page = Report("Fault-Aware Neural Code Rankers", kind, facts, sections, footer)
    write_page(page, study.out / "tables.html")
    return report


def _section(name: str, table: MadeTable) -> Section:
    """Return a table with what it is about, what it needs, and what it took here."""
    about, needs = TABLES[name]
    blocks: list[Block] = [words(about, "lead"), *table.blocks, words(f"At the paper's size: {needs}", "note")]
    if table.rankers:
        blocks.append(words(f"Here: {_took(table.rankers)}", "note"))
    return Section(name, called(name), tuple(blocks), called(name))


def called(name: str) -> str:
    """Return `Table 6` for `table6`."""
    return re.sub(r"(\d+)$", r" \1", name).capitalize()


def _took(rankers: Sequence[TrainedRanker]) -> str:
    steps, seconds = (sum(each) for each in zip(*map(seconds_of, rankers), strict=True))
    most = max(learned(each.data) for each in rankers)
    learnt = f"{counted(len(rankers), 'ranker')}, each of at most {most:,} programs"
    return f"{learnt}, {steps:,} steps, {seconds:,.0f} s of training."
