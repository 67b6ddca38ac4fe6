"""List the operations of a server, each with its request and its answer; HTTP and MCP are made of this list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

from assay.operations import commits, counts, files, log, rank, read, related, requests, search, status
from assay.operations.hits import Answer
from assay.operations.roots import Roots
from assay.parameters import Request


@dataclass(frozen=True, slots=True)
class Operation:
    """A question to open roots: its request, its function and its texts."""

    name: str
    request: type[Request]
    answer: type
    run: Callable[[Any, Roots], Any]
    text_run: Callable[[Any, Roots], Any] | None = None
    """The same for an answer that is written as text, where that is shorter."""
    tool: Mapping[str, Any] | None = None
    """Where it is a tool of MCP, the defaults that differ from those of the request."""

    @property
    def help(self) -> str:
        """The help of the operation."""
        return getdoc(self.request) or ""


def _as_text(run: Callable[..., Any]) -> Callable[[Any, Roots], Any]:
    return lambda request, roots: run(request, roots, is_text=True)


OPERATIONS = (
    Operation("search", requests.Search, Answer, search.search, _as_text(search.search), {"detail": "lines"}),
    Operation("read", requests.Read, read.UnitText, read.read, _as_text(read.read), {}),
    Operation("related", requests.Related, related.RelatedAnswer, related.related, _as_text(related.related), {}),
    Operation("outline", requests.Outline, read.OutlineAnswer, read.outlines, _as_text(read.outlines), {}),
    Operation("pattern", requests.PatternSearch, read.PatternAnswer, read.patterns, tool={}),
    Operation("log", requests.Log, commits.LogAnswer, log.log, _as_text(log.log), {"limit": 4}),
    Operation("status", requests.StatusOf, status.Status, status.status, tool={}),
    Operation("rank", requests.Candidates, rank.Order, lambda request, _: rank.rank_candidates(request)),
    Operation("question", requests.Typed, counts.QuestionParts, counts.question_parts),
    Operation("facets", requests.Facets, counts.FacetCounts, counts.facets),
    Operation("matches", requests.Matches, counts.MatchList, counts.matches),
    Operation("names", requests.Names, files.NamesFound, files.names),
    Operation("definitions", requests.Definitions, related.PlacesFound, related.definitions),
    Operation("references", requests.References, related.PlacesFound, related.references),
    Operation("file", requests.FileLines, files.FileText, files.file_text),
    Operation("find", requests.Find, files.FoundLines, files.found_lines),
    Operation("tree", requests.Tree, files.FolderList, files.folder_list),
    Operation("blame", requests.Blame, log.BlameAnswer, log.blame),
    Operation("history", requests.LineHistory, log.HistoryAnswer, log.history),
)
