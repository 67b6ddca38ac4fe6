"""Every attack, group by group."""

from __future__ import annotations

from attacks import (
    benign,
    network,
    privilege,
    processes,
    reading,
    resources_spent,
    resources_taken,
    state,
    verdict_exits,
    verdict_printing,
    verdict_tampering,
    verdict_values,
    writing,
)
from attacks.model import Attack

GROUPS = (
    network,
    reading,
    writing,
    resources_taken,
    resources_spent,
    processes,
    privilege,
    state,
    verdict_exits,
    verdict_values,
    verdict_tampering,
    verdict_printing,
    benign,
)
ATTACKS: tuple[Attack, ...] = tuple(attack for group in GROUPS for attack in group.ATTACKS)
