"""Declare what `assay bench` may be asked."""

from __future__ import annotations

from pathlib import Path

from assay.judge.requests import signals_encoder, signals_prior
from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs import options
from assay.runs.options import GateOptions, ModelOptions


class UnseenOptions(Request):
    """Who judges what nobody judged."""

    spec: str = option(
        "--judge-unseen SPEC",
        "Label unjudged answers with a judge (signals, signals:FOLDER, asks:CHAT, signals+asks:CHAT or CONFIG:CHAT), "
        "and also measure with these labels.",
    )
    encoder: str = signals_encoder("--judge-encoder", "An encoder whose cosine the judge signals goes by.")
    prior: float = signals_prior(
        "--judge-prior", "The fraction of unjudged answers that are right, which the judge signals expects."
    )
    depth: int = option("--judge-depth N", "Answers per query that the judge labels.", least=1, default=10)
    budget: str = option(
        "--judge-budget AMOUNT",
        "The most that the judge may spend: 5usd, 2Mtok or both, with a comma.  [default: no limit]",
    )
    workers: int = option("--judge-workers N", "Answers judged at a time.", least=1, default=8)
    install: bool = flag("--judge-install", "Let the judge install modules that tests lack, from a list.")


class SystemOptions(Request):
    """Which systems are measured."""

    specs: tuple[str, ...] = option("--system [NAME=]SPEC", "A system to measure. Repeatable.")
    changes: tuple[str, ...] = option("--set NAME.KEY=VALUE", "Set an option of a system. Repeatable.")


class BenchRequest(Request):
    """Measure code search, with statistics."""

    what: str = argument(default=".")
    corpus: Path | None = option("--corpus FOLDER", "The checkout that WHAT is about.")
    systems: SystemOptions = shared(SystemOptions)
    measures: tuple[str, ...] = option(
        "--measure NAME", "A measure, such as MRR or Hit@5; the first one decides. Repeatable."
    )
    k: int | None = option("-k", "--limit N", "Results per query.  [default: 20]", least=1)
    timeout_s: float | None = option("--timeout S", "Most seconds of a query.  [default: 30]", least=0.1)
    threshold: float | None = option(
        "--threshold SCORE", "Leave out results that score below this.  [default: keep all]"
    )
    all_pairs: bool = flag(
        "--all-pairs",
        "Test every two systems, not only variants against their base and other systems against one another.",
    )
    form_of: str = option("--from FORM", "The format of WHAT.  [default: found by its contents]")
    only: tuple[str, ...] = option("--only GLOB", "Run only systems whose name matches GLOB. Repeatable.")
    out: Path = option(
        "--out FOLDER",
        "Where answers and results go; answers that are there are used again.",
        kind="folder",
        default="assay-bench",
    )
    judging: UnseenOptions = shared(UnseenOptions)
    fresh: bool = flag("--fresh", "Ask everything again; earlier answers are moved to FOLDER/runs.old.")
    gating: GateOptions = shared(GateOptions)
    form: str = form("text", "json", "github")
    verbose: bool = verbose("Show each question; show the traceback of an error.")


class AgentRequest(Request):
    """Replay the questions of coding agents."""

    transcripts: tuple[Path, ...] = argument("TRANSCRIPTS...")
    repository: Path | None = option(
        "--repo FOLDER", "The repository of all sessions.  [default: the folder of each]", kind="existing"
    )
    matrix: Path | None = option("--systems FILE", "Ask the systems of this matrix file.  [default: assay and bm25]")
    difference: float = option(
        "--difference D", "Also print how many sessions show a difference of D in `found`.", least=0.001, default=0.05
    )
    no_replay: bool = flag("--no-replay", "Only print what the transcripts say; ask no system.")
    out: Path = option("--out FOLDER", "Where answers and results go.", kind="folder", default="assay-bench-agent")
    fresh: bool = flag("--fresh", "Ask everything again; earlier answers are moved to FOLDER/runs.old.")
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


class FreshnessRequest(Request):
    """Measure how soon search sees a change."""

    matrix: Path | None = option("--systems FILE", "A matrix file (.toml) whose systems are measured.", kind="file")
    systems: SystemOptions = shared(SystemOptions)
    limit_s: float = option("--limit S", "Seconds to wait for a right answer after a change.", least=0.1, default=60)
    form: str = form("text", "json")


