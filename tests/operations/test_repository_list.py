"""What a list of repositories may say, and how every line that it may not is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.operations.repository_list import ListedRepository, read_repositories


def listed(folder: Path, text: str) -> tuple[ListedRepository, ...]:
    (folder / "list").write_text(text)
    return read_repositories(folder / "list", folder / "mirrors")


def test_lines_are_folders_and_urls_with_options(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TOKEN", "s3cret-of-mine")
    text = """# ours
https://github.com/a/b
git@github.com:a/c.git branch=release/1.2 every=2h search.excerpt_lines=5

my code/app   search.limit=3
https://x:${TOKEN}@example.org/d.git
"""
    found = listed(tmp_path, text)
    places = [
        "https://github.com/a/b",
        "git@github.com:a/c.git",
        f"{tmp_path}/my code/app",
        "https://example.org/d.git",
    ]
    assert [each.place for each in found] == places
    assert (found[1].branch, found[1].every_s, found[1].changes) == ("release/1.2", 7200, ("search.excerpt_lines=5",))
    assert (found[2].changes, found[2].mirror(tmp_path)) == (("search.limit=3",), None)
    assert found[3].url == "https://x:s3cret-of-mine@example.org/d.git"
    assert "s3cret" not in repr(found)
    assert [each.line for each in found] == [2, 3, 5, 6]
    monkeypatch.setenv("TOKEN", "a/b@c d%")
    (signs,) = listed(tmp_path, "https://ann:${TOKEN}@h/a\n")
    assert (signs.place, signs.url) == ("https://h/a", "https://ann:a%2Fb%40c%20d%25@h/a")
    (tmp_path / "loop").symlink_to("loop")  # a folder that is not there
    assert [each.place for each in listed(tmp_path, "loop\n")] == [str(tmp_path / "loop")]


UNUSABLE = {
    "https://h/a brnach=x evry=3": "unknown option 'brnach'",
    "https://h/a branch=--x": "'--x' is not the name of a branch",
    "https://h/a branch=a branch=b": "'branch' is given twice", "app branch=x": "branch is for URLs",
    "https://h/a every=9": "every=9: expected 10 seconds or more", "https://h/a every=soon": "every=soon: expected",
    "https://h/a search.limt=3": "unknown setting 'search.limt' in --set; did you mean 'limit'",
    "https://h/a search.limit=x": "setting 'search.limit' in --set is 'x'; wanted a whole number",
    "https://h/a index.location=/x": "index.location and index.refresh cannot be set here",
    "ftp://h/a": "'ftp://h/a' is not a folder or a URL", "ext::sh://x": "is not a folder or a URL",
    "--upload-pack=x": "is not a folder or a URL", "ssh://ann:pw@h/a": "only a URL of https or http takes a password",
    "https://h:x/a": "invalid URL 'https://h:x/a': Port could not be cast",
    "https://../a": "'https://../a' does not name a repository",
    "https://${NOT_SET}@h/a": "the environment variable NOT_SET is not set",
    "https://h/${HOME}": "stands for a password only",
    "https://h/first.git": "https://h/first.git is already in line 1",
    "ssh://git@h/first": "ssh://git@h/first is already in line 1",
    "https://h/first/sub": "https://h/first/sub would be inside https://h/first, line 1",
}  # fmt: skip


def test_a_line_that_cannot_be_used_is_named(tmp_path: Path):
    for line, message in UNUSABLE.items():
        with pytest.raises(InputError, match=re.escape(message)) as raised:
            listed(tmp_path, f"https://h/first\n\n{line}\n")
        assert f"{tmp_path}/list:3: " in str(raised.value)
    _, least = listed(tmp_path, "https://h/a\nhttps://h/b every=10s\n")
    assert least.every_s == 10


def test_every_wrong_line_is_named_and_no_message_has_a_password(tmp_path: Path):
    text = "".join(f"https://ann:s3cret-of-mine@h/{number} branch=..\n" for number in range(15))
    with pytest.raises(InputError, match=r"list:10: .*\(and 5 more\)") as raised:
        listed(tmp_path, text)
    assert "s3cret" not in str(raised.value)
    for url in (
        *("HTTPS://ann:s3cret@h/a", "ftp://ann:s3cret@h/a", "https://ann:my s3cret@h/a", "https://ann:s3/cret@h/a"),
        *("https://ann:s3cret@h:x/a", "ssh://ann:s3/cret@h/a"),
    ):
        with pytest.raises(InputError, match=r"list:1: ") as raised:
            listed(tmp_path, f"{url}\n")
        assert "s3" not in str(raised.value)


def test_lists_that_hold_nothing_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"list lists no repository: write one folder or URL per line"):
        listed(tmp_path, "# nothing\n\n")
    with pytest.raises(InputError, match=r"cannot read the list of repositories .*: No such file"):
        read_repositories(tmp_path / "gone", tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        read_repositories(tmp_path / "binary", tmp_path)
