"""What every test may use: a cache of its own, a small project, and the command line in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli.main import run

PROJECT = {
    "mail/send.py": '''"""Sending mail."""

import time


def send_mail(server, message, attempts=3):
    """Deliver a message, trying again when the server is busy."""
    for attempt in range(attempts):
        if server.deliver(message):
            return True
        time.sleep(2**attempt)
    return False
''',
    "mail/address.py": '''"""Addresses of people."""


class Address:
    """A name and where mail for it goes."""

    def __init__(self, name, mailbox):
        self.name = name
        self.mailbox = mailbox

    def is_valid(self):
        """Say whether the mailbox has a host."""
        return "@" in self.mailbox
''',
    "web/router.js": """// Finds the handler of a request by its path.
export function matchRoute(routes, path) {
  return routes.find((route) => route.pattern.test(path));
}
""",
    "README.md": """# Postbox

Sends mail.

## Configuration

The `timeout` setting says how many seconds a server may take to answer.
""",
}


@dataclass(frozen=True)
class Ran:
    """What a command line left behind."""

    status: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep every index that a test makes out of the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a little of everything in it."""
    root = tmp_path / "postbox"
    for name, text in PROJECT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Return the command line as a function of its arguments."""

    def call(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return call
