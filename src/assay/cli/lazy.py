"""Import commands when they run, so that help is fast, and list the commands of groups."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from assay.errors import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


GROUPS: Mapping[str, Mapping[str, Any]] = {
    "assay.cli.bench": {
        "help": "Measure code search, with statistics.\n\n'assay bench WHAT' is short for 'assay bench run WHAT'.",
        "names": {
            "run": "Measure systems on ground truth.",
            "agent": "Replay what coding agents searched.",
            "freshness": "Measure how soon search sees a change.",
        },
        "default": "run",
        "takes": "[WHAT]",
    },
    "assay.cli.judge": {
        "help": "Label pairs of a query and a code: by test-driven agents, by evidence without a model, or by people.",
        "names": {
            "run": "Label pairs; continue an interrupted run.",
            "label": "Let people label pairs on a page.",
            "prefer": "Let people choose between two sets of answers on a page.",
            "agreement": "Compare labels with the truth and with one another.",
            "export": "Write records as a benchmark.",
            "tables": "Make the tables of CoSQA+.",
        },
        "elsewhere": dict.fromkeys(("label", "prefer", "agreement"), "assay.cli.judge_labels"),
    },
    "assay.cli.rank": {
        "help": "Order candidate programs so that a right one comes early, without running them.\n\n"
        "'assay rank SAMPLES' is short for 'assay rank order SAMPLES'. The other commands make the data of a ranker, "
        "train one, and measure how good an order is.",
        "names": {
            "order": "Order candidate programs: best first.",
            "eval": "Measure orders: ranked pass@k beside unranked.",
            "data": "Make a dataset from samples.",
            "mix": "Mix datasets into one, or convert one.",
            "sample": "Let a model write programs for tasks.",
            "train": "Train a neural ranker.",
            "compare": "Compare rankers over sets, models and prompts.",
            "tables": "Make the tables of CodeRanker.",
        },
        "elsewhere": dict.fromkeys(("data", "mix", "sample", "train", "tables"), "assay.cli.rank_data"),
        "default": "order",
        "takes": "SAMPLES",
    },
    "assay.cli.train": {
        "help": "Train a part on data of your own.",
        "names": {
            "encoder": "Train a static encoder, or fine-tune a transformer.",
            "generator": "Fine-tune a language model that writes programs.",
            "judge": "Train the weights of the judge that asks no model.",
            "ranking": "Train the weights of the ranking.",
        },
    },
    "assay.cli.truth": {
        "help": "Extract, write, check, audit, correct and convert ground truth: queries, and the places that answer "
        "them.",
        "names": {
            "mine": "Extract ground truth from a repository.",
            "write": "Have a language model write questions about a repository.",
            "check": "Find places that are wrong or gone.",
            "audit": "Find duplicates and contradictions; ask judges.",
            "correct": "Add right answers that search finds.",
            "convert": "Convert between formats.",
        },
    },
}


class Lazy(click.Group):
    """Commands by name, each with a line of help; the commands of a family are in one module, or in a few."""

    def __init__(
        self,
        *args: Any,
        names: Mapping[str, str],
        module: str = "",
        elsewhere: Mapping[str, str] = MappingProxyType({}),
        default: str = "",
        takes: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._names, self._module, self._elsewhere, self._default = names, module, elsewhere, default
        self._is_bare = takes.startswith("[")
        if default:
            self.subcommand_metavar = f"{takes} | COMMAND [ARGS]..."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in an order for new users."""
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._names:
            return None
        module = self._elsewhere.get(cmd_name) or self._module or f"assay.cli.{cmd_name}"
        if not self._module and module in GROUPS and cmd_name not in self._elsewhere:
            command: click.Command = Lazy(cmd_name, module=module, **GROUPS[module])
        else:
            command = getattr(import_module(module), cmd_name)()
        command.short_help = self._names[cmd_name]
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command, if there is one, before options and paths."""
        args = args or ([self._default] if self._is_bare else [])
        first = args[0] if args else "--help"
        is_path = Path(first).suffix or "/" in first or first.startswith("-") or Path(first).exists()
        if self._default and is_path and first not in {*self._names, "-h", "--help"}:
            args = [self._default, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._names.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the commands without importing any, and the options of the group."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in self._names.items() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments, or suggest a similar one."""
        if args[0] not in self._names and not args[0].startswith("-"):
            unknown = "no file or folder '{}', and no command of that name" if self._default else "unknown command '{}'"
            ctx.fail(f"{unknown.format(args[0])}; {nearest(args[0], list(self._names))}")
        return super().resolve_command(ctx, args)
