"""Lend the checks of the scripts what tests use: a cache of its own, tiny models, a served endpoint.

    python -m pytest -m '' benchmarks/checks

`make nightly` runs them, with `-m ''`; `make test` only the quickest scripts of `test_scripts.py`.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parents[2] / "tests"
sys.path += [str(TESTS), str(TESTS / "judge"), str(Path(__file__).parent)]


def _lent(folder: str) -> ModuleType:
    """Load the conftest of a folder of tests under a name of its own."""
    spec = spec_from_file_location(f"tests_conftest_{folder.replace('/', '_')}", TESTS / folder / "conftest.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_every, _neural = _lent(""), _lent("rank/neural")
cache, assay, project, tiny_bert = _every.cache, _every.assay, _every.project, _every.tiny_bert
bases, examples = _neural.bases, _neural.examples
