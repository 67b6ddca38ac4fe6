"""Questions in other languages: which one it is, what its words are in English, and what stays as it was typed."""

from __future__ import annotations

import csv
from pathlib import Path

from assay.operations.corpus_search import dictionary
from assay.search.translation import (
    LANGUAGES,
    NAMES,
    Lexicon,
    LexiconEntry,
    Translator,
    in_english,
    key_of,
    language_of,
    load_lexicon,
    read_lexicon,
    read_marks,
    unread_note,
    without_accents,
)

TRUTHS = Path(__file__).parents[2] / "benchmarks" / "truth"
ENGLISH = (
    *("", "where is mail sent", "send_mail", "mail", "Todo", "plus", "parseArgs DER", "mit license", "λ calculus"),
    *("naïve bayes", 'where is "登录" shown', "which code writes 登录 into the page of the user", "x y"),
    *("Error: no such file or directory (os error 2)", "C:\\Users\\el\\de\\la"),
)
OTHERS = {
    "邮件在哪里发送": "zh", "mergePath 函数": "zh", "メールはどこで送信されるか": "ja", "где отправляется почта": "ru",
    "wo wird die E-Mail verschickt": "de", "gzip oder deflate anhand der Header wählen": "de",
    "dónde se envía el correo": "es", "donde esta el decorador de la opcion": "es", "où est envoyé le courrier": "fr",
    "onde a senha do usuário é verificada": "pt", "dove viene inviata la posta": "it", "메일은 어디서 보내나요": "ko",
    "де надсилається пошта": "uk", "waar wordt de e-mail verstuurd": "nl", "gdzie jest wysyłana wiadomość": "pl",
    "bu dosya nerede gönderiliyor": "tr", "أين يتم إرسال البريد": "ar", "αποστολή του μηνύματος": "el",
}  # fmt: skip


def test_languages_are_recognized_and_every_question_of_the_ground_truths_is_english():
    words = dictionary()
    assert {text: language_of(text, words.__contains__) for text in OTHERS} == OTHERS
    questions = [
        row["query"] for file in sorted(TRUTHS.glob("*.csv")) for row in csv.DictReader(file.open(encoding="utf-8"))
    ]
    assert len(questions) > 1000
    assert [text for text in (*ENGLISH, *questions) if language_of(text, words.__contains__) != "en"] == []


FILE = {"zh": "文件", "ja": "ファイル", "de": "Datei", "es": "archivo", "ru": "файл", "fr": "fichier", "pt": "arquivo"}


def test_every_language_has_a_name_latin_ones_have_marks_and_each_ships_a_lexicon():
    assert set(LANGUAGES) <= set(NAMES)
    own = {language for languages in read_marks().own.values() for language in languages.split()}
    assert {"de", "es", "fr", "it", "pt"} <= own <= set(NAMES)
    for language in LANGUAGES:
        assert "file" in (load_lexicon(language).english({**FILE, "it": "file"}[language]) or ()), language


def lexicon_of(language: str, **entries: str) -> Lexicon:
    """Return a lexicon of words, each with how often it is used and what it is in English."""
    rows = {word: text.split() for word, text in entries.items()}
    return Lexicon(
        language, {word: LexiconEntry(int(count), tuple(english)) for word, (count, *english) in rows.items()}
    )


GERMAN = lexicon_of("de", umgeb="40 environment", variabl="90 variable", der="900", prufung="8 check test")
CHINESE = lexicon_of(
    "zh", 环境="50 environment", 环境变量="20 environment variable", 变量="80 variable", 的="900", 名="30 name"
)


def test_a_word_is_found_by_its_stem_in_any_case_with_accents_or_without_and_compounds_are_cut(tmp_path: Path):
    assert GERMAN.english("Variablen") == ("variable",)
    assert GERMAN.english("Prüfung") == GERMAN.english("PRUFUNG") == ("check", "test")
    assert (GERMAN.english("der"), GERMAN.english("zorbat")) == ((), None)
    assert GERMAN.english("Umgebungsvariable") == ("environment", "variable")
    assert GERMAN.english("Umgebungsprüfung") == ("environment", "check")
    assert GERMAN.english("derprüfung") is None
    accented = ("größe", "función", "ёлкой", "plain")
    assert [without_accents(word) for word in accented] == ["grosse", "funcion", "елкой", "plain"]
    assert key_of("funciones", "es") == key_of("función", "es")
    (tmp_path / "de.tsv").write_text("datei\t12\tfile\nder\t99\t\n", encoding="utf-8")
    lexicon = read_lexicon(tmp_path / "de.tsv")
    assert (lexicon.english("Dateien"), lexicon.english("der")) == (("file",), ())


def test_text_without_spaces_is_cut_into_its_likeliest_pieces():
    assert CHINESE.pieces("环境变量的名") == ["环境变量", "的", "名"]
    assert CHINESE.pieces("环境的变量") == ["环境", "的", "变量"]
    for run in ("", "齉", "齉环境齉齉变量"):
        assert "".join(CHINESE.pieces(run)) == run


SPANISH = lexicon_of("es", busc="9 search find", de="900", archiv="99 file")
JAPANESE = lexicon_of("ja", ファイル="9 file", の="90")
TRANSLATED = {
    "buscar archivos": "search find file", "buscar  archivos\nde archivo\n": "search find file\nfile",
    "buscar de archivo.py": "search find archivo.py", 'buscar "archivo de"': 'search find "archivo de"',
    "buscar find_archivo, HTTPArchivo": "search find find_archivo, HTTPArchivo",
    "buscar token ñandú": "search find token",
}  # fmt: skip


def test_words_are_replaced_and_code_and_quotes_stay():
    assert {text: in_english(text, SPANISH) for text in TRANSLATED} == TRANSLATED
    assert in_english("parseArgsのファイル「ファイル」open", JAPANESE) == "parseArgs file 「ファイル」open"


def test_a_question_is_read_in_its_language_which_is_named_and_english_as_it_was_typed():
    translator = Translator(dictionary)

    def read(text: str) -> tuple[str, str, bool]:
        reading = translator.read(text)
        return reading.text, reading.language, reading.is_read

    assert read("  where is  mail sent ") == ("  where is  mail sent ", "", True)
    text, *how = read("den Inhalt einer Umgebungsvariable aufteilen, nicht default_map")
    assert how == ["German", True]
    assert {"content", "environment", "split,", "default_map"} <= set(text.split())
    assert read("메일은 어디서 보내나요") == ("메일은 어디서 보내나요", "Korean", False)
    assert unread_note("Korean").startswith("questions in Korean are not read: ask in English, Chinese, French")
    assert read("齉") == ("齉", "Chinese", False)
    assert read("ошибка файла") == ("error file", "Russian", True)
