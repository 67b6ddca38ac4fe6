"""`assay judge replay`: records in, the same verdicts told again without a model."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import options


@click.command(short_help="Tell verdicts again from their records.")
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--prompts", type=click.Path(path_type=Path), metavar="FOLDER", help="Prompt files of your own.")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name what differs; show the traceback of an error.")
@click.pass_context
def replay(context: click.Context, records: Path, prompts: Path | None, form: str, verbose: bool) -> None:
    """Judge the pairs of RECORDS again from the replies and runs that stand there: no model, no sandbox, no network.

    Leaves with 0 when every verdict is the same, 1 when one differs, 2 on an error.
    """
    from assay.cli.answer import dumps
    from assay.cli.workspaces import say
    from assay.errors import InputError
    from assay.judge.opening import replayed

    if not records.is_file():
        raise InputError(f"no such file: '{records}'; `assay judge run` writes records")
    same = skipped = 0
    different = []
    for told in replayed(records, prompts):
        skipped += told.skipped
        same += told.same
        if not told.same and not told.skipped:
            record, again = told.recorded, told.again
            different.append(f"{record['query_id']}, {record['code_id']}")
            if verbose:
                changed = [name for name in record if record[name] != again.get(name)]
                say(f"{different[-1]}: {', '.join(changed)} differ")
    if form == "json":
        click.echo(dumps({"same": same, "different": different, "skipped": skipped}))
    else:
        click.echo(
            f"{same:,} verdicts are the same, {len(different):,} differ, {skipped:,} had failed and have no steps"
        )
    context.exit(1 if different else 0)
