"""Every attack, group by group: those of `tests/cage/attacks`, which the tests run too, and all others."""

from __future__ import annotations

import attacks.catalogue
from attacks.model import Attack

from attack_catalogue.special import SPECIAL

__all__ = ["ATTACKS", "SPECIAL"]

from attack_catalogue import (
    benign,
    hidden_kernel,
    hidden_memory,
    hidden_time,
    network,
    network_doors,
    poisoned_judge,
    poisoned_tests,
    privilege,
    privilege_files,
    processes,
    processes_odd,
    reading,
    reading_doors,
    resources_spent,
    resources_taken,
    state,
    state_shared,
    verdict_exits,
    verdict_lies,
    verdict_names,
    verdict_numbers,
    verdict_printing,
    verdict_sabotage,
    verdict_sources,
    verdict_tampering,
    verdict_values,
    writing,
    writing_races,
)

OTHERS = (
    network,
    network_doors,
    reading,
    reading_doors,
    writing,
    writing_races,
    resources_taken,
    resources_spent,
    hidden_memory,
    hidden_kernel,
    hidden_time,
    processes,
    processes_odd,
    privilege,
    privilege_files,
    state,
    state_shared,
    poisoned_tests,
    poisoned_judge,
    verdict_exits,
    verdict_values,
    verdict_lies,
    verdict_numbers,
    verdict_tampering,
    verdict_sabotage,
    verdict_names,
    verdict_sources,
    verdict_printing,
    benign,
)
ATTACKS: tuple[Attack, ...] = tuple(
    attack
    for tested in attacks.catalogue.GROUPS
    for group in (tested, *(other for other in OTHERS if other.GROUP == tested.GROUP))
    for attack in group.ATTACKS
)
