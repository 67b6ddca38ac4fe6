"""Declare options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.parameters import Request, flag, option

if TYPE_CHECKING:
    from assay.settings import ClusterSettings

BY_QUERY, BY_PAIR = "query", "pair"


MIN_TIMEOUT_S = 0.1
"""Less processor time than this says nothing about a program."""
AUTO = "auto"


def sample(text: str) -> Any:
    """Declare the option for a random sample."""
    return option("--sample N", f"{text}  [default: all]", least=1)


class GateOptions(Request):
    """Options for the thresholds of a run."""

    floors: tuple[str, ...] = option(
        "--fail-under MEASURE=N", "Exit 1 if a figure, such as MRR or pass@1, is below N. Repeatable."
    )
    baseline: str = option(
        "--baseline FILE|COMMIT",
        "Compare with FILE, an earlier results.json, or with COMMIT, which is measured first, by questions that follow "
        "the files.",
    )
    fail_if_worse: bool = flag("--fail-if-worse", "Exit 1 on a significant loss against the baseline.")


class ClusterOptions(Request):
    """Options for the place where work runs."""

    place: str = option("--on PLACE", "Run on a Ray cluster: ray, or ray:HOST:PORT.  [default: on this machine]")
    patience_s: float | None = option(
        "--patience S",
        "With --on, seconds to wait while no machine of the cluster works; then exit 3.  [default: 600]",
        least=0,
    )

    @property
    def cluster(self) -> ClusterSettings | None:
        """Return the cluster of `--on`; None for this machine."""
        from assay.settings import PATIENCE_S, ClusterSettings

        kind, _, address = self.place.partition(":")
        if not self.place:
            if self.patience_s is not None:
                raise InputError("--patience is for --on ray: give that, too")
            return None
        if kind != "ray":
            raise InputError(f"--on {self.place}: wanted ray, or ray:HOST:PORT")
        if address.startswith("//"):
            raise InputError(
                f"--on {self.place}: Ray Client is not supported; run the command on a machine of the cluster, "
                "with --on ray"
            )
        return ClusterSettings(address, PATIENCE_S if self.patience_s is None else self.patience_s)


def out_file(what: str, default: str) -> Any:
    """Declare the option for the output file of a run."""
    return option(
        "--out FILE", f"Where {what} go; an interrupted run continues there.", kind="file", default=Path(default)
    )


def fresh() -> Any:
    """Declare the option that restarts a run instead of continuing it."""
    return flag("--fresh", "Start again; earlier results are moved to FILE.old.")


def tasks() -> Any:
    """Declare the option for the tasks of samples."""
    return option("--tasks TASKS", "Tasks of the samples, in any format of assay exec.")


def limit_tasks() -> Any:
    """Declare the option that limits a run to the first tasks."""
    return option("--limit-tasks N", "Use only the first N tasks.", least=1)


def changes(text: str = "Change one setting. Repeatable.") -> Any:
    """Declare the option that changes settings."""
    return option("--set KEY=VALUE", text)


def stop() -> Any:
    """Declare the option for the stop texts of completions."""
    rules = "human-eval, codeparrot, evalplus or none"
    text = f"Where completions end: {rules}.  [default: human-eval where the programs are not Python]"
    return option("--stop RULE", text, default="")


def budget(what: str) -> Any:
    """Declare the option for a budget for models."""
    what = f"The most {what} spend: 5usd, 2Mtok or both, with a comma.  [default: no limit]"
    return option("--budget AMOUNT", what, default="")


def rate(what: str) -> Any:
    """Declare the option for the rate limit of a model."""
    what = f"The most {what} per minute: 500req, 200ktok or both, with a comma.  [default: no limit]"
    return option("--rate AMOUNT", what, default="")


def no_cache() -> Any:
    """Declare the option that ignores cached replies."""
    return flag("--no-cache", "Do not use replies of other campaigns: ask, and pay, again.")


class ModelOptions(Request):
    """Options for the concurrency, the rate and the budget of models."""

    budget: str = budget("to")
    rate: str = rate("asked of a model")
    workers: int = option("--workers N", "Questions to a model at a time.", least=1, default=8)
    no_cache: bool = no_cache()


class SampleDraw(Request):
    """Options for a random sample of pairs."""

    size: int | None = sample("Take N at random, the same ones for the same --seed; see --sample-by.")
    by: str = option(
        "--sample-by WHAT",
        "query: N queries with all their pairs. pair: N pairs. label, or another field of the file: N pairs, each "
        "value of it in proportion.",
        default=BY_QUERY,
    )
    seed: int = option("--seed N", "The random seed of --sample.", default=0)

    def __str__(self) -> str:
        """Return the sample as text for a manifest; empty without one."""
        by = self.by if self.by in {BY_QUERY, BY_PAIR} else f"pair within {self.by}"
        return f"{self.size} by {by}, seed {self.seed}" if self.size else ""


def sandbox() -> Any:
    """Declare the option for the sandbox of programs."""
    text = "The kind of sandbox; assay doctor lists them.  [default: the strongest that works]"
    return option("--sandbox KIND", text, default="")


def timeout(what: str, *, auto: str = "") -> Any:
    """Declare the option for a limit of processor time; `auto` is the help of that value, if it exists."""
    text = f"Seconds of processor time for {what}{auto and f', or auto: {auto}'}.  [default: 5]"
    return option("--timeout S", text, least=MIN_TIMEOUT_S, word=AUTO if auto else "")


def allow() -> Any:
    """Declare the option for modules that may be installed."""
    return option("--allow FILE", "More distributions that --install may install, one a line.", kind="file")
