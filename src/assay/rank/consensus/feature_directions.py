"""Which features of a program may only speak for it, which only against it, and which are its style.

Trees are grown under these directions (`train_consensus`), and a signal alone is read by them (`part_rankers`).
"""

from __future__ import annotations

from typing import Final

STYLE: Final = frozenset(
    {"comments", "ends", "longest_line", "lines", "strings", "has_text", "whole", "functions", "outside"}
)
"""What tells models apart, not right from wrong: it is not looked at."""
FOR: Final = frozenset(
    {"parses", "entry", "returns", "arity", "kind", "copies", "mass", "same_arity", "same_kinds", "common", "covers"}
    | {f"{part}_{view}" for part in ("central", "near", "nearest", "rank") for view in ("all", "words", "results")}
)
"""What may only speak for a program."""
AGAINST: Final = frozenset(
    {"undefined", "finding", "method_wrong", "kind_wrong", "stub", "endless", "unused_arguments", "early", "falls"}
    | {"same_sides", "same_branches", "unreachable", "common_gap", "covers_gap", "rare", "foreign"}
    | {f"gap_{view}" for view in ("all", "words", "results")}
)
"""What may only speak against it."""
