"""What the default search answers on the small project, as text: a change of ranking is a diff to be read.

`make golden` writes the file anew. The figure at its end is the mean reciprocal rank of what each line expects.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay.operations.workspace import Workspace, open_workspace
from assay.search.query_filters import queries_of
from assay.settings import load

GOLDEN = Path(__file__).parent / "rankings.txt"

EXPECTED = {
    "where is mail sent again when the server is busy": "send_mail",
    "send_mail": "send_mail",
    "delivery retries": "send_mail",
    "is this address valid": "Address",
    "does the mailbox have a host": "Address",
    "find the handler of a request": "matchRoute",
    "match route": "matchRoute",
    "how long may a server take": "Configuration",
    "timeout setting": "Configuration",
}


def test_rankings_are_as_agreed(project: Path):
    workspace = open_workspace(project, load())
    written = _written(workspace)
    if os.environ.get("ASSAY_GOLDEN") == "write":
        GOLDEN.write_text(written, encoding="utf-8")
    assert written == GOLDEN.read_text(encoding="utf-8"), "the ranking changed: make golden, and read the diff"


def _written(workspace: Workspace) -> str:
    """Return each query with its hits in order, the expected one marked, then the figure."""
    rows, reciprocal = [], 0.0
    for query, expected in EXPECTED.items():
        (hits,) = workspace.corpus_search.search(queries_of([query], mode="all"), 4)
        symbols = [hit.chunk.symbol for hit in hits]
        reciprocal += 1 / (symbols.index(expected) + 1) if expected in symbols else 0
        rows.append(query)
        rows += [f"  {'*' if each.chunk.symbol == expected else ' '} {_place(each.chunk)}" for each in hits]
    return "\n".join([*rows, f"MRR {reciprocal / len(EXPECTED):.3f}", ""])


def _place(chunk) -> str:
    return f"{chunk.path}:{chunk.start_line}-{chunk.end_line} {chunk.symbol}".rstrip()
