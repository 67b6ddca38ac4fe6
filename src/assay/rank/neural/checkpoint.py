"""A run that was cut off to the same run going on: what training needs beside its data, in one file.

It is written whole or not at all, by one process, with the random numbers of each. A run goes on only with the
settings, the base model, the data and as many processes as it began with.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from assay.errors import InputError
from assay.io import files
from assay.runs.record import differing, read_lines, rewrite
from assay.train.run import gathered, is_main_process, process_number

FILE, LOG = "checkpoint.pt", "log.jsonl"


def write(folder: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint of a folder; each process takes part."""
    gpu = torch.cuda.get_rng_state() if torch.cuda.is_available() else None
    random = gathered({"cpu": torch.get_rng_state(), "gpu": gpu})
    if is_main_process():
        with files.replacing(folder / FILE) as beside:
            torch.save({**state, "random": random}, beside)


def read(folder: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a run, with its random numbers where they were and its log cut to what it had done."""
    file = folder / FILE
    if not file.is_file():
        raise InputError(f"no {FILE} in {folder}: there is nothing to resume; leave out --resume")
    try:
        state: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
        before, random = dict(state["run"]), state["random"][process_number()]
    except Exception as error:  # torch raises pickle's errors, zip's and its own
        raise InputError(
            f"{file} is damaged or of an earlier version ({type(error).__name__}); remove it and train again"
        ) from error
    if names := differing(before, run):
        raise InputError(
            f"{file} is of another run: {', '.join(names)} differ; give the same to resume, or another --out"
        )
    torch.set_rng_state(random["cpu"])
    if random["gpu"] is not None:
        torch.cuda.set_rng_state(random["gpu"])
    if is_main_process():
        kept = [record for record in read_lines(folder / LOG) if record["step"] <= state["step"]]
        rewrite(folder / LOG, kept)
    return state
