r"""Writes what the ranking of single functions is learned from: functions, one a file, and questions about them.

    python benchmarks/single_functions.py OUT --cosqa COSQA --mbpp MBPP.jsonl
    assay train ranking OUT/*.jsonl --checkouts OUT --foreign benchmarks/truth/foreign/learned.csv \
        --set strangers=0 --out weights

COSQA is CoIR's folder of parquet files: questions of its training split that are labeled 1, without those of the
validation split and without the functions that answer these. The second collection is the functions of installed
packages without their documentation, whose first sentence asks; packages that a ground truth is about are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from assay.train.harvest import LEFT_OUT

QUESTIONS = 2_500
"""The most of one collection."""
FUNCTIONS = 6_000
EACH = 60
"""Functions of one package."""


@dataclass(frozen=True, slots=True)
class FunctionCollection:
    """Functions, and questions with the places of those that answer them."""

    functions: Sequence[str]
    questions: Sequence[tuple[str, Sequence[int]]]


def write(name: str, collection: FunctionCollection, out: Path) -> None:
    folder = out / name
    folder.mkdir(parents=True)
    for number, function in enumerate(collection.functions):
        (folder / f"{number}.py").write_text(function, "utf-8", errors="backslashreplace")
    lines: list[dict[str, object]] = [{"type": "truth", "format": 1, "name": name}]
    for number, (question, places) in enumerate(collection.questions):
        lines.append({"type": "query", "id": f"q{number}", "text": question, "mode": "code"})
        lines += [{"type": "judgment", "query_id": f"q{number}", "target": f"{at}.py", "grade": 2} for at in places]
    (out / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    print(f"{name}: {len(collection.functions):,} functions, {len(collection.questions):,} questions")


def of_cosqa(folder: Path, random_order: random.Random) -> FunctionCollection:
    table = {name: pq.read_table(folder / f"{name}-00000-of-00001.parquet").to_pylist() for name in _TABLES}
    text = {row["_id"]: row["text"] for row in table["corpus"]}
    query = {row["_id"]: row["text"] for row in table["queries"]}
    held_out = [row for row in table["valid"] if row["score"] > 0]
    asked = {plain(query[row["query-id"]]) for row in held_out}
    answers = {text[row["corpus-id"]] for row in held_out}
    places: dict[str, int] = {}
    for function in text.values():
        if function not in answers:
            places.setdefault(function, len(places))
    right: dict[str, set[int]] = {}
    for row in table["train"]:
        question, function = query[row["query-id"]], text[row["corpus-id"]]
        if row["score"] > 0 and plain(question) not in asked and function in places:
            right.setdefault(question, set()).add(places[function])
    questions = [(question, sorted(numbers)) for question, numbers in right.items()]
    random_order.shuffle(questions)
    return FunctionCollection(list(places), questions[:QUESTIONS])


_TABLES = ("corpus", "queries", "train", "valid")


def of_mbpp(file: Path) -> FunctionCollection:
    tasks = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return FunctionCollection([task["code"] for task in tasks], [(task["text"], [at]) for at, task in enumerate(tasks)])


def of_packages(random_order: random.Random) -> FunctionCollection:
    known: set[str] = set()
    pairs: list[tuple[str, str]] = []
    for package in packages():
        found = []
        files = sorted(package.rglob("*.py"))
        random_order.shuffle(files)
        for question, function in (pair for file in files[:150] for pair in documented(file)):
            if not {plain(question), function} & known:
                known |= {plain(question), function}
                found.append((question, function))
        random_order.shuffle(found)
        pairs += found[:EACH]
    random_order.shuffle(pairs)
    pairs = pairs[:FUNCTIONS]
    asked = [(question, [at]) for at, (question, _) in enumerate(pairs)]
    return FunctionCollection([function for _, function in pairs], asked[: QUESTIONS * 3 // 5])


def packages() -> list[Path]:
    paths = sysconfig.get_paths()
    site = sorted(folder for folder in Path(paths["purelib"]).iterdir() if (folder / "__init__.py").is_file())
    return [folder for folder in (*site, Path(paths["stdlib"])) if folder.name.lower() not in LEFT_OUT]


def documented(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the first sentence of each function's documentation, and the function without its documentation."""
    if "test" in file.as_posix().lower():
        return
    try:
        tree = ast.parse(file.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and 4 <= (node.end_lineno or 0) - node.lineno <= 60:
            first = plain_sentence(ast.get_docstring(node) or "")
            if 4 <= len(first.split()) <= 25 and first.isascii():
                node.body, node.decorator_list = node.body[1:], []
                yield first, ast.unparse(node)


def plain_sentence(documentation: str) -> str:
    return documentation.strip().split("\n\n")[0].replace("\n", " ").split(". ")[0].strip().rstrip(".")


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cosqa", type=Path)
    parser.add_argument("--mbpp", type=Path)
    asked = parser.parse_args()
    random_order = random.Random(0)  # noqa: S311  it draws a sample
    if asked.cosqa:
        write("cosqa", of_cosqa(asked.cosqa, random_order), asked.out)
    if asked.mbpp:
        write("mbpp", of_mbpp(asked.mbpp), asked.out)
    write("packages", of_packages(random_order), asked.out)


if __name__ == "__main__":
    main()
