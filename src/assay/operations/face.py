"""Offer `assay.search` and `assay.Index` to programs that import Assay: the operations, over their own roots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.operations.commits import LogAnswer
from assay.operations.hits import Answer
from assay.operations.local_roots import LocalRoots
from assay.operations.log import log as find_commits
from assay.operations.open_roots import RootOpening
from assay.operations.related import RelatedAnswer
from assay.operations.related import related as find_related
from assay.operations.requests import UNBOUNDED, Log, Related, Search
from assay.operations.root_settings import UserSettings, root_settings
from assay.operations.search import repositories_asked
from assay.operations.search import search as find
from assay.parameters import R, read_request
from assay.protocols import Progress
from assay.search.folder_index import IndexReport
from assay.settings import Settings
from assay.values import Query

Place = str | PathLike[str]
Asked = str | Query | Sequence[str | Query]
"""A text, a query, or several, whose hits are united."""


def search(
    query: Asked,
    path: Place | Sequence[Place] = ".",
    *,
    limit: int | None = None,
    settings: Mapping[str, object] | None = None,
    **parameters: Any,
) -> Answer:
    """Return the best hits of a query in a folder, or in several; the index is built or brought up to date first.

    `parameters` are those of the command line: the filters `mode`, and lists of `lang`, `file`, `kind` and `repo`;
    `detail`, `group`, `budget`, `cursor` and `explain`. `path` is a folder or the URL of a git repository. `settings`
    are those of `assay.toml`, by dotted name. The hits of several folders are ranked together, and each has its `root`;
    `problems` of the answer names folders that cannot be searched, and `assay.InputError` is raised where none can.

    >>> import assay
    >>> answer = assay.search("where is mail sent", ".")
    >>> answer[0].symbol, answer.relevant
    ('send_mail', True)
    >>> [hit.path for hit in assay.search("matchRoute", ".", limit=1, lang=["js"])]
    ['web/router.js']
    """
    places = [path] if isinstance(path, str | PathLike) else path
    how = RootOpening(lambda root: _settings(root, settings))
    return _search(query, LocalRoots([str(place) for place in places], how), limit, parameters)


class Index:
    """The index of a folder or of a git URL, kept open: for many questions about one place.

    It is made or brought up to date when it is opened, and by `refresh`; in between answers come from what it holds.

    >>> import assay
    >>> index = assay.Index(".")
    >>> index.search("where is mail sent")[0].symbol
    'send_mail'
    >>> index.refresh().files
    4
    """

    def __init__(
        self, path: Place = ".", *, settings: Mapping[str, object] | None = None, progress: Progress | None = None
    ) -> None:
        """Open the index, building it if there is none; `progress` is called with a stage, the part done, the total."""
        self._roots = LocalRoots([str(path)], RootOpening(lambda root: _settings(root, settings), progress=progress))
        (self._reader,) = self._roots.readers
        self.report: IndexReport = self._reader.view().report
        """What the index holds and leaves out, and what the last refresh changed."""

    @property
    def root(self) -> Path:
        """The folder that is searched."""
        return self._reader.root

    def search(self, query: Asked, *, limit: int | None = None, **parameters: Any) -> Answer:
        """Return the best hits of a query; `parameters` are those of `assay.search`.

        >>> import assay
        >>> assay.Index(".").search("timeout", mode="docs")[0].path
        'README.md'
        """
        if parameters.get("repo"):
            raise InputError("repo: an Index has one folder; assay.search takes several, of which repo selects some")
        return _search(query, self._roots, limit, parameters)

    def related(
        self, path: Place = "", line: int = 0, *, name: str = "", limit: int | None = None, **parameters: Any
    ) -> RelatedAnswer:
        """Return the callers, callees and tests of the unit at a line of a file or of a name, and similar code.

        Each group has at most `limit` places.

        >>> import assay
        >>> index = assay.Index(".")
        >>> [place.symbol for place in index.related("mail/send.py", 6).of("callers")]
        []
        """
        usual = {"limit": self._reader.settings.search.limit, "budget": UNBOUNDED}
        values = {"path": str(self.root / path) if path else "", "line": line, "name": name, "limit": limit}
        return find_related(_request(Related, {**values, **parameters}, usual), self._roots)

    def log(self, query: str = "", **parameters: Any) -> LogAnswer:
        """Return the commits that a question finds, or without one the newest; `parameters` are as in `assay log`."""
        return find_commits(_request(Log, {"query": query, **parameters}, {"budget": UNBOUNDED}), self._roots)

    def refresh(self, progress: Progress | None = None) -> IndexReport:
        """Bring the index up to date with the files, and return what it holds and what changed.

        >>> import assay
        >>> report = assay.Index(".").refresh()
        >>> bool(report.changed)
        False
        """
        workspace, self.report = self._reader.view().workspace.refresh(progress)
        self._reader.show(workspace)
        return self.report


def _settings(root: Path, options: Mapping[str, object] | None) -> Settings:
    return root_settings(root, UserSettings(options=options or {}))


def _search(query: Asked, roots: LocalRoots, limit: int | None, parameters: Mapping[str, Any]) -> Answer:
    first, *more = [query] if isinstance(query, str | Query) else query
    typed = [one.text if isinstance(one, Query) else one for one in (first, *more)]
    values = {"query": typed[0], "more": typed[1:], "limit": limit, **parameters}
    asked = _request(Search, values, {"budget": UNBOUNDED})
    texts: dict[str, Any] = {"query": first, "more": tuple(more)}  # a `Query` stands for itself
    asked = replace(asked, **texts)
    usual = roots.settings(repositories_asked(asked)).search.limit
    return find(replace(asked, limit=usual if limit is None else asked.limit), roots)


def _request(kind: type[R], parameters: Mapping[str, Any], usual: Mapping[str, Any]) -> R:
    """Return a request with named parameters."""
    return read_request(kind, {name: value for name, value in parameters.items() if value is not None}, usual=usual)
