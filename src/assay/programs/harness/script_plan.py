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
from dataclasses import dataclass
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import Any, Final

from assay.programs.harness import asserts, codec
from assay.programs.harness.needs import MODULES, needs_objects
from assay.programs.harness.pure_tests import called_names, is_pure
from assay.programs.harness.taint import free_names, imported_names, tainted_names

TESTS_FILE: Final = "<tests>"
MODULE: Final = "solution"
"""The name under which tests may import the program."""
_MAGIC: Final = MAGIC_NUMBER.hex()


@dataclass(frozen=True, slots=True)
class ScriptPlan:
    """Test code ready to run."""

    code: CodeType
    asserts: Sequence[tuple[int, str]]
    """Line and text of each."""
    sites: Sequence[tuple[str, bool]]
    names: frozenset[str]
    """What the program has to bring."""
    called: frozenset[str]
    """Those of them that are called by their name."""
    check: bool
    """Whether there is a `check(candidate)` that nobody calls."""
    objects: bool
    """Whether the tests handle objects that cannot leave the program's interpreter."""
    pure: bool
    """Whether they leave the process that they run in as it was."""


def script_plan(source: str, entry: str) -> ScriptPlan:
    """Read test code and make it ready to run; raise SyntaxError where it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, TESTS_FILE)
        imported = imported_names(tree, MODULE)
        program = free_names(source, entry)
        called = called_names(tree)
        pure = is_pure(tree, program)
        values = program - (MODULES - called) | imported | ({entry} if entry else set())
        names = tainted_names(tree, values)
        check, objects = _has_check(tree), needs_objects(tree, values, names)
        wanted = program & (called & {entry} if _imports_all(tree) else called)
        tree.body = [node for node in tree.body if not _is_unittest_main(node)]
        rewritten = asserts.rewrite(tree, names)
        code = compile(tree, TESTS_FILE, "exec", dont_inherit=True)
    return ScriptPlan(code, rewritten.asserts, rewritten.sites, program, wanted, check, objects, pure)


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
        "check": plan.check,
        "objects": plan.objects,
        "pure": plan.pure,
    }


def unpacked(spec: dict[str, Any]) -> ScriptPlan:
    """Return the plan again, made anew from its source where another Python made it."""
    if spec["magic"] != _MAGIC:
        return script_plan(spec["source"], spec["entry"])
    code = marshal.loads(base64.b64decode(spec["code"]))  # noqa: S302 - ours, see the module
    names, called = frozenset(spec["names"]), frozenset(spec["called"])
    return ScriptPlan(code, spec["asserts"], spec["sites"], names, called, spec["check"], spec["objects"], spec["pure"])


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


def _has_check(tree: ast.Module) -> bool:
    """Say whether `check(candidate)` is defined and left for somebody to call."""
    defined = any(isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args for node in tree.body)
    called = any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "check"
        for node in tree.body
    )
    return defined and not called


def _is_unittest_main(node: ast.stmt) -> bool:
    """Say whether a statement runs the tests itself: it would look for them in another module, and end the process."""
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(("unittest.main(", "pytest.main("))
