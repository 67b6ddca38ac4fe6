"""A file of names and hashes of tokens in, who brings a token out.

A token has 192 random bits, so that its SHA-256 gives nothing away and needs no salt. All hashes are compared, each in
constant time, so that how long it takes says nothing about which one was nearly right.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe

from assay.errors import InputError
from assay.io import files
from assay.io.files import alone

VARIABLE = "ASSAY_TOKEN"
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,200}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_LINE = "NAME sha256:HASH"
_BYTES = 24


@dataclass(frozen=True, slots=True)
class Tokens:
    """Whose tokens are taken; none: no token is wanted."""

    hashes: tuple[tuple[str, str], ...] = ()
    """A name and a hash each; an empty name is of the one token that everybody shares."""

    def owner(self, token: str) -> str | None:
        """Return whose token it is; None where it is nobody's."""
        given = hash_of(token)
        found = [name for name, known in self.hashes if compare_digest(given, known)]
        return found[0] if found else None

    def __bool__(self) -> bool:
        """Say whether a token is wanted."""
        return bool(self.hashes)


def hash_of(token: str) -> str:
    """Return what a file keeps of a token."""
    return f"sha256:{sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def new_token() -> str:
    """Return a token that nobody has."""
    return token_urlsafe(_BYTES)


def line_of(name: str, token: str) -> str:
    """Return the line of a tokens file for the token of a person."""
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name}' is no name: wanted up to 64 letters, digits, '.', '_', '@', '+' and '-'")
    return f"{name} {hash_of(token)}"


def shared_token(token: str) -> Tokens:
    """Return the tokens of a server that everybody asks with the same one."""
    if not _TOKEN.fullmatch(token):
        raise InputError(f"{VARIABLE} is no token: wanted 16 or more of letters, digits, '-', '.', '_' and '~'")
    return Tokens((("", hash_of(token)),))


def read_tokens(file: Path) -> Tokens:
    """Return the tokens of a file that only its owner, and perhaps a group, may read."""
    hashes, _ = _entries(file)
    if not hashes:
        raise InputError(f"the tokens file '{file}' names nobody: assay token NAME --tokens '{file}' adds a person")
    return Tokens(hashes)


def _entries(file: Path) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the names and hashes of a file, of which there may be none, and its text."""
    try:
        mode = file.stat().st_mode
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"cannot read the tokens file '{file}': {why}; assay token NAME --tokens FILE makes one"
        ) from None
    if mode & (stat.S_IRWXO | stat.S_IWGRP):
        others = "may be read by everybody" if mode & stat.S_IROTH else "may be changed by others"
        raise InputError(f"the tokens file '{file}' {others}: chmod 600 '{file}' first")
    hashes = tuple(
        _entry(line, f"{file}:{number}") for number, line in enumerate(text.splitlines(), 1) if _is_entry(line)
    )
    names = [name for name, _ in hashes]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise InputError(f"the tokens file '{file}' names '{twice}' twice: remove one of the lines")
    return hashes, text


def add_token(file: Path, name: str) -> str:
    """Make a token for a person, keep its hash in a file, and return the token, which is kept nowhere."""
    token = new_token()
    line = line_of(name, token)
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise InputError(f"cannot write the tokens file '{file}': {error.strerror}") from error
    with alone(file.with_name(f".{file.name}.lock")):
        known, before = _entries(file)
        if name in dict(known):
            raise InputError(f"the tokens file '{file}' has a token of '{name}': remove that line first")
        end = "" if not before or before.endswith("\n") else "\n"
        files.write(file, f"{before}{end}{line}\n")
    return token


def _is_entry(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _entry(line: str, place: str) -> tuple[str, str]:
    name, _, known = line.strip().partition(" ")
    if not _NAME.fullmatch(name) or not _HASH.fullmatch(known.strip()):
        raise InputError(f"{place} is not '{_LINE}': assay token NAME prints such a line")
    return name, known.strip()
