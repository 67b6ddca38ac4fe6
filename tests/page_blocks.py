"""What the documentation shows: the blocks of each page, and every command line in pages, help and messages."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import click
from commands import walk_commands

import assay
from assay.cli.main import assay as top

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "cli")]
SHELL = ("sh", "console", "yaml")
CONTEXT = click.Context(top, info_name="assay", **top.context_settings)
_BLOCK = re.compile(r"^ *```(\w+)([^`\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"(?: (needs_\w+))?(?: (norun|file)(?:=\"([^\"\n]*)\")?)?")
_COMMAND = re.compile(r"(?:^|do |run: |[|] )\$? *(?:\S+/)?assay ([a-z][^\n]+)", re.MULTILINE)
_QUOTED = re.compile(r"`assay ([^`\n]+)`|'assay ([^'\n]+)'")
_PROSE = re.compile(r"(?<![`'\w./-])assay ([a-z]\w*(?: [^\s;:,.()`']+)*)")
_NO_COMMAND = {"and", "so", "wrote", "reads", "knows", "import", "httpcore"}
"""What stands behind the name in texts that name no command."""


@dataclass(frozen=True)
class Block:
    """A block of a page: what its fence says, and its code."""

    place: str
    language: str
    needs: str | None
    word: str | None
    """`norun` with the reason, `file` with the name of the file that the block is."""
    value: str | None
    code: str


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; a fence that says something else is a ValueError."""
    text, found = page.read_text(encoding="utf-8"), []
    for match in _BLOCK.finditer(text):
        if (said := _SAID.fullmatch(match[2])) is None:
            raise ValueError(f'{place(page, match.start())}: "{match[2]}"; wanted needs_X, norun="REASON", file="NAME"')
        found.append(Block(place(page, match.start()), match[1], *said.groups(), dedent(match[3])))
    return found


def place(page: Path, offset: int) -> str:
    """Return `page:line` of an offset in its text."""
    return f"{page.relative_to(ROOT)}:{page.read_text(encoding='utf-8').count(chr(10), 0, offset) + 1}"


def in_blocks(page: Path) -> Iterator[tuple[str, Block]]:
    """Yield each command line of Assay in the shell of a page."""
    for block in blocks(page):
        found = _COMMAND.finditer(block.code.replace("\\\n", " ")) if block.language in SHELL else ()
        yield from ((match[1].partition("  #")[0].strip(), block) for match in found)


def in_sentences() -> Iterator[tuple[str, str]]:
    """Yield each command line that a sentence of a page or an example of a command's help writes, and where."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        yield from ((match[1], place(page, match.start())) for match in re.finditer(r"`assay ([^`\n]+)`", text))
    for path, (command, _) in walk_commands(top, CONTEXT):
        for match in re.finditer(r"^  +assay ([^\n]+)", (command.help or "").replace("\\\n", " "), re.MULTILINE):
            yield match[1], f"{path} --help"


def in_messages() -> Iterator[tuple[str, str]]:
    """Yield each command line in a text of the source: a hint, an error, a docstring; what is in it stands as X."""
    for file in sorted(Path(assay.__file__).parent.rglob("*.py")):
        if not re.search(r"assay (?:[a-z{]|['\"]\s)", source := file.read_text(encoding="utf-8")):
            continue
        texts = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant | ast.JoinedStr)]
        parts = {id(part) for node in texts if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in texts:
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                text = node.value
            else:
                continue
            lines = [match[1] or match[2] for match in _QUOTED.finditer(text)]
            lines += [match[1] for match in _PROSE.finditer(text) if match[1].split()[0].strip() not in _NO_COMMAND]
            yield from ((line, f"{file.name}:{node.lineno}") for line in lines)


def parse(line: str) -> None:
    """Refuse a command line whose command or option does not exist; a sentence may stop at the name of an option."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(takewhile(lambda word: not set(word) <= set("();<>|&"), lexer))
    command, context = top, CONTEXT
    while isinstance(command, click.Group) and words and "--help" not in words:
        known = words[0] in command.list_commands(context)
        if not known and command.name not in {"rank", "bench"}:
            raise ValueError(f"no command '{words[0]}'")
        usual = {"rank": "order", "bench": "run"}.get(command.name, "")  # rank SAMPLES is rank order SAMPLES
        name, words = (words[0], words[1:]) if known else (usual, words)
        command = command.get_command(context, name)
        context = click.Context(command, parent=context, info_name=name)
    with suppress(click.BadOptionUsage):
        command.make_parser(context).parse_args(words)
