"""Know which folders are served: fixed ones, and those of a list that another process mirrors; receive webhooks.

What the mirroring process did stands in a file of state. A delivery of a code host is taken only where it is signed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from assay.corpus.addresses import is_url
from assay.corpus.remotes import meant_by
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError, StorageError, printable
from assay.io.digest import hex_digest
from assay.io.files import write
from assay.protocols import Say
from assay.settings import Settings
from assay.values import Problem

_FORM = 1


@dataclass(frozen=True, slots=True)
class MirrorState:
    """The state of one listed repository at its last check."""

    root: str
    """The folder of its files."""
    place: str
    """The folder or URL in the list, without a login."""
    branch: str = ""
    changes: tuple[str, ...] = ()
    """Its own settings, as `section.key=value`."""
    generation: str = ""
    """The name of this version of its index; empty if there is none yet."""
    commit: str = ""
    """The commit that is indexed; empty for a folder."""
    checked: float = 0.0
    """When it was last checked successfully, in seconds since 1970; 0 for never."""
    problem: str = ""
    """Why it could not be updated, or empty."""
    failures: int = 0
    """How many times in a row that failed."""
    due: float = 0.0
    """When it is checked next, in seconds since 1970."""
    every_s: float = 0.0
    """How often it is checked, by its line or the options; 0: the default of a folder."""


@dataclass(frozen=True, slots=True)
class ListState:
    """The state of all repositories of a list."""

    mirrors: tuple[MirrorState, ...] = ()
    problem: str = ""
    """Why the present list cannot be used, so that these are of the one before; or empty."""
    written: float = 0.0
    """When this was written, in seconds since 1970."""


def stamp_of(file: Path) -> tuple[int, int, int] | None:
    """Return a stamp that changes whenever a file is written; None if there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116  once a question: half the time of Path.stat
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class StateFile:
    """The file with the state of one list, in the folder of the mirrors."""

    def __init__(self, mirrors: Path, listed: Path) -> None:
        name = hex_digest(os.fsencode(listed.resolve()), 8)
        self.path = mirrors / f".state-{name}.json"
        self.lock = mirrors / f".state-{name}.lock"
        self._requests = mirrors / f".wanted-{name}"

    def make_folder(self) -> None:
        """Create the folder of the mirrors, which holds this file."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror
            raise InputError(f"cannot make '{self.path.parent}': {why}; name another folder with --mirrors") from error

    def read(self) -> ListState:
        """Return the state; an empty one if there is none that can be read."""
        try:
            stored = json.loads(self.path.read_text("utf-8"))
            if stored["form"] != _FORM:
                return ListState()
            mirrors = (MirrorState(**{**each, "changes": tuple(each["changes"])}) for each in stored["mirrors"])
            return ListState(tuple(mirrors), str(stored["problem"]), float(stored["written"]))
        except (OSError, ValueError, KeyError, TypeError):  # it is made again from the list and the indexes
            return ListState()

    def write(self, state: ListState) -> None:
        """Replace the state."""
        stored = {"form": _FORM, **asdict(state)}
        write(self.path, json.dumps(stored, ensure_ascii=True), durable=False)

    def want(self, roots: Collection[str]) -> None:
        """Request that some repositories are checked now."""
        try:
            self._requests.mkdir(exist_ok=True)
            for root in roots:
                (self._requests / _digest(root)).touch()
        except OSError as error:
            raise StorageError(f"cannot write {self._requests}: {error.strerror}") from error

    def take_wanted(self, roots: Collection[str]) -> list[str]:
        """Return those of some repositories that were requested, and remove the requests."""
        with suppress(OSError):
            names = {each.name for each in self._requests.iterdir()}
            wanted = [root for root in roots if _digest(root) in names] if names else []
            for name in names:
                (self._requests / name).unlink(missing_ok=True)
            return wanted
        return []


def _digest(root: str) -> str:
    return hex_digest(os.fsencode(root), 8)


_LOOK_S = 0.25
"""Seconds between two checks of the state of a list."""
_COMING = "not fetched and indexed yet"


@dataclass(frozen=True, slots=True)
class ServedRoots:
    """The folders that are served at one moment."""

    settings: Mapping[Path, Settings]
    generations: Mapping[Path, str] = field(default_factory=dict)
    """Of roots that another process updates, the name of the last version of the index."""
    missing: Mapping[Path, Problem] = field(default_factory=dict)
    """Listed folders that cannot be searched, each with its name in the list, and the reason."""
    coming: Mapping[Path, Problem] = field(default_factory=dict)
    """The same for those that are being fetched for the first time."""
    mirrors: frozenset[Path] = frozenset()
    """Roots whose files are fetched, and replaced at any time."""
    is_list: bool = False
    """Whether there is a list, so that a path has to name the root even if there is only one."""


@lru_cache(maxsize=64)
def short_names(roots: tuple[Path, ...]) -> Mapping[Path, str]:
    """Return a short name of each root: as much of the end of its path as no other root ends in."""
    ends = [[as_utf8("/".join(root.parts[-size:])) for size in range(1, len(root.parts))] for root in roots]
    counts = Counter(end for own in ends for end in own)
    return {
        root: next((end for end in own if counts[end] == 1), as_utf8(root.name) or "root")
        for root, own in zip(roots, ends, strict=True)
    }


class RootSource(Protocol):
    """A source of the folders that are served."""

    def current(self) -> ServedRoots:
        """Return them; the same value until something changes."""


class FixedRoots:
    """Folders that do not change."""

    def __init__(self, roots: Mapping[Path, Settings]) -> None:
        self._roots = ServedRoots({root.resolve(): settings for root, settings in roots.items()})

    def current(self) -> ServedRoots:
        """Return them."""
        return self._roots


class ListedRoots:
    """Folders that do not change, and those in a list; any number of threads may ask for them."""

    def __init__(
        self, fixed: Mapping[Path, Settings], store: StateFile, settings_of: Callable[[MirrorState], Settings]
    ) -> None:
        """Keep folders, the file with the state of the list, and a function that returns settings of a line."""
        self._fixed = FixedRoots(fixed).current().settings
        self.store, self._settings_of = store, settings_of
        self._lock = Lock()
        self._looked, self._stamp = -float("inf"), object()
        self._state = ListState()
        self._settings_cache: dict[tuple[str, tuple[str, ...]], Settings] = {}
        self._current = ServedRoots(self._fixed, is_list=True)

    def current(self) -> ServedRoots:
        """Return what is served, after checking one file from time to time."""
        with self._lock:
            if time.monotonic() - self._looked >= _LOOK_S:
                self._looked = time.monotonic()
                stamp: object = stamp_of(self.store.path)
                if stamp != self._stamp:
                    self._state = self.store.read()
                    self._take(self._state)
                    self._stamp = stamp
            return self._current

    @property
    def state(self) -> ListState:
        """The state of each line of the list."""
        self.current()
        return self._state

    def _take(self, state: ListState) -> None:
        settings, missing, coming = dict[Path, Settings](), dict[Path, Problem](), dict[Path, Problem]()
        there = {Path(each.root): each for each in state.mirrors}
        for root, each in there.items():
            if each.generation:
                try:
                    settings[root] = self._settings(each)
                except AssayError as error:
                    missing[root] = Problem(each.place, str(error))
            elif each.problem:
                missing[root] = _problem(each)
            else:
                coming[root] = Problem(each.place, _COMING)
        generations = {root: there[root].generation for root in settings if root not in self._fixed}
        mirrors = frozenset(root for root in settings if is_url(there[root].place))
        served = ServedRoots({**self._fixed, **settings}, generations, missing, coming, mirrors, is_list=True)
        if served != self._current:
            self._current = served

    def _settings(self, state: MirrorState) -> Settings:
        """Return the settings of a root, computed once for each line of the list."""
        key = state.root, state.changes
        if key not in self._settings_cache:
            self._settings_cache[key] = self._settings_of(state)
        return self._settings_cache[key]


def _problem(state: MirrorState) -> Problem:
    """Return why a line of a list cannot be searched, without the place that git repeats."""
    return Problem(state.place, state.problem.removeprefix(f"cannot get {state.place}: ").removeprefix("fatal: "))


SECRET = "ASSAY_WEBHOOK_SECRET"  # noqa: S105  the name of it
MIN_SECRET_CHARS = 16
_SIGNED = ("x-hub-signature-256", "x-gitea-signature", "x-hub-signature")
"""Headers with an HMAC of the body: GitHub and Gitea, Gitea and Forgejo, Bitbucket."""
_TOKEN = "x-gitlab-token"  # noqa: S105  the name of a header
SIGNATURES = frozenset((*_SIGNED, _TOKEN))
"""Headers of which a delivery has one."""
_EVENTS = ("x-github-event", "x-gitea-event", "x-gitlab-event", "x-event-key")
_URLS = ("clone_url", "ssh_url", "git_url", "html_url", "git_http_url", "git_ssh_url", "http_url", "web_url", "url")
_REPORT_INTERVAL_S = 10.0
"""Seconds between two reports about refused deliveries."""


class NotSigned(AssayError):
    """A delivery is not signed."""


class WrongSignature(AssayError):
    """A delivery was signed with another secret, or changed on its way."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """The result of a delivery."""

    fetched: list[str]
    """The listed repositories that are now fetched."""
    ignored: str = ""
    """Why there are none, if there are none."""


class Webhook:
    """Receives deliveries, on any number of threads."""

    def __init__(self, secret: str, listed: ListedRoots | None, say: Say) -> None:
        """Keep the secret (empty for none), the list, and a function that reports refused deliveries."""
        if secret and len(secret) < MIN_SECRET_CHARS:
            raise InputError(f"{SECRET} is too short: use {MIN_SECRET_CHARS} characters or more")
        self._secret, self._listed, self._say = secret.encode(), listed, say
        self._lock = Lock()
        self._reported_at, self._unreported = -float("inf"), 0

    def deliver(self, headers: Mapping[str, str], body: bytes) -> HookAnswer:
        """Request the repositories of a delivery; raise an error if it is not valid."""
        try:
            self._check(headers, body)
            return self._answer(headers, body)
        except AssayError as error:
            self._refuse(str(error))
            raise

    def _check(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raise an error unless the sender knows the secret; compares in constant time."""
        if self._listed is None or not self._secret:
            missing = SECRET if self._listed else "--repos FILE"
            raise NotSigned(f"webhooks are off: start the server with {missing}")
        signed = next((name for name in _SIGNED if headers.get(name)), "")
        if signed:
            expected = hmac.new(self._secret, body, hashlib.sha256).hexdigest()
            signature = headers[signed].removeprefix("sha256=")
        elif headers.get(_TOKEN):
            signed, expected, signature = _TOKEN, self._secret.decode(), headers[_TOKEN]
        else:
            raise NotSigned(f"not signed: send one of the headers {', '.join((*_SIGNED, _TOKEN))}")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            raise WrongSignature(f"wrong signature in {signed}: it was not made with the secret in {SECRET}")

    def _answer(self, headers: Mapping[str, str], body: bytes) -> HookAnswer:
        assert self._listed is not None
        payload = _object(body)
        event = next((headers[name] for name in _EVENTS if headers.get(name)), "")
        if not payload.get("ref") and not payload.get("push"):
            return HookAnswer([], f"not a push, but {printable(event[:60]) or 'something else'}")
        states = {each.root: each for each in self._listed.state.mirrors}
        urls = set(_urls(payload))
        matching = meant_by({root: each.place for root, each in states.items()}, urls)
        if not matching:
            raise InputError(f"no listed repository is {printable(min(urls, default='named')[:200])}")
        branch = str(payload.get("ref") or "").removeprefix("refs/heads/").removeprefix("refs/tags/")
        usual = next((str(each["default_branch"]) for each in _about(payload) if each.get("default_branch")), branch)
        served = [root for root in matching if not branch or (states[root].branch or usual) == branch]
        if not served:
            return HookAnswer([], f"the branch {printable(branch[:60])} is not served")
        self._listed.store.want(served)
        return HookAnswer([states[root].place for root in served])

    def _refuse(self, why: str) -> None:
        """Report refused deliveries from time to time: senders of garbage should not fill a log."""
        with self._lock:
            self._unreported += 1
            if time.monotonic() - self._reported_at < _REPORT_INTERVAL_S:
                return
            more = f" ({self._unreported} deliveries)" if self._unreported > 1 else ""
            self._reported_at, self._unreported = time.monotonic(), 0
        self._say(f"a webhook was refused: {why}{more}")


def _object(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the body is not JSON: choose application/json as content type of the webhook") from error
    if not isinstance(payload, dict):
        raise InputError("the body is not a JSON object")
    return payload


def _about(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the repository in a payload: GitLab calls it a project."""
    return [payload[name] for name in ("project", "repository") if isinstance(payload.get(name), dict)]


def _urls(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield every URL of the repository in a payload."""
    for about in _about(payload):
        yield from (url for key in _URLS if isinstance(url := about.get(key), str))
        match about.get("links"):
            case {"html": {"href": str(url)}}:
                yield url
