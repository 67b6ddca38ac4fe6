"""`python -m assay`, and what the command `assay` starts: the command line, quiet if interrupted while it loads."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and exit with its status; 130 where Ctrl-C came before it could take care of that."""
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


if __name__ == "__main__":
    main()
