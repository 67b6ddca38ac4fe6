"""`assay truth`: make, check, clean and translate ground truth; one file a command, loaded when it runs."""

from __future__ import annotations

from importlib import import_module

import click

from assay.errors import nearest

COMMANDS = ("mine", "check", "audit", "convert", "pool")
"""Each is the attribute of its own name in `assay.cli.truth_NAME`."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"assay.cli.truth_{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"unknown command '{args[0]}'; {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.command(cls=_Commands, short_help="Make, check and translate ground truth.")
def truth() -> None:
    """Make, check, clean and translate ground truth: queries, and what answers them."""
