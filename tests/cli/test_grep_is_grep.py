"""`assay grep` beside GNU grep: the command lines of `grep_commands.txt`, on files as people have them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import run

COMMANDS = Path(__file__).with_name("grep_commands.txt").read_text(encoding="utf-8")
FILES = {
    "src/send.py": "import os\n\n\nclass Mailbox:\n    def send(self):\n        return self.mailbox\n\n"
    "    def close(self):\n        os.close(self.mailbox)\n\n\ndef send_all(mailboxes):\n    return [one.send() for one"
    " in mailboxes]\n\n\ndef send(mailbox):\n    mailbox.send()\n",
    "src/use.py": "from send import send\n\nsend(mailbox)\nsend (a mailbox or two)\n",
    "src/style.css": ".mailbox { color: red }\n",
    "tests/test_send.py": "from send import Mailbox\n\n\ndef test():\n    mailbox = Mailbox()\n    mailbox.send()\n",
    "docs/guide.md": "# Mailbox\n\nA mailbox keeps mail.\n\nThe mailbox is MAILBOX.\n",
    "app.conf": "# mail\nhost=a.example\n\n   # indented\nport=25\nmail=on\n\nlast=yes\n",
    "app.log": "2026-01-02 10:00:01 INFO start mailbox\n2026-01-02 10:00:02 INFO took 12ms\n"
    "2026-01-02 10:00:03 WARN slow took=took 900ms\n2026-01-02 10:00:04 ERROR no host\nat line one\nat line two\n"
    "at line three\nat line four\n2026-01-02 10:00:05 INFO retry\n2026-01-02 10:00:06 ERROR no host, error again\n"
    "2026-01-02 10:00:07 INFO last\n",
    "list.txt": "apple\npear\nAPP\napp store\nbanana\nan apple a day\npearl\npear tree, pear\n",
    "words.txt": "apple\npear\n",
    "left_out.txt": "*.md\ntest_*\n",
    "empty.txt": "",
    "marks.txt": "###\na|b\na-b-c b-c\nab abb aab\n-v --help\n!a! b\n\n_x_ x\n",
    "code.txt": "x = a.b[0]\nx = [1]\nfoo(1) or foo(a)\n*args, **kwargs\nfo{1\nq \\ [a-z]\n",
    "french.txt": "Le café est là, l'été.\nL'ÉTÉ fut long; hiver naïf\ncafés, décafé caf\u00e9\nÉcole élève\nun non\n"
    "cafe\u0301\nL'été et l'hiver sont naïf\n",
    "nul.txt": "one\ntwo\0three four\0five\nsix\0",
    "binary.bin": "a\0needle\nneedle two\n",
    "dos.txt": "foo\r\nbar\r\nfoo bar\n",
    "noend.txt": "first\nlast line",
    "more/core.py": 'class Foo:\n    """A foo(1)|bar."""\n\n    def get(self):\n        return self.x\n\n\n'
    "def run(foo):\n    return foo.get() or a.b or a-b  # [w]x\n",
    "more/use.py": "from core import Foo\nFoo().get()\nif x{1}: y$x ^z\naab aaab\\t1.5 run\nset reset set_ sets\r\n",
    "more/notes.md": "It has getFoo, café and *args.\n" + "foo\n" * 9,
}
DECIDED = {
    r"-oP '(\w+)=\1' app.log": "a back-reference takes more than linear time",
    r"'\(ab\)\1' marks.txt": "a back-reference",
    r"-E '(.)\1' list.txt": "a back-reference",
    "-o '[à-ü]' french.txt": "ranges go by code point; there they are refused",
    "-rc send .": "files below a folder without a match are not listed",
    "mailbox src": "a folder is searched without -r",
    r"-E '\d' list.txt app.conf": "a digit, as everybody means it",
    "-rl --include='src/*.py' mailbox .": "a glob with a slash is matched against paths",
    "é latin.txt": "text in other encodings is text",
    "-rl mailbox --exclude-dir=./src .": "a glob with a slash is matched against paths",
}
"""Command lines whose output is another on purpose, each with the reason; the help says so too."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, newline="", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes("un été\n".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(table: str) -> list[str]:
    """Return the command lines of the table; one that goes on in the next line has an open quote."""
    found: list[str] = []
    for line in table.splitlines():
        if line.startswith("grep "):
            found.append(line.removeprefix("grep "))
        elif not line.startswith("#"):
            found[-1] += f"\n{line}"
    return found


