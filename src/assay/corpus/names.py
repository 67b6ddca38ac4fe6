"""Parse the names in imports, declarations, types and expressions, and what they refer to.

An origin of an import is a path of names with `/` between them. One that begins with `/` is counted from the root of
the repository, as relative imports are; any other is what the import says, and may lie outside. What a type or an
expression is comes as a start and steps: `Cart.items` is the type of the field `items` of `Cart`, `open_cart()` what
that function returns, `shop/Cart` a name of a module. Texts that say no such thing, such as a sum, come out empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import dirname, join, normpath
from typing import NamedTuple

Imported = tuple[str, str]
"""A name, `*` for all of them, and its origin."""

_SUFFIX = re.compile(r"(?:/index)?\.(?:[mc]?[jt]sx?|vue|svelte|json)$|/index$")
_QUOTED = re.compile(r"""['"`]([^'"`\n]*)['"`]""")
_MAX_IMPORT_CHARS = 20_000


def imported_names(language: str, text: str, path: str) -> Iterator[Imported]:
    """Yield the names of one import statement of a file at a path."""
    read = _READ.get(language)
    if read is not None and len(text) <= _MAX_IMPORT_CHARS:
        yield from read(text, path)


def module_origin(module: str, path: str) -> str:
    """Return the origin of a JavaScript module that a file imports."""
    module = _SUFFIX.sub("", module)
    if module.startswith("."):
        return "/" + normpath(join(dirname(path), module)).removeprefix("./")
    return re.sub(r"^(?:node:|[@~]/|#)", "", module)


def _python(text: str, path: str) -> Iterator[Imported]:
    text = re.sub(r"#[^\n]*|[()\\\n]", " ", text)
    found = re.match(r"from\s+(\.*)\s*([\w.]*)\s+import\s+(.*)", text)
    if found is None:
        for module, name in _aliases(text.partition("import")[2], "as"):
            first = module.partition(".")[0]
            yield (first, first) if name == module else (name, _with_slashes(module))
        return
    dots, module, names = found.groups()
    above = path
    for _ in dots:
        above = dirname(above)
    origin = _with_slashes(module) if not dots else "/" + join(above, _with_slashes(module)).strip("/")
    for old, new in _aliases(names, "as"):
        yield (new, origin if old == "*" else f"{origin}/{old}")


def _aliases(listed: str, word: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a list with its alias."""
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
    whole = (before + old).removesuffix("::self")
    last = whole.rpartition("::")[2]
    if last:
        yield (new.strip() or last), whole.removesuffix("::*")


def _split(text: str, opening: str = "{", closing: str = "}") -> Iterator[str]:
    """Split at the commas outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in opening) - (letter in closing)
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def rust_origin(name: str, path: str) -> str:
    """Return the origin of a Rust path in a file: `crate`, `self` and `super` are folders."""
    steps = name.replace(" ", "").strip(":").split("::")
    crate, source, module = path.rpartition("/src/") if "/src/" in path else ("", "", path.removeprefix("src/"))
    inside = re.sub(r"(?:/?(?:mod|lib|main))?\.rs$", "", module)
    top = f"{crate}/src" if source else "src" if path.startswith("src/") else ""
    if steps[0] == "crate":
        return "/" + "/".join([top, *steps[1:]]).strip("/")
    if steps[0] in ("self", "super"):
        while steps and steps[0] in ("self", "super"):
            inside = dirname(inside) if steps.pop(0) == "super" else inside
        return "/" + "/".join(part for part in (top, inside, *steps) if part)
    return "/".join(steps)


_READ: dict[str, Callable[[str, str], Iterator[Imported]]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "typescript", "tsx"), _javascript),
    "go": _go,
    "rust": _rust,
    **dict.fromkeys(("java", "kotlin", "scala"), _jvm),
    "php": _php,
}


_MAX_DECLARATION_CHARS = 400
_WORDS = (
    r"(?:(?:public|private|protected|internal|readonly|override|static|final|const|let|var|val|mut|declare|abstract|"
    r"lateinit|open|weak|lazy|export|volatile|transient|pub(?:\([^)]*\))?|required|late|covariant|"
    r"@\w+(?:\([^()]*\))?)\s+)*"
)
_NAMED = re.compile(
    rf"{_WORDS}(?:\.\.\.|_\s+|\*+)?([$@\w.#]+)\s*[?!]?\s*(?::\s*([^=;{{]+?))?\s*(?:(?<![=!<>])=(?![=>])\s*(.+))?$",
    re.DOTALL,
)
_TYPE_FIRST = re.compile(
    rf"{_WORDS}((?:struct |class |enum )?[\w.:\\?]+(?:<[^;=]*>)?(?:\s*\[\])?)[\s*&]*\s[*&\s]*\$?(\w+)\s*"
    r"(?:=\s*(.+)|[;,:({)].*)?$",
    re.DOTALL,
)
_GO_SHORT = re.compile(r"([\w, ]+?)\s*:=\s*(.+)", re.DOTALL)
_GO = re.compile(r"(?:var\s+)?([\w, ]+?)\s+([*\[\]\w.]+)(?:\s*=\s*(.+)|\s*`.*)?", re.DOTALL)
_GO_VALUE = re.compile(r"(?:var\s+)?([\w, ]+?)\s*=\s*(.+)", re.DOTALL)
_GO_ASSERTED = re.compile(r".+\.\(\s*(\*?[\w.]+)\s*\)", re.DOTALL)
_PHP_VALUE = re.compile(r"(?:\$|@{1,2})(?:this->)?(\w+)\s*=\s*(.+)", re.DOTALL)
_WITH = re.compile(r"(.+?)\s+as\s+(\w+)", re.DOTALL)


