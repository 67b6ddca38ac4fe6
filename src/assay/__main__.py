"""`python -m assay`, and what the command `assay` starts: the command line, quiet if interrupted while it loads."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line and exit with its status; 130 if Ctrl-C came before it could handle that."""
    if sys.path and not sys.flags.safe_path and _is_current_folder(sys.path[0]):
        del sys.path[0]  # `python -m` puts it there: what is imported from now on may be a file of a repository
    try:
        from assay.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("assay: interrupted\n")
        sys.exit(130)
    finally:
        # CPython remembers an interrupt inside `exec` of a text (each dataclass is one) until the next such text, and
        # `python -m` would end by the signal instead of with the status.
        exec("")  # noqa: S102  see above
        gc.freeze()  # what is left ends with the process: to look through it for cycles takes a tenth of a search


def _is_current_folder(folder: str) -> bool:
    """Return whether a folder of the import path is the current one, unless this package lies in it."""
    here = os.getcwd()  # noqa: PTH109  pathlib takes 10 ms
    return folder in {"", here} and here != os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


if __name__ == "__main__":
    main()
