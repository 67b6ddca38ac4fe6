"""Settings to working objects: the only place that knows who goes with whom."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import platformdirs

from assay import plugins
from assay.corpus.clone import clone, is_url
from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.encode.view import Reads
from assay.errors import InputError, MissingExtra, nearest
from assay.protocols import Encoder, Progress, Ranker, Say, Searcher
from assay.search.checked import Checked, anew
from assay.search.hybrid import Corpus, Hybrid, relevant
from assay.search.index import Index
from assay.search.index_identity import Build
from assay.search.index_report import Report, Standing
from assay.search.spelling import Mended, Speller
from assay.settings import SearchSettings, Settings, changed
from assay.store.place import LANCE, default_location, located
from assay.store.snapshot import Snapshot
from assay.types import KINDS, Hit, Mode, Query

if TYPE_CHECKING:
    from assay.encode.examine import Score
    from assay.encode.pairs import Pair
    from assay.encode.train_settings import TrainSettings
    from assay.sandbox.tasks.expected import Runs


QUICK = ("static", "hash")
"""Encoders that are faster than a cache."""

LONGEST_QUERY = 20_000
"""Characters; an issue with its stack trace is shorter, a file is longer."""


class AnyIndex(Protocol):
    """An index of one root, wherever it lies."""

    root: Path
    encoder: Encoder

    @property
    def location(self) -> str:
        """Where it lies, as `--index` takes it."""

    def refresh(self, progress: Progress | None = None, *, patience_s: float | None = None) -> Report:
        """Bring it up to date with the files and say what changed; wait so long for another writer, None for any."""

    def status(self) -> Report | None:
        """Say what it holds; None where there is none."""

    def last(self) -> Report | None:
        """Open what a refresh would build upon, and say what it holds; None where that is nothing."""

    def standing(self) -> Standing | None:
        """Say how it stands against the files, which are listed; None where there is none."""

    def check(self) -> str:
        """Read every byte; return what is damaged, or nothing."""

    def keeping(self) -> AbstractContextManager[None]:
        """Return what makes this the one that writes, as long as it is held."""

    def torn(self) -> bool:
        """Say whether a file in use was cut off, so that nothing more may be read from it."""

    def size_bytes(self) -> int | None:
        """Return what it takes up; None where counting that would cost requests."""

    def corpus(self) -> Corpus:
        """Return what a searcher gets its candidates from."""

    def snapshot(self) -> Snapshot:
        """Return every chunk, or say why that cannot be had."""


@dataclass(frozen=True)
class Workspace:
    """One root, its index open."""

    index: AnyIndex
    report: Report
    settings: Settings = field(default_factory=Settings)

    @property
    def snapshot(self) -> Snapshot:
        """Return what is searched."""
        return self.index.snapshot()

    @cached_property
    def searcher(self) -> Searcher:
        """Return the searcher that the settings ask for."""
        searcher = searcher_of(self.index.corpus(), self.index.encoder, self.settings)
        where = self.index.location if self.settings.index.location else ""
        return Checked(searcher, self.index.check, anew(str(self.index.root), where))

    def is_relevant(self, hits: Sequence[Hit]) -> bool:
        """Say whether the best hit is likely right; scores that are no chances cannot tell, so there any hit is."""
        asked = self.settings.search
        if asked.ranking == "learned" and not asked.reranker:
            return relevant(hits, self.index.encoder.name)
        return bool(hits)


def root_of(path: str, *, refresh: bool = True, asked: bool = False) -> Path:
    """Return the folder of a path or of a git URL, or say what to do; `asked` is of one that stood after a question."""
    if is_url(path):
        return clone(path, platformdirs.user_cache_path("assay") / "clones", refresh=refresh)
    root = Path(path)
    try:
        if not root.exists():
            hint = " (a question of several words goes in quotes)" if asked else ""
            raise InputError(f"no such folder: '{path}'{hint}")
        if not root.is_dir():
            hint = f", with --path '{root.name}' to keep to that file" if asked else ""
            raise InputError(f"'{path}' is a file: give its folder{hint}")
        next(os.scandir(root), None)
    except PermissionError as error:
        raise InputError(f"no permission to read the folder '{path}'") from error
    return root.resolve()


def location_of(root: Path, settings: Settings) -> Path:
    """Return where the index of a root lies: where the settings say, else in the user's cache."""
    if settings.index.location:
        return Path(located(settings.index.location, root))
    return default_location(root)


