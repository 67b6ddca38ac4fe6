from __future__ import annotations

import pytest

from assay.search.path_traits import traits_of


@pytest.mark.parametrize(
    ("path", "test", "example", "aside"),
    [
        ("src/app/run.py", False, False, False),
        ("", False, False, False),
        ("tests/test_run.py", True, False, False),
        ("test/run.c", True, False, False),
        ("src/run_test.go", True, False, False),
        ("src/run.spec.ts", True, False, False),
        ("src/__tests__/run.tsx", True, False, False),
        ("conftest.py", True, False, False),
        ("src/main/RunTest.java", True, False, False),
        ("src/main/RunIT.java", True, False, False),
        ("benches/run.rs", True, False, False),
        ("src/fixtures/run.json", True, False, False),
        ("test-utils/run.js", True, False, False),
        ("src/latest.py", False, False, False),
        ("src/contest/attest.py", False, False, False),
        ("src/edit.py", False, False, False),
        ("examples/run.py", False, True, False),
        ("docs_src/run.py", False, True, False),
        ("config.example.toml", False, True, False),
        ("src/example.py", False, False, False),
        ("examples/tests/run.py", True, True, False),
        ("CHANGELOG.md", False, False, True),
        ("docs/release-notes.rst", False, False, True),
        ("CONTRIBUTING.md", False, False, True),
        ("src/license.py", False, False, False),
        ("docs/fr/intro.md", False, False, True),
        ("docs/pt-BR/intro.md", False, False, True),
        ("docs/en/intro.md", False, False, False),
        ("docs/api/intro.md", False, False, False),
        ("locales/de.po", False, False, True),
    ],
)
def test_a_path_says_what_sort_of_file_it_is(path, test, example, aside):
    assert traits_of(path) == (test, example, aside)
