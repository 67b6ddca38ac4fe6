"""The options that commands share, so that one name means one thing everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.parameters import Options, flag, option, verbose

if TYPE_CHECKING:
    from assay.runs.draw_sample import SampleDraw
    from assay.settings import ClusterSettings, Settings


def sample(text: str) -> Any:
    """Declare the option that takes some of many, drawn."""
    return option("--sample", least=1, metavar="N", help=f"{text}  [default: all]")


def signals_encoder(name: str, text: str) -> Any:
    """Declare an option that names the encoder whose cosine the judge signals goes by."""
    return option(name, default="", metavar="SPEC", help=f"{text}  [default: none]")


def signals_prior(name: str, text: str) -> Any:
    """Declare an option that says what fraction of matches is expected."""
    return option(name, text, least=0, most=1, is_open=True, default=0.5, metavar="P")


class SettingsOptions(Options):
    """What the options say about settings."""

    location: str | None = option(
        "--index PLACE", "Where the index is: a folder, or s3://BUCKET/PREFIX.  [default: in the user's cache]"
    )
    encoder: str | None = option("--encoder SPEC", "The encoder, such as hf:NAME.  [default: static:default]")
    config: Path | None = option("--config FILE", "The settings file.  [default: assay.toml in the searched folder]")
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change a setting, as in search.limit=5. Repeatable.")
    verbose: bool = verbose()

    def settings(self, root: Path | None, *, limit: int | None = None) -> Settings:
        """Return the settings of a root; without one, those for what others wrote, whose own file is never read."""
        from assay.operations.root_settings import UserSettings, root_settings
        from assay.store.place import located

        named = {
            "index.location": located(self.location, Path.cwd()) if self.location else None,
            "encoder.spec": self.encoder,
            "search.limit": limit,
        }
        options = {key: value for key, value in named.items() if value is not None}
        return root_settings(root, UserSettings(self.config, self.changes, options))


class RootsOptions(Options):
    """Options that select roots."""

    places: tuple[str, ...] = option(
        "--roots FILE|GLOB",
        "Search the folders and URLs that FILE lists, one a line, or the folders that match GLOB. Repeatable.",
    )

    def roots(self, paths: Sequence[str]) -> list[str]:
        """Return the roots to search, by default the current folder."""
        from assay.operations.many_roots import roots_in

        return [*paths, *roots_in(self.places)] or ["."]


class GateOptions(Options):
    """What the options say about what a run has to reach."""

    floors: tuple[str, ...] = option(
        "--fail-under MEASURE=N", "Exit 1 if a figure is below N, as in MRR=0.5. Repeatable."
    )
    baseline: Path | None = option("--baseline FILE", "Compare with FILE, an earlier results.json.")
    fail_if_worse: bool = flag("--fail-if-worse", "Exit 1 on a significant loss against the baseline.")


class UnseenOptions(Options):
    """What the options say about who judges what nobody judged."""

    spec: str = option(
        "--judge-unseen SPEC",
        "Label unjudged answers with a judge (signals, signals:FOLDER or CONFIG:CHAT), and also measure with these "
        "labels.",
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


class ClusterOptions(Options):
    """What the options say about where work is done."""

    place: str = option("--on PLACE", "Run on a Ray cluster: ray, or ray:HOST:PORT.  [default: on this machine]")
    patience_s: float | None = option(
        "--patience S",
        "With --on, seconds to wait while no machine of the cluster works; then exit 3.  [default: 600]",
        least=0,
    )

    @property
    def cluster(self) -> ClusterSettings | None:
        """Return which cluster is meant, None for this machine."""
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


def page_port() -> Any:
    """Declare the option that says on which port a page is served to one person."""
    return option(
        "--port",
        least=0,
        most=65535,
        default=0,
        metavar="PORT",
        show=False,
        help="Port of the page.  [default: any free port]",
    )


def source() -> Any:
    """Declare the option that says how a ground truth is written."""
    return option("--from", default="", metavar="FORM", help="The format of FILE.  [default: found by its contents]")


def out_file(what: str, default: str) -> Any:
    """Declare the option that says where a run writes."""
    return option("--out FILE", f"Where {what} go; an interrupted run continues there.", kind="file", default=default)


def fresh() -> Any:
    """Declare the option that begins a run again instead of going on with it."""
    return flag("--fresh", help="Start again; earlier results are moved to FILE.old.")


def no_refresh() -> Any:
    """Declare the option that takes an index as it is."""
    return flag("--no-refresh", help="Search the index as it is, without updating it.")


def tasks() -> Any:
    """Declare the option that says what samples are for."""
    return option("--tasks", metavar="TASKS", help="Tasks of the samples, in any format of assay exec.")


def stop() -> Any:
    """Declare the option that says where completions end."""
    return option(
        "--stop",
        default="",
        metavar="RULE",
        help="Where completions end: human-eval, codeparrot, evalplus or none.  [default: human-eval]",
    )


def budget(what: str) -> Any:
    """Declare the most that something may spend on a model."""
    what = f"The most {what} spend: 5usd, 2Mtok or both, with a comma.  [default: no limit]"
    return option("--budget", default="", metavar="AMOUNT", help=what)


def rate(what: str) -> Any:
    """Declare the most that something may ask of a model in a minute."""
    what = f"The most {what} per minute: 500req, 200ktok or both, with a comma.  [default: no limit]"
    return option("--rate", default="", metavar="AMOUNT", help=what)


class PairSampleOptions(Options):
    """What the options say about a sample of pairs."""

    sample: int | None = sample("Take N at random, the same ones for the same --seed; see --sample-by.")
    sample_by: str = option(
        "--sample-by WHAT",
        "query: N queries with all their pairs. pair: N pairs. label, or another field of the file: N pairs, each "
        "value of it in proportion.",
        default="query",
    )
    seed: int = option("--seed N", "The random seed of --sample.", default=0)

    def draw(self) -> SampleDraw:
        """Return what is to be drawn."""
        from assay.runs.draw_sample import SampleDraw

        return SampleDraw(self.sample or 0, self.seed, self.sample_by)


def sandbox() -> Any:
    """Declare the option that chooses where programs run."""
    return option(
        "--sandbox",
        default="",
        metavar="KIND",
        help="The kind of sandbox; assay doctor lists them.  [default: the strongest that works]",
    )


def timeout(what: str, *, auto: str = "") -> Any:
    """Declare the option that limits the processor time of something; `auto` is the help of that value, if any."""
    return option(
        "--timeout",
        least=LEAST_S,
        word=AUTO if auto else "",
        metavar="S",
        help=f"Seconds of processor time for {what}{auto and f', or auto: {auto}'}.  [default: 5]",
    )


def allow() -> Any:
    """Declare the option that says what may be installed besides."""
    return option(
        "--allow", kind="file", metavar="FILE", help="More distributions that --install may install, one a line."
    )


LEAST_S = 0.1
"""Less processor time than this says nothing about a program."""
AUTO = "auto"
