"""Walks over syntax trees, beside those of the standard library."""

from __future__ import annotations

import ast
from pathlib import Path

from assay.rank.consensus.syntax_nodes import children, walk

EVERY_KIND = """
match x:
    case {"a": [1, *rest], **others} | A(b, c=None) | None as d:
        pass
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> None:
    async with h() as i, j:
        await k
    async for l in m:
        yield
    global n
    try: pass
    except* (O, P) as q: raise R from s
    return {**t, "u": v}, {w}, [x for x in y if z], lambda: (yield), f"{a!r:>{b}}", not c, a < b < c, d[1:2, ...]
"""


def test_nodes_come_in_the_order_of_the_standard_library():
    sources = [EVERY_KIND, *(path.read_text() for path in sorted(Path(ast.__file__).parent.glob("*.py"))[:30])]
    for source in sources:
        tree = ast.parse(source)
        found = walk(tree)
        assert len(found) > 5 or not source.strip()
        assert list(map(id, found)) == list(map(id, ast.walk(tree)))
        for node in found:
            assert list(map(id, children(node))) == list(map(id, ast.iter_child_nodes(node)))
