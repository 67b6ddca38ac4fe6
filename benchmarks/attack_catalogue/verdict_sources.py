"""Programs that are too much for whoever reads, parses, compiles or prints them, inside a cage or before it."""

from __future__ import annotations

from attacks.verdict import source
from attacks.wrong import GROUP

__all__ = ["ATTACKS", "GROUP"]


ATTACKS = (
    source(
        "brackets in brackets",
        "is 5,000 brackets in one another, and as many that are not closed",
        "x = " + "[" * 5_000 + "]" * 5_000,
    ),
    source("chain of attributes", "is a chain of 30,000 attributes and calls", "x = add" + ".a()" * 15_000),
    source("signs before a number", "is 30,000 signs before a number", "x = " + "-" * 30_000 + "1"),
    source(
        "branch after branch",
        "is an if with 3,000 elifs, each deeper in the tree than the last",
        "x = 1\nif x == 0:\n    pass\n" + "elif x == 5:\n    pass\n" * 3_000,
    ),
    source(
        "decorators",
        "is a function with 10,000 decorators",
        "def same(f): return f\n" + "@same\n" * 10_000,
        end="def add(a, b):\n    return 4\n",
    ),
    source(
        "blocks in blocks",
        "is 99 loops in one another, and a hundredth",
        "".join("    " * n + "for x in (1,):\n" for n in range(100)) + "    " * 100 + "pass",
    ),
    source(
        "constant that is computed",
        "is a constant that a compiler computes: a power of a power",
        "x = lambda: (9 ** 9 ** 9, 'x' * 10**9, (0,) * 10**9)",
    ),
    source(
        "line without an end",
        "is one text of two megabytes, with every odd character",
        "x = '" + "\u2028\u0085\x0c\ufeff\U0010ffff" * 100_000 + "'",
    ),
    source(
        "names that look alike",
        "defines its function in letters that Python takes for the same",
        "def \uff41dd(a, b):\n    return 4\n\x0c",
        end="\n",
    ),
    source("lambdas in lambdas", "is 500 lambdas in one another", "x = " + "lambda: " * 500 + "1"),
    source(
        "matches and formats",
        "is 150 formats within formats and a pattern of 3,000 parts",
        "def m(x):\n    match x:\n        case "
        + " | ".join(map(str, range(3_000)))
        + ":\n            pass\nx = f'{"
        + "(" * 150
        + "1"
        + ")" * 150
        + "}'",
    ),
)
