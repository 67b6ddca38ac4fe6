"""Return what is shown beside the hits of a search: sections of documentation, and the commits that changed a unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.errors import AssayError
from assay.operations.found_commit import FoundCommit
from assay.operations.hits import FoundUnit, rooted_path
from assay.operations.joint_answer import JointAnswer
from assay.operations.requests import Log
from assay.operations.roots import Roots
from assay.operations.sizing import Size, fitting, sized_hit
from assay.search.operation_questions import operations_asked
from assay.search.sections import come_first
from assay.store.snapshot import Snapshot
from assay.values import Hit, Query

_COMMITS, _FOR_MODELS = 5, 2


def sections_shown(
    answer: JointAnswer, size: Size, budget: int, snapshots: Mapping[str, Snapshot], *, is_text: bool
) -> tuple[list[FoundUnit], bool]:
    """Return the records of sections that the rest of a budget holds, and whether they come before the code.

    Text for a model has only the headings of those that do not.
    """
    sections = answer.sections
    first = come_first(sections, answer.hits, (query.text for query in size.queries))
    if is_text and not first:
        size, sections = replace(size, detail="names"), sections[:_FOR_MODELS]
    found = (sized_hit(hit, budget, size, snapshots[hit.chunk.root]) for hit in sections)
    shown = fitting([one for one in found if one], budget, size.cost)
    return shown, first and bool(shown)


def commits_shown(
    hits: Sequence[Hit], queries: Sequence[Query], root: str, roots: Roots, budget: int
) -> tuple[list[FoundCommit], str]:
    """Return the newest commits that changed the unit or the file of the first hit, for a query about changes.

    Beside them stands why none can be read, if so.
    """
    is_asked = any(one.operation == "changes" for query in queries for one in operations_asked(query.text))
    if not is_asked or not hits or "operation" not in hits[0].why:
        return [], ""
    from assay.operations.log import log  # and git: not for most searches

    chunk = hits[0].chunk
    path, line = rooted_path(chunk.root or root, chunk.path), hits[0].line
    try:
        commits = log(Log(path=path, line=line, limit=_COMMITS, budget=budget), roots).commits
    except AssayError as error:
        return [], f"the history cannot be read: {error}"
    return commits, "" if commits else "no commit is known that changed it"
