"""What an audit says: facts about a ground truth, and findings, each with a count and its worst examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One kind of thing that is wrong, how often, and where it is worst."""

    name: str
    count: int
    of: int
    """How many could have it."""
    what: str
    """What is counted, and the rule where there is one: `queries that …`."""
    examples: tuple[str, ...] = ()
    """The worst first; an audit cuts them to as many as are wanted."""
    hint: bool = False
    """Whether it rests on a rule of thumb, or is common and only worth knowing."""


@dataclass(frozen=True, slots=True)
class Audit:
    """All that was found in one ground truth."""

    facts: Mapping[str, Any]
    findings: tuple[AuditFinding, ...]

    def __iter__(self) -> Iterator[AuditFinding]:
        """Yield what is wrong, without the hints."""
        return (finding for finding in self.findings if not finding.hint)

    @property
    def hints(self) -> tuple[AuditFinding, ...]:
        """Return what rests on rules of thumb."""
        return tuple(finding for finding in self.findings if finding.hint)


def short(text: str, longest: int = 70) -> str:
    """Return a text as one line that fits beside others."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
