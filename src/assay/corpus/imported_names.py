"""An import of any language in, the names that it brings into a file out, each with where it comes from.

An origin is a path of names with `/` between them. One that begins with `/` is counted from the root of the repository,
as relative imports are; any other is what the import says, and may lie outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import dirname, join, normpath

Imported = tuple[str, str]
"""A name, `*` for all of them, and its origin."""

_SUFFIX = re.compile(r"(?:/index)?\.(?:[mc]?[jt]sx?|vue|svelte|json)$|/index$")
_QUOTED = re.compile(r"""['"`]([^'"`\n]*)['"`]""")
_LONGEST = 20_000


def imported_names(language: str, text: str, path: str) -> Iterator[Imported]:
    """Yield the names of one import statement of a file at a path."""
    read = _READ.get(language)
    if read is not None and len(text) <= _LONGEST:
        yield from read(text, path)


def module_origin(module: str, path: str) -> str:
    """Return the origin of a module of JavaScript as a file names it."""
    module = _SUFFIX.sub("", module)
    if module.startswith("."):
        return "/" + normpath(join(dirname(path), module)).removeprefix("./")
    return re.sub(r"^(?:node:|[@~]/|#)", "", module)


def _python(text: str, path: str) -> Iterator[Imported]:
    text = re.sub(r"#[^\n]*|[()\\\n]", " ", text)
    found = re.match(r"from\s+(\.*)\s*([\w.]*)\s+import\s+(.*)", text)
    if found is None:
        for module, name in _aliases(text.partition("import")[2], "as"):
            yield (
                (name, _with_slashes(module))
                if name != module
                else (module.partition(".")[0], module.partition(".")[0])
            )
        return
    dots, module, names = found.groups()
    above = path
    for _ in dots:
        above = dirname(above)
    origin = _with_slashes(module) if not dots else "/" + join(above, _with_slashes(module)).strip("/")
    for old, new in _aliases(names, "as"):
        yield (new, origin if old == "*" else f"{origin}/{old}")


def _aliases(listed: str, word: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a list and what it is called here."""
    for each in listed.split(","):
        old, _, new = each.partition(f" {word} ")
        if old.strip():
            yield old.strip(), new.strip() or old.strip()


def _with_slashes(name: str) -> str:
    return re.sub(r"\.|::|\\", "/", name).strip("/")


def _javascript(text: str, path: str) -> Iterator[Imported]:
    head, _, _ = text.rpartition("from")
    quoted = _QUOTED.findall(text)
    if not head or not quoted:
        return
    origin = module_origin(quoted[-1], path)
    head = re.sub(r"^\s*(?:import|export)\s+(?:type\s+)?", "", head).replace("\n", " ")
    if text.startswith("export") and head.strip() == "*":
        yield "*", origin
        return
    head = head.replace("* as ", "")
    braces = re.search(r"\{([^{}]*)\}", head)
    for old, new in _aliases(re.sub(r"\btype ", "", braces[1]) if braces else "", "as"):
        yield new, origin if old == "default" else f"{origin}/{old}"
    for _, new in _aliases(re.sub(r"\{[^{}]*\}", "", head), "as"):
        yield new, origin


def _go(text: str, _path: str) -> Iterator[Imported]:
    for module in _QUOTED.findall(text):
        name = text.partition('"')[0].strip()
        last = re.sub(r"/v\d+$|\.v\d+$", "", module).rpartition("/")[2]
        yield name or last.removeprefix("go-").partition(".")[0], module


def _jvm(text: str, _path: str) -> Iterator[Imported]:
    text = re.sub(r"^import\s+(?:static\s+)?|;\s*$", "", text.strip())
    outer, braces, inner = text.partition("{")
    if braces:
        for old, new in _aliases(inner.rstrip("} "), "=>"):
            yield new, _with_slashes(f"{outer}.{old}").replace("//", "/")
        return
    old, _, new = text.partition(" as ")
    name = _with_slashes(old.strip())
    last = name.rpartition("/")[2]
    yield ("*", name.rpartition("/")[0]) if last in ("*", "_") else (new.strip() or last, name)


def _php(text: str, _path: str) -> Iterator[Imported]:
    for old, new in _aliases(re.sub(r"^use\s+(?:function\s+|const\s+)?|;\s*$", "", text), "as"):
        yield new.rpartition("\\")[2], _with_slashes(old)


def _rust(text: str, path: str) -> Iterator[Imported]:
    text = re.sub(r"^(?:pub(?:\([^)]*\))?\s+)?use\s+|;\s*$|\s*//[^\n]*", "", text.strip())
    for name, origin in _use_tree(re.sub(r"\s+", " ", text), ""):
        yield name, rust_origin(origin, path)


def _use_tree(text: str, before: str) -> Iterator[Imported]:
    """Yield the leaves of `a::{b, c::{d as e}}`."""
    head, braces, inner = text.partition("{")
    if braces:
        for part in _split(inner.rpartition("}")[0]):
            yield from _use_tree(part, before + head.strip())
        return
    old, _, new = text.strip().partition(" as ")
    whole = before + old
    if whole.endswith("::self"):
        whole = whole.removesuffix("::self")
    last = whole.rpartition("::")[2]
    if last:
        yield (new.strip() or last), whole.removesuffix("::*")


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of braces."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def rust_origin(name: str, path: str) -> str:
    """Return the origin of a path of Rust as a file names it: `crate`, `self` and `super` are folders."""
    steps = name.replace(" ", "").strip(":").split("::")
    crate, source, module = path.rpartition("/src/") if "/src/" in path else ("", "", path.removeprefix("src/"))
    inside = re.sub(r"(?:/?(?:mod|lib|main))?\.rs$", "", module)
    if steps[0] == "crate":
        return "/" + "/".join([f"{crate}/src" if source else "src" * path.startswith("src/"), *steps[1:]]).strip("/")
    if steps[0] in ("self", "super"):
        while steps and steps[0] in ("self", "super"):
            inside = dirname(inside) if steps.pop(0) == "super" else inside
        top = f"{crate}/src" if source else "src" * path.startswith("src/")
        return "/" + "/".join(part for part in (top, inside, *steps) if part)
    return "/".join(steps)


_READ: dict[str, Callable[[str, str], Iterator[Imported]]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _jvm,
    "kotlin": _jvm,
    "scala": _jvm,
    "php": _php,
}
