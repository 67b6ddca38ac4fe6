"""Options for a list of repositories, and what commands build from them: a loop, a process, served folders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.options import SettingsOptions
from assay.errors import AssayError, InputError
from assay.io.terminal import say
from assay.parameters import Options, option

if TYPE_CHECKING:
    from assay.operations.repository_list import ListedRepository
    from assay.protocols import Say
    from assay.serve.mirrors import MirrorLoop
    from assay.serve.served_roots import ListedRoots
    from assay.settings import Settings


class RepositoriesOptions(Options):
    """Options for a list of repositories."""

    listed: Path | None = option(
        "--repos FILE",
        "Also take the folders and URLs that FILE lists, one a line. URLs are mirrored; changes of FILE are applied.",
        kind="file",
    )
    mirrors: Path | None = option(
        "--mirrors FOLDER", "Keep the mirrors of URLs in FOLDER.  [default: in the user's cache]"
    )
    every_s: float | None = option(
        "--every S",
        "Fetch each URL of --repos every S seconds, unless its line says otherwise.  [default: 600]",
        least=10,
    )

    def folder(self) -> Path:
        """Return the folder of the mirrors."""
        import platformdirs

        return (self.mirrors or platformdirs.user_cache_path("assay") / "mirrors").expanduser().absolute()

    def check(self) -> None:
        """Refuse options that need a list."""
        if self.listed is None and (self.mirrors or self.every_s):
            raise InputError("--mirrors and --every are for --repos FILE: give that, too")

    def check_list(self, settings_options: SettingsOptions) -> None:
        """Refuse invalid options, and a list without a usable line, before anything is fetched.

        Where a list was in use before, or some of its lines can be used, what is wrong is said, and the rest served.
        """
        from assay.serve.served_roots import StateFile

        assert self.listed is not None
        _check(
            settings_options.settings(None),
            "--repos keeps each index in the user's cache: leave out --index and index.location",
        )
        store = StateFile(self.folder(), self.listed)
        store.make_folder()
        problems, usable = self._problems(settings_options)
        if problems and not usable and not store.read().mirrors:
            raise InputError("; ".join(problems))
        for problem in problems:
            say(f"{problem}; the rest is served")

    def _problems(self, settings_options: SettingsOptions) -> tuple[list[str], int]:
        """Return the errors of the list and of the settings of its lines, and the number of usable lines."""
        from assay.operations.repository_list import read_repositories

        assert self.listed is not None
        try:
            listed = read_repositories(self.listed, self.folder())
        except InputError as error:
            return [str(error)], 0
        problems = []
        for each in listed:
            try:
                _check(settings_of(settings_options, each), "index.location cannot be set for one folder of a list")
            except AssayError as error:
                problems.append(f"{self.listed}:{each.line}: {error}")
        return problems, len(listed) - len(problems)

    def loop(self, settings_options: SettingsOptions, say: Say) -> MirrorLoop:
        """Return the loop that keeps the repositories up to date."""
        from assay.serve.mirrors import EVERY_S, MirrorLoop

        assert self.listed is not None
        every_s = self.every_s or EVERY_S
        return MirrorLoop(
            self.listed, self.folder(), lambda each: settings_of(settings_options, each), say, every_s=every_s
        )

    @contextmanager
    def mirroring(self, settings_options: SettingsOptions) -> Iterator[None]:
        """Keep the repositories up to date in another process, if there is a list."""
        if self.listed is None:
            yield
            return
        from assay.serve.mirrors import process_beside

        command = [sys.executable, *"-P -m assay watch --repos".split(), str(self.listed)]
        command += ["--mirrors", str(self.folder())]
        command += ["--every", str(self.every_s)] if self.every_s else []
        command += ["--config", str(settings_options.config)] if settings_options.config else []
        command += ["--encoder", settings_options.encoder] if settings_options.encoder else []
        command += [part for change in settings_options.changes for part in ("--set", change)]
        with process_beside(command, say):
            yield

    def fixed_roots(self, paths: Sequence[str], settings_options: SettingsOptions) -> dict[Path, Settings]:
        """Return the folders that do not change, by default the current one, or none if a list is served.

        A list that cannot be used is refused here.
        """
        self.check()
        if self.listed is not None:
            self.check_list(settings_options)
        return settings_options.served(paths) if paths or self.listed is None else {}

    def names_of(self, roots: Iterable[str]) -> list[object]:
        """Return the names of what is served, for messages: folders, and the list."""
        from assay.store.index_location import is_bucket

        folders = [root if is_bucket(root) else Path(root).resolve() for root in roots]
        return [*folders, *([self.listed] if self.listed else [])] or [Path.cwd()]

    def roots(self, settings_options: SettingsOptions, fixed: Mapping[Path, Settings]) -> ListedRoots | None:
        """Return what is served with a list: fixed folders, and the present content of the list; None without one."""
        from assay.corpus.addresses import is_url
        from assay.serve.served_roots import ListedRoots, MirrorState, StateFile

        if self.listed is None:
            return None

        def settings(state: MirrorState) -> Settings:
            return _settings(settings_options, None if is_url(state.place) else Path(state.root), state.changes)

        return ListedRoots(fixed, StateFile(self.folder(), self.listed), settings)


def _check(settings: Settings, refusal: str) -> None:
    from assay.operations.corpus_search import check

    check(settings.search)
    if settings.index.location:
        raise InputError(refusal)


def settings_of(settings_options: SettingsOptions, each: ListedRepository) -> Settings:
    """Return the settings of a line of a list."""
    return _settings(settings_options, None if each.url else Path(each.place), each.changes)


def _settings(settings_options: SettingsOptions, own: Path | None, changes: tuple[str, ...]) -> Settings:
    """Return the settings of options and a line; the file of a folder is read if it was named, a mirror's never."""
    from assay.settings import changed

    return changed(settings_options.settings(own) if own else settings_options.settings(None), changes)


def stopping(run: Callable[[], None]) -> None:
    """Run something that stops at the first signal, and is interrupted by the second."""
    import os

    try:
        run()
    except KeyboardInterrupt:
        os._exit(130)
