"""Lines of a package by room: all, and those of code, without comments, docstrings and blank lines.

python benchmarks/lines.py src/assay
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

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


def main() -> None:
    """Print the lines of each room, and of all."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "src/assay")
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
    main()
