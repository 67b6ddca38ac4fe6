"""Declare what the commands of ground truth may be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs import options

UnitSort = Literal["function", "type", "constant", "documentation"]

QuestionKind = Literal["standard", "hard", "issue"]

SORTS: tuple[UnitSort, ...] = get_args(UnitSort)

KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)
SOURCES = ("history", "docs", "tests")


def source() -> Any:
    """Declare the option that says how a ground truth is written."""
    return option("--from FORM", "The format of FILE.  [default: found by its contents]", default="")


def lossy() -> Any:
    """Declare the option that drops what a file cannot hold."""
    return flag("--lossy", "Drop what the format of FILE cannot hold.")


class MineOptions(Request):
    """What to mine, and how much."""

    sources: tuple[str, ...] = option("--from", "A source of queries. Repeatable.  [default: all]", choices=SOURCES)
    at: str = option("--at COMMIT", "Ask about the code at COMMIT, from the commits after it.")
    limit: int = option("--limit N", "Most queries of each source.", least=1, default=200)
    seed: int = option("--seed N", "The random seed that draws functions and tests.", default=0)


class MineRequest(Request):
    """Extract ground truth from a repository."""

    repository: str = argument("REPO")
    out: Path | None = option("--out FILE", "Where the ground truth goes: .jsonl or .csv.  [default: NAME.jsonl]")
    mining: MineOptions = shared(MineOptions)
    lossy: bool = lossy()
    verbose: bool = verbose("Show the traceback of an error.")


class WriteRequest(Request):
    """Have language models write questions about a repository, and at what cost."""

    repository: str = argument("REPO")
    chat: str = option("--chat SPEC", "The model that writes questions, PROVIDER:MODEL.", required=True)
    checker: str = option(
        "--check-chat SPEC", "The model that grades whether the unit answers.  [default: nobody; people can, see PAIRS]"
    )
    out: Path | None = option("--out FILE", "Where the ground truth goes: .jsonl or .csv.  [default: NAME.jsonl]")
    sorts: tuple[UnitSort, ...] = option(
        "--unit", "A sort of units to ask about. Repeatable.  [default: all]", choices=SORTS
    )
    kinds: tuple[QuestionKind, ...] = option("--kind", "A kind of question. Repeatable.  [default: all]", choices=KINDS)
    limit: int = option("--limit N", "Units to ask about at most.", least=1, default=100)
    at: str = option("--at COMMIT", "Ask about the code at COMMIT.  [default: the newest]")
    seed: int = option("--seed N", "The random seed that draws units.", default=0)
    max_tries: int = option(
        "--max-tries N",
        "How often another question is requested in place of one that cannot be used.",
        least=0,
        default=2,
    )
    budget: str = options.budget("to")
    rate: str = options.rate("asked of a model")
    workers: int = option("--workers N", "Units at a time.", least=1, default=8)
    records: Path | None = option(
        "--records FILE",
        "Where records go; an interrupted run continues there.  [default: OUT with .records.jsonl]",
        kind="file",
    )
    no_cache: bool = flag("--no-cache", "Do not use replies of other campaigns: ask, and pay, again.")
    retry: bool = flag("--retry", "Ask again about units that no model answered for.")
    fresh: bool = options.fresh()
    lossy: bool = lossy()
    verbose: bool = verbose("Show the traceback of an error.")


class CheckRequest(Request):
    """Find places that are wrong or gone."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    commit: str = option("--commit COMMIT", "The commit that FILE is about, if it names none.")
    fix: Path | None = option("--fix OUT", "Write a copy of FILE whose places are right at HEAD.")
    source: str = source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show moved lines, too; show the traceback of an error.")


class AuditRequest(Request):
    """Find duplicates and contradictions."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    collapse: Path | None = option("--collapse OUT", "Write a copy of FILE in which duplicates are merged.")
    near: bool = flag("--near", "With --collapse: also merge near duplicates.")
    threshold: float = option(
        "--threshold FRACTION",
        "The fraction of five-word runs that near duplicates have in common.",
        least=0.1,
        most=1,
        default=0.8,
    )
    examples: int = option("--examples N", "Show at most N examples of each finding.", least=0, default=3)
    source: str = source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


class ConvertRequest(Request):
    """Convert between formats."""

    source: Path = argument("IN")
    target: Path = argument("OUT")
    form: str = option("--from FORM", "The format of IN.  [default: what its name or content says]")
    to: str = option("--to FORM", "The format of OUT.  [default: what its name or content says]")
    corpus: Path | None = option(
        "--corpus FOLDER",
        "The checkout that IN speaks of, where symbols become lines; or CodeSearchNet's corpus files, whose functions "
        "its annotations name by URL.",
    )
    match: int = option(
        "--match GRADE",
        "Keep only pairs that a judge gave GRADE or more, with their queries and documents.  [default: all]",
        least=0,
        default=0,
        show=False,
    )
    lossy: bool = flag("--lossy", "Drop what OUT cannot hold, and say what that is.")
    split: bool = flag("--split", "Make OUT a folder with a file for each repository and commit.")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


class CorrectRequest(Request):
    """Find right answers that a ground truth lacks."""

    runs: tuple[Path, ...] = argument("[RUN]...")
    truth: Path = option("--truth FILE", "The ground truth to correct.", required=True)
    depth: int = option("--depth K", "Use the first K results of each run.", least=1, default=10)
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    judge: str = option(
        "--judge SPEC", "Who judges: signals, or CONFIG:CHAT as in all:openai:MODEL.  [default: people; see PAIRS]"
    )
    budget: str = options.budget("to")
    records: Path | None = option(
        "--records FILE",
        "Where records of the judge go; an interrupted run continues there.  [default: NAME.found.jsonl]",
        kind="file",
    )
    labels: tuple[Path, ...] = option("--labels FILE", "Read labels of people or a judge. Repeatable.", kind="file")
    pairs: Path | None = option(
        "--pairs PAIRS", "Without a judge, where pairs to label go.  [default: NAME.pairs.jsonl]", kind="file"
    )
    keep_wrong: bool = flag("--keep-wrong", "Also write what was judged wrong, so that it is not asked again.")
    write: bool = flag("--write", "Change FILE. Without it, FILE stays as it is.")
    fresh: bool = options.fresh()
    seed: int = option("--seed N", "The random seed of the order.", default=0)
    source: str = source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")