class TypedName(NamedTuple):
    """A variable, or a field written `self.name`, with its type or its value; the other is empty."""

    name: str
    type: str
    value: str


def typed_names(language: str, node_kind: str, text: str, *, type_first: bool) -> Iterator[TypedName]:
    """Yield the variables of a declaration with their types or values."""
    text = text[:_MAX_DECLARATION_CHARS].strip()
    read = _READ_TYPES.get(language)
    if node_kind == "with_item":
        if found := _WITH.fullmatch(text):
            yield from _known_type(found[2], "", found[1])
    elif read is not None:
        yield from read(text)
    elif type_first:
        yield from _by_type(text)
    else:
        yield from _by_name(text)


def _known_type(name: str, type_text: str, value: str) -> Iterator[TypedName]:
    kind = type_name(type_text) if type_text else ""
    steps = "" if kind else expression_steps(value or "")
    if kind or steps:
        yield TypedName(name, kind, steps)


def _by_name(text: str) -> Iterator[TypedName]:
    if found := _NAMED.match(text):
        yield from _known_type(found[1], found[2] or "", found[3] or "")


def _by_type(text: str) -> Iterator[TypedName]:
    value = _PHP_VALUE.fullmatch(text)
    if value:
        yield from _known_type(("this." if "this->" in text.partition("=")[0] else "") + value[1], "", value[2])
    elif found := _TYPE_FIRST.match(text.removeprefix("for (").removeprefix("foreach (")):
        usual = found[1] not in ("var", "auto", "final", "let")
        yield from _known_type(found[2], found[1] if usual else "", found[3] or "")


def _go_types(text: str) -> Iterator[TypedName]:
    if found := _GO_SHORT.fullmatch(text) or _GO_VALUE.fullmatch(text):
        asserted = _GO_ASSERTED.fullmatch(found[2])
        name = found[1].partition(",")[0].strip()
        yield from _known_type(name, asserted[1] if asserted else "", found[2])
    elif found := _GO.match(text):
        for name in found[1].split(","):
            yield from _known_type(name.strip(), found[2], found[3] or "")
    elif re.fullmatch(r"\*?[\w.]+", text):  # an embedded type is a field of its own name
        yield from _known_type(text.lstrip("*").rpartition(".")[2], text, "")


def _ruby(text: str) -> Iterator[TypedName]:
    if found := re.match(r"(@?\w+)\s*(?:\|\|)?=\s*([\w:]+)\.new\b", text):
        yield from _known_type(("self." if found[1][0] == "@" else "") + found[1].lstrip("@"), found[2], "")


