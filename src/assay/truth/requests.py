"""Declare the parameters of the commands for ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs import options
from assay.runs.options import ModelOptions

SOURCES = ("history", "docs", "tests")
TYPED = ("messages", "names")
"""Sources that are mined where they are asked for: what is pasted and typed, rather than asked."""


def source() -> Any:
    """Declare the option for the format of a ground truth."""
    return option("--from FORM", "The format of FILE.  [default: found by its contents]", default="")


def lossy() -> Any:
    """Declare the option that drops what a format cannot store."""
    return flag("--lossy", "Drop what the format of FILE cannot hold.")


def judges(text: str, *, required: bool = False) -> Any:
    """Declare the option for judges of places."""
    text = f"{text}: signals, asks:PROVIDER:MODEL, grades:PROVIDER:MODEL or CONFIG:PROVIDER:MODEL. Repeatable."
    return option("--judge SPEC", text, required=required)


class MineOptions(Request):
    """What to mine, and how much."""

    sources: tuple[str, ...] = option(
        "--from", "A source of queries. Repeatable.  [default: history, docs, tests]", choices=(*SOURCES, *TYPED)
    )
    at: str = option("--at COMMIT", "Ask about the code at COMMIT, from the commits after it.")
    follow: bool = flag(
        "--follow", "Ask about the files as they are, now and later: targets are symbols, and no commit is pinned."
    )
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
    """Have a language model write questions about a repository."""

    repository: str = argument("REPO")
    chat: str = option("--chat SPEC", "The model that writes and checks, PROVIDER:MODEL.", required=True)
    out: Path | None = option("--out FILE", "Where the ground truth goes: .jsonl or .csv.  [default: NAME.jsonl]")
    limit: int = option("--limit N", "Most questions.", least=1, default=100)
    per_file: int = option("--per-file N", "Most questions about a file.", least=1, most=20, default=3)
    hard: bool = flag("--hard", "Keep only questions without a word of the path, names or signature of their answer.")
    read_tokens: int = option(
        "--read-tokens N",
        "Tokens of a file, about, that the model reads at once; a longer file is read in parts, of which there are at "
        "most 8.",
        least=500,
        default=8000,
    )
    seed: int = option("--seed N", "The random seed that draws files.", default=0)
    models: ModelOptions = shared(ModelOptions)
    fresh: bool = options.fresh()
    lossy: bool = lossy()
    verbose: bool = verbose("Show the traceback of an error.")


def prior(default: float) -> Any:
    """Declare the option for the prior of a judge without a model."""
    text = "The fraction of these places that the judge signals expects to be right."
    return option("--prior P", text, least=0, most=1, is_open=True, default=default)


class CorrectRequest(Request):
    """Add right answers that search finds and a ground truth lacks."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    judges: tuple[str, ...] = judges("Who has to accept an answer", required=True)
    k: int = option("-k", "--k N", "Look at the first N results of each question.", least=1, default=10)
    out: Path | None = option(
        "--out FILE",
        "Where the corrected copy goes; the same command continues there.  [default: NAME.corrected.jsonl]",
    )
    yes: bool = flag("--yes", "Take every proposal without asking a person.")
    prior: float = prior(0.2)
    models: ModelOptions = shared(ModelOptions)
    source: str = source()
    verbose: bool = verbose("Show each problem; show the traceback of an error.")


class CheckRequest(Request):
    """Find places that are wrong or gone."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    commit: str = option("--commit COMMIT", "The commit that FILE is about, if it names none.")
    fix: Path | None = option("--fix OUT", "Write a copy of FILE whose places are right at HEAD.")
    source: str = source()
    form: str = form("text", "json")
    verbose: bool = verbose("Show each place that moved, changed or is gone; show the traceback of an error.")


class AuditRequest(Request):
    """Find duplicates and contradictions."""

    file: Path = argument()
    corpus: Path | None = option("--corpus FOLDER", "The checkout that FILE is about.")
    collapse: Path | None = option("--collapse OUT", "Write a copy of FILE in which duplicates are merged.")
    examples: int = option("--examples N", "Show at most N examples of each finding.", least=0, default=3)
    judges: tuple[str, ...] = judges("Also ask judges about each judged place")
    prior: float = prior(0.5)
    models: ModelOptions = shared(ModelOptions)
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
    kinds: bool = flag(
        "--kinds",
        "With --corpus, tag each query without a kind: hard if it shares no word with the names of its answer.",
    )
    split: bool = flag("--split", "Make OUT a folder with a file for each repository and commit.")
    verbose: bool = verbose("Show each problem; show the traceback of an error.")
