from __future__ import annotations

from pathlib import Path

import pytest

from assay.search.asked_language import LANGUAGES
from assay.search.lexicon import Lexicon, LexiconEntry, key_of, load_lexicon, read_lexicon, without_accents

GERMAN = Lexicon(
    "de",
    {
        "umgeb": LexiconEntry(40, ("environment",)),
        "variabl": LexiconEntry(90, ("variable",)),
        "der": LexiconEntry(900),
        "prufung": LexiconEntry(8, ("check", "test")),
    },
)
CHINESE = Lexicon(
    "zh",
    {
        "环境": LexiconEntry(50, ("environment",)),
        "环境变量": LexiconEntry(20, ("environment", "variable")),
        "变量": LexiconEntry(80, ("variable",)),
        "的": LexiconEntry(900),
        "名": LexiconEntry(30, ("name",)),
    },
)


def test_a_word_is_found_by_its_stem_in_any_case_with_accents_or_without():
    assert GERMAN.english("Variablen") == ("variable",)
    assert GERMAN.english("Prüfung") == GERMAN.english("PRUFUNG") == ("check", "test")


def test_a_word_that_says_nothing_is_known_and_one_that_nobody_knows_is_not():
    assert GERMAN.english("der") == ()
    assert GERMAN.english("zorbat") is None


def test_german_words_that_are_run_together_are_cut():
    assert GERMAN.english("Umgebungsvariable") == ("environment", "variable")
    assert GERMAN.english("Umgebungsprüfung") == ("environment", "check")
    assert GERMAN.english("derprüfung") is None


def test_text_without_spaces_is_cut_into_its_likeliest_pieces():
    assert CHINESE.pieces("环境变量的名") == ["环境变量", "的", "名"]
    assert CHINESE.pieces("环境的变量") == ["环境", "的", "变量"]


@pytest.mark.parametrize("run", ["", "齉", "齉环境齉齉变量"])
def test_pieces_give_the_text_again_whatever_is_unknown(run: str):
    assert "".join(CHINESE.pieces(run)) == run


def test_accents_go_and_letters_stay():
    assert [without_accents(word) for word in ("größe", "función", "ёлкой", "plain")] == [
        "grosse",
        "funcion",
        "елкой",
        "plain",
    ]
    assert key_of("funciones", "es") == key_of("función", "es")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_ships_a_lexicon_that_knows_a_file(language: str):
    words = {
        "zh": "文件",
        "ja": "ファイル",
        "de": "Datei",
        "es": "archivo",
        "ru": "файл",
        "fr": "fichier",
        "pt": "arquivo",
        "it": "file",
    }
    assert "file" in (load_lexicon(language).english(words[language]) or ())


def test_a_lexicon_is_read_from_a_file_named_after_its_language(tmp_path: Path):
    (tmp_path / "de.tsv").write_text("datei\t12\tfile\nder\t99\t\n", encoding="utf-8")
    lexicon = read_lexicon(tmp_path / "de.tsv")
    assert (lexicon.english("Dateien"), lexicon.english("der")) == (("file",), ())