def _java(text: str) -> Iterator[TypedName]:
    if found := re.fullmatch(r".+\binstanceof\s+(?:final\s+)?([\w.]+)(?:<.*>)?\s+(\w+)", text, re.DOTALL):
        yield from _known_type(found[2], found[1], "")
    else:
        yield from _by_type(text)


_READ_TYPES: dict[str, Callable[[str], Iterator[TypedName]]] = {"go": _go_types, "ruby": _ruby, "java": _java}


_MAX_EXPRESSION_CHARS = 300
_CALLED = re.compile(r"\([^()]*\)|\[[^\[\]()]*\](?=\()")
_GENERIC = re.compile(r"(?:::)?<[^<>()]*>")
_PREFIX = re.compile(r"^(?:(?:await|new|return|mut|ref|const|try[!?]?|move|yield|not)\b|[&*(!\s])+")
_END = re.compile(r"(?:\s+as\s+[\w.]+)?[)\s;,?!]*$")
_STEPS = re.compile(r"[$@]{0,2}[\w$]+(?:\(\))*(?:[./]#?[\w$]+(?:\(\))*)*")
_NEW = re.compile(r"^new\(([\w.]+)\)")
"""Of Go."""
_LITERAL = re.compile(r"^([\w.:]+)\s*\{.*", re.DOTALL)
_WRAPPED = re.compile(
    r"^(?:(?:typing|t|std|rc|sync|boxed)(?:\.|::))?(?:Optional|Final|ClassVar|Annotated|Type|type|Readonly|Partial"
    r"|Required|Promise|Awaited|Box|Arc|Rc|RefCell|Mutex|Pin|Option|Result|unique_ptr|shared_ptr|NonNullable|Awaitable|Coroutine"
    r"|std::unique_ptr|std::shared_ptr)\s*[\[<](.*)[\]>]$",
    re.DOTALL,
)
_MODIFIERS = re.compile(
    r"^(?:(?:const|mut|dyn|impl|struct|class|enum|union|static|final|readonly|unsigned|volatile|typename|inline|in|ref|"
    r"out|params|async|asserts|unique)\b|'\w+|[&*:?\s(])+"
)
_NO_TYPE = frozenset(
    "None null undefined void any unknown object string number boolean bool int str float bytes dict list tuple set "
    "auto var val let error char long short double byte size_t usize u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 never "
    "symbol Self self String Object Any T U K V".split()
)


def expression_steps(text: str) -> str:
    """Return what an expression is, as a start and steps: `self.cart.add(x)` is `self.cart.add()`; empty if no path."""
    if len(text) > _MAX_EXPRESSION_CHARS:
        return ""
    text = _NEW.sub(r"\1()", text)
    text = _END.sub("", _PREFIX.sub("", text)) if not text.endswith(")") else _PREFIX.sub("", text)
    text = _LITERAL.sub(r"\1()", text)
    text = text.replace("()", "\0")
    while (shorter := _CALLED.sub("\0", text)) != text:
        text = shorter
    text = _GENERIC.sub("", text).replace("\0", "()").replace("?.", ".").replace("!.", ".").replace("->", ".")
    text = re.sub(r"\s+|\.await\b|(?<=\))\?(?=\.)", "", text)
    text = text.replace("::", "/").replace("\\", "/").replace("()()", "()")
    text = re.sub(r"(?<=\w):(?=\w)", ".", text)
    return text if _STEPS.fullmatch(text) else ""


def type_name(text: str) -> str:
    """Return the name of a type without its wrappers; empty for several types, and for built-in ones."""
    text = text.strip().strip("\"'")
    if len(text) > _MAX_EXPRESSION_CHARS:
        return ""
    for _ in range(4):
        text = _MODIFIERS.sub("", text).strip()
        parts = [part for part in map(str.strip, text.split("|")) if part not in ("None", "null", "undefined", "")]
        text = parts[0] if len(parts) == 1 else ""
        if not (wrapped := _WRAPPED.match(text)):
            break
        text = next(_split(wrapped[1], "[<(", "]>)"))
    if text.endswith("]"):
        text = text.partition("[")[0] if "[]" not in text else ""
    text = text.partition("<")[0].rstrip("?!*& ").replace("::", "/").replace("\\", "/")
    return text if re.fullmatch(r"\w+(?:[./]\w+)*", text) and text not in _NO_TYPE else ""
