"""Puts the acting model and the makers of wheels where tests import them."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parent
sys.path += [str(_TESTS), str(_TESTS.parent / "programs")]
