"""The text of a type or of an expression in, where its members are to be looked for out.

What comes out is a start and steps: `Cart.items` is the type of the field `items` of `Cart`, `open_cart()` what that
function returns, `shop/Cart` a name of a module. Texts that say no such thing, such as a sum, come out empty.
"""

from __future__ import annotations

import re

_LONGEST = 300
_CALLED = re.compile(r"\([^()]*\)|\[[^\[\]()]*\](?=\()")
_GENERIC = re.compile(r"(?:::)?<[^<>()]*>")
_PREFIX = re.compile(r"^(?:(?:await|new|return|mut|ref|const|try[!?]?|move|yield|not)\b|[&*(!\s])+")
_SUFFIX = re.compile(r"(?:\s+as\s+[\w.]+)?[)\s;,?!]*$")
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
    if len(text) > _LONGEST:
        return ""
    text = _NEW.sub(r"\1()", text)
    text = _SUFFIX.sub("", _PREFIX.sub("", text)) if not text.endswith(")") else _PREFIX.sub("", text)
    text = _LITERAL.sub(r"\1()", text)
    text = text.replace("()", "\0")
    while (shorter := _CALLED.sub("\0", text)) != text:
        text = shorter
    text = _GENERIC.sub("", text).replace("\0", "()").replace("?.", ".").replace("!.", ".").replace("->", ".")
    text = (
        re.sub(r"\s+|\.await\b|(?<=\))\?(?=\.)", "", text).replace("::", "/").replace("\\", "/").replace("()()", "()")
    )
    text = re.sub(r"(?<=\w):(?=\w)", ".", text)
    return text if _STEPS.fullmatch(text) else ""


def type_name(text: str) -> str:
    """Return the name of a type as it is written, without what wraps it; empty for several, and for built-in ones."""
    text = text.strip().strip("\"'")
    if len(text) > _LONGEST:
        return ""
    for _ in range(4):
        text = _MODIFIERS.sub("", text).strip()
        parts = [part.strip() for part in text.split("|")]
        parts = [part for part in parts if part not in ("None", "null", "undefined", "")]
        text = parts[0] if len(parts) == 1 else ""
        if not (wrapped := _WRAPPED.match(text)):
            break
        text = _first_argument(wrapped[1])
    if text.endswith("]"):
        text = text.partition("[")[0] if "[]" not in text else ""
    text = text.partition("<")[0].rstrip("?!*& ").replace("::", "/").replace("\\", "/")
    return text if re.fullmatch(r"\w+(?:[./]\w+)*", text) and text not in _NO_TYPE else ""


def _first_argument(text: str) -> str:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "[<(") - (letter in "]>)")
        if letter == "," and depth == 0:
            return text[:at]
    return text
