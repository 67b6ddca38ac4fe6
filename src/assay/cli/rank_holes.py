"""`assay rank holes`: a repository in, a data set of candidates for holes in it out, labelled by its own tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from assay.cli import options
from assay.cli.command import COUNT, PATH, argument, command, form, option, verbose
from assay.cli.rank_parts import tell


@dataclass(frozen=True, slots=True)
class RankHolesOptions:
    """Options of `assay rank holes`."""

    repository: Path = argument(type=PATH)
    out: Path = option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("holes"),
        metavar="FOLDER",
        help="Where samples and outcomes go; an interrupted run continues there.",
    )
    holes: int = option("--holes", type=COUNT, default=20, metavar="N", help="Functions to take out, at most.")
    older: int = option("--older", type=click.IntRange(min=0), default=8, metavar="N", help="Older versions of each.")
    mutants: int = option("--mutants", type=click.IntRange(min=0), default=8, metavar="N", help="Mutants of each.")
    alike: int = option(
        "--alike", type=click.IntRange(min=0), default=8, metavar="N", help="Similar functions for each."
    )
    tests: int = option("--tests", type=COUNT, default=30, metavar="N", help="Tests that decide about a hole, at most.")
    encoder: str = option(
        "--encoder", default="static:default", metavar="SPEC", help="The encoder that finds similar functions."
    )
    sandbox: str = options.sandbox()
    seed: int = option("--seed", default=0, metavar="N", help="The random seed that draws functions and mutants.")
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(RankHolesOptions, example="assay rank holes . --out holes --holes 10")
def holes(given: RankHolesOptions) -> None:
    """Make a labelled dataset from REPOSITORY: functions that its tests run, and what might stand in their place.

    REPOSITORY is a git repository whose tests run with pytest; what is committed counts. Each function that a passing
    test runs may become a hole. Its candidates are the function itself, its older versions from the history, mutants of
    it, and the functions of the repository that are most similar to what it asks for. Each is right if the tests that
    run the function pass with it. All runs in the sandbox, with the modules of this Python.

    FOLDER gets samples.jsonl and outcomes.jsonl, which 'assay rank eval' takes; the ranker cosine orders them as a
    search by meaning does.
    """
    from tempfile import TemporaryDirectory

    from assay import plugins
    from assay.cage.open_cage import open_sandbox
    from assay.cli.progress import progress
    from assay.errors import counted
    from assay.io.terminal import dumps, say
    from assay.rank.holes.hole_candidates import HoleCandidateCounts
    from assay.rank.holes.hole_runs import HARNESS, RUN, check_out, pytest_folder
    from assay.rank.holes.make_holes import HoleOptions, make_holes

    counts = HoleCandidateCounts(given.older, given.mutants, given.alike)
    wanted = HoleOptions(given.holes, counts, given.tests, given.seed)
    encoder = plugins.make("encoder", given.encoder)
    with TemporaryDirectory(prefix="assay-holes-") as place:
        checkout = check_out(given.repository, Path(place) / "repository")
        with (
            open_sandbox(given.sandbox, RUN, 2, paths=(checkout, pytest_folder()), harness=HARNESS) as runner,
            progress() as watch,
        ):
            say(f"tests run in the sandbox '{runner.name}'")
            made = make_holes(given.repository, given.out, runner, encoder, wanted, checkout=checkout, report=watch)
    tell(made.problems, verbose=given.verbose)
    if given.form == "json":
        click.echo(dumps(asdict(made)))
        return
    click.echo(f"{counted(made.holes, 'hole')}, {counted(made.candidates, 'candidate')}, {made.right:,} right")
    for origin, (count, right) in made.origins.items():
        click.echo(f"  {origin:<10} {count:>6,}  {right:>6,} right")
    say(f"written to {given.out}: samples.jsonl, outcomes.jsonl")
