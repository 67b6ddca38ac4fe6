"""Measure special queries: names, pasted messages, questions of other fields, questions about described units.

python benchmarks/queries.py names CHECKOUT... [--names 24] [--json FILE]

From each checkout functions, types and constants are drawn by a fixed seed, outside of tests, examples and asides. Each
is typed in several ways: the name; *where is X defined*; `class X` for types; `Owner.name` for methods, those too whose
bare name others share; in lower case; without its underscores. Right is the hit that shows the first line of the
declaration. Prints a row a way with its 95% interval, and the names that were missed.

python benchmarks/queries.py parts CHECKOUT... [--names 42]

Names that are declared once, of six letters or more, are asked for by their first 70% of letters; those of two or more
words by two letters of each word (`LdBl` for `LoadBalancer`), those of three or more by their initials, and with two
letters swapped. Nothing declares what is asked. Right is a first hit that shows the declaration.

python benchmarks/queries.py messages CHECKOUT...

Strings of four words or more outside tests and examples are drawn and asked for: as they stand (`quoted`, `plain`),
with something put into their variable parts (`filled`), and so behind a time and a level (`log`). Right is a chunk that
holds the string. Nothing of these questions was ever learned from.

python benchmarks/queries.py foreign TRUTH.csv... --foreign benchmarks/truth/foreign/held_out.csv --checkouts CHECKOUTS

Each repository is asked its own questions, those of the other truths given, and the foreign ones, all of code and
documentation together. *Lost* are those of its own questions that are answered in the first five and yet refused; the
interval is over questions.

python benchmarks/queries.py described CHECKOUT QUESTIONS.csv DESCRIPTIONS.tsv [--encoder SPEC]

The descriptions are lines of a unit's key, its name and the text, whoever wrote it; they are kept as those of a model.
Strict measures by line over the first 20 hits, as `assay bench` has them, with the interval of each difference.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from shared import mean_with_interval, run_command

import assay
from assay.bench.scores import score
from assay.bench.system import SystemCorpus
from assay.corpus.chunk import parse as parse_file
from assay.corpus.walk import Skipped, walk
from assay.corpus.walked_files import read as read_file
from assay.measure.compare import compare
from assay.measure.line_spans import Span
from assay.measure.measures import parse
from assay.operations.describe_index import take_descriptions
from assay.operations.indexes import descriptions_file
from assay.operations.workspace import Workspace, open_workspace
from assay.search.declared_names import declared, fold, innermost_name
from assay.search.descriptions import Descriptions, key_of
from assay.search.path_filters import PROSE, traits_of
from assay.settings import load
from assay.store.snapshot import Snapshot
from assay.terms import parts
from assay.train.ranking_examples import JudgedQuery, foreign_queries, judged_queries
from assay.truth.ground_truth import Qrels, qrels_of
from assay.truth.truth_formats import read
from assay.values import CALLABLE_KINDS, TYPE_KINDS, Chunk

DRAWN = TYPE_KINDS | CALLABLE_KINDS - {"constructor"} | {"constant"}


def run_names() -> None:
    """Ask, and print a row a way of typing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    options.add_argument("--names", type=int, default=24, help="drawn from each checkout")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    right: dict[str, list[bool]] = defaultdict(list)
    missed = []
    for checkout in given.checkouts:
        index = assay.Index(checkout)
        for way, typed, chunk in ways(drawn(list(chunks_of(checkout)), given.names, checkout.name)):
            first = next(iter(index.search(typed, limit=1)), None)
            found = first is not None and shows(first.chunk, chunk)
            right[way].append(found)
            if not found:
                missed.append(f"{checkout.name}: {typed} ({chunk.path}:{chunk.start_line})")
    for way, values in right.items():
        print(f"{way:<22} {len(values):>5}  {mean_with_interval(values)}")
    print(*missed, sep="\n")
    if given.json:
        given.json.write_text(json.dumps(right) + "\n", "utf-8")


def chunks_of(root: Path) -> Iterator[Chunk]:
    """Yield the chunks of a checkout."""
    for entry in walk(root).files:
        text = read_file(root, entry)
        if not isinstance(text, Skipped):
            yield from parse_file(entry.path, text).chunks


