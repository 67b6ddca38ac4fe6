"""Names of files lead to languages, and every grammar that the table names is one that the parser has."""

# ruff: noqa: E501, TID253  (a table of names; the parser itself is asked)

from __future__ import annotations

import pytest
from ast_grep_py import SgRoot

from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import language_of
from assay.types import KINDS


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"), ("A.PY", "python"), ("Dockerfile.dev", "docker"), ("x/Makefile", "make"), ("README", "markdown"),
        ("README.rst", "restructuredtext"), (".gitignore", "ini"), ("a.b.tsx", "tsx"), ("none", ""), ("", ""), ("a.", ""),
        ("x" * 300 + ".rs", "rust"),
    ],
)  # fmt: skip
def test_language_of_a_name(path, language):
    assert language_of(path) == language


def test_a_header_is_c_unless_it_shows_otherwise():
    assert language_of("a.h", "int f(void);\n") == "c"
    assert language_of("a.h", "namespace a {\n}\n") == "cpp"


@pytest.mark.parametrize("language", GRAMMARS)
def test_the_parser_has_every_grammar(language):
    assert SgRoot("", GRAMMARS[language].id).root().kind()
    assert set(GRAMMARS[language].units.values()) <= set(KINDS)
