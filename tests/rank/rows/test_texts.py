"""Prompts of a dataset without their examples."""

from __future__ import annotations

import ast

from assay.rank.datasets import without_examples

STRIPPED = (
    ('def f(x):\n    """Add one.\n    >>> f(1)\n    2\n    """\n', 'def f(x):\n    """Add one.\n    """\n'),
    ('def f(x):\n    """Add one.\n    >>> f(1)\n    2"""\n', 'def f(x):\n    """Add one.\n    """\n'),
    (
        'def f(x):\n    """Add one.\n\n    For example:\n    f(1) == 2\n    f(2) == 3\n    """\n',
        'def f(x):\n    """Add one.\n\n    """\n',
    ),
    ("Add one.\nassert f(1) == 2\nassert f(2) == 3", "Add one."),
    ("Add.\n\n-----Input-----\nA number.\n\n-----Sample Input-----\n1\n\n-----Note-----\nAll fits.", None),
    ("Add.\n\nExamples:\n```\nf(1) # 2\n\nf(2) # 3\n```\nIt is easy.", "Add.\n\nIt is easy."),
    ("Add.\n\nInput\n\nA number.\n\nExample\n\nInput\n\n1\n\nOutput\n\n2\n\nNote\n\nIt is easy.", None),
    ("f(1) => 2\nf(2); => 3\nDo not forget 0.", "Do not forget 0."),
    ("A task in words: an example of a good name is foo.", "A task in words: an example of a good name is foo."),
    ("", ""),
)


def test_examples_go_and_the_rest_stays():
    for prompt, stripped in STRIPPED:
        found = without_examples(prompt)
        if stripped is not None:
            assert found == stripped
        else:
            assert "A number." in found
            assert "\n1\n" not in found
            assert "\n2\n" not in found
            assert found.endswith(("All fits.", "It is easy."))


def test_a_prompt_of_code_stays_code():
    prompt = (
        "import math\n\ndef g(x):\n    return math.sqrt(x)\n\n\ndef f(x):\n"
        "    '''Use g.\n    Example:\n    f(4) -> 2\n    '''\n"
    )
    found = without_examples(prompt)
    ast.parse(found)
    assert "return math.sqrt(x)" in found
    assert "f(4)" not in found
