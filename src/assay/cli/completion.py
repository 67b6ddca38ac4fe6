"""Complete values on the command line, and print the script of a shell: `assay completion`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
from assay.cli.command import COMPLETION_VARIABLE, Options, argument, command

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


SHELLS = ("bash", "zsh", "fish")


class CompletionOptions(Options):
    """Options of `assay completion`."""

    shell: str = argument(type=click.Choice(SHELLS))


@command(CompletionOptions, example="assay completion bash")
def completion(given: CompletionOptions) -> int:
    """Print the script that completes commands, options and values in a shell.

    bash: add `source <(assay completion bash)` to ~/.bashrc. zsh: add `source <(assay completion zsh)` to ~/.zshrc,
    below compinit. fish: assay completion fish > ~/.config/fish/completions/assay.fish

    Names of commands, options, languages, kinds of units, agents and formats are completed, else files.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from assay.cli.main import assay

    kind = get_completion_class(given.shell)
    assert kind is not None
    click.echo(
        ShellComplete.source(kind(assay, {}, "assay", COMPLETION_VARIABLE))
    )  # bash's own would run bash to see its version
    return 0
