"""One table over the terms of many columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.store.strings import Strings
from assay.store.term_table import TermTable, term_hashes

TERMS = st.lists(st.text(st.sampled_from("ab/é\0\ud800"), max_size=4), max_size=8)


def column(terms: list[str]) -> Strings:
    """Return terms as a segment has them: sorted by their bytes, each once."""
    return Strings.of_bytes(sorted({term.encode("utf-8", "surrogatepass") for term in terms}))


@given(st.lists(TERMS, min_size=1, max_size=6), st.text(st.sampled_from("ab/é\0\ud800"), max_size=4))
def test_a_term_is_found_in_each_column_that_holds_it(columns: list[list[str]], term: str):
    sorted_columns = [column(terms) for terms in columns]
    found = ((which, terms.find(term)) for which, terms in enumerate(sorted_columns))
    assert list(TermTable(sorted_columns).holders(term)) == [(which, at) for which, at in found if at >= 0]


def test_terms_of_many_blocks_have_the_numbers_they_have_alone():
    terms = [f"term{number}" * 9 for number in range(3000)] + ["x" * 70_000, "", "y"]
    together = term_hashes(Strings.of(terms))
    assert together.tolist() == [int(term_hashes(Strings.of([term]))[0]) for term in terms]
    assert len(set(together.tolist())) == len(terms)


def test_letters_decide_where_two_terms_have_one_number():
    table = TermTable([column(["one", "two"]), column(["two"])])
    (number,) = term_hashes(Strings.of(["two"]))
    table._hashes[:] = number
    assert list(table.holders("two")) == [(0, 1), (1, 0)]
    assert list(table.holders("three")) == []
