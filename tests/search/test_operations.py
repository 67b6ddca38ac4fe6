"""Questions with an operation in them: how they are read, and what is looked up for them."""

import json
import re
from pathlib import Path

import pytest

import assay
from assay.search.operation_questions import operations_asked
from assay.search.pattern_table import pattern_table
from assay.search.sections import come_first
from assay.values import Chunk, Hit

ROWS = [(row.name, example) for row in pattern_table("operation_questions", re.IGNORECASE) for example in row.examples]


OTHERS = (
    *("where is mail sent", "who calls the shots when two options conflict", "what calls for a retry", "why"),
    *("who calls", "what is it", "how does the retry policy decide", "x" * 400, "callers of the retry policy"),
    *("test for equality of two values", "who calls send_mail\nand why", "what changed since the last release"),
)


def test_each_wording_is_read_and_what_only_sounds_alike_is_no_operation():
    asked = {(operation, question): operations_asked(question)[:1] for operation, question in ROWS}
    assert [row for row, found in asked.items() if [each.operation for each in found] != [row[0]]] == []
    assert [question for question in OTHERS if operations_asked(question)] == []


def test_names_are_taken_as_they_are_typed():
    names = {
        "who calls `send_mail`?": "send_mail",
        "callers of Mailer::send()": "Mailer::send",
        "test for which()": "which",
        "history of src/mail/send.py": "src/mail/send.py",
        "where is the Mailer class used": "Mailer",
    }
    assert {question: operations_asked(question)[0].name for question in names} == names
    assert operations_asked("Mailer vs Postman")[0].other == "Postman"


FILES = {
    "mail/send.py": "class Mailer:\n    def send(self):\n        return connect()\n\n\ndef connect():\n    return 1\n",
    "mail/box.py": "from mail.send import connect\n\n\ndef open_box():\n    return connect()\n",
    "tests/test_send.py": "from mail.send import connect\n\n\ndef test_connect():\n    assert connect()\n",
    "rules/naming.py": "class NamingRule:\n    name = 'naming'\n",
    "rules/length.py": "class LengthRule:\n    name = 'length'\n",
    "rules/imports.py": "class ImportsRule:\n    name = 'imports'\n",
    "registry.py": "import rules\n\nRULES = [rules.NamingRule, rules.LengthRule, rules.ImportsRule]\n",
    "README.md": "# Mail\n\n## Sending letters\n\nTo send a letter, open a box and connect to the relay of letters.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> assay.Index:
    root = tmp_path_factory.mktemp("mail")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return assay.Index(root)


def test_callers_tests_callees_and_declarations_come_first_with_their_lines(index: assay.Index):
    first = {
        "who calls connect": ("mail/box.py", 5),
        "what tests connect": ("tests/test_send.py", 4),
        "what does Mailer.send call": ("mail/send.py", 6),
        "where is Mailer used": ("mail/send.py", 1),
        "what is NamingRule": ("rules/naming.py", 1),
    }
    answers = {question: index.search(question) for question in first}
    assert {question: (answer[0].path, answer[0].line) for question, answer in answers.items()} == first
    assert {hit.path for hit in index.search("NamingRule vs LengthRule").hits[:2]} == {
        "rules/naming.py",
        "rules/length.py",
    }
    note = "read as: what calls 'connect' (2 places; it is declared in mail/send.py:6)"
    assert any(one.startswith(note) for one in answers["who calls connect"].notes)
    registered = index.search("where do I add a new rule").hits[:3]  # what names most siblings
    assert any(hit.path == "registry.py" and hit.line for hit in registered)


def test_a_mode_and_a_name_that_nothing_declares_leave_a_question_as_it_is(index: assay.Index):
    assert not any(hit.line for hit in index.search("who calls connect", mode="code"))
    assert not any("read as" in note for note in index.search("who calls disconnect_all").notes)


def test_what_changed_has_the_commits_of_the_unit(assay, project: Path):
    answer = json.loads(assay("search", "what changed in send_mail", project, "--format", "json").out)
    assert answer["hits"][0]["symbol"] == "send_mail"
    assert answer["commits"] == []  # it is no repository
    assert any(note.startswith("no ") for note in answer["notes"])


def test_documentation_stands_beside_code_and_before_it_where_how_is_asked(index: assay.Index):
    how, named = index.search("how do I send a letter"), index.search("connect")
    assert how.docs[0].symbol == "Sending letters"
    assert how.docs_first
    assert all(hit.language != "markdown" for hit in how)
    assert not named.docs
    assert not index.search("how do I send a letter", mode="code").docs
    assert not index.search("how do I send a letter", file=["*.py"]).docs
    for text, code, first in (  # where how is asked, and it is nearly as likely as the code
        ("how do I send mail", 0.6, True),
        ("how do I send mail", 0.9, False),
        ("which settings file is read", 0.6, False),
    ):
        section, hit = (Hit(Chunk(each, each), score) for each, score in (("section", 0.5), ("code", code)))
        assert come_first([section], [hit], [text]) is first, (text, code)
