"""Programs that fail like those in tables 3, 12 and 13 of *Fault-Aware Neural Code Rankers*, labelled as there.

The programs are our own; what they have in common with the paper's is the kind of the failure.
"""

from __future__ import annotations

import pytest

from assay.faults import Fault, binary, execution, execution_line, intent, ternary
from assay.types import Stdin

CALLED = [
    # table 3
    (
        "import random\ndef f(n):\n  if n > 9: return True\n  return random.choice(n) > 0",
        "f(2) is True",
        "TypeError",
        4,
    ),
    ("def f(word):\n  return ''.join(sorted(word))", "f('love') == 54", "OutputTypeError", -1),
    # table 12
    ("def f(words):\n  if 'a' in words:\n    return [words[k] for j in (1,)]", "f(['a']) == ['a']", "NameError", 3),
    ("def f(text): return '{:b}'.format(text)", "f('ab') == 'AB'", "ValueError", 1),
    ("def f(rows): return [abs(row) for row in rows]", "f([[1]]) == [1]", "TypeError", 1),
    ("def f(s, v):\n  return v in s", "f('abc', True) is True", "TypeError", 2),
    ("def f(n):\n  small = [d for d in range(n) if d < 3]\n  return small[n]", "f(5) == 2", "IndexError", 3),
    (
        "def f(card):\n  suits = {'1C': 'clubs',\n    '1H': 'hearts'}\n  return suits[card]",
        "f('2S') == 'spades'",
        "KeyError",
        4,
    ),
    (
        "def f(t): return {k: t[-k] for k in range(len(t), 0, -1) if t[k - 1]} | {0: {}[-1]}",
        "f([1]) == {}",
        "KeyError",
        1,
    ),
    ("def almost(text): return text", "f('a') == 'a'", "function not found", -1),
    ("", "f('a') == 'a'", "function not found", -1),
    ("def f(a):\n  if a == 'yes':\n    return 'over'..upper()", "f('yes') == 'OVER'", "SyntaxError", 3),
    ("def f(d): return d[0] + d[1] for d in range(3)", "f([1, 2]) == 3", "SyntaxError", 1),
    ("def f(text):\n  return sum(n for c, n in text.items())", "f('aab') == 2", "other execution error", 2),
    # table 13
    ("def f(n):\n  for i in range(n):\n    if i > n: return i", "f(3) == 1", "NoneError", -1),
    ("def f(a, b):\n  print(a - b)", "f(3, 1) == 2", "NoneError", -1),
    (
        "def f(word, known): return known[word] if word in known else []",
        "f('first', {}) == ['first']",
        "EmptyError",
        -1,
    ),
    ("def f(*rows): return [r for r in rows if len(r) > 9]", "f([1], ['c']) == [1, 'c']", "EmptyError", -1),
    ("def f(s): return len(s.split())", "f('a b c') == {'a': 1}", "OutputTypeError", -1),
    ("def f(s): return list(s)[:-1]", "f('level') == ''", "OutputTypeError", -1),
    (
        "def f(items, n): return list(range(0, len(items) + n, n))",
        "f(['a', 'b', 'c'], 1) == ['c', 'a', 'b']",
        "LengthError",
        -1,
    ),
    ("def f(s): return dict(zip('Gems', (0, 2, 1, 2)))", "f('x') == {'gem': 3, 'stone': 2}", "LengthError", -1),
    ("def f(s): return s.isdigit()", "f('a') == True", "IntSmallError", -1),
    ("def f(h, a): return h * a", "f(15, 20) == 37", "IntLargeError", -1),
    ("def f(a): return float('-inf')", "f([1, 3]) == 2.0", "IntLargeError", -1),
    ("def f(words): return ''.join(words)", "f(['good', 'bye']) == 'good bye'", "StringSmallError", -1),
    ("def f(s): return sorted(s)[0]", "f('yz') == 'z'", "StringSmallError", -1),
    ("def f(n): return 'No' if n else 'Perhaps not'", "f(7) == 'Perhaps not'", "StringLargeError", -1),
    ("def f(s): return ''.join(s.split())", "f('a b c d e') == ' a b c d e '", "StringLargeError", -1),
]


@pytest.mark.parametrize(("source", "test", "fault", "line"), CALLED, ids=range(len(CALLED)))
def test_called_programs(outcome, source, test, fault, line):
    seen = outcome(source, f"assert {test}")
    assert (str(seen.fault), seen.line) == (fault, line)


WHOLE = [
    (
        "n = int(input())\nfor i in range(n):\n  a, b = map(int, input().split())\n  print(a)",
        "1\n1 2 3",
        "1",
        ("ValueError", 3),
    ),
    (
        "for _ in range(int(input())):\n  s = input()\n  print(sum(map(int, input().split())))",
        "2\n1\n2\n3",
        "2",
        ("EOFError", 3),
    ),
    ("_ = input()\ns = input()\nprint(s)", "abc", "1", ("EOFError", 2)),
    (
        "for _ in range(int(input())):\n  n, m = map(int, input().split())\n  l = [0] * n\n  l[n * m - 1] += 1",
        "1\n2 3",
        "1",
        ("IndexError", 4),
    ),
    ("def main():\n  a = a + 1\nmain()", "", "1", ("other execution error", 2)),
    ("for _ in range(int(input())):\n  print(bin(int(input())).count('0'))", "2\n2\n4", "1\n2", ("IntSmallError", -1)),
    ("print('7')\nprint('13')", "", "1\n3", ("IntSmallError", -1)),
]


@pytest.mark.parametrize(("source", "given", "expected", "label"), WHOLE, ids=range(len(WHOLE)))
def test_whole_programs(outcome, source, given, expected, label):
    seen = outcome(source, Stdin(given, expected), entry="")
    assert (str(seen.fault), seen.line) == label


@pytest.mark.parametrize(
    "source",
    [
        "def f(n):\n  found = []\n  while n >= 0:\n    found = [n]\n  return found",
        "def f(n):\n  import time\n  time.sleep(99)",
    ],
)
def test_a_program_that_does_not_end(outcome, source):
    assert outcome(source, "assert f(1) == [1]", wall_s=1.0).fault is Fault.TIMEOUT


def test_the_five_label_sets_of_an_outcome(outcome):
    broken = outcome(CALLED[0][0], f"assert {CALLED[0][1]}")
    assert (binary(broken.fault), ternary(broken.fault), intent(broken.fault)) == ("wrong", *["execution error"] * 2)
    assert (execution(broken.fault), execution_line(broken.fault, broken.line)) == ("TypeError", ("TypeError", 4))
    wrong = outcome(CALLED[1][0], f"assert {CALLED[1][1]}")
    assert (binary(wrong.fault), ternary(wrong.fault), intent(wrong.fault)) == (
        "wrong",
        "intent error",
        "OutputTypeError",
    )
    assert execution_line(wrong.fault, wrong.line) == ("intent error", -1)
