"""Make what the documentation shows from what really runs: the gallery of questions, and the pictures.

The commands run as they are printed, on the sources as they are; nothing is edited afterwards.

python benchmarks/documentation.py gallery [--out FILE]
python benchmarks/documentation.py pictures [terminal] [page] [--root FOLDER] [--chromium PROGRAM]

`gallery` writes `docs/gallery.md`. `pictures` writes `docs/pictures/terminal.svg`, real commands on this repository in
colour, and `docs/pictures/page.png`, the page of a real server on it, asked by a real browser (the extra `serve`, and
Playwright). An SVG in a README loads nothing, so the fonts that rich would fetch are taken out of it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from shared import run_command

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
QUESTIONS = (
    ("A question in words", 'assay search "hide secrets in messages" src --limit 2'),
    ("A concept, not a name", 'assay search "keep two processes from writing at the same time" src --limit 2'),
    ("An error somebody saw", 'assay search "write-protected: chmod u+w it" src --limit 1'),
    ("A question that it gets wrong", 'assay search "how is an endless regular expression prevented" src --limit 2'),
    ("Another language", 'assay search "wo werden Geheimnisse in Meldungen verborgen" src --limit 2'),
    (
        "A text letter by letter, in functions alone",
        """assay search 'kind:function "os.path.realpath" file' src --limit 2""",
    ),
    ("What calls it", "assay related src/assay/io/files.py:{line} src --limit 4"),
    ("A structure", "assay pattern 'warnings.catch_warnings($$$)' --lang python src"),
)
HEAD = """# Gallery

Real questions to Assay's own sources, and its answers as printed. `python benchmarks/documentation.py gallery` asks
them again and writes this page; a test checks that the files it names are still there.
"""

MISSED = (
    "RE2 runs them in linear time, in `src/assay/search/text_matches.py`; the question's words stand elsewhere.\n\n"
)


def run_gallery() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=PAGE)
    out = options.parse_args().out
    lines = (ROOT / "src/assay/io/files.py").read_text(encoding="utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.startswith("def replacing("))
    parts = [HEAD]
    for title, template in QUESTIONS:
        command = template.replace("{line}", str(line))
        note = MISSED if "wrong" in title else ""
        parts.append(f"## {title}\n\n{note}```console norun\n$ {command}\n{answer(command)}\n```\n")
    out.write_text("\n".join(parts), encoding="utf-8")
    print(out)


def answer(command: str) -> str:
    """Run one command in the repository and return what it prints."""
    program = [sys.executable, "-m", *shlex.split(command)]
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return "\n".join(row.rstrip() for row in done.stdout.strip().splitlines())


PICTURES = ROOT / "docs" / "pictures"
ASSAY = (sys.executable, "-m", "assay")
WIDTH = 110
SESSION = (
    'assay search "hide secrets in messages" src --limit 2',
    "assay grep -rnw Mask src/assay/io",
)
QUESTION = "hide secrets in messages"
KEPT = " file:src/**"
"""What the picture of the page adds, for this very file holds the question."""
ANSWER = "src/assay/"
"""What stands on the page when the answer is there."""
DARK = TerminalTheme(
    (22, 27, 34),
    (214, 222, 230),
    [(72, 79, 88), (255, 123, 114), (126, 231, 135), (242, 204, 96), *[(121, 192, 255)] * 3, (214, 222, 230)],
)
FONTS = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)


def run_pictures() -> None:
    """Make the pictures that were asked for, or both."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pictures", nargs="*", metavar="terminal | page")
    asked.add_argument("--root", type=Path, default=ROOT)
    asked.add_argument("--chromium", help="a browser of your own instead of Playwright's")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        if "terminal" in (options.pictures or ["terminal"]):
            print(terminal(options.root))
        if "page" in (options.pictures or ["page"]):
            print(page(options.root, options.chromium))


def terminal(root: Path) -> Path:
    """Run the session and draw what it prints."""
    screen = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: PTH123, SIM115
    for number, line in enumerate(SESSION):
        if number:
            screen.print()
        screen.print(Text.assemble(("$ ", "bold green"), (line, "bold")))
        run = subprocess.run(
            [*ASSAY, *shlex.split(line)[1:]],
            cwd=root,
            env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)},
            capture_output=True,
            text=True,
            check=True,
        )
        screen.print(Text.from_ansi(run.stdout.rstrip("\n")), soft_wrap=False, no_wrap=True)
    drawn = FONTS.sub("", screen.export_svg(title="assay", theme=DARK, unique_id="assay"))
    target = PICTURES / "terminal.svg"
    target.write_text(re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE), "utf-8")
    return target


def page(root: Path, chromium: str | None) -> Path:
    """Serve a folder, ask it a question in a browser, and take a picture of the answer."""
    from playwright.sync_api import sync_playwright

    target = PICTURES / "page.png"
    with serving(root) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        window = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        window.goto(address)
        window.get_by_role("combobox", name="Search code by meaning").press_sequentially(QUESTION + KEPT, delay=20)
        window.get_by_text(ANSWER).first.wait_for()
        window.wait_for_load_state("networkidle")
        window.screenshot(path=target)
        browser.close()
    return target


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Yield the address of a server on a folder that is indexed already."""
    subprocess.run([*ASSAY, "index", str(root)], check=True, capture_output=True)
    server = subprocess.Popen([*ASSAY, "serve", str(root), "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        yield next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
    finally:
        server.terminate()
        server.wait()


COMMANDS = {"gallery": run_gallery, "pictures": run_pictures}

if __name__ == "__main__":
    run_command(COMMANDS)
