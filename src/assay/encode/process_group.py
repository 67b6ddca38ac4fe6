"""The processes of one training: which of them this one is, where it computes, and what they tell each other.

One process alone is a group of one. Several are started by `accelerate launch` or `torchrun`, a GPU each; without GPUs
they share the processor and talk by gloo. The owner of accelerate.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

import torch
from accelerate import PartialState
from accelerate.utils import gather_object
from torch import distributed

Value = TypeVar("Value")


def _state() -> PartialState:
    """Return the group; the first call decides where it computes, for all."""
    on_processors = "LOCAL_RANK" in os.environ and not torch.cuda.is_available()
    state = PartialState(cpu=on_processors)
    if state.num_processes > 1:
        _leave_at_the_end()
    return state


@cache
def _leave_at_the_end() -> None:
    """Take this process out of the group before it ends: gloo's threads abort one that is still in it."""
    atexit.register(distributed.destroy_process_group)


def is_main_process() -> bool:
    """Say whether this process is the one that writes and speaks, of those that train together."""
    return bool(_state().is_main_process)


def process_number() -> int:
    """Return the place of this process among those that train together."""
    return int(_state().process_index)


def process_count() -> int:
    """Return how many processes train together."""
    return int(_state().num_processes)


def training_device() -> torch.device:
    """Return where this process computes."""
    device: torch.device = _state().device
    return device


def wait_for_all() -> None:
    """Return when every process has come this far."""
    _state().wait_for_everyone()


def sum_in_place(tensors: Iterable[torch.Tensor]) -> None:
    """Give each tensor the sum of what all processes have in it."""
    if process_count() > 1:
        for tensor in tensors:
            distributed.all_reduce(tensor)


def gathered(value: Value) -> list[Value]:
    """Return the value of each process, in their order."""
    if process_count() == 1:
        return [value]
    found: list[Any] = gather_object([value])
    return found
