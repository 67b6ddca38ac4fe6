"""Complete values on the command line from the tables that check them, which are read only when a shell asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _completing(values: Callable[[], Iterable[str]]) -> Complete:
    def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(value) for value in sorted(values()) if value.startswith(incomplete)]

    return complete


def _languages() -> Iterable[str]:
    from assay.corpus.languages import BY_EXTENSION, BY_NAME

    return {*BY_EXTENSION.values(), *BY_NAME.values()}


def _kinds() -> Iterable[str]:
    from assay.values import KINDS

    return filter(None, KINDS)


def _agents() -> Iterable[str]:
    from assay.serve.agents.agents import AGENTS

    return (agent.name for agent in AGENTS)


complete_languages, complete_kinds, complete_agents = map(_completing, (_languages, _kinds, _agents))
