"""Declare what the commands that judge pairs may be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs import options
from assay.runs.options import SampleDraw

EVEN = 0.5
"""The fraction of matches that `signals` expects where nothing else is said."""
CONFIGURATIONS = ("all", "single", "ps+fa", "ps+tpg+fa", "ps+tpg+te+fa", "ps+tpg+sim+fa")
"""Who is asked: preliminary screener, test program generator, test executor or simulation, bug fixer, final arbiter."""
RUNNING = frozenset({"all", "ps+tpg+te+fa"})
"""Configurations that need a sandbox."""
_EVERY = "Name every problem; show the traceback of an error."


def signals_encoder(name: str, text: str) -> Any:
    """Declare an option that names the encoder whose cosine the judge signals goes by."""
    return option(f"{name} SPEC", f"{text}  [default: none]", default="")


def signals_prior(name: str, text: str) -> Any:
    """Declare an option that says what fraction of matches is expected."""
    return option(f"{name} P", text, least=0, most=1, is_open=True, default=EVEN)


def page_port() -> Any:
    """Declare the option that says on which port a page is served to one person."""
    text = "Port of the page.  [default: any free port]"
    return option("--port PORT", text, least=0, most=65535, default=0, show=False)


def pair_texts(name: str, what: str) -> Any:
    """Declare the option that names a file with texts of ids."""
    return option(f"{name} FILE", f"The texts of {what}.")


class JudgeOptions(Request):
    """Which judge is wanted, and what it may do."""

    kind: str = option(
        "--judge NAME",
        "Who judges: signals, without a model, or signals:FOLDER with weights that assay train judge wrote; "
        "asks:PROVIDER:MODEL, one yes/no question to a model; signals+asks:PROVIDER:MODEL, both; "
        "grades:PROVIDER:MODEL, a grade of 2, 1 or 0; agents, with --chat.  "
        "[default: signals, or agents if --chat is given]",
        default="",
    )
    chats: tuple[str, ...] = option(
        "--chat SPEC",
        "The model of the agents, PROVIDER:MODEL. Repeatable: a second one has to agree, a third decides.",
    )
    config: str = option("--config NAME", f"Which agents: {', '.join(CONFIGURATIONS)}.", default="all")
    screener: str = option(
        "--screener NAME",
        "How agents screen: asks, one yes/no question, asks?match=0.7&non_match=0.3&scale=2&bias=0; three-way, in "
        "words, for endpoints without log-probabilities; signals or signals:FOLDER, without a model.  [default: asks]",
    )
    unclear: float | None = option(
        "--unclear P",
        "Screen with bounds, found on a hundred pairs, that leave this fraction of them unclear.",
        least=0,
        most=1,
    )
    encoder: str = signals_encoder("--encoder", "An encoder, such as onnx:FOLDER, whose cosine signals goes by.")
    prior: float = signals_prior("--prior", "The fraction of pairs that match, which signals and asks expect.")
    votes: int = option("--votes N", "Votes per pair; the majority wins.", least=1, default=1)
    max_tries: int = option("--max-tries N", "Repairs of a test program.", least=0, default=3)
    budget: str = options.budget("to")
    rate: str = options.rate("asked of a model")
    allowed: bool = flag("--allow-execution", "Let signals run code on the examples in its query, in a sandbox.")
    workers: int = option("--workers N", "Pairs judged at a time.", least=1, default=8)
    sandbox: str = options.sandbox()
    timeout: float | None = options.timeout("a test case")
    install: bool = flag("--install", "Install missing modules of allowed distributions.")
    allow: Path | None = options.allow()
    no_cache: bool = options.no_cache()
    prompts: Path | None = option("--prompts FOLDER", "Use the prompt files in FOLDER.  [default: those that ship]")


class JudgeRequest(Request):
    """Label pairs; continue an interrupted run."""

    pairs: Path = argument()
    queries: Path | None = pair_texts("--queries", "the query ids in PAIRS")
    corpus: Path | None = pair_texts("--corpus", "the code ids in PAIRS")
    sampling: SampleDraw = shared(SampleDraw)
    judge: JudgeOptions = shared(JudgeOptions)
    out: Path = options.out_file("records", "records.jsonl")
    fresh: bool = options.fresh()
    retry: bool = flag("--retry", "Judge undecided pairs again.")
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class ExportRequest(Request):
    """Write records as a benchmark."""

    records: Path = argument()
    folder: Path = option("--to DIR", "The folder to write to.", kind="folder", required=True)
    corpus: Path | None = option("--corpus CORPUS", "More code to search, beside the candidates.")
    seed: int = option("--seed N", "The random seed of the splits.", default=0)
    license: str = option(
        "--license ID", "The license of the data, as SPDX names it, for its card.  [default: unknown]"
    )
    form: str = form("jsonl", "parquet")
    verbose: bool = verbose("Show the traceback of an error.")


class CandidatesRequest(Request):
    """Choose the pairs worth judging."""

    queries: Path = argument()
    corpus: Path = argument()
    specs: tuple[str, ...] = option(
        "--encoder SPEC", "An encoder whose cosine counts. Repeatable.  [default: static:default]"
    )
    k: int = option("-k", "--k N", "Code snippets per query.", least=1, default=20)
    testable: bool = flag("--testable", "Keep only Python functions that have a parameter and return a value.")
    labels: Path | None = option("--labels FILE", "Also print what each rank is worth by these labels.")
    figure: Path | None = option("--figure FILE", "With --labels, draw that into FILE: .svg or .png.", kind="file")
    sample: int | None = options.sample("Take N queries at random, the same ones for the same --seed.")
    seed: int = option("--seed N", "The random seed of --sample.", default=0)
    out: Path = option("--out FILE", "Where pairs go, once all are chosen.", kind="file", default="candidates.jsonl")
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class LabelRequest(Request):
    """Let people label pairs on a page."""

    pairs: Path = argument("PAIRS")
    person: str = option("--person NAME", "Who labels: the name of a file in FOLDER.")
    out: Path = option(
        "--out FOLDER",
        "Where labels go, a file for each person; an interrupted session continues there.",
        kind="folder",
        default="labels",
    )
    fresh: bool = options.fresh()
    disputed: bool = flag("--disputed", "Ask only about pairs that others in FOLDER label differently.")
    graded: bool = flag("--graded", "Ask for grades: 2 answers the query, 1 helps, 0 does not.")
    tests: Path | None = option(
        "--tests RECORDS",
        "Ask only about pairs that agents wrote tests for in RECORDS, and show these with their results.",
        kind="file",
    )
    show_tests: bool = option(
        "--show-tests/--hide-tests",
        "With --tests, show the tests, or hide them to compare labels without.  [default: show]",
        is_flag=True,
        default=True,
    )
    queries: Path | None = pair_texts("--queries", "the query ids in PAIRS")
    corpus: Path | None = pair_texts("--corpus", "the code ids in PAIRS")
    seed: int = option("--seed N", "The random seed of the order.", default=0)
    port: int = page_port()
    summary: bool = flag("--summary", "Only print the result so far.")
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class PreferRequest(Request):
    """Let people choose between two sets of answers."""

    a: Path = argument("A")
    b: Path = argument("B")
    person: str = option("--person NAME", "Who chooses: the name of a file in FOLDER.")
    out: Path = option(
        "--out FOLDER",
        "Where choices go, a file for each person; an interrupted session continues there.",
        kind="folder",
        default="preferences",
    )
    fresh: bool = options.fresh()
    sample: int | None = options.sample("Ask about N queries, drawn at random.")
    seed: int = option("--seed N", "The random seed: which queries and codes are drawn, and the sides.", default=0)
    port: int = page_port()
    summary: bool = flag("--summary", "Only print the result so far.")
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)


class AgreementRequest(Request):
    """Compare labels with the truth and with one another."""

    labels: tuple[str, ...] = argument("LABELS...", required=True)
    gold: tuple[str, ...] = option(
        "--gold FILE", "The true labels. Repeatable: the majority of several annotators is the truth."
    )
    match: int = option("--match GRADE", "The lowest grade that counts as a match.", least=1, default=1)
    show: int = option("--show N", "Print at most N disagreements.", least=0, default=10)
    form: str = form("text", "json")
    verbose: bool = verbose(_EVERY)
