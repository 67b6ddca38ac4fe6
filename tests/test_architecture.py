"""What the code as a whole has to keep to, whoever writes it."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest

import assay as package
from assay.cli.main import assay

PACKAGE = Path(package.__file__).parent
TESTS = Path(__file__).parent
LONGEST_FILE = 400
LONGEST_FUNCTION = 40
LONGEST_COMMAND = 60
MOST_BRANCHES = 12
LARGEST_CAGE = 3100
HEAVY = (
    "ast_grep_py httpx lightgbm matplotlib mcp numpy obstore onnxruntime pyarrow rich Stemmer sentence_transformers "
    "sklearn tokenizers torch transformers"
).split()

HELP_LOADS = (
    "__main__ _bz2 _compression _json _locale _lzma _winapi bz2 copy dataclasses fnmatch gc importlib ipaddress json "
    "locale lzma nt ntpath org pathlib runpy shlex shutil signal textwrap urllib zlib"
).split()
"""What help may load of the standard library beyond what click loads."""

SAME_STEM = {
    "__init__": "a room",
}
MANY_OWNERS = {
    "mcp": "a server here, a client of other servers in the bench",
    "tokenizers": "encoders and rankers",
    "torch": "a network is defined where it is trained and run: encoders, rankers, a sampler",
    "transformers": "encoders, rankers, a sampler",
}

MODULES = sorted(PACKAGE.rglob("*.py"))
FILES = [*MODULES, *sorted(TESTS.rglob("*.py"))]


def short(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent if path.is_relative_to(PACKAGE) else TESTS.parent))


@pytest.mark.parametrize("file", [*FILES, *sorted(PACKAGE.rglob("*.js"))], ids=short)
def test_a_file_is_read_in_one_sitting(file: Path):
    length = len(file.read_text(encoding="utf-8").splitlines())
    assert length <= LONGEST_FILE, f"{file} has {length} lines: find the two things in it"


@pytest.mark.parametrize("file", MODULES, ids=short)
def test_everything_public_is_documented(file: Path):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body, f"{file}: the module has no docstring"
    for name, node in _definitions(tree):
        if not name.startswith("_"):
            assert ast.get_docstring(node), f"{file}:{node.lineno}: {name} has no docstring"


@pytest.mark.parametrize("file", MODULES, ids=short)
def test_no_function_is_long_or_full_of_branches(file: Path):
    """A comprehension is a loop, wherever it stands: it counts as a branch."""
    longest = LONGEST_COMMAND if file.parent.name == "cli" else LONGEST_FUNCTION
    functions = list(_functions(ast.parse(file.read_text(encoding="utf-8"))))
    long = {f"{file.stem}.{node.name}" for node in functions if _lines(node) > longest}
    branched = {f"{file.stem}.{node.name}" for node in functions if _branches(node) > MOST_BRANCHES}
    assert not long, f"{file}: more than {longest} lines"
    assert not branched, f"{file}: more than {MOST_BRANCHES} branches"


def test_a_name_belongs_to_one_class():
    classes = _places((node.name, short(file)) for file in MODULES for node in _classes(file))
    twice = {name: places for name, places in classes.items() if len(places) > 1 and not name.startswith("_")}
    assert not twice


def test_a_stem_belongs_to_one_module():
    stems = _places((file.stem, short(file)) for file in MODULES)
    twice = {name: places for name, places in stems.items() if len(places) > 1}
    assert not {name: twice[name] for name in twice.keys() - SAME_STEM.keys()}


def test_a_heavy_library_has_one_owner():
    """An owner is a room; `sqlite3` counts, for its files are locked."""
    configured = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    banned = configured["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]
    owners = _places((name, file.relative_to(PACKAGE).parts[0]) for file in MODULES for name in _imported(file))
    many = {name: places for name in (*banned, "onnx", "sqlite3") if len(places := owners.get(name, set())) > 1}
    assert not {name: many[name] for name in many.keys() - MANY_OWNERS.keys()}


def test_a_reviewer_can_read_the_whole_cage():
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in (PACKAGE / "cage").rglob("*.py"))
    assert 1000 < lines < LARGEST_CAGE, f"the cage has {lines} lines: what does not isolate belongs elsewhere"


def test_imports_point_down():
    tool = shutil.which("lint-imports", path=Path(sys.executable).parent)
    assert tool, "import-linter is not installed: make install"
    done = subprocess.run([tool, "--no-cache"], cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("statement", ["import assay", "import assay.cli.main", "import assay.types, assay.errors"])
def test_an_import_loads_nothing_heavy(statement: str):
    loaded = _python("-c", f"{statement}, sys; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_help_loads_click_and_the_command_line_alone():
    """What loads is what starting costs: a list of commands loads none, and no processor is asked how fast it is."""
    found = _imports("-m", "assay", "--help") - _imports("-c", "import click")
    own = {name for name in found if name.split(".")[0] == "assay"}
    assert own == {"assay", "assay.cli", "assay.cli.main", "assay.cli.command", "assay.cli.lazy", "assay.errors"}
    assert {name.split(".")[0] for name in found - own} <= {"click", *HELP_LOADS}


def test_the_example_of_a_command_parses():
    """Whoever copies it gets past the options; files that it names need not be there."""
    above = click.Context(assay, info_name="assay", **assay.context_settings)
    for path, command in _commands(assay, "assay"):
        if isinstance(command, click.Group):
            continue
        assert "Example:" in (command.help or ""), f"{path} has no example"
        line = (command.help or "").rpartition("Example:")[2].strip()
        assert line.startswith(path), f"{path}: its example is of another command: {line}"
        arguments = shlex.split(line.removeprefix(path))
        command.make_context(path, arguments, parent=above)


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


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _branches(function: ast.AST) -> int:
    """Count as McCabe did, and one for each comprehension; functions within count for the outer one too."""
    branch = ast.If | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
    comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    return 1 + sum(isinstance(node, branch | comprehension) for node in ast.walk(function))


def _classes(file: Path) -> list[ast.ClassDef]:
    return [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]


def _imported(file: Path) -> set[str]:
    """Return the libraries that a module imports, at its top or in a function."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def _places(found: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    places = defaultdict(set)
    for name, place in found:
        places[name].add(place)
    return places


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


def _imports(*arguments: str) -> set[str]:
    lines = _python("-X", "importtime", *arguments, errors=True).splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


RULED_OUT = re.compile(r"\bgarbled\b|\banew\b|(?<!there )\bis no (folder|file|run)\b|\bby nobody\b")
"""Words that a reader of a message would have to read twice."""


def test_messages_are_plain():
    found = [
        f"{short(file)}:{node.lineno}: {node.value}"
        for file in MODULES
        for tree in [ast.parse(file.read_text(encoding="utf-8"))]
        for documented in [{id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
        if RULED_OUT.search(node.value)
    ]
    assert not found
