"""Judge recorded pairs again from their records: `assay judge replay`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.adapter import command
from assay.errors import InputError
from assay.io.terminal import dumps, say
from assay.parameters import Options, argument, form, option, verbose


class JudgeReplayOptions(Options):
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
    from assay.operations.open_judge import replay_records

    if not given.records.is_file():
        raise InputError(f"no such file: '{given.records}'; `assay judge run` writes records")
    same = skipped = 0
    different = []
    for verdict in replay_records(given.records, given.prompts):
        skipped += verdict.skipped
        same += verdict.same
        if not verdict.same and not verdict.skipped:
            record, again = verdict.recorded, verdict.again
            different.append(f"{record['query_id']}, {record['code_id']}")
            if given.verbose:
                changed = [name for name in record if record[name] != again.get(name)]
                say(f"{different[-1]}: {', '.join(changed)} differ")
    text = f"{same:,} verdicts are the same, {len(different):,} differ, {skipped:,} had failed and have no steps"
    fields = {"same": same, "different": different, "skipped": skipped}
    click.echo(dumps(fields) if given.form == "json" else text)
    return 1 if different else 0
