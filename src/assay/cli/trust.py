"""`assay trust`: decide which settings files of repositories may choose models and places."""

from __future__ import annotations

import click

from assay.cli.adapter import command
from assay.errors import InputError
from assay.parameters import Options, argument, flag


class TrustOptions(Options):
    """Options of `assay trust`."""

    path: str = argument("[PATH]", default=".")
    revoke: bool = flag("--revoke", "Trust the file no longer.")
    listed: bool = flag("--list", "List the trusted files, and which have changed since.")
    dry_run: bool = flag("--dry-run", "Show what the file asks for; change nothing.")


@command(TrustOptions, example="assay trust . --dry-run")
def trust(options: TrustOptions) -> int:
    """Let the assay.toml in the folder PATH choose models and places.

    The settings file of a repository may always say how code is cut, weighed and shown. What names a model, an
    address, a folder or a bucket, or stops the index from following the files, is used only if you trust the file:
    it is shown, and the hash of the file is kept in your data folder. A file that changes is no longer trusted.

    Exits 0, or with --list 1 if no file is trusted.
    """
    from assay.corpus.addresses import is_url
    from assay.operations.indexes import root_of
    from assay.operations.root_settings import UserSettings, as_toml, is_trusted, read_root_file, revoke, root_settings
    from assay.operations.root_settings import trust as keep_trust
    from assay.settings import FILE, USER_ONLY

    if options.listed:
        return _list()
    if is_url(options.path):
        raise InputError(
            f"the {FILE} of a repository that is given by URL is never read: give what you want as options"
        )
    root = root_of(options.path)
    if options.revoke:
        known = revoke(root)
        click.echo(f"{root / FILE} is {'no longer' if known else 'not'} trusted")
        return 0
    file = read_root_file(root)
    if file is None:
        raise InputError(f"no {FILE} in '{options.path}' that could be trusted")
    needs = file.needs_trust(root_settings(None, UserSettings()))
    if not needs:
        click.echo(f"{file.path} asks for nothing that needs trust")
        return 0
    click.echo(f"{file.path} asks for")
    for name, value in needs.items():
        click.echo(f"  {name} = {as_toml(value)}\n    {USER_ONLY[name]}")
    if options.dry_run:
        click.echo(f"It is {'trusted' if is_trusted(file) else 'not trusted'}.")
        return 0
    keep_trust(file)
    click.echo("Trusted until it changes; assay trust --revoke takes that back.")
    return 0


def _list() -> int:
    from pathlib import Path

    from assay.operations.root_settings import read_root_file, trusted_files

    kept = trusted_files()
    for path, digest in sorted(kept.items()):
        file = read_root_file(Path(path).parent)
        state = "" if file and file.sha256 == digest else "  (changed since: not trusted)"
        click.echo(f"{path}{state}")
    return 0 if kept else 1
