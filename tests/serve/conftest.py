"""A ballot on a server of its own, and the browser that looks at pages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread

import pytest

from assay.judge.pairs import Pair
from assay.judge.prefer import Ballot, paired
from assay.serve.prefer import PreferServer
from assay.types import Chunk, Query

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> & $token"

_PAGES = spec_from_file_location("pages", Path(__file__).parents[1] / "bench" / "page" / "conftest.py")
assert _PAGES
assert _PAGES.loader
_MODULE = module_from_spec(_PAGES)
_PAGES.loader.exec_module(_MODULE)
browser = _MODULE.browser


@pytest.fixture
def ballot(tmp_path: Path) -> Ballot:
    """Return a ballot of five items with texts that want to be markup."""

    def side(name: str) -> list[Pair]:
        code = f"def {name}(x):\n    return x  # {HOSTILE}\n"
        return [Pair(Query(f"q{at}", f"how to {at} {HOSTILE}"), Chunk(f"{name}{at}", code)) for at in range(5)]

    return Ballot(paired(side("first"), side("second")), tmp_path / "votes.jsonl")


@pytest.fixture
def server(ballot: Ballot) -> Iterator[PreferServer]:
    """Return a server that runs."""
    with PreferServer(ballot) as made:
        Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()
