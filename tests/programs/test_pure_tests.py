"""Which tests leave their process as it was."""

from __future__ import annotations

import pytest

from assay.programs.harness.script_plan import script_plan


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1) == 2",
        "def check(candidate):\n    for n in range(3):\n        assert candidate(n) == n, 'no'\n",
        "import math\nassert math.isclose(f(1), 2)",
        "from collections import Counter\nassert Counter(f(1)) == Counter([2])",
        "import numpy as np\ndef check(candidate):\n    assert np.allclose(candidate(1), 2, atol=1e-6)\n",
        "try:\n    f(1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError\nassert type(f(2)) is int",
        "x = [3]\nx.append(4)\nx[0] = 1\nassert f(x) == 5",
    ],
)
def test_plain_tests_change_nothing(test: str):
    assert script_plan(test, "f").pure


@pytest.mark.parametrize(
    "test",
    [
        "import random\nrandom.seed(1)\nassert f(1) == 2",
        "assert random.random() < f(1)",
        "import numpy as np\nnp.random.seed(1)\nassert f(1) == 2",
        "import os\nassert f(1) == os.getpid()",
        "import math\nmath.pi = 3\nassert f(1) == 2",
        "import math\nmath.__dict__['pi'] = 3\nassert f(1) == 2",
        "setattr(f, 'a', 1)\nassert f(1) == 2",
        "exec('import os')\nassert f(1) == 2",
        "__import__('random').seed(1)\nassert f(1) == 2",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)",
        "with open('x', 'w') as file:\n    file.write('1')\nassert f('x') == 1",
        "import functools\n@functools.lru_cache\ndef g(x):\n    return f(x)\nassert g(1) == 2",
        "import decimal\ndecimal.getcontext().prec = 3\nassert f(1) == 2",
        "assert np.isclose(f(1), 2)",
    ],
)
def test_whatever_could_reach_further_counts_as_if_it_did(test: str):
    assert not script_plan(test, "f").pure