def words_of(line: str) -> tuple[list[str], str]:
    """Return the words of a command line, as a shell makes them, and the file of its standard input."""
    line = line.replace("--include=*.{py,md}", "--include=*.py --include=*.md")
    words = shlex.split(line)
    return (words[:-2], words[-1]) if "<" in words else (words, os.devnull)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]):
    """Return what runs `assay grep` in this process, with a file as its standard input."""

    def call(words: list[str], file: str) -> tuple[int, bytes]:
        with Path(file).open(encoding="utf-8") as opened, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", opened)
            status = run(["grep", *words])
        sys.stdout.flush()
        return status, capfdbinary.readouterr().out

    return call


def theirs(words: list[str], file: str) -> tuple[int, bytes]:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    with Path(file).open("rb") as opened:
        ran = subprocess.run(["grep", *words], stdin=opened, capture_output=True, check=False, env=environment)
    return ran.returncode, ran.stdout


def is_walk(words: list[str]) -> bool:
    """Say whether a folder is searched, whose files GNU grep prints in the order of the disk."""
    return any(not word.startswith("--") and word.startswith("-") and "r" in word for word in words) or any(
        word.endswith("recurse") for word in words
    )


@pytest.mark.usefixtures("tree")
def test_each_command_line_prints_and_returns_what_gnu_grep_does(ours):
    if "GNU grep" not in subprocess.run(["grep", "--version"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("no GNU grep here")
    differing = {}
    for line in lines_of(COMMANDS):
        words, file = words_of(line)
        found, wanted = ours(["--plain-order", *words], file), theirs(words, file)
        if is_walk(words):
            found, wanted = ((status, sorted(re.split(rb"[\n\0]", out))) for status, out in (found, wanted))
        if found != wanted:
            differing[line] = f"\n  ours   {found}\n  theirs {wanted}"
    surprising = {line: what for line, what in differing.items() if line not in DECIDED}
    assert not surprising, "".join(f"\ngrep {line}{what}" for line, what in surprising.items())
    assert not DECIDED.keys() - differing.keys(), "no exception any more"


STREAMS = [
    ("grep -c pear < /dev/null", 0, "list.txt:3\nwords.txt:1\n"),
    ("grep -c pear <&-", 0, "list.txt:3\nwords.txt:1\n"),
    ("cat list.txt | grep -c pear", 0, "3\n"),
    ("cat list.txt | grep -rc pear", 0, "list.txt:3\nwords.txt:1\n"),
    ("cat list.txt | grep -c pear words.txt -", 0, "words.txt:1\n(standard input):3\n"),
    ("printf '' | grep pear", 1, ""),
    ("yes | grep -m2 -n y", 0, "1:y\n2:y\n"),
    ("yes | grep -q y", 0, ""),
    ("yes | grep -l y", 0, "(standard input)\n"),
    ("grep pear <(cat words.txt)", 0, "pear\n"),
    ("grep -D skip pear <(cat words.txt)", 1, ""),
    ("cat words.txt | grep -f - list.txt -x", 0, "apple\npear\n"),
    ("cat words.txt | grep -o ear --label=it -H | cat", 0, "it:ear\n"),
]
"""Command lines of a shell, their status and what they print: without a name a pipe or a file is read."""


@pytest.mark.usefixtures("tree")
def test_standard_input_is_read_no_further_than_needed():
    ours = f'grep() {{ {shlex.quote(sys.executable)} -m assay grep --plain-order "$@"; }}\n'
    wrong = []
    for line, status, out in STREAMS:
        ran = subprocess.run(["bash", "-c", ours + line], capture_output=True, text=True, check=False)
        if (ran.returncode, ran.stdout) != (status, out):
            wrong.append((line, ran.returncode, ran.stdout, ran.stderr))
    assert not wrong


@pytest.mark.usefixtures("tree")
def test_an_empty_pipe_has_a_hint_and_a_terminal_has_colors(on_terminal):
    command = [sys.executable, "-m", "assay", "grep", "pear"]
    ran = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert "standard input was searched, -r searches the folder" in ran.stderr
    assert "\33[01;31m\33[Kpear\33[m\33[K" in on_terminal("grep", "-r", "--color", "pear", "words.txt")
    assert "\33" not in on_terminal("grep", "-r", "pear", "words.txt")
