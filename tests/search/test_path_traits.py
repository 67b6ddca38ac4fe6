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
        ("po/de.po", False, False, True),
        ("test.c", True, False, False),
        ("src/tests.rs", True, False, False),
        ("src/testing.py", False, False, False),
        ("static/jquery-3.5.1.js", False, False, True),
        ("static/app.min.css", False, False, True),
        ("src/app-2.js", False, False, False),
        ("third_party/zlib/inflate.c", False, False, True),
        ("certs/server.pem", False, False, True),
        ("api/types.pb.go", False, False, True),
        ("api/zz_generated.deepcopy.go", False, False, True),
        ("src/generate.py", False, False, False),
    ],
)
def test_a_path_says_what_sort_of_file_it_is(path, test, example, aside):
    assert traits_of(path) == (test, example, aside)
