from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.static import default_static
from assay.judge.code_facts import LONGEST, read
from assay.judge.evidence import COLUMNS, GROUPS, evidence, query_terms
from assay.types import Chunk, Query

SUM = Chunk("sum", 'def sum_list(values):\n    """Return the sum of a list of numbers."""\n    return sum(values)')
SOCKET = Chunk("socket", 'def open_socket(self, host):\n    """Connect to a host."""\n    self.sock.connect(host)')


def of(query: str, code: Chunk, column: str, *, documented: bool = True) -> float:
    rows = evidence([(Query("q", query), code)], default_static(), documented=documented)
    return float(rows[0, COLUMNS.index(column)])


def test_what_is_asked_for_has_more_evidence():
    assert tuple(column for group in GROUPS.values() for column in group) == COLUMNS
    for column in ("cosine_view", "near_all", "covered", "covered_name", "lead_precision", "in_order"):
        assert of("python sum a list of numbers", SUM, column) > of("python sum a list of numbers", SOCKET, column)


def test_a_query_in_other_words_is_known_as_such():
    assert query_terms(Query("q", "how to sort a list using python")).telling == ("sort", "list")
    known = ("sort a list", "os.path.join")
    other = ("wie sortiere ich eine Liste", "comment trier une liste dans python", "如何在 python 中排序列表",
             "как отсортировать список", "", "???")  # fmt: skip
    assert [text for text in (*known, *other) if query_terms(Query("q", text)).known] == [*known]


def test_a_pair_has_the_same_evidence_alone_and_among_others():
    pairs = [(Query(str(i), text), code) for i, text in enumerate(("sum of list", "open")) for code in (SUM, SOCKET)]
    together = evidence(pairs, default_static())
    alone = np.concatenate([evidence([pair], default_static()) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_unread_documentation_leaves_no_trace():
    assert of("sum of a list of numbers", SUM, "has_doc", documented=False) == 0
    assert of("sum of a list of numbers", SUM, "cosine_doc", documented=False) == 0
    assert of("sum of a list of numbers", SUM, "covered_name", documented=False) > 0


def test_python_is_read_by_its_parts():
    said = read(SUM)
    assert said.parsed
    assert said.name == ("sum", "list")
    assert said.parameters == ("values",)
    assert said.lead[:3] == ("return", "the", "sum")
    assert said.returns_value


def test_other_languages_are_read_by_their_words_and_what_the_chunk_knows_is_believed():
    for text in (
        "// Adds all numbers.\nfunction sumList(values) { return values.reduce((a, b) => a + b) }",
        "/** Adds all numbers. */\npublic static func sumList(values: [Int]) -> Int { return 0 }",
    ):
        said = read(Chunk("c", text, "other"))
        assert not said.parsed
        assert said.name == ("sum", "list")
        assert said.lead[:3] == ("adds", "all", "numbers")
        assert "values" in said.parameters
    said = read(Chunk("c", "x = 1", symbol="load_table", doc="Load a table."))
    assert (said.name, said.lead[:2]) == (("load", "table"), ("load", "a"))


def test_of_a_long_code_the_start_is_read():
    said = read(Chunk("c", "def first():\n" + "    x = 1\n" * 100_000))
    assert said.name == ("first",)
    assert said.lines <= LONGEST


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=200), st.sampled_from(["", "python", "go"]))
def test_any_text_gives_bounded_numbers(query: str, code: str, language: str):
    rows = evidence([(Query("q", query), Chunk("c", code, language))], default_static())
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 3
