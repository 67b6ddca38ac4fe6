"""Make a token for a person, whose hash a server keeps: `assay token`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.adapter import command
from assay.parameters import Options, argument, option


class TokenOptions(Options):
    """Options of `assay token`."""

    name: str = argument("NAME")
    tokens: Path | None = option(
        "--tokens FILE", "Add the hash to FILE, which assay serve --tokens reads.", kind="file"
    )


@command(TokenOptions, example="assay token ann --tokens tokens.txt")
def token(given: TokenOptions) -> None:
    """Make a token with which the person NAME can use a server.

    Prints the token, which is stored nowhere. FILE gets a line with the name and the SHA-256 of the token; without
    --tokens that line is printed on standard error. To take the token back, remove the line, and reload the server.
    """
    from assay.serve.http.access import add_token, line_of, new_token

    if given.tokens:
        click.echo(add_token(given.tokens, given.name))
        return
    made = new_token()
    line = line_of(given.name, made)
    click.echo(made)
    click.echo(line, err=True)
