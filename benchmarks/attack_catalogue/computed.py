"""Attacks on a verdict whose text is computed: one of many in a row, one of many parts, or one with odd characters.

Answers in numbers and texts that a careless comparison takes for the right ones; ends of the process in each place;
texts that are too much for whoever reads, parses, compiles or prints them, inside a cage or before it.
"""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import UNITTEST, Attack, decided
from attacks.verdict import PLACES, exits, source
from attacks.wrong import wrong

from assay.values import Call, Script, Stdin

__all__ = ["ATTACKS"]

EXITS = (
    *(("sys.exit(0)", place) for place in PLACES),
    ("os.kill(os.getpid(), 9)", PLACES[1]),
    ("os.abort()", PLACES[1]),
    ('os.execv("/bin/true", ["true"])', PLACES[0]),
)


def prints(name: str, tries: str, text: str, expected: str, *others: str) -> Attack:
    """Return a program that prints one text after the other where another is expected: the first has to fail."""
    tests = tuple(Stdin(f"{n}\n", expected) for n in range(1 + len(others)))
    return wrong(name, tries, f"print({[text, *others]!r}[int(input())])\n", tests, decided, bare=True)


def returns(name: str, tries: str, value: str, expected: object, atol: float = 0.0) -> Attack:
    """Return a program whose value is compared by the harness."""
    return wrong(
        name, tries, f"def add(a, b):\n    return {value}\n", (Call((1, 2), expected, atol),), decided, bare=True
    )


NUMBERS = (
    returns("infinity is near", "returns infinity where a tolerance is given", "float('inf')", 5.5, 1e-6),
    returns("near infinity", "returns 1 where infinity is expected with a tolerance", "1.0", float("inf"), 1e-6),
    returns("the other infinity", "returns minus infinity for infinity, in a list", "[float('-inf')]", [float("inf")], 1e-6),
    returns("number without a size", "returns an integer of a thousand digits where a float is expected", "10 ** 1000", 5.5, 1e-6),
    returns("number after the float", "returns the float beside a large integer", "float(2**53)", 2**53 + 1, 0.0),
    returns("near a large whole number", "returns a whole number one off, with a relative tolerance", "10**15 + 1", 10**15, 1e-6),
    returns("complex and near", "returns complex numbers and nan in them", "complex(5.5, float('nan'))", 5.5, 1e-6),
    returns("decimal that signals", "returns a Decimal that raises when it is compared", "__import__('decimal').Decimal('sNaN')", 5.5, 1e-6),
    returns("text of a number", "returns the text of the number", "'5.5'", 5.5, 1e-6),
    returns("list of one", "returns the number in a list, a tuple and a set", "[[5.5]]", [5.5], 1e-6),
    returns("true as one", "returns True in a list of many where numbers are expected", "[True, 2, 3.0, None]", [1, 2, 4, 4], 1e-6),
    returns("text that cannot be written", "returns lone surrogates, NULs, and characters that turn text round",
            "'\\ud800\\0\\u202e\\x1b[2J' * 10", "5"),
    prints("digits of another script", "prints the number in other digits", "\u0665\u0666", "56\n", "\uff15\uff16"),
    prints("digits with underscores", "prints the number as Python's own literals may have it", "5_6", "56\n"),
    prints("nan for a number", "prints nan, infinity and their spellings where a number is expected", "nan", "5.5\n"),
    prints("infinity for a number", "prints infinity for a large number", "inf", "1e300\n"),
    prints("number with more after it", "prints the number and then what a terminal would hide", "56\0", "56\n"),
    prints("number that is hidden", "prints another number, and characters that a terminal takes back", "4\b5", "5\n"),
    prints("last digits", "prints a large whole number as a float", "123456000.0", "123456789\n"),
    prints("every number at once", "prints all numbers, of which one is right", " ".join(map(str, range(20))), "5\n"),
    wrong(
        "values that break an assert",
        "returns nan, None, texts and empty lists on which the tests' own code raises",
        "TURN = [['4'], [None], '', 0, [], float('nan'), '\\ud800', ([1], [2])]\ndef add(a, b):\n    return TURN[a]\n",
        (Script("assert sum(add(2, 3)) == 5\nassert max(add(4, 0)) == 1\nassert 5 // add(3, 0) == 1\n"),),
        bare=True,
    ),
)  # fmt: skip
SOURCES = (
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
    wrong(
        "source that ends early",
        "holds NUL bytes and text after what compilers take for the end",
        "def add(a, b):\n    return 4\n\0\ndef add(a, b):\n    return a + b\n",
        bare=True,
    ),
)
ENDS = (
    *(exits(call, place) for call, place in EXITS),
    *(
        wrong(
            f"raises {name}",
            "lets an exception cross that ends more than a test",
            f"def add(a, b):\n    raise {name}\n",
            UNITTEST,
        )
        for name in ("KeyboardInterrupt", "GeneratorExit", "StopIteration", "SystemExit")
    ),
)
ATTACKS = (*ENDS, *NUMBERS, *SOURCES)
