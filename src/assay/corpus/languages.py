"""File names to languages: one table by extension, one by whole name, and a look inside where a name is shared."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from assay.corpus.grammars import table, words

_EXTENSIONS = """
bash: sh bash zsh ksh bats
c: c
cpp: cc cpp cxx c++ h hh hpp hxx h++ ipp inl cu cuh
csharp: cs csx
css: css
dart: dart
elixir: ex exs
go: go
haskell: hs
hcl: tf hcl tfvars
html: html htm xhtml
java: java
javascript: js mjs cjs jsx
json: json jsonc json5 jsonl ndjson geojson webmanifest
kotlin: kt kts
lua: lua
nix: nix
php: php phtml
python: py pyi pyw pyx
ruby: rb rake gemspec ru
rust: rs
scala: scala sbt sc
solidity: sol
swift: swift
tsx: tsx
typescript: ts mts cts
yaml: yaml yml
zig: zig
markdown: md markdown mdown mkd mdx qmd rmd
restructuredtext: rst rest
asciidoc: adoc asciidoc asc
text: txt text
notebook: ipynb
toml: toml
xml: xml xsd xsl xslt svg wsdl pom
sql: sql
protobuf: proto
groovy: groovy gradle
perl: pl pm
r: r
julia: jl
ocaml: ml mli
clojure: clj cljs cljc edn
erlang: erl hrl
fsharp: fs fsx fsi
objc: m mm
powershell: ps1 psm1
batch: bat cmd
vue: vue
svelte: svelte
scss: scss sass
less: less
graphql: graphql gql
ini: ini cfg conf properties editorconfig
cmake: cmake
make: mk mak
assembly: s asm
vim: vim
lisp: lisp el scm
tex: tex
template: tmpl j2 jinja jinja2 erb hbs mustache
diff: diff patch
"""
_NAMES = """
make: makefile gnumakefile
docker: dockerfile containerfile
ruby: gemfile rakefile vagrantfile podfile brewfile
cmake: cmakelists.txt
groovy: jenkinsfile
bash: .bashrc .bash_profile .zshrc .profile configure
python: sconstruct sconscript wscript
markdown: readme changelog contributing
text: license copying authors notice
ini: .gitconfig .gitignore .gitattributes .editorconfig .npmrc
go-module: go.mod go.sum
"""
BY_EXTENSION = table(_EXTENSIONS)
BY_NAME = table(_NAMES)

PROSE = words("markdown restructuredtext asciidoc text tex")
"""Languages that people read as documents; what mode `docs` keeps."""

_LONGEST_NAME = 60
_ONLY_IN_CPP = re.compile(r"^\s*(?:class|namespace|template|using|public:|private:)\b|\w::\w", re.MULTILINE)


@cache
def _of_name(name: str) -> str:
    lowered = name.lower()
    stem, _, extension = lowered.rpartition(".")
    found = BY_NAME.get(lowered) or (BY_EXTENSION.get(extension, "") if stem or extension else "")
    return found or BY_NAME.get(lowered.partition(".")[0], "")


def language_of(path: str, text: str = "") -> str:
    """Return the language of a file by its name, or nothing; the text tells C from C++ in a header."""
    name = path.rpartition("/")[2]
    found = _of_name(name) if len(name) < _LONGEST_NAME else _of_name("x" + PurePosixPath(name).suffix)
    if found == "cpp" and text and name.endswith(".h") and not _ONLY_IN_CPP.search(text):
        return "c"
    return found
