"""Add functions of CodeSearchNet's Python repositories to CoSQA's: a stand-in for the corpus of CoSQA+'s table V.

    assay truth audit COSQA/valid-00000-of-00001.parquet --collapse cosqa.jsonl
    python benchmarks/standin.py CLONES annotationStore.csv cosqa.jsonl standin.jsonl
    assay judge tables table5 --truth standin.jsonl --only bow --only bm25 --only static --only assay

CLONES holds git repositories as OWNER+NAME or OWNER+NAME/repo, bare or not. Those that CodeSearchNet's annotations name
for Python are read at the commit named there. As in that data set, a function stands in a module or class, has a
docstring of 3 words or more and at least 3 lines, and its name neither holds "test" nor is `__special__`; its text
begins at `def` and includes the docstring, as CoSQA's does. Files that Python 3 cannot parse are left out, and so is a
function that equals an earlier one or one of CoSQA, but for docstring, comments and layout. Queries and labels stay
CoSQA's: an added function that answers a query counts as wrong, so figures are lower bounds.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import random
import re
import subprocess
import tarfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

URL = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/([0-9a-f]{40})/")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def pinned(annotations: Path) -> dict[str, str]:
    """Commit by name of each annotated Python repository."""
    with annotations.open(encoding="utf-8", newline="") as file:
        found = (URL.match(row["GitHubUrl"]) for row in csv.DictReader(file) if row["Language"] == "Python")
        return {url[1]: url[2] for url in found if url}


def sources(folder: Path, commit: str) -> Iterator[tuple[str, str]]:
    """Path and text of each Python file; FileNotFoundError without the repository or its commit."""
    for place in (folder / "repo", folder):
        command = ["git", "-C", str(place), "archive", "--format=tar", commit, "--", ":(glob)**/*.py"]
        packed = subprocess.run(command, capture_output=True, check=False)
        if packed.returncode == 0:
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                for member in archive:
                    if data := archive.extractfile(member) if member.isfile() else None:
                        yield member.name, data.read().decode("utf-8", errors="replace")
            return
    raise FileNotFoundError(f"no {commit} in {folder}")


def parsed(text: str) -> ast.Module:
    """The syntax tree, an empty one if Python 3 has none for it."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def functions(tree: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """The functions and methods of a module, but none inside another function."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node)


def wanted(node: Function) -> bool:
    """Whether CodeSearchNet would keep a function."""
    special = node.name.startswith("__") and node.name.endswith("__")
    long = (node.end_lineno or node.lineno) - node.lineno >= 2
    documented = len((ast.get_docstring(node) or "").split()) >= 3
    return long and documented and not special and "test" not in node.name.lower()


def bare(node: Function) -> str:
    """The code without docstring, comments and layout."""
    if ast.get_docstring(node) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    node.decorator_list = []
    return ast.unparse(node)


def main() -> None:
    """Write ground truth with the added functions, and print how many there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=4, type=Path, metavar="FILE", help="CLONES annotationStore.csv cosqa.jsonl OUT")
    clones, annotations, cosqa, out = parser.parse_args().files
    truth = cosqa.read_text(encoding="utf-8").splitlines()
    texts = [row["text"] for row in map(json.loads, truth) if row["type"] == "document"]
    known = {" ".join(text.split()) for text in texts} | {bare(f) for text in texts for f in functions(parsed(text))}
    counts, added, seen = Counter[str](), list[str](), set[str]()
    for repository, commit in sorted(pinned(annotations).items(), key=lambda row: row[0].split("/")):
        try:
            for path, text in sources(clones / repository.replace("/", "+"), commit):
                lines = re.split(r"\r\n|\r|\n", text)
                for node in filter(wanted, functions(parsed(text))):
                    code = "\n".join(lines[node.lineno - 1 : node.end_lineno]).strip()
                    keys, place = {" ".join(code.split()), bare(node)}, f"{repository}/{path}#L{node.lineno}"
                    why = "equal one of CoSQA" if keys & known else "equal an earlier one" if keys & seen else "added"
                    counts.update({why: 1, f"bytes {why}": len(code.encode())})
                    if why == "added":
                        seen |= keys
                        added.append(json.dumps({"type": "document", "id": place, "text": code, "language": "python"}))
            counts["repositories"] += 1
        except FileNotFoundError:
            counts["annotated repositories that are not there"] += 1
    random.Random(0).shuffle(added)  # noqa: S311  # no secret
    out.write_text("\n".join([*truth, *added]) + "\n", encoding="utf-8")
    print("\n".join(f"{number:>13,}  {what}" for what, number in counts.items()))


if __name__ == "__main__":
    main()
