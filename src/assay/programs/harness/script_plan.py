"""A task's tests to what the judge needs of them, made once a task: asserts rewritten, code compiled, calls packed.

It is made outside the cage and travels as JSON to the judge alone: a copy in the fork server's memory would be
inherited by every program. The code goes along as marshal, which the judge takes because it comes from us, and only
where it runs the same Python; else it compiles the source.
"""

from __future__ import annotations

import ast
import base64
import json
import marshal
import warnings
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import Any, Final

from assay.programs.harness import asserts, codec
from assay.programs.harness.libraries import libraries_in
from assay.programs.harness.needs import MODULES, needs_objects, uses_library
from assay.programs.harness.pure_tests import called_names, is_pure
from assay.programs.harness.taint import free_names, imported_names, tainted_names
from assay.programs.harness.test_outline import Outline, open_main, outline

TESTS_FILE: Final = "<tests>"
MODULE: Final = "solution"
"""The name under which tests may import the program."""
_MAGIC: Final = MAGIC_NUMBER.hex()


@dataclass(frozen=True, slots=True)
class ScriptPlan:
    """Test code ready to run."""

    code: CodeType
    asserts: Sequence[tuple[int, str, int]]
    """Line, text and owner of each (`asserts`)."""
    sites: Sequence[tuple[str, bool]]
    names: frozenset[str]
    """What the program has to bring."""
    called: frozenset[str]
    """Those of them that are called by their name."""
    libraries: Sequence[tuple[str, str, Sequence[str]]]
    """Names that mean a library, whatever the program calls so (`libraries`)."""
    uses_library: bool
    """Whether the tests know classes of a library that is neither Python's own nor numpy."""
    outline: Outline
    objects: bool
    """Whether the tests handle objects that cannot leave the program's interpreter."""
    pure: bool
    """Whether they leave the process that they run in as it was."""


def script_plan(source: str, entry: str) -> ScriptPlan:
    """Read test code and make it ready to run; raise SyntaxError where it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, TESTS_FILE)
        open_main(tree)
        imported = imported_names(tree, MODULE)
        program = free_names(source, entry)
        called = called_names(tree)
        pure = is_pure(tree, program)
        libraries = libraries_in(tree, program - {entry})
        program -= {name for name, _, used in libraries if not used}
        values = program - (MODULES - called) | imported | ({entry} if entry else set())
        names = tainted_names(tree, values)
        objects = needs_objects(tree, values, names)
        wanted = program & (called & {entry} if _imports_all(tree) else called)
        known = uses_library(tree, [module for _, module, _ in libraries])
        found = outline(tree, names)
        rewritten = asserts.rewrite(tree, names)
        code = compile(tree, TESTS_FILE, "exec", dont_inherit=True)
    return ScriptPlan(code, rewritten.asserts, rewritten.sites, program, wanted, libraries, known, found, objects, pure)


def packed(plan: ScriptPlan, source: str, entry: str) -> dict[str, Any]:
    """Return a plan as JSON can say it."""
    return {
        "kind": "script",
        "source": source,
        "entry": entry,
        "magic": _MAGIC,
        "code": base64.b64encode(marshal.dumps(plan.code)).decode(),
        "asserts": list(plan.asserts),
        "sites": list(plan.sites),
        "names": sorted(plan.names),
        "called": sorted(plan.called),
        "libraries": list(plan.libraries),
        "uses_library": plan.uses_library,
        "outline": astuple(plan.outline),
        "objects": plan.objects,
        "pure": plan.pure,
    }


def unpacked(spec: dict[str, Any]) -> ScriptPlan:
    """Return the plan again, made anew from its source where another Python made it."""
    if spec["magic"] != _MAGIC:
        return script_plan(spec["source"], spec["entry"])
    code = marshal.loads(base64.b64decode(spec["code"]))  # noqa: S302 - ours, see the module
    names, called = frozenset(spec["names"]), frozenset(spec["called"])
    tests, helpers, calls, skips_by_program = spec["outline"]
    found = Outline(tuple(map(tuple, tests)), tuple(helpers), tuple(calls), skips_by_program)
    return ScriptPlan(
        code,
        spec["asserts"],
        spec["sites"],
        names,
        called,
        spec["libraries"],
        spec["uses_library"],
        found,
        spec["objects"],
        spec["pure"],
    )


def packed_call(args: Sequence[Any], expected: object, atol: float) -> dict[str, Any]:
    """Return a call as JSON can say it; raise NotPlainData for arguments that are no plain data."""
    arguments = json.dumps(codec.pack(list(args)), separators=(",", ":"))
    return {"kind": "call", "args": arguments, "expected": codec.pack(expected), "atol": atol}


def _imports_all(tree: ast.Module) -> bool:
    """Say whether the tests import names that they do not write down, from elsewhere than the program."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module != MODULE and any(alias.name == "*" for alias in node.names)
        for node in ast.walk(tree)
    )
