"""Files of a hundred kinds have the names that a reader lists, who did not know how they are read."""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.chunk import parse
from assay.corpus.encodings import decoded
from assay.corpus.grammars import LEXICAL
from assay.corpus.languages import language_of
from assay.corpus.lexical import lexical_grammar
from assay.corpus.outline import outline
from assay.corpus.parts import parts

KINDS = Path(__file__).parent / "kinds"
ROWS = [json.loads(row) for row in (KINDS / "names.jsonl").read_text("utf-8").splitlines()]
PIECES = [
    "a ", "a(\n", "def a\n", "class A {\n", "sub a {\n", "package A;\n", "module A\n", "let a = ", "a <- function(x)\n",
    "create table a\n", "function a(", "- (void)a", "@interface A\n", "[a]\n", "a:\n  b:\n", "(defun a\n", "type a\n",
    "public\n", "static const a ", "typedef struct {", '"', "'", "/*", "(*", "{-", "<<A\n", "=pod\n", "\t", "}\n",
]  # fmt: skip


def plain(name: str) -> str:
    owned = name if "::" in name else re.sub(r"(?<=\w):.*|\(.*", "", name)
    return re.split(r"\.|::", owned)[-1].strip("\"'$@%#.&<>").lower()


def test_a_file_of_any_kind_has_its_names():
    lacking = {}
    for row in ROWS:
        text = decoded((KINDS / row["file"]).read_bytes()) or ""
        found = {plain(name) for one in outline(row["file"], text) for name in (one.name, *one.name.split(", "))}
        lacking[row["file"]] = [each["name"] for each in row["names"] if plain(each["name"]) not in found]
    names = {row["file"]: len(row["names"]) for row in ROWS}
    assert sum(map(len, lacking.values())) < 0.08 * sum(names.values()), lacking
    assert not {file: lacks for file, lacks in lacking.items() if len(lacks) * 2 > names[file]}


SAID = {
    ("go", "#!/usr/bin/env python3\n"): "python", ("run", "#!/usr/bin/env -S perl -w\n"): "perl",
    ("run", '#!/bin/sh\n# \\\nexec tclsh "$0"\n'): "tcl", ("run", "#!/usr/bin/env FOO=1 node --x\n"): "javascript",
    ("run", "#!/usr/bin/nix-shell\n#! nix-shell -i python3 -p a\n"): "python", ("run", "#!" + "a" * 10_000): "",
    ("run", "# vim: set ft=ruby:\n"): "ruby", ("run", "x\n// -*- mode: c++; coding: utf-8 -*-\n"): "cpp",
    ("a.m", "function y = f(x)\n"): "matlab", ("a.m", "#import <A>\n"): "objc", ("a.h", "@interface A\n"): "objc",
    ("a.pl", ":- module(a, [b]).\n"): "prolog", ("site.conf", "server {\n}\n"): "nginx",
    ("site.conf", "a = 1\n"): "ini", ("BUILD", "x"): "starlark", ("build", "x"): "", ("c", "int a;\n"): "",
    ("a.yaml.example", "a: b\n"): "yaml", ("dev.Dockerfile", "FROM a\n"): "docker",
    ("run", "#!/usr/bin/env -S poetry run python\n"): "python", ("lib", "# shellcheck shell=bash\n"): "bash",
}  # fmt: skip


def test_the_language_of_a_file_is_what_it_says():
    assert {key: language_of(*key) for key in SAID} == SAID


def test_parts_of_a_file_keep_their_lines_and_characters():
    text = "<p>é</p>\n<script lang='ts'>\nconst a = 1\n</script>\n<style>\n.b { c: d }\n</style>\n"
    found = parts("a.vue", text, "vue")
    assert [part.language for part in found] == ["typescript", "css"]
    for part in found:
        assert len(part.text) == len(text)
        assert part.text.count("\n") == text.count("\n")
        word = part.text.split()[0]
        assert part.text.index(word) == text.index(word)


def test_a_template_calls_what_its_script_declares():
    text = '<script setup>\nfunction add(a) {}\n</script>\n<button @click="add(1)" @focus="add">{{ add(2) }}</button>\n'
    facts = "\n".join(parse("Cart.vue", text, linked=True).facts)
    assert [row.split("\t")[:2] for row in facts.split("\n") if row.startswith("C")] == [["C4", "add"]] * 3


