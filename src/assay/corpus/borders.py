"""A tree to the lines where a statement begins, with its depth: where a long unit may be cut, the outermost first."""

from __future__ import annotations

from collections.abc import Sequence

from ast_grep_py import SgNode

_SMALLEST = 4
"""Lines of a node that is worth looking into."""


def borders(root: SgNode, ranges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return line → depth of the outermost node that begins there, for the lines of some ranges."""
    found: dict[int, int] = {}
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        comment_from = -1
        for child in node.children():
            span = child.range()
            first, last = span.start.line, span.end.line
            if not any(first < end and last >= start for start, end in ranges):
                continue
            if "comment" in child.kind():
                comment_from = first if comment_from < 0 else comment_from
            else:
                at = comment_from if comment_from >= 0 else first
                comment_from = -1
                found[at] = min(depth, found.get(at, depth))
                if last - first >= _SMALLEST:
                    stack.append((child, depth + 1))
    return found
