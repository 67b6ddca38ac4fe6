"""Prompt files to prompts: each filled with a pair's texts as fenced data, and named by the hash of its file.

What stands between the marks is data, and the marks of a pair cannot be foreseen from inside it: they are made of a
hash of all that they enclose. A text is put in once, so that braces inside it mean nothing. All that is the same for
every pair comes first, and the mark with the data behind it, so that an endpoint reads the beginning once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.llm.boundary import boundary
from assay.types import Prompt

NAMES = ("screen", "tests", "fix", "arbitrate", "single", "simulate")
_PART = re.compile(r"^<!-- (system|prompt|reply) -->\n", re.MULTILINE)
_HOLE = re.compile(r"\{\{(\w+)\}\}|\{mark\}")
_MARK = "{mark}"
EARLIER = Path(__file__).parent / "prompts" / "earlier"
"""Folders of prompts that earlier versions had, by which their records are told again."""


@dataclass(frozen=True, slots=True)
class Template:
    """One prompt file."""

    name: str
    system: str
    text: str
    schema: Mapping[str, Any] = field(hash=False)
    """JSON schema of the reply, a flat object."""
    version: str = ""
    """The hash of the file."""


@cache
def load(name: str, folder: Path | None = None) -> Template:
    """Return a prompt of this package, or the one of that name in a folder."""
    file = (folder or resources.files("assay.judge") / "prompts") / f"{name}.md"
    try:
        whole = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prompt '{name}': {error}") from error
    parts = dict(zip(*[iter(_PART.split(whole)[1:])] * 2, strict=True))
    try:
        schema = json.loads(parts["reply"])
        version = blake2b(whole.encode(), digest_size=8).hexdigest()
        return Template(name, parts["system"].strip(), parts["prompt"].strip(), schema, version)
    except (KeyError, ValueError) as error:
        raise InputError(f"{file}: wanted <!-- system -->, <!-- prompt --> and <!-- reply --> ({error!r})") from error


def fill(template: Template, data: Mapping[str, str], opinion: int = 1) -> Prompt:
    """Return a prompt in which each hole is a fenced text; a further opinion of the same is asked for as such."""
    missing = sorted(set(_HOLE.findall(template.text)) - data.keys() - {""})
    if missing:
        raise InputError(f"the prompt '{template.name}' asks for {', '.join(missing)}; known: {', '.join(data)}")
    mark = boundary(data.values())

    def fenced(hole: re.Match[str]) -> str:
        name = hole[1]
        return f"<{mark} {name}>\n{data[name]}\n</{mark} {name}>" if name else mark

    text = _HOLE.sub(fenced, template.text)
    if opinion > 1:
        text += f"\n\nThis is request number {opinion} about this pair: answer it on its own."
    system = template.system.replace(_MARK, mark)
    shared = _shared(template)
    return Prompt(system, text, template.schema, name=template.name, version=template.version, shared=shared)


def versions(folder: Path | None = None) -> dict[str, str]:
    """Return the hash of each prompt file."""
    return {name: load(name, folder).version for name in NAMES}


def folder_of(wanted: Mapping[str, str]) -> Path | None:
    """Return where the prompts with these hashes lie: None for those of today, else those of an earlier version."""
    earlier = sorted(EARLIER.iterdir()) if wanted != versions() else []
    return next((folder for folder in earlier if versions(folder) == wanted), None)


def _shared(template: Template) -> int:
    """Return how many characters at its beginning are the same for all pairs."""
    if _MARK in template.system:
        return template.system.index(_MARK)
    hole = _HOLE.search(template.text)
    return len(template.system) + (hole.start() if hole else len(template.text))
