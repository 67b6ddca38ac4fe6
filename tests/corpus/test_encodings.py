"""Bytes become the text that an editor shows, by what the file says, as UTF-8, by a setting or by a guess."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.encodings import MAX_GUESSED_BYTES, decoded, read_text

CODE = "int rest(int a) {\n    return a + 1; /* %s */\n}\n"
RUSSIAN = CODE % "подсчитать остаток на складе"
COMMENTS = {
    "cp932": "領収書をメールで送信する", "euc_jp": "設定ファイルを読み込む", "gbk": "计算折扣价格",
    "big5": "讀取設定檔", "euc_kr": "영수증을 메일로 보낸다", "cp1251": "отправить чек по почте",
    "koi8_r": "удалить временные файлы", "cp1253": "διαγραφή προσωρινών αρχείων", "cp1255": "מחיקת קבצים זמניים",
    "iso8859_9": "görünümü değiştir, sonra sil", "cp1250": "usuń pliki tymczasowe żądania",
    "cp1252": "löscht die Größe des Puffers", "utf-16-le": "удалить", "utf-16-be": "領収書",
}  # fmt: skip


LINES = {
    "# -*- coding: shift_jis -*-": "cp932", "#!/usr/bin/python\n# vim: set fileencoding=euc-jp :": "euc_jp",
    ";; -*- mode: lisp; coding: euc-jp-unix -*-": "euc_jp", '@charset "gb2312";': "gbk",
    '<?xml version="1.0" encoding="Shift_JIS"?>': "cp932", "<html><head>\n<meta charset=sjis>": "cp932",
    '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">': "cp1251",
}  # fmt: skip


def test_a_mark_and_a_coding_line_say_the_encoding_unless_the_bytes_belie_it():
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        found = read_text(RUSSIAN.encode(encoding))
        assert (found.text.removeprefix("\ufeff"), found.guessed) == (RUSSIAN, False), encoding
    for line, encoding in LINES.items():
        text = f"{line}\n{'画面' if encoding != 'cp1251' else 'в'}\n"
        found = read_text(text.encode(encoding))
        assert (found.text, found.guessed) == (text, False), line
    for name in ("no-such", "rot13", "utf-16", "ascii", ""):
        text = f"# coding: {name}\n# \u00e9t\u00e9 \u00ff\n"
        assert decoded(text.encode()) == text, name


def test_what_says_nothing_is_guessed_from_what_is_not_ascii():
    for encoding, comment in COMMENTS.items():
        text = "#include <stdio.h>\n\n" + "int plain(void);\n" * 500 + CODE % comment
        found = read_text(text.encode(encoding))
        assert (found.text, found.guessed) == (text, True), encoding


def test_a_setting_comes_before_a_guess_and_after_utf_8_even_with_a_few_bytes_that_are_none():
    short = "// \u0432\n".encode("cp1251")
    assert (read_text(short, "cp1251").text, read_text(short, "cp1251").guessed) == ("// \u0432\n", False)
    assert decoded("// \u0432\n".encode(), "cp1251") == "// \u0432\n"
    assert decoded(b"// \xe9\n", "shift_jis") == "// \u00e9\n"  # not by what the bytes are not
    found = read_text(RUSSIAN.encode() + b"\xff\n")
    assert (found.text, found.encoding, found.guessed) == (RUSSIAN + "\ufffd\n", "utf-8", True)


def test_zeros_are_binary_where_no_text_has_them_so():
    assert decoded(b"abc\0def") is None
    assert decoded(bytes(range(256)) * 40) is None
    assert decoded(b"".join(number.to_bytes(2, "little") for number in range(300))) is None
    assert decoded(b"x" * 9000 + b"\0") is not None


def test_only_so_much_is_looked_at(monkeypatch):
    sizes = []
    monkeypatch.setattr("assay.corpus.encodings.likeliest", lambda data: sizes.append(len(data)) or "cp1251")
    for text in (RUSSIAN * 20_000, "x" * 900_000 + RUSSIAN, RUSSIAN.replace("\n", " ") * 20_000):
        assert decoded(text.encode("cp1251")) == text
    assert max(sizes) < 2 * MAX_GUESSED_BYTES
    assert min(sizes) < 500


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_binary(data):
    assert isinstance(decoded(data), str | None)