def shows(found: Chunk, wanted: Chunk) -> bool:
    """Say whether a hit shows the first line of a declaration."""
    return found.path == wanted.path and found.start_line <= wanted.start_line <= found.end_line


def drawn(chunks: Sequence[Chunk], most: int, seed: str) -> list[tuple[Chunk, bool]]:
    """Return declarations that are the only one of their name, and methods whose name others share."""
    heads: dict[str, dict[object, Chunk]] = defaultdict(dict)
    for chunk in chunks:
        if chunk.kind in DRAWN | {"constructor"}:
            unit = (chunk.path, chunk.parent, chunk.signature if chunk.kind in CALLABLE_KINDS else "")
            for symbol in chunk.symbol.split(", "):
                known = heads[symbol].setdefault(unit, chunk)
                heads[symbol][unit] = min(known, chunk, key=lambda one: (declared(one) is None, one.start_line))
    dice = random.Random(seed)  # noqa: S311  a sample, not a secret
    once, shared = [], defaultdict(list)
    for symbol, units in sorted(heads.items()):
        for chunk in units.values():
            plain = (
                symbol == chunk.symbol and symbol.isidentifier() and len(symbol) > 3 and not any(traits_of(chunk.path))
            )
            if plain and chunk.kind in DRAWN and len(units) == 1:
                once.append(chunk)
            elif plain and chunk.kind == "method" and chunk.parent:
                shared[innermost_name(chunk.parent), symbol].append(chunk)
    dice.shuffle(once)
    types, others = ([one for one in once if (one.kind in TYPE_KINDS) == wanted] for wanted in (True, False))
    alone = [units[0] for units in shared.values() if len(units) == 1]
    dice.shuffle(alone)
    return [(one, True) for one in types[: most // 2] + others[: most // 2]] + [
        (one, False) for one in alone[: most // 3]
    ]


def ways(names: Sequence[tuple[Chunk, bool]]) -> Iterator[tuple[str, str, Chunk]]:
    """Yield how a name is typed, what is typed, and where it is declared."""
    for chunk, is_only in names:
        name = chunk.symbol
        if chunk.kind == "method" and chunk.parent:
            yield "Owner.name", f"{innermost_name(chunk.parent)}.{name}", chunk
        if is_only:
            yield "name", name, chunk
            yield "name, a type" if chunk.kind in TYPE_KINDS else "name, no type", name, chunk
            yield "where is X defined", f"where is {name} defined", chunk
            if chunk.kind in TYPE_KINDS:
                yield "class X", f"{chunk.kind} {name}", chunk
            if name != name.lower():
                yield "in lower case", name.lower(), chunk
            if "_" in name.strip("_"):
                yield "without underscores", fold(name), chunk


LEAST_LETTERS = 6


def run_parts() -> None:
    """Ask for parts of names, and print a row a way."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    options.add_argument("--names", type=int, default=42, help="drawn from each checkout")
    given = options.parse_args()
    right: dict[str, list[bool]] = defaultdict(list)
    for checkout in given.checkouts:
        index, chunks = assay.Index(checkout), list(chunks_of(checkout))
        declared_names = {fold(name) for chunk in chunks for name in chunk.symbol.split(", ")}
        names = [chunk for chunk, is_only in drawn(chunks, given.names, checkout.name) if is_only]
        for chunk in names:
            for way, typed in parts_of(chunk.symbol):
                if fold(typed) not in declared_names:
                    first = next(iter(index.search(typed, limit=1)), None)
                    right[way].append(first is not None and shows(first.chunk, chunk))
                    if not right[way][-1]:
                        print(f"{checkout.name}: {way}: {typed} of {chunk.symbol}, not {first and first.symbol}")
    for way, values in right.items():
        print(f"{way:<22} {len(values):>5}  {mean_with_interval(values)}")


def parts_of(name: str) -> Iterator[tuple[str, str]]:
    """Yield how a part of a name is typed, and what is typed."""
    if len(name) < LEAST_LETTERS:
        return
    words = parts(name)
    yield "first 70%", name[: round(0.7 * len(name))]
    if len(words) > 1:
        yield "two letters a word", "".join(_hump(word) for word in words)
    if len(words) > 2:
        yield "initials", "".join(word[0] for word in words)
    middle = len(name) // 2
    yield "two letters swapped", name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]


def _hump(word: str) -> str:
    second = next((letter for letter in word[1:] if letter not in "aeiou"), "")
    return word[0].upper() + second


STRING = re.compile(r'(?<!")"((?:[^"\\\n]|\\.){18,120})"')
HOLE = re.compile(r"%[-\w.]*[sdrvqfiuxg]|\$?\{[^}]*\}|%\([^)]*\)[sdr]|#\{[^}]*\}")
VALUES = ("foo", "/tmp/data.bin", "42", "api-server-7", "users")  # noqa: S108  a text, no file
MESSAGES_DRAWN = 25
FIRST = 5


def run_messages() -> None:
    """Print a row a repository and form, and one of all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    given = options.parse_args()
    dice = random.Random(3)  # noqa: S311  no secret hangs on it
    forms = forms_of(dice)
    places: dict[str, list[int]] = {form: [] for form in forms}
    for checkout in given.checkouts:
        with tempfile.TemporaryDirectory() as folder:
            index = assay.Index(checkout, settings={"index.location": folder})
            messages = draw_messages(index._reader.view().workspace.snapshot, dice)  # noqa: SLF001  every chunk
            for form, write in forms.items():
                found = [place_of(index, write(text), text) for text in messages]
                places[form] += found
                print(row(checkout.name, form, found), flush=True)
    for form, found in places.items():
        print(row("all", form, found))


def forms_of(dice: random.Random) -> dict[str, Callable[[str], str]]:
    """Return what is asked for a string, by the name of the form."""

    def filled(text: str) -> str:
        return HOLE.sub(lambda _: dice.choice(VALUES), text).replace("\\n", " ")

    return {
        "quoted": lambda text: f'"{text}"',
        "plain": lambda text: text,
        "filled": filled,
        "log": lambda text: f"2024-03-01 12:00:07 ERROR [worker-3] {filled(text)}",
    }


def draw_messages(snapshot: Snapshot, dice: random.Random) -> list[str]:
    """Return some strings of a repository that could be messages."""
    chunks = (snapshot.chunk(number) for number in range(len(snapshot)))
    texts = (one.text for one in chunks if one.language not in PROSE and not any(traits_of(one.path)))
    strings = {found[1] for text in texts for found in STRING.finditer(text)}
    messages = sorted(text for text in strings if text[0].isalpha() and len(text.split()) >= 4 and "://" not in text)
    return dice.sample(messages, min(MESSAGES_DRAWN, len(messages)))


def place_of(index: assay.Index, question: str, text: str) -> int:
    """Return the place of the first hit that holds a text, from 0; -1 if none of the first ten does."""
    hits = index.search(question, limit=10)
    return next((place for place, hit in enumerate(hits) if text in hit.chunk.text), -1)


def row(name: str, form: str, found: list[int]) -> str:
    """Return a line of the table."""
    places = np.array(found)
    columns = {
        "first": places == 0,
        "Hit@5": (places >= 0) & (places < FIRST),
        "MRR": np.where(places < 0, 0, 1 / (places + 1.0 + (places < 0))),
    }
    shown = (f"{label} {mean_with_interval(value)}" for label, value in columns.items())
    return f"{name:<24}{form:<8}{len(found):>5}  " + "  ".join(shown)


FIRST_HITS = 5


def run_foreign() -> None:
    """Print a row a repository, and one of all."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("truths", nargs="+", type=Path)
    options.add_argument("--foreign", type=Path, required=True)
    options.add_argument("--checkouts", type=Path, required=True)
    given = options.parse_args()
    asked, foreign = judged_queries(given.truths, given.checkouts), foreign_queries([given.foreign])
    names = sorted({one.repository for one in asked})
    rows = []
    print(f"{'repository':<24}{'lost':>8}{'lost of all':>13}{'foreign refused':>17}{'others refused':>16}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            index = assay.Index(given.checkouts / name, settings={"index.location": folder})
            own = [lost(index, one) for one in asked if one.repository == name]
            others = [one for one in asked if one.repository != name]
            rows.append((own, refused(index, foreign), refused(index, others)))
        print(foreign_row(name, *rows[-1]), flush=True)
    print(foreign_row("all", *(list(chain.from_iterable(column)) for column in zip(*rows, strict=True))))


def lost(index: assay.Index, one: JudgedQuery) -> tuple[bool, bool]:
    """Return whether a question was answered in the first five, and whether the answer is said to be irrelevant."""
    answer = index.search(one.query.text, limit=FIRST_HITS)
    spans = [Span(hit.path, hit.start_line, hit.end_line) for hit in answer]
    right = any(entry.grade and entry.span.overlaps(span) for entry in one.entries for span in spans)
    return right, not answer.relevant


def refused(index: assay.Index, asked: Sequence[JudgedQuery]) -> list[bool]:
    """Return for each question whether the answer is said to be irrelevant."""
    return [not index.search(one.query.text, limit=FIRST_HITS).relevant for one in asked]


def foreign_row(name: str, own: Sequence[tuple[bool, bool]], foreign: Sequence[bool], others: Sequence[bool]) -> str:
    """Return a line of the table."""
    answered = [refusal for right, refusal in own if right]
    columns = (answered, [refusal for _, refusal in own], foreign, others)
    return f"{name:<24}" + "  ".join(map(mean_with_interval, columns))


KEY = 16
"""Digits of a key in a file of descriptions."""
MEASURES = ("Hit@1", "Hit@5", "MRR", "nDCG@10")
DEPTH = 20


def run_described() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("questions", type=Path)
    arguments.add_argument("descriptions", type=Path)
    arguments.add_argument("--encoder", default="static:default")
    arguments.add_argument("--mode", default="code", help="What is searched: code, docs or all.")
    given = arguments.parse_args()
    rows = (line.split("\t") for line in given.descriptions.read_text("utf-8").splitlines())
    texts = {key: text for key, _, text in rows}
    truth = qrels_of(read(given.questions).truth)
    truth = replace(truth, queries=tuple(replace(query, mode=given.mode) for query in truth.queries))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # nothing that was described before
        settings = load(options={"index.location": f"{folder}/index", "encoder.spec": given.encoder})
        plain = open_workspace(given.checkout.resolve(), settings)
        values = {"without": values_of(plain, truth)}
        keys = {key_of(chunk) for chunk in plain.snapshot.living()}
        known = {key: text for key in keys if (text := texts.get(key.hex()[:KEY]))}
        with closing(Descriptions(descriptions_file())) as store:
            store.add(known, "the file")
        (described,) = take_descriptions([plain])
        print(f"{described.report.described} of {described.report.chunks} chunks, {len(known)} of {len(texts)} units")
        values["with"] = values_of(described, truth)
    tell(values, truth)


def values_of(workspace: Workspace, truth: Qrels) -> dict[str, np.ndarray]:
    """Return one value a query for each measure."""
    hits = workspace.corpus_search.search(truth.queries, DEPTH)
    spans = [[Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found] for found in hits]
    answers = dict(zip((query.id for query in truth.queries), spans, strict=True))
    corpus = SystemCorpus("described", workspace.index.root)
    return dict(score(truth, answers, corpus, [parse(each) for each in MEASURES]).values["line"])


def tell(values: dict[str, dict[str, np.ndarray]], truth: Qrels) -> None:
    kinds = [query.tags.get("kind", "") for query in truth.queries]
    for group in ("all", *sorted(set(kinds))):
        places = np.array([group in {"all", kind} for kind in kinds])
        print(f"{group}, {places.sum()} queries: {', '.join(described_row(values, name, places) for name in MEASURES)}")


def described_row(values: dict[str, dict[str, np.ndarray]], name: str, places: Sequence[bool]) -> str:
    chosen = {system: each[name][places] for system, each in values.items()}
    (difference,) = compare({"with": chosen["with"], "without": chosen["without"]})
    means = f"{chosen['without'].mean():.3f} -> {chosen['with'].mean():.3f}"
    return f"{name} {means} ({difference.difference:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}])"


COMMANDS = {
    "names": run_names,
    "parts": run_parts,
    "messages": run_messages,
    "foreign": run_foreign,
    "described": run_described,
}

if __name__ == "__main__":
    run_command(COMMANDS)
