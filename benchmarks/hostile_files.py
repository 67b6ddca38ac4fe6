"""Index files that were made to be slow, and a repository of very many files: processor time and memory.

python benchmarks/hostile_files.py [--slowest 10] [NAME …]

The bound to keep is 5 s of processor time and 300 MB a file. Files are as large as the index takes them, 1 MB at most.
The script ends with 1 where a file is over the bound.

python benchmarks/hostile_files.py many [--files 200000]

The bound to keep is 4 GB for 200,000 files. Peaks of the parent and of each worker are added up, as if they had all
come at once, so the true peak is lower.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from shared import run_command, seconds_of

from assay.encode.static import load_static
from assay.search.folder_index import FolderIndex
from assay.search.index_changes import UNSURE_NS

MOST_S, MOST_MB = 5.0, 300.0
SIZE = 990_000
N = 10_000


def filled(piece: Callable[[int], str], size: int = SIZE) -> str:
    """Return as many pieces as fit."""
    pieces, held, number = [], 0, 0
    while held < size:
        pieces.append(piece(number))
        held += len(pieces[-1])
        number += 1
    return "".join(pieces)[:size]


def nested(opening: str, closing: str, depth: int, inner: str = "x") -> str:
    """Return something inside of itself."""
    return opening * depth + inner + closing * depth


def indented(line: str, depth: int, end: str = "pass") -> str:
    """Return a block in a block, by indentation."""
    return "".join(f"{' ' * at}{line}\n" for at in range(depth)) + " " * depth + end + "\n"


def chains() -> Iterator[tuple[str, str]]:
    """Yield what goes on and on at one level."""
    yield "elifs.py", "if a == 0:\n    x = 0\n" + "".join(f"elif a == {n}:\n    x = {n}\n" for n in range(N))
    yield "elifs_in_function.py", "def f(a):\n    if a:\n        x = 0\n" + "    elif a == 1:\n        x = 2\n" * N
    yield (
        "else_ifs.c",
        "int f(int a) {\n if (a == 0) { return 0; }\n"
        + filled(lambda n: f" else if (a == {n}) {{ return {n}; }}\n")
        + "}\n",
    )
    yield (
        "else_ifs.js",
        "function f(a) {\n if (a == 0) { return 0 }\n"
        + filled(lambda n: f" else if (a == {n}) {{ return {n} }}\n")
        + "}\n",
    )
    yield (
        "else_ifs.java",
        "class A { int f(int a) {\n if (a == 0) { return 0; }\n" + " else if (a == 1) { return 1; }\n" * N + "}}\n",
    )
    yield (
        "else_ifs.go",
        "package a\nfunc f(a int) int {\n if a == 0 { return 0 }"
        + " else if a == 1 { return 1 }" * N
        + "\n return 2\n}\n",
    )
    yield "else_ifs.rs", "fn f(a: i32) -> i32 {\n if a == 0 { 0 }" + "\n else if a == 1 { 1 }" * N + " else { 2 }\n}\n"
    yield "elsifs.rb", "def f(a)\n if a\n  0\n" + " elsif a == 1\n  1\n" * N + " end\nend\n"
    yield "elifs.sh", "if [ 1 ]; then\n a\n" + "elif [ 2 ]; then\n b\n" * N + "fi\n"
    yield "elseifs.lua", "function f(a)\n if a then\n  b()\n" + " elseif a == 1 then\n  c()\n" * N + " end\nend\n"
    yield (
        "elseifs.php",
        "<?php\nfunction f($a) {\n if ($a) { return 0; }\n" + " elseif ($a == 1) { return 1; }\n" * N + "}\n",
    )
    yield "cases.c", "int f(int a) { switch (a) {\n" + filled(lambda n: f"case {n}: return {n};\n") + "}}\n"
    yield "cases.swift", "func f(a: Int) -> Int { switch a {\n" + "case 1: return 1\n" * N + "default: return 2 } }\n"
    yield "cases.kt", "fun f(a: Int): Int = when (a) {\n" + "1 -> 1\n" * N + "else -> 2 }\n"
    yield "cases.scala", "object A { def f(a: Int) = a match {\n" + "case 1 => 1\n" * N + "} }\n"
    yield "sum.py", "x = " + " + ".join(["a"] * 100_000) + "\n"
    yield "sum.js", "x = " + " + ".join(["a"] * 100_000) + ";\n"
    yield "sum.hs", "x = " + " + ".join(["a"] * 50_000) + "\n"
    yield "calls.py", "x = a" + ".b()" * 100_000 + "\n"
    yield "calls.js", "x = a" + ".b()" * 100_000 + ";\n"
    yield "calls.rs", "fn f() { a" + ".b()" * 50_000 + "; }\n"
    yield "ternaries.js", "x = " + "a ? b : " * 50_000 + "c;\n"
    yield "strings.c", "char *x = " + '"ab"\n' * 100_000 + ";\n"
    yield "commas.c", "int " + ", ".join(f"v{n}" for n in range(100_000)) + ";\n"
    yield "union.ts", "type A = " + " | ".join(f'"v{n}"' for n in range(60_000)) + ";\n"
    yield "pipes.ex", "x = a" + " |> b()" * 50_000 + "\n"
    yield "pipes.sh", "a" + " | b" * 100_000 + "\n"


def many() -> Iterator[tuple[str, str]]:
    """Yield many of one small thing."""
    for name, unit in {
        "functions.py": "def f{n}(): pass\n",
        "functions_spaced.py": "def f{n}():\n    return {n}\n\n\n",
        "methods.py": "    def f{n}(self): pass\n",
        "decorators.py": "@d{n}\n",
        "lambdas.py": "f{n} = lambda x: x\n",
        "imports.py": "import m{n}\n",
        "assignments.py": "V{n} = {n}\n",
        "classes.py": "class C{n}: pass\n",
        "functions.js": "function f{n}() {{}}\n",
        "arrows.js": "const f{n} = () => {n};\n",
        "exports.ts": "export const f{n} = (a: number) => a;\n",
        "interfaces.ts": "interface I{n} {{ a: number }}\n",
        "functions.c": "int f{n}(void) {{ return {n}; }}\n",
        "prototypes.h": "int f{n}(int a, char *b);\n",
        "macros.h": "#define M{n} {n}\n",
        "structs.c": "struct s{n} {{ int a; }};\n",
        "functions.go": "func f{n}() {{}}\n",
        "functions.rs": "fn f{n}() {{}}\n",
        "attributes.rs": "#[a{n}]\n",
        "functions.java": "void f{n}() {{}}\n",
        "annotations.java": "@A{n}\n",
        "functions.rb": "def f{n}; end\n",
        "functions.php": "function f{n}() {{}}\n",
        "functions.sh": "f{n}() {{ :; }}\n",
        "functions.lua": "function f{n}() end\n",
        "functions.kt": "fun f{n}() = {n}\n",
        "functions.swift": "func f{n}() {{}}\n",
        "functions.scala": "def f{n} = {n}\n",
        "functions.hs": "f{n} :: Int\nf{n} = {n}\n",
        "functions.ex": "def f{n}, do: {n}\n",
        "functions.cs": "void F{n}() {{}}\n",
        "rules.css": ".a{n} {{ color: red }}\n",
        "keys.json": '"k{n}": {n},\n',
        "keys.yaml": "k{n}: {n}\n",
        "comments.py": "# comment {n}\n",
        "comments.c": "/* comment {n} */\n",
        "headings.md": "# h{n}\n",
        "headings_deep.md": "###### h{n}\n\ntext\n\n",
        "underlined.rst": "Title {n}\n========\n\n",
        "items.md": "- item {n}\n",
        "links.md": "[a{n}]: http://b/{n}\n",
        "tables.md": "| a{n} | b |\n|---|---|\n| c | d |\n",
        "fences.md": "```\ncode {n}\n```\n",
        "sections.adoc": "== h{n}\n\ntext\n",
        "paragraphs.txt": "words {n}\n\n",
        "cells.html": "<td>{n}</td>",
        "sql.sql": "CREATE TABLE t{n} (a INT);\n",
    }.items():
        opening = {"methods.py": "class C:\n", "functions.go": "package a\n", "functions.php": "<?php\n"}.get(name, "")
        opening = "class A {\n" if name in ("functions.java", "functions.cs", "functions.scala") else opening
        closing = {"decorators.py": "def f(): pass\n", "annotations.java": "class A {}\n"}.get(name, "")
        text = filled(lambda n, unit=unit: unit.format(n=n), SIZE - 100)
        yield name, opening + text[: text.rfind("\n") + 1 or None] + closing


def deep() -> Iterator[tuple[str, str]]:
    """Yield what is inside of itself."""
    yield "parentheses.py", nested("(", ")", 100_000) + "\n"
    yield "lists.py", "x = " + nested("[", "]", 100_000, "") + "\n"
    yield "ifs.py", indented("if a:", 1_000)
    yield "functions_in_functions.py", indented("def f():", 1_000)
    yield "classes_in_classes.py", indented("class A:", 1_000)
    yield "braces.c", "void f() " + nested("{", "}", 100_000, ";") + "\n"
    yield "ifs.c", "void f() { " + "if (a) " * 100_000 + ";}\n"
    yield "functions.in.js", "function f() {" * 30_000 + "}" * 30_000 + "\n"
    yield "classes.in.java", "class A {\n" * 30_000 + "}\n" * 30_000
    yield "modules.rs", "mod a {\n" * 30_000 + "}\n" * 30_000
    yield "modules.rb", "module A\n" * 30_000 + "end\n" * 30_000
    yield "namespaces.cpp", "namespace a {\n" * 30_000 + "}\n" * 30_000
    yield "templates.cpp", "a" + nested("<a", ">", 50_000, "") + " x;\n"
    yield "tags.html", nested("<div>\n", "</div>\n", 50_000)
    yield "elements.jsx", "x = " + nested("<a>", "</a>", 50_000, "") + ";\n"
    yield "arrays.json", nested("[", "]", 400_000, "1") + "\n"
    yield "objects.json", nested('{"a":', "}", 100_000, "1") + "\n"
    yield "keys.deep.yaml", indented("a:", 1_000, "b: 1")
    yield "quotes.md", ">" * 300_000 + " a\n"
    yield "items.deep.md", indented("- a", 1_000, "- b")
    yield "types.ts", "type A = " + nested("Array<", ">", 50_000, "x") + ";\n"
    yield "closures.rs", "fn f() { " + "|x| " * 50_000 + "x; }\n"
    yield "brackets.lisp", nested("(a ", ")", 100_000, "")


def odd() -> Iterator[tuple[str, str | bytes]]:
    """Yield lines without end, texts without end, names without end, and bytes that are no text."""
    yield "line.py", "x = '" + "a" * SIZE + "'\n"
    yield "line.txt", "word " * (SIZE // 5)
    yield "line.md", "# " + "a b " * (SIZE // 4)
    yield "line.c", "int a;" * (SIZE // 6)
    yield "line.js", "var a=1;" * 60 + "\n" + "f(a);\n" * 100_000
    yield "name.py", "def " + "a" * (SIZE - 20) + "(): pass\n"
    yield "name_parts.py", "def " + "_a" * (SIZE // 2 - 20) + "(): pass\n"
    yield (
        "class_name.py",
        "class " + "a_b" * 1_500 + ":\n" + filled(lambda n: f"    def f{n}(self):\n        pass\n\n", 600_000),
    )
    yield "function_name.py", "def " + "a_b" * 1_500 + "():\n" + "    work()\n" * 60_000
    yield "heading.md", "# " + "a_b " * 80_000 + "\n" + filled(lambda n: f"## h{n}\n\ntext\n", 600_000)
    yield "camel.py", "x = " + "aB" * (SIZE // 2 - 20) + "\n"
    yield "string_open.py", '"""' + "text\n" * (SIZE // 5)
    yield "comment_open.c", "/*" + "text\n" * (SIZE // 5)
    yield "string_open.js", "`" + "${a\n" * (SIZE // 4)
    yield "fence_open.md", "```\n" + "text\n" * (SIZE // 5)
    yield "heredoc_open.sh", "cat <<END\n" + "text\n" * (SIZE // 5)
    yield "broken.py", "def (:\n" * (SIZE // 7)
    yield "broken.c", "}{)(;\n" * (SIZE // 6)
    yield "broken.ts", "<<<<>>>>=>\n" * (SIZE // 11)
    yield "broken.rs", "fn fn fn {{{\n" * (SIZE // 13)
    yield "broken.cpp", "template<class T\n" * (SIZE // 17)
    yield "conflict.py", "<<<<<<< a\n=======\n>>>>>>> b\n" * (SIZE // 29)
    yield "blank.py", "\n" * SIZE
    yield "spaces.py", (" " * 999 + "\n") * (SIZE // 1000)
    yield "tabs.md", "\t" * SIZE
    yield "returns.py", "\r" * SIZE
    yield "distinct.txt", filled(lambda n: f"w{n:x}q{n * 7919 % 1000003:x} ")
    yield "unicode.py", "x = '" + "𝔘é" * 100_000 + "'\n"
    yield "accents.txt", "é" + "\u0301" * 300_000
    yield "utf16.py", filled(lambda n: f"def f{n}(): pass\n", SIZE // 2).encode("utf-16")
    yield "latin.py", (filled(lambda n: f"# é {n}\n", SIZE)).encode("latin-1")
    yield "guessed.c", filled(lambda n: f"/* отправить чек {n} */\nint f{n}(void);\n", SIZE // 2).encode("koi8-r")
    yield "guessed_line.py", ("x = '" + "удалить файлы " * 60_000 + "'\ndef f(): pass\n").encode("cp1251")
    yield "utf16_unmarked.py", filled(lambda n: f"def f{n}(): pass\n", SIZE // 2).encode("utf-16-be")
    yield "declared.py", b"# coding: shift_jis\n" + filled(lambda n: f"# 画面 {n}\n", SIZE // 2).encode("cp932")
    yield "long_line.js", "function f() {}\n" * 9 + "const a = '" + "Zm9v" * 240_000 + "';\n" + "function g() {}\n" * 9
    yield "long_lines.py", ("def f():\n    return 1\n" + "x = [" + "1, " * 7_000 + "]\n") * 45
    yield "long_brackets.ts", ("function f() {}\n" * 60 + "x" + "([{" * 7_000 + "\n") * 40
    yield "bytes.py", bytes(range(1, 256)) * (SIZE // 255)
    yield "underlines.rst", "a\n=\nb\n-\n" * (SIZE // 8)
    yield "pipes.md", "|" * SIZE
    yield "row.md", "| a | b |\n|---|---|\n" + "| c | d |\n" * (SIZE // 10)
    yield "stars.md", "*a " * (SIZE // 3)
    yield "brackets.md", "[" * SIZE
    yield "entities.html", "&" * SIZE
    yield "notebook.ipynb", '{"cells": [' + ", ".join(['{"cell_type": "code", "source": ["x = 1"]}'] * 20_000) + "]}"
    yield "regexes.js", "a = /" + "(a|" * 10_000 + ")" * 10_000 + "/;\n"


LEXICAL = {
    "pl": ("sub a {\n", "a::b::", "a->", "<<A\n"),
    "m": ("@interface A\n", "- (void)a", "typedef a ", "static const a "),
    "R": ("a <- function(x)\n", "a("),
    "ml": ("let a = ", "(*", "module A = struct\n"),
    "erl": ("a(\n", "-define(a, "),
    "sql": ("create function a\n", "create table a (\n", "$$"),
    "scss": ("a\n", "@media a {", "$a: "),
    "yaml": ("a:\n  b:\n", "- name: a\n", "a: &a\n"),
    "sv": ("typedef struct {", "function a\n", "module a\n"),
    "wgsl": ("@a() fn ", "const a "),
    "groovy": ("public ", "a<b<", "task a\n"),
    "cls": ("public static ", "@a(b)\n"),
    "toml": ("[a]\n",),
    "mk": ("a ", "a: b\n", "define a\n"),
    "f90": ("type a\n", "integer function "),
    "adb": ("private package A is\n",),
}
"""By the ending of a language that is read without a parser: what is repeated in its files."""


def lexical() -> Iterator[tuple[str, str]]:
    """Yield what patterns of lines meet, and pages of many parts."""
    for ending, pieces in LEXICAL.items():
        for number, piece in enumerate(pieces):
            yield f"lines_{number}.{ending}", filled(lambda _, piece=piece: piece)
    yield "scripts.html", "<script>function f() {}</script>\n" * 20_000
    yield "open_scripts.vue", "<script>\n" * 90_000
    yield "expressions.vue", '<b @click="f(1)" :a="b">{{ c() }}</b>\n' * 25_000
    yield "braces.svelte", "<a b={c} {" * 90_000
    yield "holes.erb", "<script>\n" + "<%= a %> <% " * 70_000 + "</script>\n"
    yield "fences.qmd", "```{r}\nf <- function(x) 1\n```\n" * 25_000
    yield "macros.h", "SHOP_API class SHOP_API A {\n  Q_OBJECT\n" * 25_000
    yield (
        "cells.ipynb",
        '{"cells": [{"cell_type": "code", "source": [\n' + ",\n".join(['"def f(): pass\\n"'] * 45_000) + "]}]}",
    )
    yield "shebang", "#!" + "a" * 10_000 + "\n" + "x\n" * 100_000
    yield "modes", "-*- " * 200_000 + "\n" + "vim: " * 10_000


FILES = dict((*chains(), *many(), *deep(), *odd(), *lexical()))
"""Contents by name."""


def cost(name: str) -> tuple[float, float]:
    """Run `assay index` on one file; return the processor time of all its processes, and MB of the largest.

    Both are infinite where indexing broke, or took two minutes.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        text = FILES[name]
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        command = [sys.executable, "-m", "assay", "index", str(root), "--index", str(Path(folder) / "index")]
        process = subprocess.Popen(["prlimit", "--cpu=120", *command], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: it is left out, as minified or data
        return float("inf"), float("inf")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def run_hostile_files() -> None:
    """Print what each file took, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--slowest", type=int, default=len(FILES), help="how many files to name")
    given = parser.parse_args()
    costs = {}
    for name in given.names or FILES:
        costs[name] = cost(name)
        print(f"{name}: {costs[name][0]:.2f} s, {costs[name][1]:.0f} MB", file=sys.stderr, flush=True)
    print(f"{len(costs)} files; bounds: {MOST_S:g} s, {MOST_MB:g} MB\n\n| file | s | MB |\n|---|---|---|")
    for name, (seconds, held_mb) in sorted(costs.items(), key=lambda entry: -entry[1][0])[: given.slowest]:
        print(f"| {name} | {seconds:.2f} | {held_mb:.0f} |")
    over = [name for name, (seconds, held_mb) in costs.items() if seconds > MOST_S or held_mb > MOST_MB]
    print(f"\nover a bound: {', '.join(over) or 'none'}; most memory: {max(mb for _, mb in costs.values()):.0f} MB")
    sys.exit(bool(over))


def run_many() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=int, default=200_000)
    files = arguments.parse_args().files
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_files(root, files)
        print(json.dumps(measured(root, Path(folder) / "index"), indent=1))


def write_files(root: Path, files: int) -> None:
    """Write files of one small function each, and wait until an index trusts what `stat` says of them."""
    for number in range(files):
        folder = root / f"part{number // 10_000}" / f"group{number // 100 % 100}"
        if not number % 100:
            folder.mkdir(parents=True)
        path = folder / f"unit{number}.py"
        path.write_text(f"def unit_{number}(first, second):\n    return first.handle({number}, second)\n")
    time.sleep(2 * UNSURE_NS / 1e9)


def measured(root: Path, location: Path) -> dict[str, float]:
    """Refresh three times: all is new, nothing is, one file is."""
    index = FolderIndex(root, location, load_static())
    seconds = [seconds_of(index.refresh)]
    chunks = len(index.snapshot())
    own_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    worker_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    seconds.append(seconds_of(index.refresh))
    (root / "part0/group0/unit0.py").write_text("def changed():\n    pass\n")
    seconds.append(seconds_of(index.refresh))
    return {
        "chunks": chunks,
        "first_s": seconds[0],
        "unchanged_s": seconds[1],
        "one_changed_s": seconds[2],
        "peak_mb": own_mb + worker_mb * (os.cpu_count() or 1),
        "own_peak_mb": own_mb,
        "worker_peak_mb": worker_mb,
        "index_mb": sum(file.stat().st_size for file in location.iterdir()) / 1e6,
    }


COMMANDS = {"many": run_many}

if __name__ == "__main__":
    run_command(COMMANDS, run_hostile_files)
