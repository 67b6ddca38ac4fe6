from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.judge.labels import Annotator, compare


def annotator(name: str, marks: str) -> Annotator:
    """Return who labels pairs of two to a query: `-` is undecided, a blank was not looked at."""
    grades = {
        (f"q{at // 2}", f"c{at}"): None if mark == "-" else int(mark) for at, mark in enumerate(marks) if mark != " "
    }
    return Annotator(name, grades)


def test_pairs_without_a_label_are_counted_and_not_dropped():
    found = compare([annotator("a", "1100-- "), annotator("b", "10101  ")], [annotator("t", "1111001")])
    assert (found.pairs, found.queries, found.labelled_twice) == (7, 4, 4)
    a, b, true = found.counts["a"], found.counts["b"], found.true
    assert (a.match, a.non_match, a.undecided, a.absent) == (2, 2, 2, 1)
    assert (b.match, b.non_match, b.undecided, b.absent) == (3, 2, 0, 2)
    assert true
    assert (true.match, true.non_match, true.undecided, true.absent) == (5, 2, 0, 0)
    assert (found.against["a"].decided, found.against["a"].open, found.against["a"].unseen) == (4, 2, 1)
    assert found.against["a"].accuracy.value == 0.5
    assert found.against["a"].of_all.value == pytest.approx(2 / 6), "the seventh was never shown"
    (two,) = found.kappas
    assert (two.pairs, two.same) == (4, 2)


def test_three_are_a_majority_too_and_a_tie_is_undecided():
    found = compare([annotator("a", "110-"), annotator("b", "100-"), annotator("c", "1-1-")], [annotator("t", "1111")])
    most = found.counts["majority"]
    assert (most.match, most.non_match, most.undecided, most.absent) == (1, 1, 2, 0)
    assert found.against["majority"].decided == 2
    for second, why in (("--", "b decided none"), ("  ", "b decided none")):
        with pytest.raises(InputError, match=why):
            compare([annotator("a", "10"), annotator("b", second)])
    assert "majority" not in compare([annotator("a", "10"), annotator("b", "11")]).counts


def test_the_truth_is_the_majority_of_several_with_their_alpha():
    experts = [annotator("x", "1110"), annotator("y", "110-"), annotator("z", "100 ")]
    found = compare([annotator("a", "1101")], experts)
    assert found.truth == ("x", "y", "z")
    assert found.true
    assert (found.true.match, found.true.non_match, found.true.undecided) == (2, 2, 0)
    assert found.truth_alpha
    assert found.truth_alpha.value == pytest.approx(1 - 8 * 4 / (9**2 - 6**2 - 3**2) * 1)
    assert found.against["a"].accuracy.value == 0.75


def test_grades_are_matches_from_a_threshold_on():
    graded, plain = annotator("graded", "3210"), annotator("plain", "1100")
    assert compare([plain], [graded], match=2).against["plain"].accuracy.value == 1
    assert compare([plain], [graded]).against["plain"].accuracy.value == 0.75


def test_the_most_divided_pairs_come_first():
    found = compare(
        [annotator("a", "1110-"), annotator("b", "1100-"), annotator("c", "1000 ")], [annotator("t", "1001 ")]
    )
    assert [difference.key[1] for difference in found.differences] == ["c1", "c2", "c3"]
    assert found.differences[0].said == {"t": 0, "a": 1, "b": 1, "c": 0}
    assert next(iter(found.differences[0].said)) == "t"


def test_labels_of_other_pairs_or_of_the_same_name_are_refused():
    with pytest.raises(InputError, match="none is labelled by two"):
        compare([annotator("a", "11"), annotator("b", "  11")])
    with pytest.raises(InputError, match="two annotators are called 'a'"):
        compare([annotator("a", "11")], [annotator("a", "11")])
