"""Search several roots in one pass.

Roots whose settings and encoder are the same are one corpus: one set of statistics, one ranking, one verdict, in the
time of one root of their size. Their answers need no merging then, which by rank loses a third of them
(docs/results.md). A damaged root is found when the pass breaks over it; the others are asked again without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from assay.errors import DamagedIndex
from assay.operations.corpus_search import CorpusSearch
from assay.operations.workspace import Workspace
from assay.search import retrievers
from assay.search.past_changes import PastChanges
from assay.settings import SearchSettings
from assay.store.snapshot import Snapshot
from assay.values import Problem


@dataclass(frozen=True)
class JointSearch:
    """Workspaces that are searched in one pass."""

    members: tuple[Workspace, ...]
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    """The damage of roots that had to be left out."""

    @cached_property
    def corpus_search(self) -> CorpusSearch:
        """Return the corpus search of all members; that of a single one keeps its caches."""
        if len(self.members) == 1:
            return self.members[0].corpus_search
        first = self.members[0]
        snapshot = Snapshot.joined({member.name: member.snapshot for member in self.members})
        guard = retrievers.IndexGuard(self._damage, "assay index PATH")
        pasts = {member.name: past for member in self.members if (past := member.past.snapshot) is not None}
        said = PastChanges(pasts) if pasts else None
        return CorpusSearch(snapshot, first.index.encoder, first.settings.search, guard, said)

    def without_damaged(self) -> JointSearch:
        """Return the same without the damaged members, which `lacking` names; raise DamagedIndex if none is left."""
        damage = {member.name: member.index.check() for member in self.members}
        problems = [
            Problem(member.name, f"the index is corrupt: {damage[member.name]}; {member.guard.rebuild} rebuilds it")
            for member in self.members
            if damage[member.name]
        ]
        whole = tuple(member for member in self.members if not damage[member.name])
        if not whole or not problems:
            raise DamagedIndex("; ".join(map(str, problems)) or "an index changed while it was read; ask again")
        return JointSearch(whole, (*self.problems, *problems))

    def _damage(self) -> str:
        """Return the damage of each member."""
        return next((found for member in self.members if (found := member.index.check())), "")


def joint_searches(workspaces: Sequence[Workspace]) -> list[JointSearch]:
    """Group workspaces into as few searches as their settings allow."""
    if len(workspaces) == 1:
        return [JointSearch(tuple(workspaces))]
    groups: dict[tuple[str, SearchSettings], list[Workspace]] = {}
    for workspace in workspaces:
        search = replace(workspace.settings.search, limit=1, excerpt_lines=1)  # of printing
        groups.setdefault((workspace.index.encoder.name, search), []).append(workspace)
    return [JointSearch(tuple(group)) for group in groups.values()]
