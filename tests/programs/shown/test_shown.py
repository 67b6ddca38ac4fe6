"""Texts with examples, as people write them, to the tests that they show."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.programs.shown_examples import examples_in
from assay.values import Call, Script, Stdin, Task


def calls(text: str, name: str = "f") -> list[tuple[object, ...]]:
    """Return arguments and value of each call that a text shows."""
    return [(*test.args, test.expected) for test in examples_in(Task("t", text, name)) if isinstance(test, Call)]


def test_examples_are_found_and_what_says_no_value_is_none() -> None:
    for text, found in (
        (">>> f(1)\n2", [(1, 2)]),
        (">>> f([1, 2],\n...   'a')\n[1,\n 2]\n\nprose", [([1, 2], "a", [1, 2])]),
        (">>> f(1) == 2", [(1, 2)]),
        ("assert f(1) == (2, 3), 'why'", [(1, (2, 3))]),
        ("f(1) -> 2\nf(2) => 3\nf(3) ➞ 4\nf(4) ==> 5\nf(5) --> 6", [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]),
        ("- f('a b') returns 'c'.", [("a b", "c")]),
        ("`f(1)` should return `true`", [(1, True)]),
        ("* f(2, -1) # => [0.5]", [(2, -1, [0.5])]),
        ("f({'a': 1})\n  {'b': 2}\n", [({"a": 1}, {"b": 2})]),
        ("f('5 apples', 19) -> 19 - 5 - 6 = 8", [("5 apples", 19, 8)]),
        ("f(1) = 2, and f(2) = 3.", [(1, 2), (2, 3)]),
        ("f('a(b') == ')'", [("a(b", ")")]),
        ("renamed([4]) ==> 2", [([4], 2)]),
        ("[1, 2] => 3", [([1, 2], 3)]),
        ("Input: lst = [1, 2]\nOutput: 3", [([1, 2], 3)]),
        ("For n = 5 the output should be 8", [(5, 8)]),
    ):
        assert calls(text) == found, text
    says_nothing = [
        *("f(1) + 1 == 3", "2 * f(1) = 3", "f(1) -> 2 * x", "f(x) == y", "f(1) is 3 digits long", "f([1, 2", ""),
        *("f(2) = 1 if it is odd", "not f(1) == True", "def f(): 3", "f(n) = f(n - 1) + 1"),
        "f(1) == 2 and elsewhere f(1) == 3",
    ]
    assert [text for text in says_nothing if calls(text)] == []


def test_the_docstring_of_a_prompt_counts_with_its_escapes() -> None:
    prompt = "def f(s):\n    \"\"\" Split.\n    >>> f('a\\\\nb')\n    ['a', 'b']\n    \"\"\"\n"
    assert calls(prompt) == [("a\nb", ["a", "b"])]


def test_a_doctest_of_an_expression_is_left_to_the_sandbox() -> None:
    text = ">>> x = f(2)\n>>> round(f(x), 1)\n0.5"
    assert examples_in(Task("t", text, "f")) == (Script("x = f(2)\nassert round(f(x), 1) == 0.5"),)


SAMPLES = """Read a number.

-----Input-----
One number.

-----Output-----
Its double.

-----Examples-----
Input
1

Output
2

Input
2
3

Output
4
6

-----Note-----
Output
nothing
"""


def test_samples_of_standard_input_are_found() -> None:
    for text, found in (
        (SAMPLES, [("1\n", "2\n"), ("2\n3\n", "4\n6\n")]),
        ("Sample Input 1\n\n1 2\n\nSample Output 1\n\n3\n\nThe sum is 3.\n", [("1 2\n", "3\n")]),
        ("## Example\nInput: 5\nOutput: 6\nExplanation: one more", [("5\n", "6\n")]),
        ("Sample Input:\n```\n1\n```\nSample Output:\n```\n2\n```\n", [("1\n", "2\n")]),
        ("Input\n1\nOutput\n2\n", [("1\n", "2\n")]),
        ("Input\nOne line with the number of tests, up to 9.\nOutput\nFor each of 9 tests one line.\n", []),
    ):
        assert examples_in(Task("t", text)) == tuple(Stdin(*pair) for pair in found), text


@settings(max_examples=50)
@given(st.text(alphabet="f(1)[]{}'\"=->, \n#>.i", max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    for test in examples_in(Task("t", text, "f")):
        assert isinstance(test, Call | Script)
    assert isinstance(examples_in(Task("t", text)), tuple)


def test_a_long_hostile_text_comes_to_an_end() -> None:
    """What looks at each part once for each other part would take hours."""
    for part in ("f(", "f(1) == ", "(" * 50, "'", "f('", "=", " ", "\n", ">>> f(", "Input\n", "- " * 9):
        for name in ("f", ""):
            assert isinstance(examples_in(Task("t", part * (50_000 // len(part)), name)), tuple)
