"""Declare the parameters of `assay exec`: what to run, where, and with which limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.parameters import Request, argument, flag, form, option, shared, verbose
from assay.runs import options
from assay.runs.options import AUTO, ClusterOptions

if TYPE_CHECKING:
    from assay.cage.limits import Limits


class RunnerOptions(Request):
    """Options for where and how programs run."""

    workers: int | None = option("--workers N", "Programs at a time.  [default: one per core]", least=1)
    where: ClusterOptions = shared(ClusterOptions)
    kind: str = options.sandbox()
    allow_unsafe: bool = flag("--allow-unsafe", "Run even without isolation: programs can then do whatever you can.")
    timeout: float | str | None = options.timeout(
        "a program", auto="ten times what the reference takes, from 2 to 5 or four times that"
    )
    install: bool = flag("--install", "Install missing modules of allowed distributions.")
    allow: Path | None = options.allow()

    @property
    def by_reference(self) -> bool:
        """Whether limits are derived from the times of references."""
        return self.timeout == AUTO

    @property
    def limits(self) -> Limits:
        """The limits; wall time, the backstop, grows with processor time."""
        from assay.cage.limits import Limits

        return Limits().with_cpu(self.timeout) if isinstance(self.timeout, float) else Limits()


def first_failure() -> Any:
    """Declare the option that stops tests as soon as the label is certain."""
    return flag(
        "--first-failure",
        "End a program's tests at its first wrong answer; exec@k is then about the tests up to there.",
    )


class ReadingOptions(Request):
    """How programs are extracted from models' texts."""

    stop: str = options.stop()
    extract: str = option(
        "--extract HOW",
        "auto: take programs out of fences, sentences and what models add, and count it. none: run texts as written.",
        choices=("auto", "none"),
        default="auto",
    )


class ExecRequest(Request):
    """Run programs against tests, and count how each one failed."""

    tasks: Path = argument()
    samples: Path | None = argument()
    out: Path = options.out_file("outcomes", "outcomes.jsonl")
    fresh: bool = options.fresh()
    runner: RunnerOptions = shared(RunnerOptions)
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,10,100")
    first_failure: bool = first_failure()
    reading: ReadingOptions = shared(ReadingOptions)
    compare: str = option(
        "--compare HOW",
        "strict: lines in their order, numbers to one part in 100,000. official: as the harness of APPS or "
        "LiveCodeBench compares, for figures beside published ones.",
        choices=("strict", "official"),
        default="strict",
    )
    reference: bool = flag("--reference", "Run the reference solutions of the tasks, not samples.")
    limit_tasks: int | None = options.limit_tasks()
    source: str = option(
        "--from FORMAT",
        "humaneval, bigcodebench, evalplus, mbpp, apps, livecodebench, own or pytest.  "
        "[default: found by its contents]",
    )
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")
