"""Edges between files and chunks by cheap patterns: what a file imports, what a chunk calls, how a file is laid out.

Names, not resolved targets: who follows an edge looks the name up among the symbols it knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.corpus.grammars import words
from assay.types import Chunk

_QUOTED = r"""['"]([^'"\n]+)['"]"""
_JVM = r"^[ \t]*import\s+(?:static\s+)?([\w.]+\*?)"
_JS = rf"(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*{_QUOTED}"
_C = r'^[ \t]*#[ \t]*include\s*[<"]([^>"\n]+)[>"]'
_IMPORTS = {
    language: re.compile(pattern, re.MULTILINE)
    for language, pattern in {
        "python": r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*))",
        "javascript": _JS,
        "typescript": _JS,
        "tsx": _JS,
        "vue": _JS,
        "svelte": _JS,
        "java": _JVM,
        "kotlin": _JVM,
        "scala": _JVM,
        "groovy": _JVM,
        "rust": r"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+([\w:]*\w)|mod\s+(\w+)\s*;)",
        "c": _C,
        "cpp": _C,
        "objc": _C,
        "csharp": r"^[ \t]*(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;",
        "php": r"^[ \t]*use\s+(?:function\s+)?([\w\\]+)",
        "ruby": rf"^[ \t]*require(?:_relative)?[ (]*{_QUOTED}",
        "swift": r"^[ \t]*(?:@testable\s+)?import\s+([\w.]+)",
        "elixir": r"^[ \t]*(?:alias|import|use|require)\s+([A-Z][\w.]*)",
        "haskell": r"^import\s+(?:qualified\s+)?([\w.]+)",
        "lua": rf"\brequire[ (]*{_QUOTED}",
        "dart": rf"^[ \t]*(?:import|export|part)\s+{_QUOTED}",
        "zig": rf"@import\({_QUOTED}\)",
        "solidity": rf"^[ \t]*import\b[^'\"\n]*{_QUOTED}",
        "bash": r"^[ \t]*(?:source|\.)[ \t]+([^\s;&|]+)",
        "protobuf": rf"^[ \t]*import\s+(?:public\s+)?{_QUOTED}",
    }.items()
}
_GO_IMPORTS = re.compile(r'^import\s+(?:\(([^)]*)\)|[\w.]*\s*("[^"\n]+"))', re.MULTILINE)
_CALL = re.compile(r"([A-Za-z_$][\w$]*)[!?]?(?:::<[^<>()]*>|<[\w ,.]*>)?\(")
_NOT_CALLS = words("""
    if for while switch match return catch and or not in is elif except with assert function func fn def lambda sizeof
    typeof instanceof new await async yield throw super this self print unless until when case else do try using lock
    foreach let var const use pub impl struct enum class interface where as from import raise del void int string bool
    Some Ok Err None
""")


def imports(text: str, language: str) -> tuple[str, ...]:
    """Return what a file imports, as written, each once, in order."""
    if language == "go":
        quoted = ("".join(groups) for groups in _GO_IMPORTS.findall(text))
        names = [name for block in quoted for name in re.findall(r'"([^"\n]+)"', block)]
        return tuple(dict.fromkeys(names))
    pattern = _IMPORTS.get(language)
    if pattern is None:
        return ()
    found = (group for match in pattern.finditer(text) for group in match.groups() if group)
    names = [name.strip() for group in found for name in (group.split(",") if language == "python" else (group,))]
    return tuple(dict.fromkeys(names))


def calls(chunk: Chunk) -> tuple[str, ...]:
    """Return the names called inside a chunk, each once, in order, without its own."""
    own = set(chunk.symbol.split(", "))
    return tuple(name for name in dict.fromkeys(_CALL.findall(chunk.text)) if name not in _NOT_CALLS | own)


def outline(chunks: Sequence[Chunk]) -> tuple[tuple[int, Chunk], ...]:
    """Return the named chunks of a file in order, each with how many of its parents are named before it."""
    paths: set[str] = set()
    seen: set[tuple[str, str, str]] = set()
    found = []
    for chunk in chunks:
        key = (chunk.parent, chunk.symbol, chunk.signature)
        if not chunk.symbol or key in seen:
            continue
        seen.add(key)
        joint = " > " if chunk.kind in ("section", "cell") else "."
        steps = chunk.parent.split(joint) if chunk.parent else []
        above = (joint.join(steps[:count]) for count in range(1, len(steps) + 1))
        found.append((sum(path in paths for path in above), chunk))
        paths.add(joint.join([*steps, chunk.symbol]))
    return tuple(found)