def encoder_of(settings: Settings) -> Encoder:
    """Return the encoder that the settings name; one that is slower than a look-up is given a memory."""
    spec = settings.encoder.spec
    encoder: Encoder = plugins.make("encoder", spec)
    if spec.partition(":")[0] in QUICK:
        return encoder
    from assay.encode.cached import CachedEncoder

    return CachedEncoder(encoder, platformdirs.user_cache_path("assay") / "vectors.sqlite")


def dictionary() -> frozenset[str]:
    """Return the words that are spelt right whether or not a corpus holds them: those the default encoder knows."""
    from assay.encode.static import DEFAULT_FOLDER, VOCABULARY
    from assay.encode.vocabulary import entries_in

    return frozenset(filter(str.isalpha, entries_in(DEFAULT_FOLDER / VOCABULARY)))


def index_of(root: Path, settings: Settings) -> AnyIndex:
    """Return the index of a root, as yet neither opened nor refreshed."""
    if settings.index.location.startswith(LANCE):
        return _lance_index(root, located(settings.index.location, root), settings)
    return Index(root, location_of(root, settings), encoder_of(settings), build_of(settings))


def _lance_index(root: Path, location: str, settings: Settings) -> AnyIndex:
    try:
        from assay.search.index_lance import LanceIndex
    except ModuleNotFoundError as error:
        raise MissingExtra(f"index '{location}'", str(error.name), "lance") from error
    return LanceIndex(root, location.removeprefix(LANCE), encoder_of(settings), build_of(settings))


def build_of(settings: Settings) -> Build:
    """Return how an index is built: the settings that count when it is made."""
    index = settings.index
    return Build(
        chunk_lines=index.chunk_lines,
        section_lines=index.section_lines,
        overlap_lines=index.overlap_lines,
        quantisation=index.quantisation,
        reads=cast(Reads, settings.encoder.reads),
    )


def index_key(settings: Settings) -> str:
    """Return what an index depends on besides the files: settings of one key can share an index."""
    return ", ".join((settings.encoder.spec, *build_of(settings).changes()))


def searcher_of(corpus: Corpus, encoder: Encoder, settings: Settings) -> Searcher:
    """Return the pipeline that the settings ask for; words are mended where all words of a corpus are at hand."""
    asked = settings.search
    _check(asked)
    speller = Speller(corpus, dictionary) if isinstance(corpus, Snapshot) else None
    searcher: Searcher
    if asked.ranking == "learned":
        searcher = Hybrid(corpus, encoder, speller)
    else:
        searcher = _plain(corpus, encoder, asked)
        searcher = Mended(searcher, speller) if speller else searcher
    if asked.expand:
        from assay.search.expand import Expanded

        if not isinstance(corpus, Snapshot):
            raise InputError("search.expand follows links through every chunk: use an index in a folder")
        searcher = Expanded(searcher, corpus, asked.expand, asked.expand_weight, asked.rerank_depth)
    if asked.reranker:
        from assay.search.rerank import Reranked

        searcher = Reranked(searcher, plugins.make("scorer", asked.reranker), asked.rerank_depth + asked.expand)
    return searcher


def _check(asked: SearchSettings) -> None:
    """Refuse what no pipeline can be made of, before an index is."""
    if asked.ranking == "fused" and not asked.vector_weight + asked.keyword_weight:
        raise InputError("search.vector_weight and search.keyword_weight are both 0; give one of them a weight")
    if asked.reranker:
        plugins.place("scorer", asked.reranker.partition(":")[0])


def _plain(corpus: Corpus, encoder: Encoder, asked: SearchSettings) -> Searcher:
    """Return a searcher that nothing was learned for: by vectors, by words, or by both, fused."""
    from assay.search.dense import Dense
    from assay.search.words_only import Lexical

    if asked.ranking == "vectors":
        return Dense(corpus, encoder)
    if asked.ranking == "keywords":
        return Lexical(corpus)
    from assay.search.fuse import Fused, Member

    vectors = Member("vectors", Dense(corpus, encoder), asked.vector_weight)
    return Fused((vectors, Member("keywords", Lexical(corpus), asked.keyword_weight)), asked.fusion)


