"""CodeSearchNet's corpus files, and its annotations joined with them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.truth.formats import csn_corpus
from assay.truth.formats.csn_corpus import at_least, joined
from assay.truth.truth_formats import form_of, read, read_part, write

SHA = "a" * 40


def url(name: str, path: str = "src/a.py", lines: str = "L1-L3") -> str:
    return f"https://github.com/{name}/blob/{SHA}/{path}#{lines}"


def row(address: str, code: str) -> dict[str, object]:
    """Return a row as the files have it."""
    where = {"repo": "owner/name", "path": "src/a.py", "func_name": "f", "sha": SHA, "url": address}
    words = {"code_tokens": code.split(), "docstring": "Say it.", "docstring_tokens": ["Say", "it", "."]}
    return {**where, **words, "original_string": code, "code": code, "language": "python", "partition": "train"}


ROWS = [row(url(f"owner/n{number}"), f"def f{number}(x):\n    return x + {number}\n") for number in range(6)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder with a folder for each split, as CodeSearchNet unpacks."""
    for split, rows in (("train", ROWS[:4]), ("test", ROWS[4:])):
        (tmp_path / "jsonl" / split).mkdir(parents=True)
        lines = "".join(json.dumps({**each, "partition": split}) + "\n" for each in rows)
        with gzip.open(tmp_path / "jsonl" / split / f"python_{split}_0.jsonl.gz", "wt") as file:
            file.write(lines)
    return tmp_path / "jsonl"


ANNOTATIONS = f"""Language,Query,GitHubUrl,Relevance,Notes
Python,sort a list,{url("owner/n0")},3,yes
Python,sort a list,{url("owner/n0")},1,
Python,sort a list,{url("owner/n5")},2,
Python,open a file,{url("owner/n1", lines="L1-L3")},0,
Python,open a file,{url("owner/gone")},3,
Go,sort a list,{url("owner/n9", "b.go")},3,
"""


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    (tmp_path / "annotationStore.csv").write_text(ANNOTATIONS)
    return tmp_path / "annotationStore.csv"


def test_a_file_a_split_and_all_of_them(corpus: Path):
    assert form_of(corpus) == form_of(corpus / "test") == form_of(corpus / "test/python_test_0.jsonl.gz") == "csncorpus"
    assert len(read_part(corpus).truth.documents) == 6
    found = read_part(corpus / "test").truth.documents
    assert [(each.id, each.language) for each in found] == [
        (f"owner/n{number}/blob/{SHA}/src/a.py#L1-L3", "python") for number in (4, 5)
    ]
    assert found[0].text == "def f4(x):\n    return x + 4\n"
    plain = corpus / "plain.jsonl"
    plain.write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    assert len(read_part(plain).truth.documents) == 6


def test_what_is_no_use_is_named_by_its_place(tmp_path: Path):
    rows = [ROWS[0], {**ROWS[1], "url": "http://x"}, {**ROWS[2], "code": " "}, ROWS[0], {"url": 3}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows) + "{cut")
    told = [str(each) for each in read_part(tmp_path / "a.jsonl").problems]
    assert sorted(each.partition(":")[2][:1] for each in told) == list("23456")
    assert any(each.startswith("a.jsonl:2: url 'http://x', wanted https://github.com/OWNER") for each in told)
    assert any("a.jsonl:3: no code" in each for each in told)
    assert any("a.jsonl:4: document" in each and "the first counts" in each for each in told)


def test_functions_are_read_one_by_one_and_are_neither_written_nor_questions(corpus: Path, tmp_path: Path):
    stream = csn_corpus.functions(corpus, [])
    assert next(stream).text.startswith("def f4")
    assert len(list(stream)) == 5
    with pytest.raises(InputError, match="has no usable query"):
        read(corpus)
    with pytest.raises(InputError, match="read only; write jsonl"):
        write(read_part(corpus).truth, tmp_path / "x", "csncorpus")


def test_annotations_find_their_functions_and_say_which_they_do_not(corpus: Path, annotations: Path):
    found = joined(read(annotations), corpus)
    truth = found.truth
    names = [f"owner/n{number}/blob/{SHA}/src/a.py#L1-L3" for number in (0, 5, 1)]
    assert [each.id for each in truth.documents] == names
    assert [(each.query_id, each.target, each.grade) for each in truth.judgments] == [
        ("1", names[0], 3),
        ("1", names[0], 1),
        ("1", names[1], 2),
        ("2", names[2], 0),
    ]
    assert [str(each) for each in found.problems] == [
        "annotationStore.csv: 1 judgment of go, of which the corpus has nothing",
        f"annotationStore.csv:6: owner/gone/blob/{SHA}/src/a.py:1-3: no such function in the corpus",
    ]
    exact = at_least(found, 3).truth
    assert [query.text for query in exact.queries] == ["sort a list"]
    assert (len(exact.documents), len(exact.judgments)) == (1, 2)
    with pytest.raises(InputError, match="no judgment of 4 or more"):
        at_least(found, 4)
    annotations.write_text(ANNOTATIONS.replace("owner/", "other/"))
    with pytest.raises(InputError, match="none of 5 judged functions"):
        joined(read(annotations), corpus)


def test_convert_joins_annotations_with_their_corpus(assay, corpus: Path, annotations: Path, tmp_path: Path):
    ran = assay("truth", "convert", annotations, tmp_path / "csn.jsonl", "--corpus", corpus, "--match", "2")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("1 query, 3 judgments, 2 documents (2 problems) written")
