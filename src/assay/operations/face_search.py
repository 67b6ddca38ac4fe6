"""Offer `assay.search` and `assay.Index` to programs that import Assay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from assay.operations.answer import Answer, RelatedAnswer, answer, queries_of, related_answer
from assay.operations.many_roots import RootOpening, open_many
from assay.operations.root_settings import UserSettings, root_settings
from assay.protocols import Progress
from assay.search.folder_index import IndexReport
from assay.settings import Settings
from assay.values import Mode, Query

Place = str | PathLike[str]
Question = str | Query | Sequence[str | Query]
"""What is asked: a text, a query, or several, whose hits are united."""


def search(  # noqa: PLR0913  what may be asked
    query: Question,
    path: Place | Sequence[Place] = ".",
    *,
    k: int | None = None,
    mode: Mode | None = None,
    languages: Sequence[str] = (),
    paths: Sequence[str] = (),
    kinds: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
) -> Answer:
    """Return the best `k` hits of a query in a folder, or in several; the index is made or brought up to date first.

    `path` is a folder or the URL of a git repository. `settings` are those of `assay.toml`, by dotted name. The hits of
    several folders are ranked together and have the folder before their path; `problems` of the answer names folders
    that cannot be searched, and `assay.InputError` is raised where none can.

    >>> import assay
    >>> answer = assay.search("where is mail sent", ".")
    >>> answer[0].chunk.symbol, answer.relevant
    ('send_mail', True)
    >>> [hit.chunk.path for hit in assay.search("matchRoute", ".", k=1, languages=["js"])]
    ['web/router.js']
    """
    places = [path] if isinstance(path, str | PathLike) else path
    queries = _queries(query, mode, languages, paths, kinds)
    how = RootOpening(lambda root: _settings(root, settings))
    opened = open_many([str(place) for place in places], how)
    found = answer(opened.workspaces, queries, k or opened.workspaces[0].settings.search.limit, named=len(places) > 1)
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

    def search(  # noqa: PLR0913  what may be asked
        self,
        query: Question,
        *,
        k: int | None = None,
        mode: Mode | None = None,
        languages: Sequence[str] = (),
        paths: Sequence[str] = (),
        kinds: Sequence[str] = (),
    ) -> Answer:
        """Return the best `k` hits of a query.

        >>> import assay
        >>> assay.Index(".").search("timeout", mode="docs")[0].chunk.path
        'README.md'
        """
        queries = _queries(query, mode, languages, paths, kinds)
        return answer([self._workspace], queries, k or self._workspace.settings.search.limit)

    def related(self, path: Place, line: int, *, k: int | None = None) -> RelatedAnswer:
        """Return what has to do with the unit at a line of a file: its callers, callees and tests, and what is alike.

        Each group has at most `k` places.

        >>> import assay
        >>> index = assay.Index(".")
        >>> [place.name for place in index.related("mail/send.py", 6).callers]
        []
        """
        file = Path(path)
        below = file.relative_to(self.root) if file.is_absolute() else file
        return related_answer(self._workspace, below.as_posix(), line, k or self._workspace.settings.search.limit)

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


def _queries(
    query: Question, mode: Mode | None, languages: Sequence[str], paths: Sequence[str], kinds: Sequence[str]
) -> list[Query]:
    questions = [query] if isinstance(query, str | Query) else query
    return queries_of(questions, mode=mode, languages=languages, paths=paths, kinds=kinds)
