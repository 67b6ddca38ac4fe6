"""A run that was cut off to the same run going on: what training needs beside its data, in one file.

It is written whole or not at all. A run goes on only with the settings, the base model and the data it began with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from assay.errors import InputError
from assay.io import files
from assay.runs.record import append_lines, read_lines

FILE, LOG = "checkpoint.pt", "log.jsonl"


def write(folder: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint of a folder."""
    random = {"cpu": torch.get_rng_state(), "gpu": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}
    with files.replacing(folder / FILE) as beside:
        torch.save({**state, "random": random}, beside)


def read(folder: Path, run: str) -> dict[str, Any]:
    """Return the state of a run, with its random numbers where they were and its log cut to what it had done."""
    file = folder / FILE
    if not file.is_file():
        raise InputError(f"no {FILE} in {folder}: there is nothing to resume; leave out --resume")
    state: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
    if state["run"] != run:
        raise InputError(f"{file} is of another run: settings, base model and data have to be the same to resume")
    torch.set_rng_state(state["random"]["cpu"])
    if state["random"]["gpu"]:
        torch.cuda.set_rng_state_all(state["random"]["gpu"])
    kept = [record for record in read_lines(folder / LOG) if record["step"] <= state["step"]]
    (folder / LOG).unlink(missing_ok=True)
    append_lines(folder / LOG, kept)
    return state
