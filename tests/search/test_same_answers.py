"""An index with any history answers as a fresh one: the same hits, scores and reasons, to the last bit.

Files are small functions of few words, so that most scores have equals: what is cut off, and what comes first among
equals, must not follow the segments.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from assay.encode.vectors import HashedEncoder
from assay.search.folder_index import FolderIndex
from assay.search.hybrid import LearnedSearcher
from assay.search.index_changes import Build
from assay.search.question import Speller
from assay.search.related import related_code
from assay.search.retrievers import KeywordSearcher, VectorSearcher
from assay.values import Query

ENCODER = HashedEncoder("32")
WORDS = "read write open close path file cache error parse token limit retry server client table index".split()
FILES, UPDATES = 90, 25
DICTIONARY = frozenset({"request", "response"})
PLAIN = ("open the file", "parse_token", "retry", "where is the cache limit", "read", "sevrer")
QUERIES = [
    *(Query("", text) for text in PLAIN),
    Query("", "close a path", mode="code"),
    Query("", "write the table", mode="docs"),
    Query("", "error of the client", paths=("lib1/",)),
    Query("", "rqeuest of a cliemt"),
]


def text_of(chance: random.Random, path: str) -> str:
    """Return a file that may well be like another one."""
    a, b, c, d = (chance.choice(WORDS) for _ in range(4))
    if path.endswith(".md"):
        return f"# {a} {b}\n\nHow to {c} a {d}.\n\n## {b}\n\nThe {a} of the {d}.\n"
    first = f'def {a}_{b}({c}):\n    """Return the {c} of a {d}."""\n    return {b}({a})\n'
    return f"{first}\n\ndef {c}({d}):\n    {a}_{b}({d})\n"


def random_update(chance: random.Random, root, number):
    """Edit, add, delete or rename some file."""
    files = sorted(path for path in root.rglob("*.*") if path.is_file())
    path = chance.choice(files)
    other = root / f"lib{chance.randrange(3)}" / f"{chance.choice(WORDS)}{number}{chance.choice(('.py', '.md'))}"
    kind = chance.choice(("edit", "add", "delete", "rename"))
    if kind == "edit":
        path.write_text(text_of(chance, path.name))
    elif kind == "add":
        other.write_text(text_of(chance, other.name) + f"\nonly_{number} = {number}\n")
    elif kind == "delete":
        path.unlink()
    else:
        path.replace(other.with_suffix(path.suffix))


def answers(index: FolderIndex) -> dict[str, object]:
    """Return what every searcher finds: places, scores and reasons in their order."""
    corpus = index.snapshot()
    speller = Speller(corpus, lambda: DICTIONARY)
    queries = [replace(query, text=speller.corrected(query.text)) for query in QUERIES]
    searchers = (LearnedSearcher(corpus, ENCODER), VectorSearcher(corpus, ENCODER), KeywordSearcher(corpus))
    found = {
        f"{type(searcher).__name__}: {query.text}": [
            (hit.chunk, hit.score, list(hit.why.items())) for hit in searcher.search([query], 10)[0]
        ]
        for searcher in searchers
        for query in queries
    }
    return {**found, "related": related_code(corpus, index.folder.open().catalog.paths[0], 1, 10)}


@pytest.mark.parametrize(("seed", "quantisation"), [(1, "none"), (3, "int8")])
def test_an_index_of_many_updates_answers_as_a_fresh_one(tmp_path, seed, quantisation):
    chance = random.Random(seed)
    root = tmp_path / "root"
    for number in range(FILES):
        path = root / f"lib{number % 3}" / f"{chance.choice(WORDS)}_{number}{'.md' if number % 5 == 0 else '.py'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(chance, path.name))
    build = Build(quantisation=quantisation)
    index = FolderIndex(root, tmp_path / "index", ENCODER, build)
    for number in range(UPDATES):
        index.refresh()
        random_update(chance, root, number)
    index.refresh()
    fresh = FolderIndex(root, tmp_path / "fresh", ENCODER, build)
    fresh.refresh()
    assert len(index.snapshot().parts) > 1 == len(fresh.snapshot().parts)
    updated, wanted = answers(index), answers(fresh)
    differing = [question for question in wanted if updated[question] != wanted[question]]
    assert not differing
    assert answers(FolderIndex(root, tmp_path / "index", ENCODER, build)) == wanted
