"""Find code by meaning, prove which answers are right, learn to rank, and measure all of it.

The public face: what stands in `__all__`, loaded when it is first used. `import assay` alone loads nothing.

>>> import assay
>>> for hit in assay.search("where is mail sent", ".", limit=1):
...     print(hit.path, hit.start_line, hit.symbol)
mail/send.py 6 send_mail
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy loads: idle threads spin for longer than they help

if TYPE_CHECKING:
    from assay.errors import (
        AssayError,
        BudgetSpent,
        ChatError,
        DamagedIndex,
        InputError,
        MissingExtra,
        StorageError,
        UnwritableIndex,
    )
    from assay.faults import Fault
    from assay.judge.pairs import Pair, Verdict
    from assay.measure.agreement import Estimate
    from assay.operations.evaluate import evaluate
    from assay.operations.face import Index, search
    from assay.operations.hits import Answer, FoundUnit
    from assay.operations.judge import judge
    from assay.operations.rank import execute, rank
    from assay.values import (
        Call,
        Chunk,
        Hit,
        Judgment,
        Outcome,
        Program,
        Prompt,
        Pytest,
        Query,
        Ranked,
        Reply,
        Script,
        Stdin,
        Task,
    )

__all__ = [
    "Answer",
    "AssayError",
    "BudgetSpent",
    "Call",
    "ChatError",
    "Chunk",
    "DamagedIndex",
    "Estimate",
    "Fault",
    "FoundUnit",
    "Hit",
    "Index",
    "InputError",
    "Judgment",
    "MissingExtra",
    "Outcome",
    "Pair",
    "Program",
    "Prompt",
    "Pytest",
    "Query",
    "Ranked",
    "Reply",
    "Script",
    "Stdin",
    "StorageError",
    "Task",
    "UnwritableIndex",
    "Verdict",
    "evaluate",
    "execute",
    "judge",
    "rank",
    "search",
]

_MODULES = {
    "Answer": "assay.operations.hits",
    "Estimate": "assay.measure.agreement",
    "Fault": "assay.faults",
    "FoundUnit": "assay.operations.hits",
    "Index": "assay.operations.face",
    "Pair": "assay.judge.pairs",
    "Verdict": "assay.judge.pairs",
    "evaluate": "assay.operations.evaluate",
    "execute": "assay.operations.rank",
    "judge": "assay.operations.judge",
    "rank": "assay.operations.rank",
    "search": "assay.operations.face",
    **dict.fromkeys((name for name in __all__ if name.endswith(("Error", "Spent", "Extra"))), "assay.errors"),
    **dict.fromkeys(("DamagedIndex", "UnwritableIndex"), "assay.errors"),
}
"""The module of each public name that is not in `assay.values`."""


class _Face(ModuleType):
    """The package, in which `search`, `rank` and `judge` are functions, though subpackages have these names, too."""

    def __setattr__(self, name: str, value: object) -> None:
        """Keep a public name when the subpackage of that name is imported, which would replace it."""
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


if not TYPE_CHECKING:  # a checker is to refuse a name that is not there

    def __getattr__(name: str) -> object:
        """Load a public name when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module 'assay' has no attribute '{name}'")
        value = globals()[name] = getattr(import_module(_MODULES.get(name, "assay.values")), name)
        return value

    def __dir__() -> list[str]:
        """Return the public names, loaded or not."""
        return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Face
