"""Restore what a program replaces in libraries that tests beside it use for comparisons.

What these modules and their classes hold is noted before the program is loaded. What it replaces while it is loaded, or
while a test calls it, is put back at once and named. What the tests themselves replace stays, for they mean it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

_GUARDED: Final = {
    "math": ("math", "cmath"),
    "unittest": ("unittest", "unittest.case", "unittest.util"),
    "pytest": ("pytest", "_pytest.python_api", "_pytest.raises", "_pytest.outcomes"),
    "numpy": ("numpy", "numpy.testing", "numpy.testing._private.utils"),
    "pandas": ("pandas.testing", "pandas._testing", "pandas._testing.asserters", "pandas.core.series",
               "pandas.core.frame", "pandas.core.base", "pandas.core.generic"),
}  # fmt: skip
"""By the library that tests import, the modules by which they compare."""
_COMPARING: Final = ("all", "allclose", "any", "array_equal", "array_equiv", "equal", "isclose", "isnan", "testing")
"""What is noted of numpy, which holds thousands of names."""
_GONE: Final = object()


class LibraryGuard:
    """The contents of libraries before a program was loaded."""

    def __init__(self) -> None:
        self._contents: dict[str, list[tuple[str, Any, dict[str, Any]]]] = {}
        self.replaced: dict[str, None] = {}
        """The names that the program replaced, in order."""

    def hold(self, libraries: AbstractSet[str], *, load: bool = False) -> None:
        """Record the contents of loaded libraries; with `load`, load all of them first."""
        for module in (module for library in sorted(libraries) for module in _GUARDED.get(library, ())):
            if load:
                with suppress(Exception):
                    import_module(module)
            if module in sys.modules and module not in self._contents:
                self._contents[module] = list(_owners(module))

    def changed(self) -> dict[tuple[int, str], str]:
        """Return the full names of replaced values, by owner and name."""
        return {
            (id(owner), name): f"{where}.{name}"
            for held in self._contents.values()
            for where, owner, before in held
            for now in [vars(owner)]
            for name, value in before.items()
            if now.get(name, _GONE) is not value
        }

    def restore(self, but: dict[tuple[int, str], str]) -> None:
        """Restore replaced values, except those replaced before."""
        changed = {key: shown for key, shown in self.changed().items() if key not in but}
        for held in self._contents.values() if changed else ():
            for _, owner, before in held:
                for name in [name for name in before if (id(owner), name) in changed]:
                    with suppress(Exception):
                        setattr(owner, name, before[name])
        self.replaced |= dict.fromkeys(changed.values())

    @contextmanager
    def around(self) -> Iterator[None]:
        """Restore what is replaced inside the block."""
        before = self.changed()
        try:
            yield
        finally:
            self.restore(before)


LOADED: Final = frozenset(_GUARDED)
"""All of them, of which some may be loaded."""


def _owners(module: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield a module and the classes that it defines, each with its contents."""
    found = sys.modules[module]
    held = vars(found)
    yield module, found, {name: held[name] for name in _COMPARING if name in held} if module == "numpy" else dict(held)
    for name, value in vars(found).items():
        if isinstance(value, type) and value.__module__ == module:
            yield f"{module}.{name}", value, dict(vars(value))
