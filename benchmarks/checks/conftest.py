"""Lend the checks of the scripts what tests use: a cache of its own, tiny models, a served endpoint.

    python -m pytest benchmarks/checks

`make nightly` runs them; `make test` does not, for a script is run by whoever needs its figures.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
sys.path += [str(TESTS), str(TESTS / "judge")]

_spec = spec_from_file_location("tests_conftest", TESTS / "conftest.py")
assert _spec
assert _spec.loader
_lent = sys.modules[_spec.name] = module_from_spec(_spec)
_spec.loader.exec_module(_lent)
cache, assay, project, tiny_bert = _lent.cache, _lent.assay, _lent.project, _lent.tiny_bert
