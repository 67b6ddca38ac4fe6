"""Mine ground truth from the history, documentation and tests of a repository, without a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.corpus.git_history import head
from assay.corpus.pinned import commit_of, export, is_repository
from assay.errors import InputError
from assay.protocols import Progress
from assay.truth import mine_history, mine_texts, mine_units
from assay.truth.following import by_symbol
from assay.truth.ground_truth import Truth
from assay.truth.minable import MAX_FILES, Files, MinedQueries
from assay.truth.mine_history import PinnedCommit
from assay.truth.requests import SOURCES, TYPED, MineOptions
from assay.truth.target_places import Places


@dataclass(frozen=True, slots=True)
class MinedTruth:
    """Mined ground truth, and counts of what was left out."""

    truth: Truth
    left_out: Mapping[str, Mapping[str, int]]
    """Source to reason to how many commits, functions or tests."""
    notes: tuple[str, ...] = ()
    """What a reader should know: a history too short, a clone that is shallow."""
    is_stopped: bool = False
    """Whether it ended early, as the last note says."""


def mine(root: Path, options: MineOptions, progress: Progress | None = None) -> MinedTruth:
    """Mine a repository; raise `InputError` if there is nothing to mine."""
    root = root.resolve()
    if not root.is_dir():
        raise InputError(f"'{root}' is not a folder; give the checkout to mine")
    pinned = _pinned(root, options, progress)
    now = Places(root, "", follow=True) if options.follow else None
    found = MinedQueries()
    left_out: dict[str, Mapping[str, int]] = {}
    notes = list(pinned.notes)
    every = (*SOURCES, *TYPED)
    for sources in (every[:1], every[1:]) if now else (every,):  # the history is about what was before it
        if not (wanted := [source for source in sources if source in (options.sources or SOURCES)]):
            continue
        with open_files(root, "" if now and "history" not in wanted else pinned.commit) as files:
            for source, mined in _by_source(wanted, files, pinned, options, progress):
                each = by_symbol(mined, files.root, now) if now else mined
                left_out[source] = dict(each.left_out.most_common())
                found.queries += each.queries
                found.judgments += each.judgments
                found.hidden += each.hidden
                found.hidden_docs += each.hidden_docs
            if len(files) > MAX_FILES:
                notes.append(f"of {len(files)} files a sample of {MAX_FILES} was read")
    truth = Truth(
        root.name or "root",
        tuple(found.queries),
        tuple(found.judgments),
        repository="" if now else str(root),
        commit="" if now else pinned.commit,
        hidden=tuple(found.hidden),
        hidden_docs=tuple(found.hidden_docs),
    )
    return MinedTruth(truth, left_out, tuple(dict.fromkeys(notes)))


def _by_source(
    sources: Sequence[str], files: Files, pinned: PinnedCommit, options: MineOptions, progress: Progress | None
) -> Iterator[tuple[str, MinedQueries]]:
    """Yield each source with its mined queries."""
    paths = files.sample(options.seed)
    asks: dict[str, Callable[[], MinedQueries]] = {
        "history": lambda: mine_history.ask(pinned, files, options.limit),
        "docs": lambda: mine_units.ask_docs(files, paths, options.limit, options.seed, progress),
        "tests": lambda: mine_units.ask_tests(files, paths, options.limit, options.seed, progress),
        "messages": lambda: mine_texts.ask_messages(files, paths, options.limit, options.seed, progress),
        "names": lambda: mine_texts.ask_names(files, paths, options.limit, options.seed, progress),
    }
    yield from ((source, asks[source]()) for source in sources)


def _pinned(root: Path, options: MineOptions, progress: Progress | None) -> PinnedCommit:
    wanted = "history" in (options.sources or SOURCES)
    newest = head(root) if is_repository(root) else ""
    if not newest:
        what = f"'{root}' is not a git repository, or has no commit yet"
        if options.at or options.sources == ("history",):
            raise InputError(f"{what}: --from docs and --from tests work without one")
        return PinnedCommit("", notes=(f"{what}: nothing is mined from its history",) if wanted else ())
    at = commit_of(root, options.at) if options.at else ""
    return mine_history.pin(root, at, options.limit, progress) if wanted else PinnedCommit(at or newest)


@contextmanager
def open_files(root: Path, commit: str) -> Iterator[Files]:
    """Yield the files of a commit, or of the folder without one."""
    if not commit:
        yield Files(root)
        return
    with TemporaryDirectory(prefix="assay-") as folder:
        export(root, commit, Path(folder))
        yield Files(Path(folder))
