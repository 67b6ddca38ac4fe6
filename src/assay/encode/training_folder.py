"""The folder of a training to what a run of it needs: who writes it, what is there of it, and where it goes on.

The looks of a run stand beside its checkpoints, with the settings that decide about it in their manifest: a run that
was killed goes on, and one of other settings is refused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from assay.encode.process_group import is_main_process
from assay.errors import InputError
from assay.protocols import Say
from assay.runs import record

RUN = "training"
"""The folder in the model's one that holds what a run needs to go on, and its looks."""
_LOOKS = "looks.jsonl"
_STATE = "trainer_state.json"


def looks_of(folder: Path) -> Path:
    """Return where the looks of a run stand."""
    return folder / RUN / _LOOKS


def _only_writer(folder: Path) -> AbstractContextManager[None]:
    """Be the one process that trains into a folder; of several that train together, the first."""
    return record.sole_writer(looks_of(folder)) if is_main_process() else nullcontext()


@contextmanager
def training(
    folder: Path, record_file: str, begin: Callable[[], object], say: Say, *, fresh: bool = False
) -> Iterator[bool]:
    """Be the one run that trains into a folder, and tell whether it is still to be trained: its record ends it.

    `begin` writes what decides about the run, or refuses; of several processes that train together the first calls it.
    """
    first = is_main_process()
    if fresh and first:
        _set_aside(folder)
    _refuse_other_folders(folder)
    with _only_writer(folder):
        if first:
            begin()
        is_done = (folder / record_file).exists()
        if is_done:
            say(f"{folder} was trained so before; --fresh trains it again")
        yield not is_done


def say_of_main(say: Say) -> Say:
    """Return what speaks for all processes: of several one does."""
    return say if is_main_process() else lambda _: None


def last_whole(folder: Path, say: Say) -> str | None:
    """Return the last checkpoint whose state was written, which comes last; one that was cut off is removed."""
    checkpoints = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.partition("-")[2]), reverse=True)
    for checkpoint in checkpoints:
        try:
            step = json.loads((checkpoint / _STATE).read_text("utf-8"))["global_step"]
        except (OSError, ValueError, KeyError):
            shutil.rmtree(checkpoint)
            continue
        say(f"going on after step {step:,}")
        return str(checkpoint)
    return None


def remove_checkpoints(folder: Path) -> None:
    """Remove what is only needed to go on."""
    for checkpoint in (folder / RUN).glob("checkpoint-*"):
        shutil.rmtree(checkpoint)


def _set_aside(folder: Path) -> None:
    """Move what an earlier run left to `FOLDER.old`."""
    if (folder / RUN).exists():
        old = folder.with_name(f"{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)


def _refuse_other_folders(folder: Path) -> None:
    """Refuse a folder that holds what no training put there."""
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).is_dir()):
        raise InputError(f"'{folder}' holds something that no training put there; give another --out")
