"""Load prompt files, fill them with texts, and hash prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.values import Prompt

_PART = re.compile(r"^<!-- (system|prompt|reply) -->\n", re.MULTILINE)
_HOLE = re.compile(r"\{\{(\w+)\}\}|\{mark\}")
_MARK = "{mark}"


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A prompt file: the texts for the model and the schema of its reply."""

    name: str
    system: str
    text: str
    schema: Mapping[str, Any] = field(hash=False)
    """JSON schema of the reply, a flat object."""
    version: str = ""
    """The hash of the file."""


@cache
def load_prompt(name: str, package: str, folder: Path | None = None) -> PromptFile:
    """Load a prompt that ships with a package, or the one of that name in a folder."""
    file = (folder or resources.files(package) / "prompts") / f"{name}.md"
    try:
        whole = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prompt '{name}': {error}") from error
    parts = dict(zip(*[iter(_PART.split(whole)[1:])] * 2, strict=True))
    try:
        schema = json.loads(parts["reply"])
        version = hex_digest(whole, 8)
        return PromptFile(name, parts["system"].strip(), parts["prompt"].strip(), schema, version)
    except (KeyError, ValueError) as error:
        raise InputError(f"{file}: wanted <!-- system -->, <!-- prompt --> and <!-- reply --> ({error!r})") from error


def fill(template: PromptFile, data: Mapping[str, str], opinion: int = 1, about: str = "pair") -> Prompt:
    """Fill the holes of a prompt with fenced texts; a further opinion is requested as such."""
    missing = sorted(set(_HOLE.findall(template.text)) - data.keys() - {""})
    if missing:
        raise InputError(f"the prompt '{template.name}' asks for {', '.join(missing)}; known: {', '.join(data)}")
    mark = boundary(data.values())

    def fenced(hole: re.Match[str]) -> str:
        name = hole[1]
        return f"<{mark} {name}>\n{data[name]}\n</{mark} {name}>" if name else mark

    text = _HOLE.sub(fenced, template.text)
    if opinion > 1:
        text += f"\n\nThis is request number {opinion} about this {about}: answer it on its own."
    system = template.system.replace(_MARK, mark)
    return Prompt(system, text, template.schema, name=template.name, version=template.version)


def fingerprint(prompt: Prompt, model: str = "") -> str:
    """Return the hash of a prompt and, if given, of the model: 64 hexadecimal digits."""
    parts = [model, prompt.system, prompt.text, prompt.schema]
    question = json.dumps([*parts, prompt.choices] if prompt.choices else parts)
    return sha256(question.encode()).hexdigest()


def boundary(texts: Iterable[str]) -> str:
    """Return a delimiter that no text can contain, since it is a hash of all texts; equal texts give an equal one."""
    whole = "\0".join(texts).encode("utf-8", "backslashreplace")
    return f"data-{hex_digest(whole, 12)}"
