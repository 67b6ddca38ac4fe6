"""The attacks that the tests run: one or a few of each way out. The others are in `benchmarks/attack_catalogue`."""

from __future__ import annotations

from attacks import benign, hiding, network, poison, privilege, processes, reading, resources, state, verdict, writing
from attacks.model import Attack

GROUPS = (network, reading, writing, resources, hiding, processes, privilege, state, poison, verdict, benign)
ATTACKS: tuple[Attack, ...] = tuple(attack for group in GROUPS for attack in group.ATTACKS)
