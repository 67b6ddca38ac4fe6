"""Offer `assay.search` and `assay.Index` to programs that import Assay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.operations.answer import Answer, RelatedAnswer, answer, related_answer
from assay.operations.requests import Search, SearchFilter
from assay.operations.root_settings import UserSettings, root_settings
from assay.operations.workspace import RootOpening, Workspace, open_many
from assay.parameters import read_request, read_value
from assay.protocols import Progress
from assay.search.folder_index import IndexReport
from assay.settings import Settings
from assay.values import Query

Place = str | PathLike[str]
Asked = str | Query | Sequence[str | Query]
"""What is asked: a text, a query, or several, whose hits are united."""


def search(
    query: Asked,
    path: Place | Sequence[Place] = ".",
    *,
    limit: int | None = None,
    settings: Mapping[str, object] | None = None,
    **keep: Any,
) -> Answer:
    """Return the best hits of a query in a folder, or in several; the index is made or brought up to date first.

    `keep` are the filters: `mode` is code, docs or all; `lang`, `file`, `kind` and `repo` are lists, as on the command
    line. `path` is a folder or the URL of a git repository. `settings` are those of `assay.toml`, by dotted name. The
    hits of several folders are ranked together and have the folder before their path; `problems` of the answer names
    folders that cannot be searched, and `assay.InputError` is raised where none can.

    >>> import assay
    >>> answer = assay.search("where is mail sent", ".")
    >>> answer[0].chunk.symbol, answer.relevant
    ('send_mail', True)
    >>> [hit.chunk.path for hit in assay.search("matchRoute", ".", limit=1, lang=["js"])]
    ['web/router.js']
    """
    places = [path] if isinstance(path, str | PathLike) else path
    kept = _filter(keep)
    how = RootOpening(lambda root: _settings(root, settings), repositories=kept.repo)
    opened = open_many([str(place) for place in places], how)
    most = _limit(limit, opened.workspaces[0])
    found = answer(opened.workspaces, kept.queries(_queries(query)), most, named=len(places) > 1)
    return replace(found, problems=opened.problems + found.problems)


class Index:
    """The index of a folder or of a git URL, kept open: for many questions about one place.

    It is made or brought up to date when it is opened, and by `refresh`; in between answers come from what it holds.

    >>> import assay
    >>> index = assay.Index(".")
    >>> index.search("where is mail sent")[0].chunk.symbol
    'send_mail'
    >>> index.refresh().files
    4
    """

    def __init__(
        self, path: Place = ".", *, settings: Mapping[str, object] | None = None, progress: Progress | None = None
    ) -> None:
        """Open the index, making it where there is none; `progress` hears of a stage, how much is done, and of what."""
        how = RootOpening(lambda root: _settings(root, settings), progress=progress, strict=True)
        (self._workspace,) = open_many([str(path)], how).workspaces
        self.report: IndexReport = self._workspace.report
        """What the index holds and leaves out, and what the last refresh changed."""

    @property
    def root(self) -> Path:
        """The folder that is searched."""
        return self._workspace.index.root

    def search(self, query: Asked, *, limit: int | None = None, **keep: Any) -> Answer:
        """Return the best hits of a query; `keep` are the filters of `assay.search`.

        >>> import assay
        >>> assay.Index(".").search("timeout", mode="docs")[0].chunk.path
        'README.md'
        """
        kept = _filter(keep)
        if kept.repo:
            raise InputError("repo: an index is of one folder; assay.search takes several, and keeps some of them")
        return answer([self._workspace], kept.queries(_queries(query)), _limit(limit, self._workspace))

    def related(self, path: Place, line: int, *, limit: int | None = None) -> RelatedAnswer:
        """Return what has to do with the unit at a line of a file: its callers, callees and tests, and what is alike.

        Each group has at most `limit` places.

        >>> import assay
        >>> index = assay.Index(".")
        >>> [place.name for place in index.related("mail/send.py", 6).callers]
        []
        """
        file = Path(path)
        below = file.relative_to(self.root) if file.is_absolute() else file
        return related_answer(self._workspace, below.as_posix(), line, _limit(limit, self._workspace))

    def refresh(self, progress: Progress | None = None) -> IndexReport:
        """Bring the index up to date with the files, and return what it holds and what changed.

        >>> import assay
        >>> report = assay.Index(".").refresh()
        >>> bool(report.changed)
        False
        """
        self._workspace, self.report = self._workspace.refresh(progress)
        return self.report


def _settings(root: Path, options: Mapping[str, object] | None) -> Settings:
    return root_settings(root, UserSettings(options=options or {}))


def _queries(query: Asked) -> Sequence[str | Query]:
    return [query] if isinstance(query, str | Query) else query


def _filter(keep: Mapping[str, Any]) -> SearchFilter:
    """Return the filters that somebody named."""
    return read_request(SearchFilter, {name: value for name, value in keep.items() if value is not None})


def _limit(limit: int | None, workspace: Workspace) -> int:
    return workspace.settings.search.limit if limit is None else int(read_value(Search, "limit", limit))
