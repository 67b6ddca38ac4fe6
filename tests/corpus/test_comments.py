"""What a person wrote is left of a comment, and no marker is."""

from __future__ import annotations

import pytest

from assay.corpus.comments import docstring, opening, plain


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("// a\n// b", "a\nb"),
        ("/// a", "a"),
        ("//! a", "a"),
        ("# a\n#   b", "a\n  b"),
        ("-- | a", "a"),
        ("/** a */", "a"),
        ("/**\n * a {@code b}\n * @return <p>c\n */", "a b\nc"),
        ("/// <summary>a</summary>", "a"),
        ("#!/bin/sh\n# a", "a"),
    ],
)
def test_plain(comment, text):
    assert plain(comment) == text


@pytest.mark.parametrize("literal", ['"""a\n    b"""', "r'''a\n    b'''", '"""a\n    b\n    """'])
def test_docstring(literal):
    assert docstring(literal) == "a\nb"


def test_an_opening_is_a_comment_that_is_no_licence():
    assert opening("// a\n// b\nx = 1\n") == "a\nb"
    assert opening("x = 1 // a\n") == ""
    assert opening("// SPDX-License-Identifier: MIT\n") == ""
    assert opening("#include <a>\n") == ""
