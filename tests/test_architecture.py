"""What the code as a whole has to keep to, whoever writes it."""

from __future__ import annotations

import ast
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import assay as package
from assay.cli.main import assay

PACKAGE = Path(package.__file__).parent
TESTS = Path(__file__).parent
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
START_MS = 80
HEAVY = (
    "ast_grep_py httpx lance lightgbm matplotlib mcp numpy onnxruntime pyarrow rich Stemmer sentence_transformers "
    "sklearn tokenizers torch transformers"
).split()

MODULES = sorted(PACKAGE.rglob("*.py"))
FILES = [*MODULES, *sorted(TESTS.rglob("*.py"))]


def short(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent if path.is_relative_to(PACKAGE) else TESTS.parent))


@pytest.mark.parametrize("file", FILES, ids=short)
def test_a_file_is_read_in_one_sitting(file: Path):
    length = len(file.read_text(encoding="utf-8").splitlines())
    assert length <= LONGEST_FILE, f"{file} has {length} lines: find the two things in it"


@pytest.mark.parametrize("file", MODULES, ids=short)
def test_everything_public_is_documented_and_no_function_is_long(file: Path):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body, f"{file}: the module has no docstring"
    for name, node in _definitions(tree):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if not isinstance(node, ast.ClassDef):
            assert lines <= LONGEST_FUNCTION, f"{file}:{node.lineno}: {name} has {lines} lines"
        if not name.startswith("_"):
            assert ast.get_docstring(node), f"{file}:{node.lineno}: {name} has no docstring"


def test_imports_point_down():
    tool = shutil.which("lint-imports", path=Path(sys.executable).parent)
    assert tool, "import-linter is not installed: make install"
    done = subprocess.run([tool, "--no-cache"], cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("statement", ["import assay", "import assay.cli.main", "import assay.types, assay.errors"])
def test_an_import_loads_nothing_heavy(statement: str):
    loaded = _python("-c", f"{statement}, sys; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_help_loads_nothing_heavy():
    loaded = _python("-X", "importtime", "-m", "assay.cli.main", "--help", errors=True)
    names = {line.rpartition("|")[2].strip() for line in loaded.splitlines() if line.startswith("import time:")}
    assert "click" in names
    assert not set(HEAVY) & names


def test_help_is_there_at_once():
    """Processor time, and the best of several, for a busy machine must not decide."""
    costs = sorted(_cpu_ms("-m", "assay.cli.main", "--help") for _ in range(9))
    assert costs[0] < START_MS, f"assay --help took {costs[0]:.0f} ms of processor time at best"


def test_each_command_and_option_is_documented():
    commands = dict(_commands(assay, "assay"))
    assert {"assay search", "assay index", "assay related", "assay train encoder"} <= commands.keys()
    for path, command in commands.items():
        assert command.help, f"{path} has no help"
        assert command.get_short_help_str().endswith("."), f"{path} has no line in the list of commands"
        for option in command.params:
            assert isinstance(option, click.Argument) or option.help, f"{path} {option.opts[0]} has no help"


def _definitions(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """Yield functions and classes, methods of public classes included; a private class hides what is in it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = "_" if prefix.startswith("_") else node.name
            yield name, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, name)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from _commands(below, f"{path} {name}")


def _python(*arguments: str, errors: bool = False) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, cwd=TESTS)
    return done.stderr if errors else done.stdout


def _cpu_ms(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _python(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