def open_workspace(  # noqa: PLR0913  how it is brought up to date
    root: Path,
    settings: Settings,
    *,
    refresh: bool = True,
    progress: Progress | None = None,
    patience_s: float | None = None,
    check: bool = False,
) -> Workspace:
    """Return a root with its index up to date, or as it is when not to be refreshed.

    With a patience, it is as it was where another process is still bringing it up to date after that. With a check,
    every byte of it is read before, and a refresh makes anew what is damaged.
    """
    _check(settings.search)
    index = index_of(root, settings)
    if check:
        index.check()
    report = index.refresh(progress, patience_s=patience_s) if refresh else index.status()
    if report is None:
        raise InputError(f"no index of '{root}' yet: leave out --no-refresh, or run assay index")
    return Workspace(index, report, settings)


def last_workspace(root: Path, settings: Settings) -> Workspace | None:
    """Return a root with its index as it was last written; None where there is none, or none to go on from."""
    _check(settings.search)
    index = index_of(root, settings)
    report = index.last()
    return Workspace(index, report, settings) if report else None


def related_to(workspace: Workspace, path: str, line: int, k: int) -> list[Hit]:
    """Return at most `k` chunks that have to do with the one at a line of a file."""
    from assay.search.related import related

    return related(workspace.snapshot, path, line, k)


def ranker(spec: str = "consensus", sandbox: Runs | None = None) -> Ranker:
    """Return the ranker of a spec; those that run programs need a sandbox, which is the user's to allow."""
    from assay.rank.specs import make

    return make(spec, sandbox)


def train_settings(changes: Sequence[str]) -> TrainSettings:
    """Return how an encoder is trained: what ground truths are about is left out unless `changes` say otherwise."""
    from assay.encode.train_settings import TrainSettings
    from assay.search.harvest import LEFT_OUT

    return changed(TrainSettings(left_out=tuple(sorted(LEFT_OUT))), changes)


def train_encoder(pairs: Sequence[Pair], spec: str, folder: Path, settings: TrainSettings, say: Say) -> list[Score]:
    """Train a static encoder, a teacher's spec given, into a folder with its manifest; return how each stage does."""
    from assay import records

    try:
        from assay.encode.train import Teacher, train, usable_pieces
    except ModuleNotFoundError as error:
        raise MissingExtra("train encoder", str(error.name), "train") from error
    encoder = plugins.make("encoder", spec)
    tokenizer = getattr(getattr(encoder, "runner", None), "tokenizer", None)
    named = Path(spec.partition(":")[2])
    teacher = Teacher(
        named.name if named.is_dir() else spec, encoder, usable_pieces(tokenizer.get_vocab()) if tokenizer else ()
    )
    scores = train(pairs, teacher, folder, settings, say)
    records.write_manifest(folder, settings, seed=settings.seed, corpus=map(astuple, pairs))
    return scores


def queries_of(
    texts: Sequence[str],
    *,
    mode: Mode | None = None,
    languages: Sequence[str] = (),
    paths: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> list[Query]:
    """Return questions with their filters, all of them checked; what is not filtered otherwise is asked of the code."""
    if mode is None:
        mode = "all" if languages or paths or kinds else "code"
    kept = (tuple(map(language_named, languages)), tuple(paths), tuple(map(_kind, kinds)))
    return [Query(str(number), _checked(text), mode, *kept) for number, text in enumerate(texts, 1)]


def _checked(text: str) -> str:
    if not re.search(r"\w", text):
        raise InputError("the query holds no word to search for; ask something, such as 'where are retries handled'")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"the query has {len(text):,} characters, at most {LONGEST_QUERY:,} are searched; cut it")
    return text


def language_named(name: str) -> str:
    """Return the language that a name or a file extension says: `python` and `py` are one."""
    known = {*BY_EXTENSION.values(), *BY_NAME.values()}
    asked = name.lower().lstrip(".")
    if asked in known:
        return asked
    if asked in BY_EXTENSION:
        return BY_EXTENSION[asked]
    raise InputError(f"unknown language '{name}'; {nearest(asked, sorted(known))}")


def _kind(name: str) -> str:
    known = [kind for kind in KINDS if kind]
    if name.lower() in known:
        return name.lower()
    raise InputError(f"unknown kind '{name}'; {nearest(name.lower(), known)}")
