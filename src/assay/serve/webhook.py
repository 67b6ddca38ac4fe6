"""What a code host sends after a push: who signed it, which listed repositories it is about, and that they are due.

A delivery only says *look now*: what is fetched comes from the URL of the list, never from the payload. So one that is
sent again costs a fetch at most, and a repository is fetched no more than once in ten seconds whoever asks.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from assay.corpus.remotes import meant_by
from assay.errors import AssayError, InputError, printable
from assay.protocols import Say
from assay.serve.served_roots import ListedRoots

SECRET = "ASSAY_WEBHOOK_SECRET"  # noqa: S105  the name of it
LEAST_SECRET = 16
_SIGNED = ("x-hub-signature-256", "x-gitea-signature", "x-hub-signature")
"""Headers with a HMAC of the body: GitHub and Gitea, Gitea and Forgejo, Bitbucket."""
_TOKEN = "x-gitlab-token"  # noqa: S105  the name of a header
SIGNATURES = frozenset((*_SIGNED, _TOKEN))
"""Headers of which a delivery brings one."""
_EVENTS = ("x-github-event", "x-gitea-event", "x-gitlab-event", "x-event-key")
_URLS = ("clone_url", "ssh_url", "git_url", "html_url", "git_http_url", "git_ssh_url", "http_url", "web_url", "url")
_SAID_S = 10.0
"""Between two words about deliveries that were refused."""


class NotSigned(AssayError):
    """Nobody signed a delivery."""


class WrongSignature(AssayError):
    """A delivery was signed with another secret, or changed on its way."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What came of a delivery."""

    fetched: list[str]
    """The listed repositories that are fetched now."""
    ignored: str = ""
    """Why none is, if none is."""


class Webhook:
    """Takes deliveries; any number of threads may."""

    def __init__(self, secret: str, listed: ListedRoots | None, say: Say) -> None:
        """Take the secret, empty for none, the list, and whom to tell of deliveries that are refused."""
        if secret and len(secret) < LEAST_SECRET:
            raise InputError(f"{SECRET} is too short: wanted {LEAST_SECRET} characters or more")
        self._secret, self._listed, self._say = secret.encode(), listed, say
        self._lock = Lock()
        self._said, self._unsaid = -float("inf"), 0

    def deliver(self, headers: Mapping[str, str], body: bytes) -> HookAnswer:
        """Have fetched what a delivery is about; raise what is wrong with it."""
        try:
            self._check(headers, body)
            return self._answer(headers, body)
        except AssayError as error:
            self._refuse(str(error))
            raise

    def _check(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raise an error unless whoever sent this knows the secret; no comparison takes longer for a better guess."""
        if self._listed is None or not self._secret:
            missing = SECRET if self._listed else "--repos FILE"
            raise NotSigned(f"webhooks are off: start the server with {missing}")
        signed = next((name for name in _SIGNED if headers.get(name)), "")
        if signed:
            wanted = hmac.new(self._secret, body, hashlib.sha256).hexdigest()
            given = headers[signed].removeprefix("sha256=")
        elif headers.get(_TOKEN):
            signed, wanted, given = _TOKEN, self._secret.decode(), headers[_TOKEN]
        else:
            raise NotSigned(f"not signed: wanted one of the headers {', '.join((*_SIGNED, _TOKEN))}")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
            raise WrongSignature(f"wrong signature in {signed}: it is not by the secret in {SECRET}")

    def _answer(self, headers: Mapping[str, str], body: bytes) -> HookAnswer:
        assert self._listed is not None
        payload = _object(body)
        event = next((headers[name] for name in _EVENTS if headers.get(name)), "")
        if not payload.get("ref") and not payload.get("push"):
            return HookAnswer([], f"no push, but {printable(event[:60]) or 'something else'}")
        states = {each.root: each for each in self._listed.state.mirrors}
        said = set(_urls(payload))
        meant = meant_by({root: each.place for root, each in states.items()}, said)
        if not meant:
            raise InputError(f"no listed repository is {printable(min(said, default='named')[:200])}")
        branch = str(payload.get("ref") or "").removeprefix("refs/heads/").removeprefix("refs/tags/")
        usual = str(_first(payload).get("default_branch") or branch)
        wanted = [root for root in meant if not branch or (states[root].branch or usual) == branch]
        if not wanted:
            return HookAnswer([], f"the branch {printable(branch[:60])} is not served")
        self._listed.store.want(wanted)
        return HookAnswer([states[root].place for root in wanted])

    def _refuse(self, why: str) -> None:
        """Say what was refused, now and then: whoever sends rubbish is not to fill a log."""
        with self._lock:
            self._unsaid += 1
            if time.monotonic() - self._said < _SAID_S:
                return
            more = f" ({self._unsaid} deliveries)" if self._unsaid > 1 else ""
            self._said, self._unsaid = time.monotonic(), 0
        self._say(f"a webhook was refused: {why}{more}")


def _object(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the body is not JSON: choose application/json as content type of the webhook") from error
    if not isinstance(payload, dict):
        raise InputError("the body is not a JSON object")
    return payload


def _first(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a payload says of its repository: GitLab calls it a project."""
    found: Mapping[str, Any] = {}
    for name in ("repository", "project"):
        found = payload[name] if isinstance(payload.get(name), dict) else found
    return found


def _urls(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield every address that a payload gives its repository."""
    for name in ("project", "repository"):
        about = payload.get(name)
        if isinstance(about, dict):
            yield from (url for key in _URLS if isinstance(url := about.get(key), str))
            links = about.get("links")
            html = links.get("html") if isinstance(links, dict) else None
            if isinstance(html, dict) and isinstance(html.get("href"), str):
                yield html["href"]