def test_names_inside_of_a_unit_are_declared_and_a_function_without_one_says_what_it_is_for():
    text = (
        "export function App() {\n  const onSave = useCallback(() => {\n    go()\n  }, [])\n"
        "  function row() {}\n  return <b onClick={onSave} />\n}\n"
    )
    rows = [(one.depth, one.name) for one in outline("a.tsx", text)]
    assert rows == [(0, "App"), (1, "onSave"), (1, "row")]
    assert [chunk.symbol for chunk in parse("a.tsx", text).chunks] == ["App"]
    assert [one.name for one in outline("a.py", "def f():\n    def g():\n        pass\n    return g\n")] == ["f", "g"]
    lines = "".join(f"    move({number})\n" for number in range(60))
    text = f"export function App() {{\n{lines}  return <b onPointerMove={{() => {{\n{lines}  }}}} />\n}}\n"
    assert "onPointerMove handler" in [chunk.symbol for chunk in parse("a.tsx", text).chunks]


MACROS = {
    "a.h": ("class SHOP_API Cart : public B {\npublic:\n    void scan(int a) { go(); }\n};\n", {"Cart", "scan"}),
    "c.h": ("enum class SHOP_API Kind : uint8 { A };\n", {"Kind"}),
    "a.c": ("SYSCALL_DEFINE1(pause_io, int, a)\n{\n  go();\n}\n", {"pause_io"}),
    "b.c": ("static void (*handler_of(int a))(int) { return 0; }\n", {"handler_of"}),
    "a.kt": ("object Shop { fun add() {} }\nclass P { val twice: Int get() = 2 }\n", {"Shop", "add", "P", "twice"}),
    "a.swift": ("struct V {\n  var body: Int { 3 }\n}\n", {"V", "body"}),
    "a.rb": ("class A\n  define_method(:go) { |x| x }\n  LIMIT = 3\nend\n", {"A", "go", "LIMIT"}),
    "c.c": ("struct packet {\n  int a;\n} __packed;\n", {"packet"}),
    "t.cpp": ('TEST_CASE("it works") {\n  go();\n}\n', {"it works"}),
    "b.h": ("class A : public B {\n  GENERATED_BODY()\n  UFUNCTION(X)\n  void go();\n};\n", {"A", "go"}),
    "a.sql": ("DELIMITER $$\nCREATE PROCEDURE go()\nEND$$\nCREATE TABLE [a].[b c] (d int)\n", {"go", "a.b c"}),
    "a.svelte": ("{#snippet row(x)}\n  <p>{x}</p>\n{/snippet}\n", {"row"}),
    "a.html": ("<!-- <script>\nfunction old() {}\n</script> -->\n<script>\nfunction now() {}\n</script>\n", {"now"}),
    "a.php": (
        "<?php f(); ?>\n<script>\nfunction one() {}\n</script>\n<?php function two() { ?>\n<?php } ?>\n",
        {"one", "two"},
    ),
    ".gitlab-ci.yml": ("build:app:\n  script: [a]\n.base:\n  tags: [x]\n", {"build:app", ".base"}),
    "b.php": (
        "<?php\nclass C {\n function a() { return '<?php f(); ?>'; } // don't\n function b() {}\n}\n",
        {"C", "a", "b"},
    ),
    "a.dart": ("enum K {\n  a;\n  void run() { go(); }\n}\n", {"K", "run"}),
}


def test_declarations_that_a_grammar_does_not_expect():
    for path, (text, names) in MACROS.items():
        found = {one.name: one.kind for one in outline(path, text)}
        assert names <= found.keys(), path
        assert not {"old", "GENERATED_BODY", "UFUNCTION"} & found.keys(), path
        assert found.get("Cart", "class") == "class", path


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LEXICAL)), st.lists(st.sampled_from(PIECES), max_size=60))
def test_units_of_any_text_are_in_order_and_nested(language, pieces):
    text = "".join(pieces)
    grammar, lines = lexical_grammar(language), text.count("\n") + 1
    for every in (False, True):
        units = grammar.units(text, (15, 120), every=every)
        assert [unit.at for unit in units] == sorted(unit.at for unit in units)
        assert all(0 <= unit.start <= unit.at < unit.end <= lines for unit in units)
    assert [line for line, group in groupby(line for line, _, _ in grammar.calls_in(text)) if line >= lines] == []
