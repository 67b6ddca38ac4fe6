"""Detect the language of a file by its name, by its interpreter or editor mode, or by its content.

The tables are `languages.txt`: extensions, whole names, interpreters of scripts and modes of editors, by language.
Extensions count only behind a dot: a Python script called `go` is Python.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

_BAZEL = frozenset("BUILD WORKSPACE BUCK".split())
"""Names in this letter case alone: a script may be called `build`."""


def words(text: str) -> frozenset[str]:
    """Read words between blanks."""
    return frozenset(text.split())


def table(text: str) -> dict[str, str]:
    """Read entries `value: key key ...`, one a line or between semicolons, as key → value."""
    return {key: value for value, keys in entries(text) for key in keys.split()}


def entries(text: str) -> list[tuple[str, str]]:
    """Read entries `name: value`, one a line or between semicolons."""
    pairs = (entry.partition(":") for entry in re.split(r";\s|\n", text) if entry.strip())
    return [(name.strip(), value.strip()) for name, _, value in pairs]


_TABLES = {
    head: rows
    for section in re.split(r"(?m)^\[", Path(__file__).with_name("languages.txt").read_text("utf-8"))[1:]
    for head, _, rows in [section.partition("]\n")]
}
BY_EXTENSION = table(_TABLES["extensions"])
BY_NAME = table(_TABLES["names"])

PROSE = words("markdown restructuredtext asciidoc text tex")
"""Languages that people read as documents; what mode `docs` keeps."""

MAX_NAME_CHARS = 60
_HEAD_CHARS = 10_000
_MODE_LINES = 5
_MAX_WRAPPERS = 4
"""Lines at both ends of a file that Vim looks at; Emacs looks at the first two."""
_VARIANT = re.compile(r"(?<=\w)\.(?:in|sed|example|sample|dist|template|orig|default)$")
"""What a file is called that another one is made from."""
_UNSAID = frozenset(("", "text", "ini", "template"))
"""Languages of names that say little: what the file itself says goes before."""
_SHEBANG = r"\ufeff?#![ \t]*(\S{1,300})[ \t]*([^\n]{0,300})"
"""Patterns are compiled where they are met: few files need to be looked into."""
_EXECUTED = r"(?m)^[ \t]*exec[ \t]+(?:env[ \t]+)?([\w./-]+)"
"""How a shell script hands itself on to another interpreter."""
_EMACS = (
    r"(?i)-\*-(?:.*?\bmode:)?[ \t]*([\w+#-]+)[ \t]*(?:;.*?)?-\*-|^\W*mode:[ \t]*([\w+#-]+)[ \t]*$"
    r"|^# shellcheck shell=(\w+)|^#(compdef)\b"
)
_VIM = r"(?:^|[ \t])(?:vi|vim|ex)[<=>\d]*:.*?\b(?:ft|filetype|syntax|syn)=([\w+#-]+)"
_IN_OBJC = r"(?m)^\s*(?:@(?:interface|protocol|implementation|class|end|property|import)\b|#import\b)"
_IN_CPP = r"(?m)^\s*(?:(?:enum\s+)?class|namespace|template|using|public:|private:)\b|\w::\w"
_BY_CONTENT = {
    "conf": {"nginx": r"(?m)^\s*(?:server|http|events|upstream\s+\S+|location\s[^=\n]*)\s*\{"},
    "h": {"objc": _IN_OBJC, "cpp": _IN_CPP, "c": ""},
    "m": {"objc": rf"{_IN_OBJC}|^\s*(?:#include|//|/\*)", "matlab": r"(?m)^\s*(?:function|classdef|%|end\b)|;[ \t]*$"},
    "pl": {"prolog": r"(?m)^:-\s|^\w+\([^)\n]*\)\s*:-"},
    "ts": {"xml": r"\A\s*(?:<\?xml|<!DOCTYPE TS)"},
    "fs": {"shader": r"(?m)^\s*(?:#version|precision\s|uniform\s|varying\s)"},
    "v": {"v": r"(?m)^(?:pub\s+)?fn\s+\w|^import\s+\w+\s*$"},
    "cls": {
        "visualbasic": r"(?m)VERSION\s+1\.0\s+CLASS|^Attribute\s+VB_",
        "tex": r"(?m)^\\(?:ProvidesClass|NeedsTeXFormat|LoadClass)",
    },
    "t": {"perl": r"(?m)^\s*(?:use|#!.*perl|package|sub|my|our)\b", "": ""},
    "d": {"make": r"\S+\.o:\s"},
    "pro": {"make": r"(?m)^\s*(?:TEMPLATE|TARGET|SOURCES|QT)\s*\+?="},
}
"""By extension, the languages that share it, and what a file of each holds; else it is of the usual one."""
_OPENINGS = {"xml": r"\s*<\?xml\s", "html": r"(?i)\s*<!doctype\s+html|\s*<html\b", "php": r"\s*<\?php\b"}


@cache
def _of_name(name: str) -> str:
    if name.partition(".")[0] in _BAZEL and name.rpartition(".")[2] not in BY_EXTENSION:
        return "starlark"
    lowered = _VARIANT.sub("", name.lower())
    extension = lowered.rpartition(".")[2] if "." in lowered else ""
    found = BY_NAME.get(lowered) or BY_EXTENSION.get(extension, "")
    return found or BY_NAME.get(lowered.partition(".")[0], "docker" if lowered.startswith("dockerfile") else "")


@cache
def _interpreters() -> dict[str, str]:
    return table(_TABLES["interpreters"])


@cache
def _modes() -> dict[str, str]:
    known = {language: language for language in {*BY_EXTENSION.values(), *BY_NAME.values()}}
    return {**BY_EXTENSION, **known, **table(_TABLES["modes"])}


def language_of(path: str, text: str = "") -> str:
    """Return the language of a file, or empty: by its name, or by its text if the name is ambiguous."""
    name = path.rpartition("/")[2]
    found = _of_name(name) if len(name) < MAX_NAME_CHARS else _of_name("x" + PurePosixPath(name).suffix)
    if not text:
        return found
    head = text[:_HEAD_CHARS]
    if found in _UNSAID and (said := _language_said(head, text[-_HEAD_CHARS:])):
        return said
    rivals = _BY_CONTENT.get(name.rpartition(".")[2].lower() if "." in name else "", {})
    return next((language for language, pattern in rivals.items() if re.search(pattern, head)), found)


def _language_said(head: str, tail: str) -> str:
    """Return the language in a file's text: in its mode line, by its interpreter, or by its opening."""
    ends = [*head.split("\n", _MODE_LINES)[:_MODE_LINES], *tail.rsplit("\n", _MODE_LINES)[-_MODE_LINES:]]
    for line in ends:
        found = re.search(_EMACS, line[:300]) or re.search(_VIM, line[:300])
        named = next(filter(None, found.groups()), "") if found else ""
        if named and (mode := _modes().get(named.lower().removesuffix("-ts").removesuffix("-mode"))):
            return mode
    return _of_shebang(head) or _opening(head)


def _opening(head: str) -> str:
    head = head.removeprefix("\ufeff")
    return next((language for language, pattern in _OPENINGS.items() if re.match(pattern, head)), "")


def _of_shebang(head: str) -> str:
    """Return the language of the interpreter that the first line names."""
    found = re.match(_SHEBANG, head)
    if found is None:
        return ""
    program, arguments = found[1].rpartition("/")[2], found[2].split()
    if program == "env":
        words = [word for word in arguments if not word.startswith("-") and "=" not in word]
        programs = [word.rpartition("/")[2] for word in words[:_MAX_WRAPPERS]]  # bundle exec ruby, poetry run python
        program = next(filter(_of_program, programs), "")
    if program == "nix-shell" and (inner := re.search(r"^#!.*\s-i\s+(\S+)", head, re.MULTILINE)):
        program = inner[1]
    language = _of_program(program)
    if language == "bash" and (passed := re.search(_EXECUTED, head)):
        return _of_program(passed[1].rpartition("/")[2]) or language
    return language


def _of_program(name: str) -> str:
    """Return the language of an interpreter of any version, as in python3.11."""
    name = name.lower().removesuffix(".exe")
    return _interpreters().get(name) or _interpreters().get(re.sub(r"[\d.-]+$", "", name), "")
