"""A group of commands that imports one when it is asked for, so that help costs next to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from assay.errors import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Lazy(click.Group):
    """Commands by name, each with one line about it; each is the attribute of its name in a module that ends in it."""

    def __init__(self, *args: Any, names: Mapping[str, str], modules: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._names = names
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer meets them."""
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._names:
            return None
        command: click.Command = getattr(import_module(f"{self._modules}{cmd_name}"), cmd_name)
        command.short_help = self._names[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._names.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands without importing one, and the options of the group."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in self._names.items() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments, or say which one may have been meant."""
        if args[0] not in self._names and not args[0].startswith("-"):
            ctx.fail(f"unknown command '{args[0]}'; {nearest(args[0], list(self._names))}")
        return super().resolve_command(ctx, args)