class RankTablesRequest(Request):
    """Make the tables and figures of CodeRanker."""

    tables: tuple[str, ...] = argument("[TABLE]...")
    learn: Path = option("--learn FILE", "Labelled programs with their splits.", default=Path("learn.jsonl"))
    tests: tuple[str, ...] = option("--test NAME=FILE", "Labelled programs of other tasks. Repeatable.")
    bases: tuple[str, ...] = option(
        "--base [NAME=]MODEL", "A model to start from. Repeatable.  [default: microsoft/codebert-base]"
    )
    tasks: tuple[str, ...] = option(
        "--task", "What rankers learn to predict. Repeatable.  [default: all]", choices=("B", "T", "I", "E", "E+L")
    )
    models: tuple[str, ...] = option("--model NAME", "A generating model of FILE. Repeatable.  [default: all]")
    together: bool = flag("--together", "Learn from the programs of all models as if they were of one.")
    beside: tuple[str, ...] = option("--beside SPEC", "Another ranker; {} is the trained one. Repeatable.")
    logprob: str = option("--logprob SPEC", "The ranker by the probability of a program.", default="logprob")
    recipe: str = option("--recipe NAME", "The settings of each training: default or paper.  [default: default]")
    changes: tuple[str, ...] = options.changes("Change one setting of each training. Repeatable.")
    out: Path = option("--out FOLDER", "Where tables go, and rankers.", kind="folder", default="coderanker")
    is_dry: bool = flag("--dry-run", "Print the commands and run none.")
    verbose: bool = verbose("Show the traceback of an error.")


class JudgeTablesRequest(Request):
    """Make the tables and figures of CoSQA+."""

    table: str = argument("[TABLE]", default="")
    queries: Path | None = option("--queries FILE", "The queries of table1 and figure4.")
    corpus: Path | None = option("--corpus FILE", "The code of table1 and figure4.")
    encoders: tuple[str, ...] = option(
        "--encoder SPEC", "What chooses candidates. Repeatable.  [default: the paper's three]"
    )
    all_code: bool = flag("--all-code", "Choose code that no test can call, too.")
    k: int | None = option("-k", "--k N", "Candidates of a query.  [default: 20; of figure4 100]", least=1)
    sample: int | None = option(
        "--sample N", "Queries of figure4, or pairs of table4 and table6.  [default: 2000 queries, all pairs]", least=1
    )
    unclear: float | None = option("--unclear P", "The fraction that screeners leave unclear.", least=0, most=1)
    seed: int = option("--seed N", "The random seed of --sample.", default=0)
    pairs: Path | None = option("--pairs FILE", "The pairs of table4 and table6.")
    gold: tuple[str, ...] = option("--gold FILE", "The true labels of table4 and table6. Repeatable.")
    chat: str = option("--chat SPEC", "The model of the agents.")
    singles: tuple[str, ...] = option("--single SPEC", "A model that table4 asks alone. Repeatable.")
    people: tuple[str, ...] = option("--people NAME=FILE", "What a person labelled, of table4. Repeatable.")
    install: bool = flag("--install", "Install missing modules of allowed distributions.")
    models: ModelOptions = shared(ModelOptions, hidden=("rate", "no_cache"))
    labels: Path | None = option("--labels FILE", "The records or labels of table2.")
    truth: Path | None = option("--truth FILE", "The ground truth of table5, with its code.")
    only: tuple[str, ...] = option("--only GLOB", "The systems of table5 whose name matches. Repeatable.")
    trains: tuple[str, ...] = option("--train NAME=FILE", "Judged pairs that table3 learns from. Repeatable.")
    tests: tuple[str, ...] = option("--test NAME=FILE", "Ground truth that table3 is about. Repeatable.")
    bases: tuple[str, ...] = option(
        "--base NAME=SPEC", "What table3 fine-tunes. Repeatable.  [default: the paper's three]"
    )
    changes: tuple[str, ...] = options.changes("Change one setting of each training. Repeatable.")
    out: Path = option("--out FOLDER", "Where files go.", kind="folder", default="cosqaplus")
    is_dry: bool = flag("--dry-run", "Print the commands and run none.")
    verbose: bool = verbose("Show the traceback of an error.")
