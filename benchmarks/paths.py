"""Trace one command through the package: files in the order of their first call, and hops between rooms.

    python benchmarks/paths.py search "where are retries handled" src
    python benchmarks/paths.py exec HumanEval.jsonl --reference --limit-tasks 1 --fresh --out /tmp/outcomes.jsonl

A hop is two files that follow one another in that list and lie in different rooms. Imports do not count, nor what a
module calls when it is imported; processes that the command starts are not followed.

    python benchmarks/paths.py lines src/assay

counts the lines of a package by room: all, and those of code, without comments, docstrings and blank lines.

    python benchmarks/paths.py warm "where are retries handled" src

counts how often one warm query of an open `assay.Index` changes from a file of the package to another: two calls that
follow one another, of functions in different files. Other questions are asked first, this one was not.
"""

from __future__ import annotations

import ast
import io
import sys
import threading
import tokenize
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import assay
import assay.cli.main
from assay.cli.main import run

ROOT = Path(assay.cli.main.__file__).parent.parent


def main() -> None:
    """Run a command under a profile function and print its path."""
    files: dict[str, None] = {}
    importing: Counter[int] = Counter()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        name, thread = frame.f_code.co_filename, threading.get_ident()
        if frame.f_code.co_name == "<module>":  # and what it calls: classes, decorators, declarations
            importing[thread] += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing[thread] and not frame.f_code.co_name.startswith("<"):
            files[name] = None

    threading.setprofile(seen)
    sys.setprofile(seen)
    status = run(sys.argv[1:])
    sys.setprofile(None)
    path = [str(Path(name).relative_to(ROOT)) for name in files if Path(name).is_relative_to(ROOT)]
    rooms = [name.partition("/")[0] for name in path]
    hops = sum(one != other for one, other in pairwise(rooms))
    print(f"exit {status}: {len(path)} files, {hops} hops between {len(set(rooms))} rooms", *path, sep="\n  ")


OTHERS = ("where are settings read", "how does it work", "tests of errors")


def print_warm_changes(question: str, folder: str) -> None:
    """Ask an open index and print the changes of file, those that are most frequent first."""
    index = assay.Index(folder)
    for other in OTHERS:
        index.search(other)
    files: list[str] = []

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT}/"):
            files.append(str(Path(frame.f_code.co_filename).relative_to(ROOT)))

    sys.setprofile(seen)
    index.search(question)
    sys.setprofile(None)
    changes = Counter(pair for pair in pairwise(files) if pair[0] != pair[1])
    print(f"{changes.total():,} changes of file in {len(files):,} calls of {len(set(files))} files")
    for (one, other), count in changes.most_common(20):
        print(f"{count:>6,}  {one} -> {other}")


NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Return how many lines hold a token that is neither comment nor docstring."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    held = {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            held -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(held)


def count_lines(root: Path) -> None:
    """Print the lines of each room, and of all."""
    every, code = Counter[str](), Counter[str]()
    for file in root.rglob("*.py"):
        parts = file.relative_to(root).parts
        source = file.read_text("utf-8")
        for room in (parts[0] if len(parts) > 1 else "(top)", "all"):
            every[room] += source.count("\n")
            code[room] += code_lines(source)
    for room in sorted(every, key=lambda name: (name == "all", name)):
        print(f"{room:<10} {every[room]:>7,} {code[room]:>7,}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["lines"]:
        count_lines(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["warm"]:
        print_warm_changes(*sys.argv[2:])
    else:
        main()
