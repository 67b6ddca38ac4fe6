"""Run a command line: 0 found, 1 nothing found, 2 an error, 3 no worker left, 130 interrupted.

A command's module is imported when the command runs; what is heavy is imported inside its function,
so that help costs next to nothing. Whatever goes wrong is one line on standard error; `-v` adds the traceback.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click

from assay import __version__
from assay.cli.adapter import COMPLETION_VARIABLE, VERBOSE
from assay.cli.lazy import Lazy
from assay.errors import AssayError, InputError, Notice, WorkersLost, printable

COMMANDS = {
    "search": "Find code by meaning.",
    "index": "Build or update an index.",
    "related": "Find code related to a place.",
    "outline": "List what files declare.",
    "pattern": "Find code by its structure.",
    "read": "Print a unit, or lines, of a file.",
    "grep": "Find every line that matches, as grep does, the best files first.",
    "log": "Find commits by meaning, author, date and path.",
    "status": "Show what an index holds, what it leaves out, and what changed.",
    "watch": "Keep indexes up to date while files change.",
    "mcp": "Serve search to agents (MCP).",
    "serve": "Serve a search page and an HTTP API.",
    "trust": "Let the settings file of a repository choose models and places.",
    "token": "Make a token for a person who may use a server.",
    "install": "Let coding agents use `assay mcp`.",
    "hook": "Answer the hook of a coding agent.",
    "truth": "Extract, check and convert ground truth.",
    "bench": "Measure code search, with statistics.",
    "exec": "Run programs safely and say how each one failed.",
    "candidates": "Choose the pairs of query and code worth judging.",
    "judge": "Label pairs of a query and a code.",
    "rank": "Order candidate programs so that a right one comes early.",
    "train": "Train a part on data of your own.",
    "completion": "Print the completion script of a shell.",
    "doctor": "Check that everything works here.",
}


def _choose_color(context: click.Context, _: click.Parameter, value: str) -> None:
    """Store the value of --color where click and every command find it; None leaves it to the terminal."""
    context.color = {"always": True, "never": False}.get(value)


@click.command(
    cls=Lazy,
    names=COMMANDS,
    elsewhere={
        "candidates": "assay.cli.judge",
        "hook": "assay.cli.install",
        "token": "assay.cli.serve",
        **dict.fromkeys(("search", "related", "outline", "pattern", "read", "log", "status"), "assay.cli.find"),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    expose_value=False,
    callback=_choose_color,
    help="Print in color.  [default: auto: on a terminal, unless NO_COLOR is set, and where FORCE_COLOR is]",
)
@click.version_option(__version__, prog_name="assay", message="%(prog)s %(version)s")
def assay() -> None:
    """Find code, judge it, rank candidate programs, and measure all of it: offline, without a key."""


def main() -> None:
    """Run the command line and exit with its status."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # None: closed by the caller
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names of any bytes can be printed
    warnings.showwarning = _say_warning
    if asked := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(assay, {}, "assay", COMPLETION_VARIABLE, asked))
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""

    def work() -> None:
        with assay.make_context("assay", list(arguments)) as context:
            assay.invoke(context)

    is_grep = [*arguments[:1]] == ["grep"]  # whose -v means something else
    return guarded(work, verbose=not is_grep and not VERBOSE.isdisjoint(arguments))


def run_shown(words: Sequence[str], *, is_dry: bool = False, is_quiet: bool = False) -> None:
    """Print a command and run it, hiding its output if it is quiet; raise an error if it fails."""
    from shlex import join

    click.echo(f"$ {join(('assay', *words))}")
    if is_dry:
        return
    with redirect_stdout(StringIO()) if is_quiet else nullcontext():
        status = run(words)
    if status:
        raise InputError(f"'{words[0]} {words[1]}' ended with status {status}: its output is above")


def guarded(work: Callable[[], None], *, verbose: bool = False) -> int:
    """Run some work and return its exit status; any exception becomes one line on standard error."""
    try:
        work()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", status=130)
    except BrokenPipeError:  # nobody reads on: that is success
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except click.ClickException as error:
        return _refused(error)
    except (AssayError, OSError) as error:
        return _say(_explained(error), status=3 if isinstance(error, WorkersLost) else 2, traceback=verbose)
    except Exception as error:  # noqa: BLE001  # the outermost place: a person gets a line, `-v` the rest
        what = f"{type(error).__name__}: {error}"
        return _say(f"internal error, please report it: {what} (-v shows where)", traceback=verbose)
    return 0


def _say(message: str, *, status: int = 2, traceback: bool = False) -> int:
    """Print one line to standard error, after the traceback if that was requested."""
    if traceback:
        from traceback import print_exc

        print_exc()
    click.echo(f"assay: {printable(message)}", err=True)
    return status


def _say_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any
) -> None:
    """Print a warning for users on one line; other warnings are for developers."""
    if issubclass(category, Notice):
        click.echo(f"assay: {printable(str(message))}", err=True)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _refused(error: click.ClickException) -> int:
    """Print the error of click, and where help is; without arguments, print help."""
    message = error.format_message()
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(message, err=True)
        return 2
    context = getattr(error, "ctx", None)
    message = message.rstrip(".")
    if isinstance(error, click.NoSuchOption) and (meant := _MEANT.get(error.option_name)) and context:
        known = {name for parameter in context.command.params for name in parameter.opts}
        message += f": it is called {meant} here" if meant in known else ""
    if type(error) is click.BadParameter and error.param:
        message = f"{_parameter_name(error.param)}: {error.message.rstrip('.')}"
    return _say(f"{message}; see {context.command_path} --help" if context else message)


_MEANT = {"--truth": "--gold"}
"""The names of options in other programs, and here."""


def _parameter_name(parameter: click.Parameter) -> str:
    """Return the name of a parameter for users: an option's long name, an argument's metavar."""
    if parameter.param_type_name == "option":
        return max(parameter.opts, key=len)
    return str(parameter.metavar or (parameter.name or "").upper())


def _explained(error: Exception) -> str:
    """Return an error as a message for people; for a full disk, it mentions the index."""
    if isinstance(error, AssayError):
        return str(error)
    assert isinstance(error, OSError)
    what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error.strerror or error)
    return f"{what}; the index is as it was before" if error.errno == errno.ENOSPC else what


if __name__ == "__main__":
    main()
