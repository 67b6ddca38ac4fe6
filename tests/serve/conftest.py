"""A repository with a page to search it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> & $token"
TURNED = "odd \u202ename.py"
"""A file name that reads backwards."""
SITE = {
    "shop/folders.py": '''import os
from pathlib import Path


def make_folder(path):
    """Create a directory if it does not exist."""
    if not os.path.exists(path):
        os.makedirs(path)
    return path


def ensure_folder(path):
    """Create a directory if it does not exist."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    return path


class Store:
    """Keeps things in a directory."""

    def create(self, path):
        """Create a directory if it does not exist, and fail where a file is in the way."""
        if os.path.isfile(path):
            raise NotADirectoryError(path)
        if not os.path.exists(path):
            os.makedirs(path)
        return path
''',
    "shop/mail.py": '''import time


def send_mail(server, message, attempts=3):
    """Deliver a message, trying again when the server is busy."""
    for attempt in range(attempts):
        if server.deliver(message):
            return True
        time.sleep(2**attempt)
    return False
''',
    "web/router.js": """// Finds the handler of a request by its path.
export function matchRoute(routes, path) {
  return routes.find((route) => route.pattern.test(path));
}
""",
    "docs/guide.md": "# Guide\n\n## Folders\n\nEvery directory is created when it does not exist yet.\n",
    "shop/report.py": 'def quarterly_report(sales):\n    """Add up the sales of a quarter."""\n'
    + "".join(f"    total_{line} = sales[{line}] * {line}\n" for line in range(60))
    + "    return sum(sales)\n",
    f"shop/{TURNED}": f'''def render_banner(user):
    """Show the welcome banner. {HOSTILE}"""
    access = "user\u202e \u2066# only admins\u2069 \u2066"
    greeting = "こんにちは 世界"
    hidden\u3164 = "\U000e0041"
    wide = "{"x" * 5000}"
    return access + greeting + wide
''',
    **{
        f"many/part_{part}.py": f'def price_of_part_{part}(basket):\n    """Return the price of a part."""\n'
        f"    return basket.price({part})\n"
        for part in range(30)
    },
}


@dataclass(frozen=True)
class Site:
    """A server of a repository."""

    root: Path
    address: str


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a server that runs as people start it."""
    pytest.importorskip("uvicorn")
    root = tmp_path_factory.mktemp("site") / "shop & sons #1"
    for name, text in SITE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    _commit(root)
    command = [sys.executable, "-m", "assay", "serve", str(root), "--port", "0", "--judge", "reader"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ}) as started:
        assert started.stderr
        said = next((line for line in started.stderr if "http://" in line), "nothing")
        assert "http://" in said, said
        yield Site(root, said.split()[-1])
        started.terminate()
        assert started.wait(60) == 0


def _commit(root: Path) -> None:
    """Make a repository of a folder whose author, message and origin want to be more than text."""
    who = ("-c", f"user.name={HOSTILE.replace('<', '(').replace('>', ')')}\u202e", "-c", "user.email=a@example.com")
    for arguments in (
        ("init", "-q"),
        ("remote", "add", "origin", "https://me:secret@github.com/shop/sons.git"),
        ("add", "."),
        (*who, "commit", "-qm", f"{HOSTILE}\n\nBody of {HOSTILE}"),
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


class Window:
    """The page of a site in a window, and what one does with it."""

    def __init__(self, seen: Any) -> None:
        self.seen, self.page, self.run, self.until = seen, seen.page, seen.run, seen.until
        self.least_contrasts, self.picture = seen.least_contrasts, seen.picture

    def first(self, title: str) -> None:
        """Wait until an answer is the first one."""
        self.until(f"document.querySelector('.hit h2')?.textContent === {json.dumps(title)}")

    def opened(self, name: str) -> None:
        """Wait until a file is open."""
        self.until(f"document.querySelector('#file-title')?.textContent === {json.dumps(name)}")

    def titles(self) -> list[str]:
        """Return the titles of the answers."""
        return self.page.locator(".hit h2").all_text_contents()

    def given(self) -> dict[str, list[str]]:
        """Return what the address holds."""
        return parse_qs(urlsplit(self.page.url).query)

    def ask(self, text: str) -> None:
        """Put a question into the box."""
        self.page.locator("#query").fill(text)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def focus(self) -> str:
        """Return the name or id of what has the focus."""
        return self.run("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")

    def at(self) -> str | None:
        """Return the title of the answer that has the focus."""
        return self.run("document.activeElement.closest?.('.hit')?.querySelector('h2').textContent ?? null")

    def answer(self, path: str, **told: Any) -> None:
        """Have requests of a path answered with something else."""
        self.page.route(path, lambda route: route.fulfill(**told))


@pytest.fixture
def visit(look: Callable[..., Any], site: Site) -> Iterator[Callable[..., Window]]:
    """Return what opens the page at an address below the site's, and looks at the end whether it complained."""
    every = []

    def visit(below: str = "", *, wrong: str = "", **options: Any) -> Window:
        seen = look(site.address + below, **options)
        every.append((seen, wrong))
        return Window(seen)

    yield visit
    for seen, wrong in every:
        assert [each for each in seen.complaints if not wrong or wrong not in each] == []
        assert [url for url in seen.asked if not url.startswith(site.address)] == []
