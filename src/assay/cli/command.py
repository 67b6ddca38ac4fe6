"""Make a click command of a class of options: each stands once, with its type, default and help.

    class MixOptions(Options):
        files: tuple[Path, ...] = argument("DATA...", nargs=-1, required=True, type=PATH)
        seed: int = option("--seed N", "Seed of the rows that are drawn.", default=0)

    @command(MixOptions, example="assay rank mix a.jsonl b.jsonl --out both.jsonl")
    def mix(given: MixOptions) -> int: ...

What the annotation of a field says is not said again: a tuple is repeatable, a path is read as one, and a `str` that is
not required is empty by default. What the function returns is the exit status; nothing is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETION_VARIABLE = "_ASSAY_COMPLETE"
"""What a shell's script sets when it asks for completions."""
VERBOSE = frozenset({"-v", "--verbose"})
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
COUNT = click.IntRange(min=1)
Given = TypeVar("Given")


@dataclass_transform(frozen_default=True)
class Options:
    """The options of a command, or those that several share: each field is one, and a value is frozen."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


def complete_files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave it to the shell to offer files and folders."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def argument(metavar: str = "", **settings: Any) -> Any:
    """Declare an argument; `settings` are those of `click.Argument`."""
    completed = {} if "type" in settings else {"shell_complete": complete_files}

    def make(name: str, annotation: str) -> click.Parameter:
        implied: dict[str, Any] = {"type": PATH, "shell_complete": None} if "Path" in annotation else {}
        optional = "None" in annotation or "default" in settings
        implied |= {"nargs": -1} if annotation.startswith("tuple[") else {"required": not optional}
        return click.Argument([name], **{"metavar": metavar or None, **completed, **implied, **settings})

    return field(metadata={"make": make})


def option(*texts: str, **settings: Any) -> Any:
    """Declare an option: its names, the last one with its metavar, and its help, as `"-k", "--limit N", "Most hits."`.

    `settings` are those of `click.Option`. A default is shown.
    """
    names = [text for text in texts if text.startswith("-")]
    names[-1], _, metavar = names[-1].partition(" ")
    settings |= {"metavar": metavar} if metavar else {}
    settings |= {"help": texts[-1]} if len(names) < len(texts) else {}
    shown = settings.get("default") not in {None, "", ()} and not settings.get("is_flag")

    def make(name: str, annotation: str) -> click.Parameter:
        implied: dict[str, Any] = {"type": PATH} if "Path" in annotation else {}
        if annotation.startswith("tuple[") and "nargs" not in settings:
            implied["multiple"] = True
        elif annotation == "str" and not settings.get("required"):
            implied["default"] = ""
        return click.Option([name, *names], **{"show_default": shown, **implied, **settings})

    return field(metadata={"make": make})


def flag(*texts: str, **settings: Any) -> Any:
    """Declare an option that is there or not."""
    return option(*texts, is_flag=True, **settings)


def shared(options: type) -> Any:
    """Declare the options of another such dataclass, which several commands share."""
    return field(metadata={"shared": options})


def form(*forms: str) -> Any:
    """Declare the option that chooses between output formats; the first is the default."""
    return option("--format", type=click.Choice(forms), default=forms[0], help="The format of the output.")


def verbose(text: str = "Say more; show the traceback of an error.") -> Any:
    """Declare the option that says more."""
    return flag(*sorted(VERBOSE, key=len), help=text)


def command(
    options: type[Given], *, example: str, name: str = ""
) -> Callable[[Callable[[Given], int | None]], click.Command]:
    """Make a command of a function that takes the options, with its docstring and an example as help."""

    def of(function: Callable[[Given], int | None]) -> click.Command:
        def callback(**values: Any) -> None:
            status = function(_build_options(options, values))
            if status:
                click.get_current_context().exit(status)

        return click.Command(
            name or function.__name__,
            callback=callback,
            params=list(parameters_of(options)),
            help=f"{cleandoc(function.__doc__ or '')}\n\n\b\nExample:\n  {example}",
        )

    return of


def parameters_of(options: type) -> Iterator[click.Parameter]:
    """Return the arguments and options that a dataclass declares."""
    for each in fields(options):
        if "shared" in each.metadata:
            yield from parameters_of(each.metadata["shared"])
        else:
            yield each.metadata["make"](each.name, each.type)


def _build_options(options: type[Given], values: Mapping[str, Any]) -> Given:
    return options(
        **{
            each.name: _build_options(each.metadata["shared"], values)
            if "shared" in each.metadata
            else values[each.name]
            for each in fields(options)  # type: ignore[arg-type]
        }
    )
