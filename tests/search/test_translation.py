from __future__ import annotations

import pytest

from assay.assemble.pipeline import dictionary
from assay.search.lexicon import Lexicon, LexiconEntry
from assay.search.replaced_words import in_english
from assay.search.translation import TranslatedSearcher, Translator, unread_note
from assay.types import Chunk, Hit, Query

SPANISH = Lexicon(
    "es",
    {
        "busc": LexiconEntry(9, ("search", "find")),
        "de": LexiconEntry(900),
        "archiv": LexiconEntry(99, ("file",)),
    },
)
JAPANESE = Lexicon("ja", {"ファイル": LexiconEntry(9, ("file",)), "の": LexiconEntry(90)})


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator(dictionary)


class Echo:
    """Answers each query with its own text."""

    def search(self, queries, k):
        return [[Hit(Chunk("1", query.text), 1.0, {})][:k] for query in queries]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("buscar archivos", "search find file"),
        ("buscar  archivos\nde archivo\n", "search find file\nfile"),
        ("buscar de archivo.py", "search find archivo.py"),
        ('buscar "archivo de"', 'search find "archivo de"'),
        ("buscar find_archivo, HTTPArchivo", "search find find_archivo, HTTPArchivo"),
        ("buscar token ñandú", "search find token"),
    ],
)
def test_words_are_replaced_and_code_and_quotes_stay(text: str, english: str):
    assert in_english(text, SPANISH) == english


def test_runs_without_spaces_are_replaced_between_what_is_ascii():
    assert in_english("parseArgsのファイル「ファイル」open", JAPANESE) == "parseArgs file 「ファイル」open"


def test_english_is_read_as_it_was_typed(translator: Translator):
    reading = translator.read("  where is  mail sent ")
    assert (reading.text, reading.language, reading.is_read) == ("  where is  mail sent ", "", True)


def test_a_question_is_read_and_its_language_named(translator: Translator):
    reading = translator.read("den Inhalt einer Umgebungsvariable aufteilen, nicht default_map")
    assert (reading.language, reading.is_read) == ("German", True)
    assert {"content", "environment", "split,", "default_map"} <= set(reading.text.split())


def test_a_language_without_a_lexicon_is_named_and_left_as_it_is(translator: Translator):
    reading = translator.read("메일은 어디서 보내나요")
    assert (reading.text, reading.language, reading.is_read) == ("메일은 어디서 보내나요", "Korean", False)
    assert unread_note("Korean").startswith("questions in Korean are not read: ask in English, Chinese, French")


def test_a_question_of_unknown_words_alone_is_not_read(translator: Translator):
    assert translator.read("齉") == translator.read("齉").__class__("齉", "Chinese", is_read=False)


def test_the_searcher_asks_in_english(translator: Translator):
    searcher = TranslatedSearcher(Echo(), translator)
    found = searcher.search([Query("1", "ошибка файла"), Query("2", "send mail")], 3)
    assert [hits[0].chunk.text for hits in found] == ["error file", "send mail"]
