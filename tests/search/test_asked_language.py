from __future__ import annotations

import csv
from pathlib import Path

import pytest

from assay.assemble.pipeline import dictionary
from assay.search.asked_language import LANGUAGES, NAMES, language_of, read_marks

TRUTHS = Path(__file__).parents[2] / "benchmarks" / "truth"


@pytest.fixture(scope="module")
def language():
    words = dictionary()
    return lambda text: language_of(text, words.__contains__)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "where is mail sent",
        "send_mail",
        "mail",
        "Todo",
        "plus",
        "parseArgs DER",
        "mit license",
        "λ calculus",
        "naïve bayes",
        'where is "登录" shown',
        "which code writes 登录 into the page of the user",
        "x y",
        "Error: no such file or directory (os error 2)",
        "C:\\Users\\el\\de\\la",
    ],
)
def test_english_and_code_are_english(language, text: str):
    assert language(text) == "en"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("邮件在哪里发送", "zh"),
        ("mergePath 函数", "zh"),
        ("メールはどこで送信されるか", "ja"),
        ("где отправляется почта", "ru"),
        ("wo wird die E-Mail verschickt", "de"),
        ("gzip oder deflate anhand der Header wählen", "de"),
        ("dónde se envía el correo", "es"),
        ("donde esta el decorador de la opcion", "es"),
        ("où est envoyé le courrier", "fr"),
        ("onde a senha do usuário é verificada", "pt"),
        ("dove viene inviata la posta", "it"),
        ("메일은 어디서 보내나요", "ko"),
        ("де надсилається пошта", "uk"),
        ("waar wordt de e-mail verstuurd", "nl"),
        ("gdzie jest wysyłana wiadomość", "pl"),
        ("bu dosya nerede gönderiliyor", "tr"),
        ("أين يتم إرسال البريد", "ar"),
        ("αποστολή του μηνύματος", "el"),
    ],
)
def test_other_languages_are_recognized(language, text: str, code: str):
    assert language(text) == code


def test_every_question_of_the_ground_truths_is_english(language):
    questions = [row["query"] for file in sorted(TRUTHS.glob("*.csv")) for row in csv.DictReader(file.open())]
    assert len(questions) > 1000
    assert [text for text in questions if language(text) != "en"] == []


def test_every_language_has_a_name_and_latin_ones_have_marks():
    assert set(LANGUAGES) <= set(NAMES)
    own = {language for languages in read_marks().own.values() for language in languages.split()}
    assert {"de", "es", "fr", "it", "pt"} <= own <= set(NAMES)
