"""Trees of files with ignore files in them, drawn by hypothesis, and where a walk of them differs from git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from hypothesis import strategies as st

from assay.corpus.walk import walk
from assay.corpus.walked_files import as_utf8

NAMES = [*"a b A - ] é".split(), "ab", "x.py", "X.PY", "café", "cafe\u0301", "日本", "Icon", "Icon\r", "#x", "!x"]
NAMES += ["a b", "a ", " ", "[a", "a*", "a\\", "x\x0cy", "x\u0085y", "x\u2028y", "$", "a.b.c", "7", "_"]
WILD = [*"*?/[]!^-\\ #", "**", "***", "**/", "/**", "/**/", "\\ ", "\\*", "\\!", "\\#", "\\\\", "\\a", "\r", "\t", "."]
CLASSES = ["[ab]", "[!a]", "[^]x]", "[z-a]", "[.-0]", "[a-z]", "[A-Z]*", "[]-]", "[!-]", "[\\]a]", "[a-", "[é]", "[!é]"]
CLASSES += ["[[:alpha:]]", "[[:upper:]]", "[![:punct:]b]", "[[:space:]]", "[[:odd:]]", "[[:alnum:]_-]*", "[[:digit:]"]
PIECES = st.one_of(st.sampled_from(NAMES), st.sampled_from(WILD), st.sampled_from(CLASSES))
PATTERNS = st.builds(
    "".join, st.tuples(st.sampled_from(["", "", "!", "/", "**/"]), st.lists(PIECES, max_size=4).map("".join),
                       st.sampled_from(["", "", "", "/", "/*", "/**", " ", "  ", "\\ ", "\r"]))
)  # fmt: skip
RULES = st.builds(
    lambda start, lines, ends, last: start + "".join(map("".join, zip(lines, ends, strict=False))) + last,
    st.sampled_from(["", "", "", "\ufeff", "\n"]),
    st.lists(PATTERNS, max_size=4),
    st.lists(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n"]), min_size=4, max_size=4),
    PATTERNS,
).map(str.encode)
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
TREES = st.tuples(st.lists(PATHS, min_size=1, max_size=6), RULES, st.none() | RULES)
"""Paths of files, the rules beside them, and perhaps those in the first folder."""

Tree = tuple[list[str], bytes, bytes | None]


def write_tree(folder: Path, tree: Tree) -> None:
    """Write a tree; of a path that is a file and a folder, the folder."""
    paths, rules, inner = tree
    folders = {above for path in paths for above in PurePosixPath(path).parents}
    files: dict[str, bytes] = {path: b"" for path in paths if PurePosixPath(path) not in folders}
    files[".gitignore"] = rules
    first = min((str(each) for each in folders if each.name), default="")
    if inner is not None and first:
        files[f"{first}/.gitignore"] = inner
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def kept_by_git(root: Path) -> set[str]:
    """Return the files that git would add."""
    command = ["git", "-c", "core.excludesFile=", "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    return {as_utf8(os.fsdecode(path)) for path in listed.split(b"\0")[:-1]}


def differences(root: Path, trees: Sequence[Tree]) -> Mapping[int, tuple[Tree, list[str]]]:
    """Return which of some trees a walk reads otherwise than git, with the files in question."""
    for number, tree in enumerate(trees):
        write_tree(root / f"t{number}", tree)
    found: dict[int, tuple[Tree, list[str]]] = {}
    for path in sorted(kept_by_git(root) ^ {file.path for file in walk(root).files}):
        number = int(path.partition("/")[0][1:])
        found.setdefault(number, (trees[number], []))[1].append(path.partition("/")[2])
    for number in range(len(trees)):
        shutil.rmtree(root / f"t{number}")
    return found
