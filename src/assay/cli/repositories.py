"""The options that name a list of repositories, and what commands make of them: a loop, a process, served folders."""

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
    """What the options say about a list of repositories."""

    listed: Path | None = option(
        "--repos FILE",
        "Also take the folders and URLs that FILE lists, one a line. URLs are mirrored; what changes in FILE is "
        "taken up.",
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
        """Refuse options that are of no use without a list."""
        if self.listed is None and (self.mirrors or self.every_s):
            raise InputError("--mirrors and --every are for --repos FILE: give that, too")

    def read(self, chosen: SettingsOptions) -> None:
        """Refuse options that cannot be used, and a list of which nothing can, before anything is fetched.

        Where a list was in use before, or some of its lines can be used, what is wrong is said, and the rest served.
        """
        from assay.serve.served_roots import StateFile

        assert self.listed is not None
        _check(
            chosen.settings(None), "--repos keeps each index in the user's cache: leave out --index and index.location"
        )
        store = StateFile(self.folder(), self.listed)
        store.make_folder()
        problems, usable = self._problems(chosen)
        if problems and not usable and not store.read().mirrors:
            raise InputError("; ".join(problems))
        for problem in problems:
            say(f"{problem}; the rest is served")

    def _problems(self, chosen: SettingsOptions) -> tuple[list[str], int]:
        """Return what is wrong with the list or the settings of its lines, and how many lines can be used."""
        from assay.operations.repository_list import read_repositories

        assert self.listed is not None
        try:
            listed = read_repositories(self.listed, self.folder())
        except InputError as error:
            return [str(error)], 0
        problems = []
        for each in listed:
            try:
                _check(settings_of(chosen, each), "index.location cannot be set for one folder of a list")
            except AssayError as error:
                problems.append(f"{self.listed}:{each.line}: {error}")
        return problems, len(listed) - len(problems)

    def loop(self, chosen: SettingsOptions, say: Say) -> MirrorLoop:
        """Return what keeps the repositories up to date."""
        from assay.serve.mirrors import EVERY_S, MirrorLoop

        assert self.listed is not None
        every_s = self.every_s or EVERY_S
        return MirrorLoop(self.listed, self.folder(), lambda each: settings_of(chosen, each), say, every_s=every_s)

    @contextmanager
    def mirroring(self, chosen: SettingsOptions) -> Iterator[None]:
        """Have a process beside this one keep the repositories up to date, where there is a list."""
        if self.listed is None:
            yield
            return
        from assay.serve.mirrors import process_beside

        command = [sys.executable, *"-P -m assay watch --repos".split(), str(self.listed)]
        command += ["--mirrors", str(self.folder())]
        command += ["--every", str(self.every_s)] if self.every_s else []
        command += ["--config", str(chosen.config)] if chosen.config else []
        command += ["--encoder", chosen.encoder] if chosen.encoder else []
        command += [part for change in chosen.changes for part in ("--set", change)]
        with process_beside(command, say):
            yield

    def fixed_roots(self, paths: Sequence[str], chosen: SettingsOptions) -> dict[Path, Settings]:
        """Return the folders that stay the same, by default the current one, or none where a list is served.

        A list that cannot be used is refused here.
        """
        self.check()
        if self.listed is not None:
            self.read(chosen)
        return chosen.served(paths) if paths or self.listed is None else {}

    def names_of(self, roots: Iterable[str]) -> list[object]:
        """Return what a server says that it serves: folders, and the list."""
        from assay.store.place import is_bucket

        folders = [root if is_bucket(root) else Path(root).resolve() for root in roots]
        return [*folders, *([self.listed] if self.listed else [])] or [Path.cwd()]

    def roots(self, chosen: SettingsOptions, fixed: Mapping[Path, Settings]) -> ListedRoots | None:
        """Return what is served: some folders, and what the list holds at the moment; None without a list."""
        from assay.corpus.addresses import is_url
        from assay.serve.served_roots import ListedRoots, MirrorState, StateFile

        if self.listed is None:
            return None

        def settings(state: MirrorState) -> Settings:
            return _settings(chosen, None if is_url(state.place) else Path(state.root), state.changes)

        return ListedRoots(fixed, StateFile(self.folder(), self.listed), settings)


def _check(settings: Settings, refusal: str) -> None:
    from assay.operations.corpus_search import check

    check(settings.search)
    if settings.index.location:
        raise InputError(refusal)


def settings_of(chosen: SettingsOptions, each: ListedRepository) -> Settings:
    """Return the settings of a line of a list."""
    return _settings(chosen, None if each.url else Path(each.place), each.changes)


def _settings(chosen: SettingsOptions, own: Path | None, changes: tuple[str, ...]) -> Settings:
    """Return settings by options and a line; those in a folder are read where somebody named it, in a mirror never."""
    from assay.settings import changed

    return changed(chosen.settings(own) if own else chosen.settings(None), changes)


def stopping(run: Callable[[], None]) -> None:
    """Run what ends when it is asked to, and at once where it is asked twice."""
    import os

    try:
        run()
    except KeyboardInterrupt:
        os._exit(130)
