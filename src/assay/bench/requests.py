"""Declare what `assay bench` may be asked."""

from __future__ import annotations

from pathlib import Path

from assay.judge.requests import signals_encoder, signals_prior
from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs.options import GateOptions


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
