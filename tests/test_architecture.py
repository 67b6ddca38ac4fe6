"""What the code as a whole has to keep to, whoever writes it."""

from __future__ import annotations

import ast
import builtins
import gc
import re
import shlex
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import click
import pytest

import assay as package
from assay.cli.main import assay

PACKAGE = Path(package.__file__).parent
TESTS = Path(__file__).parent
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 40
MAX_COMMAND_LINES = 60
MAX_BRANCHES = 12
MAX_CAGE_LINES = 2800
BUDGET = {"code lines of src/assay": 58_100, "files of src/assay": 423, "lines of tests": 44_700, "imports, in %": 10.6}
"""Where the design wants them: 52,000, 350, 43,000 and 9."""
READS_A_CLOCK = {
    "tests/waiting.py": "the one place that waits for an event",
    "tests/cage/attacks/outside.py": "what an attack started has to go; only what stays takes so long",
    "tests/cage/attacks/running.py": "how long an attack took is shown in the table, and decides nothing",
    "tests/programs/conftest.py": "it stands for the sandbox, whose limits are times",
    "tests/s3_server.py": "the start of a server that is not ours",
    "tests/search/test_shared_index.py": "files are given the age of a day",
    "tests/serve/test_mirrors.py": "when a mirror is due is a time of day",
}
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "getrusage", "clock_gettime", "times"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}
HEAVY = (
    "ast_grep_py httpx matplotlib mcp numpy obstore onnxruntime pyarrow rich Stemmer sentence_transformers "
    "sklearn tokenizers torch transformers"
).split()

EXAMPLES = """
    alt APIRouter Cart HTTPServer2 HTTPServers NAME_both.csv NAME_test.py PAPER RefundOrder TestCases _click assertEqual
    cach camelCase cart csv gin_both gin_docs hookimpl httpx2 ir_measures items NAME_both NAME_test json new_order
    open_cart private_test_cases snake_case test_agent_codebase test_agent_pairs test_agent_pairs_true test_agent_query
    hatch_build mkdocs needs_X py yml norun test_NAME
"""
"""What docstrings name as examples, formats of others and other people's names."""

HELP_LOADS = (
    "__main__ _bz2 _compression _json _locale _lzma _winapi bz2 copy dataclasses fnmatch gc importlib ipaddress json "
    "locale lzma nt ntpath org pathlib runpy shlex shutil signal textwrap urllib zlib"
).split()
"""What help may load of the standard library beyond what click loads."""

SHARED_LIBRARIES = {
    "mcp": "a server here, a client of other servers in the bench",
    "sentence_transformers": "encoders run by it, and their training",
    "tokenizers": "encoders and rankers",
    "torch": "a network is defined where it is trained and run: encoders, rankers, a sampler",
    "transformers": "encoders, rankers, a sampler",
}

MODULES = sorted(PACKAGE.rglob("*.py"))
FILES = [*MODULES, *sorted(TESTS.rglob("*.py"))]


