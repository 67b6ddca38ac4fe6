"""`cosine`: programs to how near an encoder holds them to the text of their task, as a search by meaning orders them.

It is what retrieval says of candidates, so that other rankers can be measured beside it: `cosine` takes the encoder of
searches, `cosine:SPEC` any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay import plugins
from assay.protocols import Encoder
from assay.types import Program, Ranked, Task

_DEFAULT = "static:default"


class CosineRanker:
    """Programs by the cosine of their text and that of their task."""

    def __init__(self, encoder: str = "") -> None:
        self.name = f"cosine:{encoder}" if encoder else "cosine"
        self._encoder: Encoder = plugins.make("encoder", encoder or _DEFAULT)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return each program with its cosine."""
        if not programs:
            return []
        asked = self._encoder.encode([task.prompt], "query")[0]
        near = self._encoder.encode([program.source for program in programs], "code") @ asked
        return [Ranked(program, float(score)) for program, score in zip(programs, near, strict=True)]
