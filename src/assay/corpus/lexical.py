r"""Find declarations without a parser: patterns find them, indentation ends them.

A grammar gives a tree only where all of a file is as it expects; macros, dialects and templates break it. Names stand
on lines of a few shapes in every language, and people indent what is inside. The table is `lexical.txt`: an entry is a
kind of chunk, with `/` and how far such a unit reaches where its indentation does not say so (`next`: to the next one,
else a pattern of what closes it), and a pattern of what declares one, with its name. `\h` is a blank or a tab, `\q` a
name in quotes or brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from assay.corpus.blocks import blanked
from assay.corpus.comments import plain_comment
from assay.corpus.unit import HOLDERS, MAX_NAME_CHARS, MAX_SIGNATURE_CHARS, MIN_NESTED_LINES, TYPES, ParserFailed, Unit
from assay.values import KINDS

_COMMENTS = {
    "hash": r"#[^\n]*",
    "slashes": r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
    "block": r"/\*[\s\S]*?(?:\*/|\Z)",
    "dashes": r"--[^\n]*",
    "semicolon": r";[^\n]*",
    "percent": r"%[^\n]*",
    "bang": r"![^\n]*",
    "apostrophe": r"'[^\n]*",
    "stars": r"\(\*[\s\S]*?(?:\*\)|\Z)",
    "braces": r"\{[\s\S]*?(?:\}|\Z)",
    "braces-dash": r"\{-[\s\S]*?(?:-\}|\Z)",
    "less-hash": r"<#[\s\S]*?(?:#>|\Z)",
    "hash-bar": r"#\|[\s\S]*?(?:\|#|\Z)",
    "hash-equals": r"#=[\s\S]*?(?:=#|\Z)",
    "pod": r"^=[a-z][\s\S]*?(?:^=cut[^\n]*|\Z)",
    "quotes": r'^[ \t]*"[^\n]*',
    "docstring": r'^[ \t]*"""[\s\S]*?(?:"""|\Z)',
    "hash-alone": r"#(?!define\b)[^\n]*",
    "cobol": r"^.{6}\*[^\n]*|\*>[^\n]*",
    "end-mark": r"^__(?:END|DATA)__[\s\S]*",
    "template": r"(?<!\{)\{#(?!if|each|await|key|snippet)[\s\S]*?(?:#\}|\Z)|<!--[\s\S]*?(?:-->|\Z)",
    "rem": r"^[ \t]*(?:@?rem\b|::)[^\n]*",
    "directive": r"^[ \t]*#[ \t]*(?:if|else|elif|endif|include|pragma|import|ifdef|ifndef|undef|error|line)\b[^\n]*",
}
"""By the name that the table has for it."""
_STRINGS = {
    "double": r'"(?:[^"\\\n]|\\.)*"?',
    "single": r"'(?:[^'\\\n]|\\.)*'?",
    "doubled": r"'(?:[^'\n]|'')*'?|\"[^\"\n]*\"?",
    "letter": r"'(?:[^'\\\n]|\\[^\n]{1,8})'",
    "backtick": r"`(?:[^`\\]|\\[\s\S])*(?:`|\Z)",
    "dollars": r"(?:(?<=[aA][sS]\s)|(?<=[dD][oO]\s))(?P<dollars>\$\w*\$)[\s\S]*?(?:(?P=dollars)|\Z)",
    "triple-single": r"'''[\s\S]*?(?:'''|\Z)",
    "here": r"@(?P<here>[\"'])[ \t]*\n[\s\S]*?(?:^(?P=here)@|\Z)",
    "triple": r'"""[\s\S]*?(?:"""|\Z)',
    "heredoc": r"<<[~-]?(?P<quote>[\"']?)(?P<word>[A-Z_]\w*)(?P=quote)[^\n]*\n[\s\S]*?(?:^[ \t]*(?P=word)[ \t]*$|\Z)",
}
_KINDS = (
    "function method constructor class interface struct enum trait impl type module macro constant test block".split()
)
MAX_NAMES = 10_000
"""Of a file: nobody writes so many into one."""
_MAX_LINE_CHARS, _MAX_HEAD_CHARS = 300, 1000
"""Of a long line, and of a declaration over several: patterns take the square of such a length."""
_QUOTED_NAME = r"""(?:\[[^\]\n]+\]|"[^"\n]+"|`[^`\n]+`|\w+)(?:\.(?:\[[^\]\n]+\]|"[^"\n]+"|`[^`\n]+`|\w+))*"""
_CLOSES = re.compile(r"[})\]]|@?end\w*\b|esac\b|done\b|fi\b", re.IGNORECASE)
_OPENS = re.compile(r"[{(\[]\s*$|(?:->|=>|[=:])\s*$|\b(?:do|begin|then|is|as)\s*$", re.IGNORECASE)
_CALL = r"(?<![\w$])(?P<before>(?:[\w$@%\])]\s*(?:\.|->|::|\$|:)\s*)?)(?P<name>[A-Za-z_][\w!?]*)\s*\("
_KEYWORDS = frozenset(
    "if elsif elseif else for foreach while until unless switch case when match return and or not in is sub function "
    "func fun fn def defun proc procedure class struct catch try using sizeof typeof new delete throw await async let "
    "var const print echo my our local select where with typeswitch lambda".split()
)


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    until: str
    """Empty: as far as it is indented; `next`: to the next of its rank; `;`: its statement; else what closes it."""


class LexicalCall(NamedTuple):
    """A call that patterns found: its line from 0, its name and the text before it."""

    line: int
    name: str
    before: str


@dataclass(frozen=True)
class LexicalGrammar:
    """How to read the lines of one language."""

    id: str
    ignored: re.Pattern[str]
    """Comments, in its group, and strings."""
    declares: re.Pattern[str]
    """Each row of the table as a numbered group, with its name in another."""
    rows: tuple[_Row, ...]
    calls: re.Pattern[str] | None
    continues: re.Pattern[str] | None
    """Lines that go on with a unit though they are indented as it is."""
    has_lists: bool
    """Whether a line may declare several names with blanks between them."""
    reach: str = "any"
    methods_bare: bool = True

    def units(self, text: str, sizes: tuple[int, int], *, every: bool = False) -> list[Unit]:
        """Return the units of a text in order.

        `sizes` are those of a type that is one chunk with its members, and of a unit that is looked into for others;
        `every` names what is inside of units, whatever its size.
        """
        return _Reader(self, text, sizes, every=every).units()

    def calls_in(self, text: str) -> Iterator[LexicalCall]:
        """Yield the calls of a text in order."""
        if self.calls is None:
            return
        code = self.ignored.sub(lambda found: blanked(found[0]), text)
        at = line = 0
        for found in self.calls.finditer(code):
            line += code.count("\n", at, found.start("name"))
            at = found.start("name")
            if found["name"] not in _KEYWORDS:
                yield LexicalCall(line, found["name"], found["before"].strip())


def _without_comment(match: re.Match[str]) -> str:
    """Blank a comment, and all but the first line of a string, which declare nothing."""
    first, line_end, rest = match[0].partition("\n")
    return blanked(match[0]) if match["comment"] else first + blanked(line_end + rest)


@dataclass(slots=True)
class _Declared:
    row: _Row
    name: str
    start: int
    """Characters from the start of the text to what is declared."""
    end: int
    line: int
    indent: int

    @property
    def rank(self) -> int:
        """Rank of a unit: one of its own rank ends a module or a type, any ends a function."""
        return (self.row.kind in _HOLDING) + (self.row.kind == "module")


class _Reader:
    def __init__(self, grammar: LexicalGrammar, text: str, sizes: tuple[int, int], *, every: bool) -> None:
        self.grammar, self.text, self.every = grammar, text, every
        self.small, self.longest = sizes
        self.code = grammar.ignored.sub(_without_comment, text.replace("\ufeff", " "))
        self.lines, self.source = self.code.split("\n"), text.split("\n")
        self.indents = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in self.lines]

    def units(self) -> list[Unit]:
        declared = list(islice(self._declared(), MAX_NAMES + 1))
        if len(declared) > MAX_NAMES:
            raise ParserFailed(f"it seems to declare more than {MAX_NAMES:,} names")
        self.starts = {each.line for each in declared}
        found: list[Unit] = []
        around: list[Unit] = []
        last = 0
        for at, each in enumerate(declared):
            while around and around[-1].end <= each.line:
                around.pop()
            unit = self._unit(each, self._end(declared, at), around, last)
            if unit is None:
                continue
            found.append(unit)
            last = max(last, each.line + 1)
            if unit.kind in _HOLDING or self.every or unit.end - unit.start > self.longest:
                around.append(unit)
        return found

    def _declared(self) -> Iterator[_Declared]:
        begins = seen = -1
        for at, (text, indent) in enumerate(zip(self.lines, self.indents, strict=True)):
            start, begins = begins + 1, begins + 1 + len(text)
            end = start + (_MAX_HEAD_CHARS if len(text) <= _MAX_LINE_CHARS else _MAX_LINE_CHARS)
            found = self.grammar.declares.match(self.code, start, end) if indent >= 0 else None
            if found is None:
                continue
            row = int(str(found.lastgroup)[1:])
            if at != seen or self.every:
                name = self._name(found[f"n{row}"])
                yield _Declared(self.grammar.rows[row], name, start, found.end(), at, indent)
            seen = at

    def _name(self, text: str) -> str:
        words = (", " if self.grammar.has_lists else " ").join(text.split())
        return re.sub(r"[\"'`\[\]]", "", words).strip(":")[:MAX_NAME_CHARS]

    def _end(self, declared: Sequence[_Declared], at: int) -> int:
        """Return the line after the last one of a declaration."""
        each = declared[at]
        if not each.row.until:
            return self._indented(each)
        later = (declared[number] for number in range(at + 1, len(declared)))
        following = next((one for one in later if one.rank >= each.rank and one.line > each.line), None)
        if each.row.until != "next":
            close = re.compile(each.row.until, re.MULTILINE | re.IGNORECASE)
            if found := close.search(self.code, each.end, following.start if following else len(self.code)):
                return each.line + self.code.count("\n", each.start, found.start()) + 1
        return self._trimmed(each.line, self._above(following.line, each.line) if following else len(self.lines))

    def _above(self, line: int, least: int) -> int:
        """Return the first of the comment lines right above a line."""
        while line - 1 > least and not self.lines[line - 1].strip() and self.source[line - 1].strip():
            line -= 1
        return line

    def _trimmed(self, start: int, end: int) -> int:
        while end > start + 1 and not self.source[end - 1].strip():
            end -= 1
        return end

    def _indented(self, each: _Declared) -> int:
        end = at = each.line + 1
        while at < len(self.lines):
            indent = self.indents[at]
            if 0 <= indent <= each.indent:
                line = self.lines[at].strip()
                closes = at not in self.starts and _CLOSES.match(line)
                goes_on = at not in self.starts and self._goes_on(line)
                if indent < each.indent or not (closes or goes_on):
                    return end
                if closes and not _OPENS.search(line):
                    return at + 1
            at += 1
            end = at if indent >= 0 else end
        return end

    def _goes_on(self, line: str) -> bool:
        return line[:1] == "{" or bool(self.grammar.continues and self.grammar.continues.match(line))

    def _unit(self, each: _Declared, end: int, around: Sequence[Unit], last: int) -> Unit | None:
        kind, parent = each.row.kind, around[-1] if around else None
        in_function = any(unit.kind not in _HOLDING for unit in around)
        if in_function and not self.every and end - each.line < MIN_NESTED_LINES:
            return None
        if kind == "constant" and (in_function or (parent and parent.kind in HOLDERS and not self.every)):
            return None
        if parent and not self.every and parent.end - parent.start <= self.small and parent.kind in TYPES:
            return None
        start = max(self._above(each.line, last - 1), last)
        doc = plain_comment("\n".join(self.source[start : each.line])) if start < each.line else ""
        declared = self.text[self._line_start(each.start) : self._line_end(each.end)]
        signature = " ".join(declared.split()).rstrip(" {:=;(")
        if kind == "function" and parent and parent.kind in TYPES:
            kind = "method"
        end = min(end, parent.end) if parent else end
        owner, name = _owner_of(each.name, kind)
        outer = ".".join(part for part in (parent.path if parent else "", owner) if part)
        unit = Unit(start, max(end, each.line + 1), kind, name, outer, doc)
        unit.signature, unit.at = signature[:MAX_SIGNATURE_CHARS], each.line
        if unit.kind in _HOLDING and unit.end - unit.start > self.small:
            unit.inside = unit.end
        return unit

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        return (self.text.find("\n", at) + 1 or len(self.text) + 1) - 1