def short(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent if path.is_relative_to(PACKAGE) else TESTS.parent))


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Return all that stands in a file; to walk through the package once more takes a second."""
    return tuple(ast.walk(tree(file)))


@pytest.fixture(autouse=True, scope="module")
def no_collection() -> Iterator[None]:
    """Keep what is parsed: looking through it for garbage takes longer than parsing."""
    gc.disable()
    yield
    gc.enable()


def test_the_tree_keeps_to_its_budget():
    """What is added is paid for: these figures go down, never up."""
    code = sum(map(_code_lines, MODULES))
    tests = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in TESTS.rglob("*.py"))
    imports = sum(map(_import_lines, MODULES))
    found = dict(zip(BUDGET, (code, len(MODULES), tests, round(100 * imports / code, 1)), strict=True))
    over = {name: f"{found[name]:,} of {most:,}" for name, most in BUDGET.items() if found[name] > most}
    assert not over, "join, delete or borrow first"


def test_a_file_is_read_in_one_sitting():
    files = [*FILES, *PACKAGE.rglob("*.js")]
    lengths = {short(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES}, "find the two things in it"


def test_everything_public_is_documented():
    silent = [short(file) for file in MODULES if tree(file).body and not ast.get_docstring(tree(file))]
    silent += [
        f"{short(file)}:{node.lineno}: {name}"
        for file in MODULES
        for name, node in _definitions(tree(file))
        if not name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not silent


def test_no_function_is_long_or_full_of_branches():
    """A comprehension is a loop, wherever it stands: it counts as a branch."""
    found = [
        f"{short(file)}:{node.lineno}: {node.name}: {_lines(node)} lines, {_branches(node)} branches"
        for file in MODULES
        for node in _functions(file)
        if _branches(node) > MAX_BRANCHES
        or _lines(node) > (MAX_COMMAND_LINES if file.parent.name == "cli" else MAX_FUNCTION_LINES)
    ]
    assert not found


def test_no_test_reads_a_clock():
    """Whoever reads one compares it: with a limit that a busy machine passes, or with another reading of its own."""
    readers = {
        f"{short(file)}:{node.lineno}"
        for file in sorted(TESTS.rglob("*.py"))
        if short(file) not in READS_A_CLOCK
        for node in nodes_of(file)
        if _reads_a_clock(node)
    }
    assert not readers, "hold what makes it fast, or wait with `waiting.until`"
    idle = [name for name in READS_A_CLOCK if not any(map(_reads_a_clock, nodes_of(TESTS.parent / name)))]
    assert not idle, "no exception any more"


def test_no_module_of_the_product_is_called_like_a_test():
    assert not [short(file) for file in MODULES if file.name.startswith("test_")]


def test_modules_import_one_another_in_no_circle():
    """Imports inside functions count, those for types alone do not."""
    names = {".".join(("assay", *file.relative_to(PACKAGE).with_suffix("").parts)): file for file in MODULES}
    graph = {name: _imported_modules(file) & names.keys() - {name} for name, file in names.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(circle.args[1]))


def test_a_name_in_backquotes_exists():
    """What docstrings, AGENTS.md and the page about the architecture name is in the code, or is an example."""
    nodes = [node for file in MODULES for node in nodes_of(file)]
    fields = ("id", "attr", "arg", "name", "module")
    names = {str(getattr(node, field)) for node in nodes for field in fields if hasattr(node, field)}
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    prose = {
        str(node.value.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    known = {*dir(builtins), *sys.stdlib_module_names, *EXAMPLES.split()}
    known |= {part for file in MODULES for part in file.relative_to(PACKAGE).with_suffix("").parts}
    known |= {word for text in texts - prose | names for word in re.findall(r"\w+", text)}
    pages = [(TESTS.parent / page).read_text(encoding="utf-8") for page in ("AGENTS.md", "docs/architecture.md")]
    quoted = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
    found = {word for text in {*prose, *pages} for word in quoted.findall(text)}
    assert not [word for word in sorted(found) if not known.issuperset(filter(None, word.split(".")))]


def test_a_class_name_is_unique_within_its_room():
    rooms = defaultdict(list)
    for file in MODULES:
        rooms[file.relative_to(PACKAGE).parts[0]] += [node.name for node in _classes(file) if node.name[0] != "_"]
    assert not {room: twice for room, names in rooms.items() if (twice := {n for n in names if names.count(n) > 1})}


def test_a_heavy_library_has_one_owner():
    """An owner is a room; `sqlite3` counts, for its files are locked."""
    configured = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    banned = configured["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]
    owners = _places((name, file.relative_to(PACKAGE).parts[0]) for file in MODULES for name in _imported(file))
    many = {name: places for name in (*banned, "onnx", "sqlite3") if len(places := owners.get(name, set())) > 1}
    assert not {name: many[name] for name in many.keys() - SHARED_LIBRARIES.keys()}


def test_a_reviewer_can_read_the_whole_cage():
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in (PACKAGE / "cage").rglob("*.py"))
    assert 1000 < lines < MAX_CAGE_LINES, f"the cage has {lines} lines: what does not isolate belongs elsewhere"


def test_an_import_loads_nothing_heavy():
    loaded = _python("-c", "import assay, assay.cli.main, assay.values, assay.errors, sys; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_help_loads_click_and_the_command_line_alone():
    """What loads is what starting costs: a list of commands loads none, and no processor is asked how fast it is."""
    found = _imports("-m", "assay", "--help") - _imports("-c", "import click")
    own = {name for name in found if name.split(".")[0] == "assay"}
    assert own == {
        "assay",
        "assay.cli",
        "assay.cli.main",
        "assay.cli.adapter",
        "assay.cli.lazy",
        "assay.errors",
        "assay.parameters",
    }
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


def _imported_modules(file: Path) -> set[str]:
    """Return the modules that a module imports when it runs, at its top or in a function."""
    nodes = nodes_of(file)
    guarded = [each for each in nodes if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test)]
    for_types = {id(inner) for each in guarded for part in each.body for inner in ast.walk(part)}
    froms = [each for each in nodes if isinstance(each, ast.ImportFrom) and each.module and id(each) not in for_types]
    return {f"{each.module}{name}" for each in froms for alias in each.names for name in ("", f".{alias.name}")}


def _reads_a_clock(node: ast.AST) -> bool:
    """Say whether a piece of a test names a clock, or compares a time that the package measured with a limit."""
    match node:
        case ast.Attribute(value=ast.Name(id="time"), attr="time" | "time_ns"):
            return True
        case ast.Attribute(value=ast.Name(id="time" | "resource" | "os"), attr=name):
            return name in CLOCKS
        case ast.ImportFrom(module="time" | "resource" | "os" | "timeit", names=names):
            return any(alias.name in CLOCKS | {"time", "timeit"} for alias in names)
        case ast.Compare(left=left, comparators=[right], ops=[ast.Lt() | ast.LtE()]):
            return _is_measured(left)
        case ast.Compare(left=left, comparators=[right], ops=[ast.Gt() | ast.GtE()]):
            return _is_measured(right)
    return False


def _is_measured(node: ast.AST) -> bool:
    """Say whether it is a time that the package took; a job may be said to have used at least what it was given."""
    return isinstance(node, ast.Attribute) and node.attr in {"wall_s", "cpu_s", "seconds", "elapsed"}


def _import_lines(file: Path) -> int:
    """Count the lines of import statements."""
    nodes = (node for node in nodes_of(file) if isinstance(node, ast.Import | ast.ImportFrom))
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def _code_lines(file: Path) -> int:
    """Count lines that hold code: no blank ones, no comments, no docstrings."""
    text = file.read_text(encoding="utf-8").splitlines()
    told = {
        number
        for node in nodes_of(file)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in told
        for number, line in enumerate(text, 1)
    )


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


def _functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in nodes_of(file) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _branches(function: ast.AST) -> int:
    """Count as McCabe did, and one for each comprehension; functions within count for the outer one too."""
    branch = ast.If | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
    comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    return 1 + sum(isinstance(node, branch | comprehension) for node in ast.walk(function))


def _classes(file: Path) -> list[ast.ClassDef]:
    return [node for node in tree(file).body if isinstance(node, ast.ClassDef)]


def _imported(file: Path) -> set[str]:
    """Return the libraries that a module imports, at its top or in a function."""
    nodes = nodes_of(file)
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


RULED_OUT = re.compile(r"\bgarbled\b|\banew\b|\bby nobody\b|(?<![Tt]here )\b(?:is|are) no\b(?! (?:longer|more))")
"""Words that a reader of a message would have to read twice."""


def test_messages_are_plain():
    found = [
        f"{short(file)}:{node.lineno}: {node.value}"
        for file in MODULES
        for documented in [{id(each.value) for each in nodes_of(file) if isinstance(each, ast.Expr)}]
        for node in nodes_of(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
        if RULED_OUT.search(node.value)
    ]
    assert not found


RULED_OUT_IN_CONSTANTS = {
    *("MOST", "LEAST", "FEWEST", "LONGEST", "SHORTEST", "WIDEST", "LARGEST", "SMALLEST", "DEEPEST", "HIGHEST", "FEW"),
    *("KEPT", "AGAIN", "TOLD", "SAID", "ASKED", "GIVEN", "TAKEN", "ALONE", "BEYOND", "DEEP", "ENOUGH", "MANY", "MORE"),
}
"""A bound is `MAX_` or `MIN_` with object and unit: `MAX_LINE_CHARS`, `MIN_QUERY_WORDS`; a cache has a `CACHE_SIZE`."""


def test_constants_are_named_as_the_field_names_them():
    found = [
        f"{short(file)}:{node.lineno}: {node.id}"
        for file in MODULES
        for node in nodes_of(file)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.isupper()
        if RULED_OUT_IN_CONSTANTS & set(node.id.split("_"))
    ]
    assert not found
