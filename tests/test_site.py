"""The built site: strict, every link and anchor in it leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("material")

ROOT = Path(__file__).parent.parent
LOADING = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
STYLE = re.compile(r"""url\(\s*["']?((?:https?:)?//[^)"']+)|@import\s+["']((?:https?:)?//[^"']+)""")


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and which places it has."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.places |= {named[name] for name in ("id", "name") if named.get(name)}
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in LOADING and named.get(LOADING[tag]) and named.get("rel") != "canonical":
            self.loads.append(named[LOADING[tag]])

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # not --quiet: that hides warnings from --strict, too
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {}
    for file in site.rglob("*.html"):
        found[file] = Page()
        found[file].feed(file.read_text("utf-8"))
    return found


def test_every_page_is_there(site: Path, pages: dict[Path, Page]):
    written = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "README.md"]
    assert {page.relative_to(ROOT / "docs").with_suffix(".html") for page in written} < {
        file.relative_to(site) for file in pages
    }
    assert (site / "cli" / "commands.html").exists()
    assert not list(site.rglob("*.py"))


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]):
    lost = [
        f"{file.relative_to(site)}: {link}"
        for file, page in pages.items()
        for link in page.links
        if file.name != "404.html" and not leads(site, pages, file, link)
    ]
    assert not lost, lost


def leads(site: Path, pages: dict[Path, Page], file: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return parts.scheme in {"http", "https", "mailto"}
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    target = target / "index.html" if target.is_dir() else target
    if not target.is_relative_to(site) or not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].places


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]):
    loaded = [(file.name, url) for file, page in pages.items() for url in page.loads if urlsplit(url).netloc]
    sheets = [*site.rglob("*.css"), *site.rglob("*.svg")]
    loaded += [(file.name, found[0]) for file in sheets for found in STYLE.finditer(file.read_text("utf-8"))]
    assert not loaded
    assert not [file.name for file in pages if 'class="mermaid"' in file.read_text("utf-8")], "a CDN would draw it"


def test_no_word_for_the_tests_is_shown_and_what_is_asked_for_is_found(site: Path, pages: dict[Path, Page]):
    assert not [file.name for file, page in pages.items() if "```" in page.text or "norun" in page.text]
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert all(word in index for word in ("tutorial.html#measure", "howto/ci.html", "cli/commands.html"))
