"""The beginning of a value on the command line to the values that a shell offers for it.

A value that people look up is completed from the table that checks it. That is read only when a shell asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_languages(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the languages that files can be written in."""
    from assay.corpus.languages import BY_EXTENSION, BY_NAME

    return _starting({*BY_EXTENSION.values(), *BY_NAME.values()}, incomplete)


def complete_kinds(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the kinds of units."""
    from assay.values import KINDS

    return _starting(filter(None, KINDS), incomplete)


def complete_agents(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the coding agents that can be configured."""
    from assay.serve.agents.agents import AGENTS

    return _starting((agent.name for agent in AGENTS), incomplete)


def _starting(values: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(value) for value in sorted(values) if value.startswith(incomplete)]
