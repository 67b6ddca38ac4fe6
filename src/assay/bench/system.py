"""A system under test: it is given a corpus once, then asked one query after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from assay.bench.system_corpus import SystemCorpus
from assay.protocols import Searcher


class System(Protocol):
    """What `plugins.make("system", spec)` returns; the spec's options are the other keys of its table in a matrix.

    A system runs in a process of its own, so it may hold what it likes. Its searcher is asked with one query at a
    time; a hit's chunk has path and lines below the corpus' root, whatever the system printed, and no text.
    What goes wrong with one query is raised as `AssayError` and counted against that query. A searcher whose answer
    has results although something went wrong says so in an attribute `note`; a system may have `problems` (what it
    could not use), `built_s` (how long the index took that it shares) and `close()`.
    """

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Index a corpus, at most once for equal corpora and options, and return what answers."""

    def index_bytes(self) -> int | None:
        """Return what its index takes up, None where it has none or does not tell."""
