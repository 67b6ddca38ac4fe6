"""What the documentation shows works: code runs, command lines parse, links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import asdict
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from shutil import which

import click
import pytest
from commands import manual_pages, pages

import assay
from assay.cli.main import assay as top
from assay.encode.static import default_static
from assay.rank.neural_data import RECIPES, NeuralSettings
from assay.search.ranking import PARTS
from assay.settings import Settings
from assay.train.card import table_card

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "cli")]
BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
NEEDS = {
    "needs_mcp": ("mcp", "tomlkit"),
    "needs_serve": ("fastapi", "uvicorn", "curl"),
    "needs_watch": ("watchfiles",),
}
"""What a fence may say of a block that runs where some modules and programs are there, and which these are."""


RUN_WHOLE = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "searching.md"]
"""Pages whose code runs: those with the most commands. Of the others the command lines are parsed."""


def place(page: Path, offset: int) -> str:
    """Return `page:line` of an offset in its text."""
    line = page.read_text(encoding="utf-8").count("\n", 0, offset) + 1
    return f"{page.relative_to(ROOT)}:{line}"


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def runnable(page: Path) -> list[re.Match[str]]:
    known = {"sh", "python"} if page.name == "README.md" else {"sh", "python", "console"}
    return [match for match in blocks(page) if match[1] in known and match[2] != "norun"]


def script(page: Path) -> str:
    """Return the code of a page as one script, for a page is one story: each block goes on where the last one stopped.

    A fence that says `norun` is left out. Of a `console` block each command's output is kept, to be compared.
    """
    lines, shown = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"], 0
    for match in runnable(page):
        language, word, code = match.groups()
        if not all(find_spec(name) or which(name) for name in NEEDS.get(word, ())):
            continue
        lines.append(f"echo '== {place(page, match.start())}' >&2")
        if language == "sh":
            lines.append(code)
        elif language == "python":
            lines.append(f"python - <<'END OF BLOCK'\n{code}END OF BLOCK")
        for command, _ in commands(code) if language == "console" else ():
            lines.append(f'{{ {command}\n}} >"$SHOWN/{shown}" 2>&1')
            shown += 1
    return "\n".join(lines)


def commands(code: str) -> list[tuple[str, str]]:
    """Return each command of a `console` block, with its here-document, and what it is said to print."""
    found = re.finditer(r"^\$ (.*(?:\n[^$]*?\nEND(?=\n))?)\n((?:(?!\$ ).*\n)*)", f"{code}\n", re.MULTILINE)
    return [(match[1], match[2]) for match in found]


LEFT_OUT = re.compile(r"assay: (a drawing needs|working, \d+ s|.*: [\d,]+ of [\d,]+, )")
"""What is said where an extra is missing, and how far a command has come where the machine is slow."""


def plain(output: str) -> str:
    """Return an output without spaces at the ends of lines, and without what depends on the machine."""
    lines = (line.rstrip() for line in output.strip("\n").split("\n"))
    return "".join(f"{line}\n" for line in lines if not LEFT_OUT.match(line))


def printed(expected: str) -> re.Pattern[str]:
    """Return what fits an output as a page shows it: `…` is some of a line, or on a line of its own some lines."""
    text = re.escape(plain(expected))
    return re.compile(re.sub(r"^[ \\]*…\\\n", r"(?:.*\n)*?", text, flags=re.MULTILINE).replace("…", ".*"))


@pytest.mark.parametrize("page", RUN_WHOLE, ids=lambda page: page.name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page: Path, project: Path, tmp_path: Path):
    """Run a page in a project; a search that finds nothing would fail its line."""
    shown = tmp_path / "shown"
    shown.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script(page)],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "SHOWN": str(shown), "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr  # its last `==` is the block that failed
    number = 0
    for match in runnable(page):
        for command, output in commands(match[3]) if match[1] == "console" else ():
            said = plain((shown / str(number)).read_text("utf-8"))
            assert printed(output).fullmatch(said), f"{place(page, match.start())}: {command} prints\n{said}"
            number += 1


def test_what_a_page_shows_is_compared():
    assert printed("a  1 …\n…\nz").fullmatch("a  1 ms (2)\nb\nc\nz\n")
    assert not printed("a  1 …\nz").fullmatch("a  2 ms\nz\n")
    assert commands("$ x\none\n\n$ y\n") == [("x", "one\n\n"), ("y", "\n")]
    assert commands("$ x <<END\n1\nEND\ntwo\n") == [("x <<END\n1\nEND", "two\n\n")]


def test_a_fence_says_what_is_known_and_python_in_it_names_what_there_is():
    wrong = []
    for page in PAGES:
        for match in blocks(page):
            wrong += [f"{place(page, match.start())}: {match[2]}"] * (match[2] not in {None, "norun", *NEEDS})
            if match[1] == "python" and match[2] is None:
                compile(match[3], place(page, match.start()), "exec")
                used = set(re.findall(r"\bassay\.([a-zA-Z]\w*)", match[3]))
                unknown = {name for name in used - set(dir(assay)) if not find_spec(f"assay.{name}")}
                wrong += [f"{place(page, match.start())}: assay.{name}" for name in unknown]
    assert not wrong


def test_the_card_of_the_default_encoder_is_written_from_its_record():
    page = ROOT / "docs" / "models" / "static-default.md"
    assert page.read_text(encoding="utf-8") == table_card("static:default", default_static().about), "make docs"


@pytest.mark.skipif(which("man") is None or which("groff") is None, reason="man and groff are not installed")
def test_man_shows_a_page_without_warnings(tmp_path: Path):
    page = tmp_path / "assay-search.1"
    page.write_text(manual_pages()[page.name], encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    command = ["man", "--warnings", "-l", page]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    assert "assay-search - Find code by meaning" in done.stdout
    assert "-k, --limit N" in done.stdout


def written() -> dict[str, str]:
    """Return every command line of Assay in the pages, and where it stands: in blocks that run or not, in sentences."""
    found: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", "  ")  # as long as before
        shell = [match for match in BLOCK.finditer(text) if match[1] in {"sh", "console", "yaml"}]
        matches = [match for block in shell for match in COMMAND.finditer(text, block.start(3), block.end(3))]
        matches += list(re.finditer(r"`assay ([^`\n]+)`", text))
        for match in matches:
            found.setdefault(match[1], place(page, match.start(1)))
    return found


COMMAND = re.compile(r"(?:^|do |run: |[|] )\$? *(?:\S+/)?assay ([a-z][^\n]+)", re.MULTILINE)


def test_every_command_line_that_a_page_writes_can_be_asked_for():
    """Parse what no test may run, too: a name of a command or an option that is gone fails here."""
    lines, wrong = written(), []
    for line, where in lines.items():
        try:
            parse(line)
        except (click.ClickException, ValueError) as error:
            wrong.append(f"{where}: assay {line}: {error}")
    assert not wrong, "\n".join(wrong)
    assert len(lines) > 250


def parse(line: str) -> None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(takewhile(lambda word: not set(word) <= set("();<>|&"), lexer))
    command, context = top, click.Context(top, info_name="assay", **top.context_settings)
    while isinstance(command, click.Group) and words and "--help" not in words:
        known = words[0] in command.list_commands(context)
        if not known and command.name not in {"rank", "bench"}:
            raise ValueError(f"no command '{words[0]}'")
        usual = {"rank": "order", "bench": "run"}.get(command.name, "")  # rank SAMPLES is rank order SAMPLES
        name, words = (words[0], words[1:]) if known else (usual, words)
        command = command.get_command(context, name)
        context = click.Context(command, parent=context, info_name=name)
    command.make_parser(context).parse_args(words)


def test_links_between_pages_lead_somewhere():
    made = {ROOT / "docs" / "cli" / name for name in pages()}  # when the site is built
    lost = [
        f"{place(page, match.start())}: {match[1]}"
        for page in PAGES
        for match in LINK.finditer(page.read_text(encoding="utf-8"))
        if not (target := (page.parent / match[1]).resolve()).exists()
        and (page.name == "README.md" or target not in made)
    ]
    assert not lost, "\n".join(lost)


def test_every_place_in_the_gallery_exists():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    found = re.findall(r"^ *src/assay/(\S+?\.\w+):\d+  ?\S", text, re.MULTILINE)
    assert len(found) >= 8
    package = Path(assay.__file__).parent  # the tests of the built package run without src/
    assert not [path for path in found if not (package / path).is_file()], "python benchmarks/documentation.py gallery"


def test_the_settings_that_are_documented_are_all_there_are():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (documented,) = (match[3] for match in BLOCK.finditer(page) if match[1] == "toml")
    assert tomllib.loads(documented) == asdict(Settings())


def test_every_setting_of_a_neural_ranker_is_documented_with_its_default_and_its_value_in_the_paper():
    page = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
    section = page.partition("`--set KEY=VALUE`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|", section, re.MULTILINE)
    told = {name: (default.strip(), paper.strip()) for name, default, paper in rows}
    defaults, paper = asdict(NeuralSettings()), RECIPES["paper"]
    assert told.keys() == defaults.keys() - {"base", "task"}
    assert {name: _as_told(value) for name, value in defaults.items() if name in told} == {
        name: default for name, (default, _) in told.items()
    }
    assert {name: _as_told(value) for name, value in paper.items()} == {
        name: at for name, (_, at) in told.items() if at
    }


def _as_told(value: object) -> str:
    return "1e-4" if value == 1e-4 else json.dumps(value).strip('"')


def test_every_part_of_a_score_is_documented_in_order(assay, tmp_path: Path, project: Path):
    assert documented_parts()[0] == [*PARTS]
    issue = tmp_path / "issue.md"
    issue.write_text(f"Mail is sent twice\n{'The server was busy and the letter went again. ' * 9}\nmail/send.py:6\n")
    hits = json.loads(assay("search", issue.read_text(), project, "--format", "json", "--explain").out)["hits"]
    assert {name for hit in hits for name in hit["why"]} == set(documented_parts()[1])


def test_every_key_of_what_is_related_is_documented(assay, tmp_path: Path):
    (tmp_path / "a.py").write_text("from b import post_letter\n\n\ndef send_letter():\n    return post_letter()\n")
    (tmp_path / "b.py").write_text("def post_letter():\n    return 1\n")
    (tmp_path / "c.py").write_text("from a import send_letter\n\n\ndef write_home():\n    return send_letter()\n")
    (tmp_path / "d.py").write_text("class D:\n    def send(self):\n        return 1\n\n\nclass E(D):\n    pass\n")
    answer = json.loads(assay("related", f"{tmp_path}/a.py:4", tmp_path, "--format", "json").out)
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## The answer of `assay related")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.+?) \|", section, re.MULTILINE))))
    assert documented == {*answer, *answer["subject"]}


def documented_parts() -> tuple[list[str], list[str]]:
    """Return the names in the tables of docs/formats.md: the parts of a ranking, of an issue."""
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## What `why` holds")[2].partition("\n## ")[0]
    search, issue = (re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) for table in section.split("| part | is |"))
    return search, issue
