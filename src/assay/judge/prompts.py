"""Load the prompt files of the judge by name."""

from __future__ import annotations

from pathlib import Path

from assay.llm.prompts import PromptFile, load_prompt

NAMES = ("screen", "tests", "fix", "arbitrate", "single", "simulate")


def load(name: str, folder: Path | None = None) -> PromptFile:
    """Return a prompt of this package, or the one of that name in a folder."""
    return load_prompt(name, "assay.judge", folder)


def versions(folder: Path | None = None) -> dict[str, str]:
    """Return the hash of each prompt file."""
    return {name: load(name, folder).version for name in NAMES}
