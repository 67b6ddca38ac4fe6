"""Print the completion script of a shell: `assay completion`."""

from __future__ import annotations

import click

from assay.cli.adapter import COMPLETION_VARIABLE, command
from assay.parameters import Options, argument

SHELLS = ("bash", "zsh", "fish")


class CompletionOptions(Options):
    """Options of `assay completion`."""

    shell: str = argument(choices=SHELLS)


@command(CompletionOptions, example="assay completion bash")
def completion(options: CompletionOptions) -> int:
    """Print the script that completes commands, options and values in a shell.

    bash: add `source <(assay completion bash)` to ~/.bashrc. zsh: add `source <(assay completion zsh)` to ~/.zshrc,
    below compinit. fish: assay completion fish > ~/.config/fish/completions/assay.fish

    Names of commands, options, languages, kinds of units, agents and formats are completed, else files.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from assay.cli.main import assay

    kind = get_completion_class(options.shell)
    assert kind is not None
    click.echo(
        ShellComplete.source(kind(assay, {}, "assay", COMPLETION_VARIABLE))
    )  # bash's own would run bash to see its version
    return 0
