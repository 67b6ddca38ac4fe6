"""Build a click command from a request: its parameters become arguments and options, its docstring the help.

    @command(Mix, example="assay rank mix a.jsonl b.jsonl --out both.jsonl")
    def mix(given: Mix) -> int: ...

What the function returns is the exit status; nothing is 0. A bad value is refused in the words of `parameters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import cleandoc
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.errors import InputError
from assay.parameters import Declared, Request, build_request, checked, parameters_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETION_VARIABLE = "_ASSAY_COMPLETE"
"""The variable that a shell's completion script sets."""
VERBOSE = frozenset({"-v", "--verbose"})
R = TypeVar("R", bound=Request)


class _Value(click.ParamType):  # type: ignore[type-arg]  # generic for a checker alone
    """The type of a parameter that is not a path."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self.name = {"int": "integer", "float": "float"}.get(declared.type, "text")

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return the choices, if there are any."""
        choices = self._declared.parameter.choices
        return f"[{'|'.join(filter(None, choices))}]" if choices else None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in the type of the field."""
        try:
            made = checked(self._declared, [value] if self._declared.annotation.startswith("tuple[") else value)
        except InputError as error:
            self.fail(str(error), param, ctx)
        return made[0] if self._declared.annotation.startswith("tuple[") else made

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete with the choices, or with the names of a kind."""
        from click.shell_completion import CompletionItem

        names = self._declared.parameter.names
        if names == "files":
            return [CompletionItem(incomplete, type="file")]
        values = self._declared.parameter.choices
        if names:
            values = sorted(_names_of(names))
        return [CompletionItem(value) for value in values if value and value.startswith(incomplete)]


def _names_of(kind: str) -> Iterable[str]:
    """Return the names that complete a value: languages, kinds of units or agents."""
    if kind == "languages":
        from assay.corpus.languages import BY_EXTENSION, BY_NAME

        return {*BY_EXTENSION.values(), *BY_NAME.values()}
    if kind == "kinds":
        from assay.values import KINDS

        return filter(None, KINDS)
    from assay.serve.agents.agents import AGENTS

    return (agent.name for agent in AGENTS)


def _type_of(declared: Declared) -> click.ParamType[Any]:
    if declared.type != "Path":
        return _Value(declared)
    kind = declared.parameter.kind
    return click.Path(
        path_type=Path,
        dir_okay=kind != "file",
        file_okay=kind not in {"folder", "existing"},
        exists=kind == "existing",
    )


def _counted(declared: Declared) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that refuses too many values, of which click converts each alone."""

    def check(context: click.Context, parameter: click.Parameter, values: Any) -> Any:
        try:
            return checked(declared, values)
        except InputError as error:
            raise click.BadParameter(str(error), context, parameter) from None

    return check


def _click_parameter(declared: Declared) -> click.Parameter:
    """Return the click parameter for a declared one."""
    one, type_ = declared.parameter, _type_of(declared)
    required = declared.is_required
    more: dict[str, Any] = {} if required or declared.is_repeatable else {"default": declared.default}  # None is one
    if not one.flags:
        more |= {"nargs": -1} if declared.is_repeatable else {}
        return click.Argument([declared.name], type=type_, required=required, metavar=one.metavar or None, **more)
    names = [declared.name, *one.flags]
    if one.is_flag:
        return click.Option(names, is_flag=True, default=declared.default, help=one.help)
    return click.Option(
        names,
        type=type_,
        required=required,
        metavar=one.metavar or None,
        multiple=declared.is_repeatable,
        nargs=one.count,
        callback=_counted(declared) if one.entries else None,
        help=one.help,
        show_default=one.is_shown if declared.default not in (None, "", ()) or isinstance(one.is_shown, str) else False,
        **more,
    )


class _Command(click.Command):
    """A command that accepts `-file:tests`, a query word that looks like an option, as `--file=!tests`."""

    def __init__(self, *args: Any, read: ArgumentReader | None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._read = read

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; unless `read` does it, convert filters first."""
        if self._read and args:
            args = self._read(args, self.get_params(ctx))
        if "--repo" in {name for each in self.params for name in each.opts}:
            from assay.search.query_filters import left_out_options

            end = args.index("--") if "--" in args else len(args)
            args = [*chain.from_iterable(map(left_out_options, args[:end])), *args[end:]]
        return super().parse_args(ctx, args)


ArgumentReader = Callable[[Sequence[str], Sequence[click.Parameter]], list[str]]
"""Translates the arguments of another program to those of click."""


def command(
    request: type[R], *, example: str, name: str = "", read: ArgumentReader | None = None
) -> Callable[[Callable[[R], int | None]], Callable[[], click.Command]]:
    """Return a decorator that makes a function of a request the builder of a command.

    Its docstring and an example are the help. A module may hold several, of which one runs. `read` says what arguments
    mean that are not written as click takes them.
    """

    def of(function: Callable[[R], int | None]) -> Callable[[], click.Command]:
        def callback(**values: Any) -> None:
            status = function(build_request(request, values))
            if status:
                click.get_current_context().exit(status)

        return lambda: _Command(
            name or function.__name__,
            read=read,
            callback=callback,
            params=list(click_parameters(request)),
            help=f"{cleandoc(function.__doc__ or '')}\n\n\b\nExample:\n  {example}",
        )

    return of


def click_parameters(request: type[Request]) -> Iterator[click.Parameter]:
    """Yield the arguments and options of a request."""
    return map(_click_parameter, parameters_of(request))
