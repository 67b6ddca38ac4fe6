"""Each figure of docs/results.md and README has a command, and each command there exists and takes its options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from page_blocks import parse

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
SCRIPT = re.compile(r"python (benchmarks/[\w/]+\.py)((?: [^`;\n#|]+)?)")
ASSAY = re.compile(
    r"(?:^    |`)(?:[A-Z_]+=\S+ )*assay (bench|exec|index|judge|rank|search|train|truth)( [^`;\n#&]+)", re.MULTILINE
)
NO_COMMAND = "No command here repeats"
SECTION = re.compile(r"^#{2,3} (.+)\n((?:(?!#{2,3} ).*\n?)*)", re.MULTILINE)


def script_commands() -> list[tuple[str, list[str]]]:
    """Return each script with its words, of lines that go on, too."""
    text = re.sub(r" \\\n +", " ", PAGE)
    return [(script, shlex.split(words)) for script, words in SCRIPT.findall(text)]


def wrong(script: str, words: list[str]) -> str:
    """Say what is wrong with a command of a script."""
    if not (ROOT / script).is_file():
        return "no such file"
    source = (ROOT / script).read_text(encoding="utf-8")
    if script.endswith("paths.py") and words[0] not in {"lines", "warm"}:
        return ""  # the words of a command of Assay
    lacking = [word for word in words if word.startswith("--") and f'"{word}"' not in source]
    table = re.search(r"^COMMANDS = \{(.*?)\}", source, re.MULTILINE | re.DOTALL)
    first = words[0] if words and re.fullmatch(r"[a-z]{3,}", words[0]) else ""
    if first and f'"{first}"' not in source and not re.search(rf"^def {first}\(", source, re.MULTILINE) and table:
        lacking.append(first)
    files = [word for word in words if word.startswith("benchmarks/") and not list(ROOT.glob(word))]
    return ", ".join(lacking + files)


def test_each_script_that_the_results_name_is_there_and_takes_what_it_is_given():
    found = script_commands()
    assert len(found) > 35
    assert not {f"{script} {' '.join(words)}": why for script, words in found if (why := wrong(script, words))}
    assert wrong("benchmarks/gone.py", []) == "no such file"
    assert wrong("benchmarks/queries.py", ["strange", "click.csv", "--nothing", "1"]) == "--nothing, strange"


def test_each_command_of_assay_that_the_results_name_can_be_asked_for():
    text = re.sub(r" \\\n +", " ", PAGE)
    lines = [f"{command}{words}".replace("…", "") for command, words in ASSAY.findall(text)]
    assert len(lines) > 20
    refused = {}
    for line in lines:
        try:
            parse(line)
        except (click.ClickException, ValueError) as error:
            refused[line] = str(error)
        if gone := [word for word in line.split() if word.endswith(".toml") and not (ROOT / word).is_file()]:
            refused[line] = f"no file {gone[0]}"
    assert not refused


def test_each_section_has_a_command_or_says_that_there_is_none():
    sections = {title: text for title, text in SECTION.findall(PAGE) if text.strip()}
    named = re.compile(r"`[^`\n]*\b(assay|python|pytest|bash) [^`]+`|^    .*\b(assay|python) ", re.MULTILINE)
    assert not [title for title, text in sections.items() if not named.search(text) and NO_COMMAND not in text]
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in sections}
    linked = re.findall(r"docs/results\.md#([\w-]+)", readme)
    assert len(linked) > 4
    assert not {*linked} - anchors
