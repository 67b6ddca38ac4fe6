"""`assay judge replay`: records in, the same verdicts told again without a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from assay.cli.command import argument, command, form, option, verbose


@dataclass(frozen=True, slots=True)
class JudgeReplayOptions:
    """Options of `assay judge replay`."""

    records: Path = argument()
    prompts: Path | None = option("--prompts FOLDER", "Use the prompt files in FOLDER.  [default: those that ship]")
    form: str = form("text", "json")
    verbose: bool = verbose("Name what differs; show the traceback of an error.")


@command(JudgeReplayOptions, example="assay judge replay records.jsonl")
def replay(given: JudgeReplayOptions) -> int:
    """Judge the pairs of RECORDS again from the replies and runs in it: no model, no sandbox, no network.

    Exits 0 if every verdict is the same, 1 if one differs, 2 on an error.
    """
    from assay.assemble.open_judge import replay_records
    from assay.errors import InputError
    from assay.io.terminal import dumps, say

    if not given.records.is_file():
        raise InputError(f"no such file: '{given.records}'; `assay judge run` writes records")
    same = skipped = 0
    different = []
    for told in replay_records(given.records, given.prompts):
        skipped += told.skipped
        same += told.same
        if not told.same and not told.skipped:
            record, again = told.recorded, told.again
            different.append(f"{record['query_id']}, {record['code_id']}")
            if given.verbose:
                changed = [name for name in record if record[name] != again.get(name)]
                say(f"{different[-1]}: {', '.join(changed)} differ")
    if given.form == "json":
        click.echo(dumps({"same": same, "different": different, "skipped": skipped}))
    else:
        click.echo(
            f"{same:,} verdicts are the same, {len(different):,} differ, {skipped:,} had failed and have no steps"
        )
    return 1 if different else 0
