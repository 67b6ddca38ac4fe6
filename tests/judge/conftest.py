"""Puts the acting model, the chat server and the makers of wheels where tests import them."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parent
sys.path += [str(_TESTS), str(_TESTS.parent / "llm"), str(_TESTS.parent / "sandbox")]