def _owner_of(name: str, kind: str) -> tuple[str, str]:
    """Split a qualified name into owner and name: `Shop::Cart`, a dotted module."""
    *before, last = re.split(r"::|\.", name) if kind == "module" else name.split("::")
    return (".".join(filter(None, before)), last) if last else ("", name)


_HOLDING = HOLDERS | {"module", "block"}


@cache
def _tables() -> dict[str, list[str]]:
    table = Path(__file__).with_name("lexical.txt").read_text("utf-8")
    found: dict[str, list[str]] = {}
    for section in re.split(r"^\[", table, flags=re.MULTILINE)[1:]:
        head, _, body = section.partition("]\n")
        name, _, base = head.partition(" like ")
        found[name] = [*found.get(base, ()), *(line for line in body.split("\n") if line.strip())]
    return found


@cache
def lexical_grammar(language: str) -> LexicalGrammar:
    """Return the patterns of a language, compiled on first use."""
    return _grammar(language, _tables()[language])


def _grammar(name: str, lines: Sequence[str]) -> LexicalGrammar:
    said: dict[str, str] = {}
    rows: list[_Row] = []
    patterns: list[str] = []
    for line in lines:
        key, _, value = line.partition(" ")
        kind, _, until = key.partition("/")
        if kind not in KINDS:
            said[key] = value.strip()
            continue
        at = len(rows)
        rows.append(_Row(kind, until.replace(r"\h", r"[ \t]")))
        named = value.strip().removeprefix("^").replace("(?<name>", f"(?P<n{at}>").replace(r"\q", _QUOTED_NAME)
        named = named.replace(r"\h", r"[ \t]")
        patterns.append(f"(?P<r{at}>{named})")
    comments = "|".join(_COMMENTS[each] for each in said.get("comments", "hash").split())
    strings = "|".join(_STRINGS[each] for each in said.get("strings", "double single").split())
    flags = re.MULTILINE | (re.IGNORECASE if "any" in said.get("case", "") else 0)
    calls, continues = (said.get(key, "").replace(r"\h", r"[ \t]") for key in ("calls", "continues"))
    return LexicalGrammar(
        name,
        re.compile(f"(?P<comment>{comments})|{strings}", re.MULTILINE),
        re.compile("|".join(patterns), flags),
        tuple(rows),
        re.compile(_CALL if calls == "usual" else calls) if calls else None,
        re.compile(continues, re.IGNORECASE) if continues else None,
        has_lists="names" in said,
    )
