"""Tokens of people: made, kept as hashes, read from a file that is not everybody's."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import assay
from assay.errors import InputError
from assay.serve.http.access_tokens import add_token, read_tokens, shared_token


def test_a_token_is_of_who_it_was_made_for_and_kept_nowhere(tmp_path: Path):
    file = tmp_path / "tokens"
    made = {name: add_token(file, name) for name in ("ann", "bob@example.com")}
    assert file.stat().st_mode & 0o777 == 0o600
    tokens = read_tokens(file)
    assert {name: tokens.owner(token) for name, token in made.items()} == {name: name for name in made}
    assert tokens.owner("wrong") is None
    assert tokens.owner("") is None
    assert not any(token in file.read_text() for token in made.values())


def test_the_command_adds_a_person_once(tmp_path: Path):
    file = tmp_path / "tokens"
    first = CliRunner().invoke(assay, ["token", "ann", "--tokens", str(file)])
    assert read_tokens(file).owner(first.stdout.strip()) == "ann"
    with pytest.raises(InputError, match="has a token of 'ann': remove that line first"):
        add_token(file, "ann")
    printed = CliRunner().invoke(assay, ["token", "bob"])
    file.write_text(f"# people\n\n{printed.stderr}")
    assert read_tokens(file).owner(printed.stdout.strip()) == "bob"


def test_a_file_of_comments_takes_the_first_person_and_one_that_is_no_text_none(tmp_path: Path):
    file = tmp_path / "tokens"
    file.write_text("# people\n")
    file.chmod(0o600)
    token = add_token(file, "ann")
    assert read_tokens(file).owner(token) == "ann"
    assert file.read_text().startswith("# people\nann sha256:")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        add_token(file, "bob")
    assert file.read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize(
    ("text", "mode", "wanted"),
    [
        ("ann sha256:" + "0" * 64, 0o644, "may be read by everybody: chmod 600"),
        ("ann sha256:" + "0" * 64, 0o620, "may be changed by others: chmod 600"),
        ("", 0o600, "names nobody: assay token NAME"),
        ("ann secret", 0o600, "tokens:1 is not 'NAME sha256:HASH'"),
        ("# a\nann sha256:12", 0o600, "tokens:2 is not"),
        ("\x1b[2J sha256:" + "0" * 64, 0o600, "tokens:1 is not"),
        ("ann sha256:" + "0" * 64 + "\nann sha256:" + "1" * 64, 0o600, "names 'ann' twice"),
        ("\udcff", 0o600, "not UTF-8"),
    ],
)
def test_a_file_that_is_no_good_is_refused(tmp_path: Path, text: str, mode: int, wanted: str):
    file = tmp_path / "tokens"
    file.write_text(text, errors="surrogateescape")
    file.chmod(mode)
    with pytest.raises(InputError, match=wanted):
        read_tokens(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read the tokens file .*: No such file"):
        read_tokens(tmp_path / "tokens")
    with pytest.raises(InputError, match="cannot write the tokens file"):
        add_token(tmp_path / "no" / "tokens", "ann")
    with pytest.raises(InputError, match="is no name"):
        add_token(tmp_path / "tokens", "a b")


def test_a_shared_token_has_its_form():
    assert shared_token("a" * 16).owner("a" * 16) == ""
    with pytest.raises(InputError, match="ASSAY_TOKEN is no token"):
        shared_token("short")
