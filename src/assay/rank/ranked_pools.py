"""Tasks with their candidates in, what a ranker thinks of each candidate out: several tasks at once where it can.

A ranker whose cost is a batch of texts, as a transformer's is, has `rank_many`: programs of several tasks then share
batches, and equal programs of one task, in several pools, are read once. Others are asked task by task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.protocols import ManyRanker, Pool, Ranker
from assay.types import Ranked

_AT_ONCE = 512
"""Programs that are enough for one question: more are as fast, and wait in memory."""


def ranked_pools(ranker: Ranker, pools: Iterable[Pool]) -> Iterator[list[Ranked]]:
    """Yield what a ranker thinks of the programs of each pool, in their order."""
    if not isinstance(ranker, ManyRanker):
        for task, programs in pools:
            yield ranker.rank(task, programs)
        return
    for block in _blocks(pools):
        yield from ranker.rank_many(block)


def _blocks(pools: Iterable[Pool]) -> Iterator[Sequence[Pool]]:
    """Yield pools that together have some hundred programs."""
    block: list[Pool] = []
    held = 0
    for pool in pools:
        block.append(pool)
        held += len(pool[1])
        if held >= _AT_ONCE:
            yield block
            block, held = [], 0
    if block:
        yield block
