"""The prompt files of the judge, those of today and of earlier versions, by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.llm.prompt_files import PromptFile, load_prompt

NAMES = ("screen", "tests", "fix", "arbitrate", "single", "simulate")
EARLIER = Path(__file__).parent / "prompts" / "earlier"
"""Folders of prompts that earlier versions had, by which their records are told again."""


def load(name: str, folder: Path | None = None) -> PromptFile:
    """Return a prompt of this package, or the one of that name in a folder."""
    return load_prompt(name, "assay.judge", folder)


def versions(folder: Path | None = None) -> dict[str, str]:
    """Return the hash of each prompt file."""
    return {name: load(name, folder).version for name in NAMES}


def folder_of(wanted: Mapping[str, str]) -> Path | None:
    """Return where the prompts with these hashes lie: None for those of today, else those of an earlier version."""
    earlier = sorted(EARLIER.iterdir()) if wanted != versions() else []
    return next((folder for folder in earlier if versions(folder) == wanted), None)
