from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugins
from assay.bench.system import SystemCorpus
from assay.bench.systems.baseline_systems import words
from assay.errors import InputError
from assay.values import Chunk, Query

SPECS = ["assay", "bm25", "bow", "dense:static:default"]
TEXTS = {
    "d1": "def send_mail(server, message):\n    server.deliver(message)\n",
    "d2": "def is_valid(address):\n    return '@' in address\n",
    "d3": "def send_mail(server, message):\n    server.deliver(message)\n",
    "d4": "class Router:\n    def match(self, path):\n        return path\n\n    def add(self, path):\n        pass\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> SystemCorpus:
    root = tmp_path / "documents"
    root.mkdir()
    chunks = [Chunk(name, text, "python", f"{name}.py") for name, text in TEXTS.items()]
    for chunk in chunks:
        (root / chunk.path).write_text(chunk.text)
    return SystemCorpus("documents", root, tuple(chunks), digest="d")


def found(spec: str, corpus: SystemCorpus, query: Query, k: int = 5, **options: Any) -> list[tuple[str, int, int]]:
    searcher = plugins.make("system", spec).prepare(corpus, options)
    return [(h.chunk.path, h.chunk.start_line, h.chunk.end_line) for h in searcher.search([query], k)[0]]


@pytest.mark.parametrize("spec", SPECS)
def test_places_of_files_and_whole_documents_are_found(
    spec: str, postbox: SystemCorpus, documents: SystemCorpus, tmp_path: Path
):
    where = {"location": str(tmp_path / "ix")}
    ranges = found(spec, postbox, Query("1", "deliver a message to a server", "code"), **where)
    assert ranges[0] == ("mail/send.py", 1, 3)
    assert {path for path, *_ in found(spec, postbox, Query("2", "mail", "docs"), **where)} == {"README.md"}
    only = found(spec, postbox, Query("3", "mail server address", "all", paths=("!send.py",)), **where)
    assert "mail/send.py" not in {path for path, *_ in only}
    assert len(found(spec, postbox, Query("4", "mail server address"), 1, **where)) == 1
    whole = found(spec, documents, Query("1", "send a message", "code"), location=str(tmp_path / "documents"))
    assert {path for path, *_ in whole[:2]} == {"d1.py", "d3.py"}
    assert {tuple(lines) for _, *lines in whole} == {(0, 0)}
    assert len(whole) == len(set(whole))
    if spec != "assay":  # equal texts stand in their order
        equal = found(spec, documents, Query("1", "send message server"))[:2]
        assert [path for path, *_ in equal] == ["d1.py", "d3.py"]
    (tmp_path / "empty").mkdir()
    assert found(spec, SystemCorpus("empty", tmp_path / "empty"), Query("1", "x"), location=str(tmp_path / "e")) == []


def test_assay_takes_settings_and_refuses_others(postbox: SystemCorpus, tmp_path: Path):
    where = {"location": str(tmp_path / "ix")}
    assert found("assay", postbox, Query("1", "send mail"), encoder={"spec": "hash"}, **where)
    with pytest.raises(InputError, match="did you mean 'encoder'"):
        found("assay", postbox, Query("1", "send mail"), encodr={"spec": "hash"}, **where)
    system = plugins.make("system", "assay")
    assert system.index_bytes() is None
    system.prepare(postbox, {"location": str(tmp_path / "other"), "timeout_s": 5.0})
    folder = next(place for place in (tmp_path / "other").iterdir() if place.is_dir())
    assert system.index_bytes() == sum(file.stat().st_size for file in folder.iterdir())


def test_settings_that_need_the_same_index_share_it_and_what_it_took(postbox: SystemCorpus, tmp_path: Path):
    where = str(tmp_path / "ix")

    def built(**options: Any) -> float:
        system = plugins.make("system", "assay")
        system.prepare(postbox, {"location": where, **options})
        return system.built_s

    first = built()
    note = next((tmp_path / "ix").glob("*.seconds"))
    note.write_text("12.5")
    assert first != built(search={"ranking": "keywords"}) == 12.5
    assert built(encoder={"spec": "hash"}) != 12.5
    assert len([place for place in (tmp_path / "ix").iterdir() if place.is_dir()]) == 2
    (postbox.root / "new.py").write_text("x = 1\n")
    assert built() != 12.5


def test_vectors_are_made_once_for_equal_texts_and_answer_on_disk_as_in_memory(documents: SystemCorpus, tmp_path: Path):
    where = {"location": str(tmp_path / "vectors")}
    first = found("dense:hash", documents, Query("1", "send message"), **where)
    file = next((tmp_path / "vectors").rglob("*.npy"))
    vectors = np.load(file)
    np.save(file, vectors[[1, 0, 2, 3]])
    assert found("dense:hash", documents, Query("1", "send message"), **where)[0] == ("d2.py", 0, 0) != first[0]
    other = replace(documents, documents=documents.documents[:3])
    found("dense:hash", other, Query("1", "send message"), **where)
    assert len(list((tmp_path / "vectors").rglob("*.npy"))) == 2
    assert not list((tmp_path / "vectors").rglob("*.new"))
    query = Query("1", "where is a path matched")
    mapped = found("dense:static:default", documents, query, location=str(tmp_path / "v"))
    assert mapped == found("dense:static:default", documents, query)


def test_specs_that_cannot_be_are_refused():
    for spec, said in (
        ("dense:", "names no encoder"),
        ("bow:many", "bow:2000"),
        ("bm25:x", "takes nothing"),
        ("assay:fast", "takes settings"),
    ):
        with pytest.raises(InputError, match=said):
            plugins.make("system", spec)


def test_bags_are_cosines_of_counts():
    """By hand: `a` is one letter and no word; counts are not weighted."""
    chunks = tuple(Chunk(str(n), text, path=f"{n}.txt") for n, text in enumerate(["red red blue", "blue a", "green"]))
    searcher = plugins.make("system", "bow").prepare(SystemCorpus("c", Path(), chunks), {})
    hits = searcher.search([Query("1", "Blue red unknown")], 5)[0]
    assert [hit.chunk.path for hit in hits] == ["0.txt", "1.txt"]
    assert [hit.score for hit in hits] == pytest.approx([3 / (5**0.5 * 2**0.5), 1 / 2**0.5], abs=1e-6)
    assert words("An_id x1 ab, c") == ["an_id", "x1", "ab"]
    chunks = (chunks[0], replace(chunks[1], text="blue blue"), chunks[2])
    searcher = plugins.make("system", "bow:2").prepare(SystemCorpus("c", Path(), chunks), {})  # the most frequent words
    assert [hit.chunk.path for hit in searcher.search([Query("1", "green blue")], 5)[0]] == ["1.txt", "0.txt"]
    assert searcher.search([Query("1", "green")], 5)[0] == []
