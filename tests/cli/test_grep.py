"""`assay grep`: what comes first, what it reads and what it reports; test_grep_is_grep.py compares it with grep."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from assay.operations import grep

FILES = {
    "a/core.py": 'import os\n\n\nclass Foo:\n    """A foo(1)|bar."""\n\n    def get(self):\n        return self.x\n\n\n'
    "def run(foo):\n    return foo.get() or a.b or a-b  # [w]x\n",
    "a/use.py": "from core import Foo\nFoo().get()\nif x{1}: y$x ^z\naab aaab\\t1.5 run\nset reset set_ sets\r\n",
    "b/notes.md": "# Foo\n\nIt has getFoo, café and *args.\n" + "foo\n" * 9,
    "b/test_core.py": "import core\n\n\ndef test_get():\n    assert core.Foo().get() is None\n",
    "b/latin.txt": "no end foo",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, newline="")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_declarations_come_first_and_an_index_orders_the_rest(assay, tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grep, "MAX_UNRANKED_FILES", 1)
    ran = assay("grep", "-rlw", "Foo")
    assert ran.out.split() == ["a/core.py", "a/use.py", "b/test_core.py", "b/notes.md"]
    assert "4 matches" not in ran.err
    assert "5 matches in 4 files" in ran.err
    assert "ordered without the index: there is none" in ran.err
    assert "0 matches in 0 files; without -E" in assay("grep", r"(get|put)\w+", "a").err
    assert assay("index", ".").status == 0
    (tree / "a" / "aaa.py").write_text("x = 1  # since then, run once\n")
    ran = assay("grep", "-l", "run", ".")
    assert (ran.out.split(), "without the index" in ran.err) == (["./a/core.py", "./a/use.py", "./a/aaa.py"], False)


def test_every_kind_of_file_is_searched_and_problems_are_one_line(assay, tree: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grep, "MAX_BLOCK_BYTES", 64)
    (tree / "large.min.js").write_text("x\n" * 700_000 + "needle\nlast" + "y" * 50)
    (tree / "data.bin").write_bytes(b"\0needle\n")
    (tree / "utf16.txt").write_bytes("a needle\n".encode("utf-16"))
    (tree / ".gitignore").write_text("*.log\n")
    (tree / "left.log").write_text("needle\n")
    ran = assay("grep", "-nA1", "needle")
    assert ran.out.splitlines() == [
        "utf16.txt:1:a needle",
        "--",
        "large.min.js:700001:needle",
        f"large.min.js-700002-last{'y' * 50}",
    ]
    assert ran.err.splitlines()[:2] == ["assay: data.bin: binary file matches", "assay: 3 matches in 3 files"]
    assert assay("grep", "needle", "left.log", "data.bin", "-a").out == "data.bin:\0needle\nleft.log:needle\n"
    ran = assay("grep", "needle", "left.log", "nowhere", "a")
    assert (ran.status, ran.out) == (2, "left.log:needle\n")
    assert "nowhere: No such file or directory" in ran.err
    assert assay("grep", "-c", "needle", "left.log", "a/use.py").out == "left.log:1\na/use.py:0\n"
    for case in (r"'\(a\)\1'", "-P 'a(?!b)'", "'[a'", "-E '(a'"):
        ran = assay("grep", *shlex.split(case))
        assert (ran.status, "look-around and back-references are not supported" in ran.err) == (2, True)
    assert "no PATTERN" in assay("grep").err
    (tree / "a\nfake.py:1:needle \u202e.py").write_text("def needle(x):\n    return x\n")
    for words in ("grep needle", "grep -l needle", "search needle", "outline", "pattern x --lang py", "related needle"):
        ran = assay(*words.split())
        assert r"a\nfake.py:1:needle \u202e.py" in ran.out, words
        assert not [row for row in ran.out.splitlines() if row.startswith("fake.py") or "\u202e" in row], words


def test_text_is_read_in_the_encoding_that_the_settings_name(assay, tree: Path):
    (tree / "dos.txt").write_bytes("привет мир\n".encode("cp866"))
    assert assay("grep", "привет").status == 1
    grep._named_encoding.cache_clear()
    (tree / "assay.toml").write_text('[index]\nencoding = "cp866"\n')
    assert assay("grep", "-n", "привет").out == "dos.txt:1:привет мир\n"
