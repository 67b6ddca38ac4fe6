from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.llm.schema import check, is_strict, problems, read

GRADE = {
    "type": "object",
    "properties": {
        "grade": {"type": "integer", "enum": [0, 1]},
        "reason": {"type": "string"},
        "tests": {"type": "array", "items": {"type": "string"}},
        "chance": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["grade"],
    "additionalProperties": False,
}


VALUES_SAID = (
    ({"grade": 1}, ""),
    ({"grade": 1.0, "chance": 0.5, "tests": ["a", "b"], "reason": "short"}, ""),
    ([], "the answer is [], wanted object"),
    ({}, "the answer has no 'grade'"),
    ({"grade": True}, "the answer.grade is true, wanted integer"),
    ({"grade": 2}, "the answer.grade is 2, wanted one of [0, 1]"),
    ({"grade": 0, "tests": ["a", 3]}, "the answer.tests[1] is 3, wanted string"),
    ({"grade": 0, "chance": None}, "the answer.chance is null, wanted number"),
    ({"grade": 0, "chance": 1.5}, "the answer.chance is 1.5, wanted 1 or less"),
    ({"grade": 0, "chance": -0.5}, "the answer.chance is -0.5, wanted 0 or more"),
    ({"grade": 0, "chance": 1, "tests": []}, ""),
    ({"grade": 0, "chance": 0}, ""),
    ({"grade": 0, "chance": float("inf")}, "the answer.chance is Infinity, wanted number"),
    ({"grade": 0, "grad": 1}, 'the answer has an unknown "grad"; known: grade, reason, tests, chance'),
)


def test_what_is_wrong_is_said_in_one_line():
    for value, said in VALUES_SAID:
        assert "; ".join(problems(value, GRADE)) == said
    value, problem = read(json.dumps({f"x{place}": 0 for place in range(50)}), GRADE)
    assert value is None
    assert problem.endswith("; and 46 more"), "a model is told a few things at once"


def test_an_unknown_keyword_is_refused_and_strict_is_what_endpoints_can_hold_a_model_to():
    check(GRADE)
    with pytest.raises(InputError, match=r"the schema\.grade has the keyword 'maximun'; did you mean 'maximum'"):
        check({"type": "object", "properties": {"grade": {"maximun": 3}}})
    for schema in ({"type": ["number", "null"]}, {"enum": [True]}):
        with pytest.raises(InputError, match="needs one type of object, array"):
            check(schema)
    with pytest.raises(InputError, match="additionalProperties"):
        check({"type": "object", "additionalProperties": {"type": "string"}})
    assert not is_strict(GRADE), "three of its properties may be missing"
    assert is_strict({**GRADE, "required": list(GRADE["properties"])})
    assert not is_strict({"type": "array", "items": {"type": "object", "properties": {}}})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "a", "abcdef"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(GRADE["properties"])), inner),
    max_leaves=6,
)


@given(VALUES)
def test_the_general_library_says_the_same(value):
    jsonschema = pytest.importorskip("jsonschema", reason="it is part of the mcp extra")
    assert (not list(problems(value, GRADE))) == jsonschema.Draft202012Validator(GRADE).is_valid(value)


TEXTS_SAID = (
    ('{"grade": 1}', ""),
    ('Sure!\n```json\n{"grade": 1}\n```\nIs that {all}?', ""),
    ('<think>maybe {"grade": 0}</think>\n{"grade": 1}', ""),
    ('the set {a, b} says {"grade": 1}', ""),
    ('{"grade": 1} or {"grade": 0}', "it holds 2 JSON objects"),
    ('the code says "answer {"grade": 0}", I say {"grade": 1}', "it holds 2 JSON objects"),
    ("", "it holds no JSON object"),
    ("[1, 2]", "it holds no JSON object"),
    ('{"grade": NaN}', "its JSON is broken: NaN is not valid JSON"),
    ('{"grade": 1,}', "its JSON is broken at line 1, column 1"),
    ("so:\n{'grade': 1}", "its JSON is broken at line 1, column 2: Expecting property name"),
    ('{"reason": "a\nb", "grade": 1}', "its JSON is broken at line 1, column 14: Invalid control character"),
    ('{"grade": 1', "it holds no JSON object"),
    ("{" * 100_000, "it holds no JSON object"),
    ('{"a":' * 100_000, "it holds no JSON object"),
)


def test_an_answer_is_the_one_object_in_a_text():
    for text, said in TEXTS_SAID:
        value, problem = read(text, GRADE)
        assert problem.startswith(said), text
        assert value == (None if said else {"grade": 1}), text


@given(st.text())
def test_any_text_is_read_or_refused(text):
    value, problem = read(text, {"type": "object"})
    assert (value is None) == bool(problem)
