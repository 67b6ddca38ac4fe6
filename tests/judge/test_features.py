from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.static import default_static
from assay.judge.pairs import Pair
from assay.judge.signals import FEATURES, MAX_CODE_CHARS, code_terms, features, query_terms
from assay.values import Chunk, Query

SUM = Chunk("sum", 'def sum_list(values):\n    """Return the sum of a list of numbers."""\n    return sum(values)')
SOCKET = Chunk("socket", 'def open_socket(self, host):\n    """Connect to a host."""\n    self.sock.connect(host)')


def test_what_is_asked_for_has_higher_features():
    pairs = [Pair(Query("q", "python sum a list of numbers"), code) for code in (SUM, SOCKET)]
    right, wrong = (dict(zip(FEATURES, row, strict=True)) for row in features(pairs, default_static()).tolist())
    for name in ("cosine", "token_similarity", "name_similarity", "in_order"):
        assert right[name] > wrong[name]


def test_a_query_in_other_words_is_known_as_such():
    assert query_terms(Query("q", "how to sort a list using python")).telling == ("sort", "list")
    known = ("sort a list", "os.path.join")
    other = ("wie sortiere ich eine Liste", "comment trier une liste dans python", "如何在 python 中排序列表",
             "как отсортировать список", "", "???")  # fmt: skip
    assert [text for text in (*known, *other) if query_terms(Query("q", text)).known] == [*known]


def test_a_pair_has_the_same_features_alone_and_among_others():
    texts = enumerate(("sum of list", "open"))
    pairs = [Pair(Query(str(i), text), code) for i, text in texts for code in (SUM, SOCKET)]
    together = features(pairs, default_static())
    alone = np.concatenate([features([pair], default_static()) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_python_is_read_by_its_parts_and_other_languages_by_their_words():
    terms = code_terms(SUM)
    assert (terms.name, terms.parameters) == (("sum", "list"), ("values",))
    assert (terms.lead[:3], terms.returned) == (("return", "the", "sum"), ("sum", "values"))
    for text in (
        "// Adds all numbers.\nfunction sumList(values) { return values.reduce((a, b) => a + b) }",
        "/** Adds all numbers. */\npublic static func sumList(values: [Int]) -> Int { return 0 }",
    ):
        terms = code_terms(Chunk("c", text, "other"))
        assert (terms.name, terms.lead[:3]) == (("sum", "list"), ("adds", "all", "numbers"))
        assert "values" in terms.parameters
    terms = code_terms(Chunk("c", "x = 1", symbol="load_table", doc="Load a table."))
    assert (terms.name, terms.lead[:2]) == (("load", "table"), ("load", "a")), "what the chunk knows is believed"
    start = "def first():\n" + "    x = 1\n" * (MAX_CODE_CHARS // 10 + 10)
    assert code_terms(Chunk("c", start + "    unread = 1\n")) == code_terms(Chunk("c", start))


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=200), st.sampled_from(["", "python", "go"]))
def test_any_text_gives_bounded_numbers(query: str, code: str, language: str):
    rows = features([Pair(Query("q", query), Chunk("c", code, language))], default_static())
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 1.001
