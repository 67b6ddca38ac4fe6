"""A query as it is typed: its telling words, its filters, what is misspelt, and what it names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.operations.corpus_search import dictionary
from assay.search.query_filters import QueryWords, query_words
from assay.search.question import Speller, understand
from assay.terms import STOP_WORDS, stem
from assay.values import Chunk


def test_a_question_is_its_telling_words_once_and_stemmed():
    question = understand("Where are the retries of retried requests handled?")
    assert question.terms == ("retri", "request", "handl")
    assert question.words == ("retries", "requests", "handled")
    assert understand("how do I do this").words == ("how", "do", "i", "this")  # without a telling word all are kept
    for text in ("", "  ", "?!", "___", "...()"):
        assert understand(text).terms == understand(text).words == (), text


def test_identifiers_and_neighbouring_words_are_looked_up_as_one_name_and_quotes_are_phrases():
    assert "=parseargs" in understand("parseArgs").names
    assert "=parseargs" in understand("where is parse_args called").names
    names = understand("parse command line").names
    assert {"=parsecommand", "=commandline", "=parsecommandline"} <= set(names)
    assert "=parseline" not in names
    assert "=x" not in understand("x").names
    assert understand('raise "no such file" from `open()` "').phrases == ("no such file", "open()")
    assert understand("don't do that").phrases == ()


ABOUT = {
    "unit tests of the parser": "tests", "testing with mocks and fixtures": "tests", "the latest contest": "",
    "example of a plugin": "examples", "demos and samples": "examples", "tutorial snippets": "examples",
    "what changed in the last release": "asides", "how to contribute": "asides",
    "contributing guide and license": "asides", "migrating and upgrading": "asides",
    "example tests in the changelog": "tests examples asides", "parse a file": "",
}  # fmt: skip


def test_a_question_says_what_it_is_about():
    for text, about in ABOUT.items():
        question = understand(text)
        said = {"tests": question.about_tests, "examples": question.about_examples, "asides": question.about_asides}
        assert [name for name, is_so in said.items() if is_so] == about.split(), text


@given(st.text(max_size=300))
def test_any_text_is_a_question(text):
    question = understand(text)
    assert len(question.terms) == len(question.words) == len(set(question.terms))
    assert tuple(map(stem, question.words)) == question.terms
    assert len(set(question.names)) == len(question.names)
    assert STOP_WORDS.isdisjoint(question.words) or STOP_WORDS.issuperset(question.words)
    words = query_words(text)
    assert words.parts or words.text == text
    assert all(part.text in text for part in words.parts)


def test_a_whole_file_for_a_question_is_read_in_part():
    question = understand("beginning " + "word1 other2 " * 100_000 + "ending")
    assert "begin" in question.terms
    assert "end" not in question.terms
    assert len(question.names) < 60


FILTERED = [
    ("where are retries", "where are retries", {}, True),
    ("retries lang:py,go", "retries", {"lang": ("py", "go")}, True),
    ("-file:tests file:src/** retries", "retries", {"file": ("!tests", "src/**")}, True),
    ("-lang:py,go -kind:class -sym:run x", "x", {"lang": ("!py", "!go"), "kind": ("!class",), "sym": ("!run",)}, True),
    ('file:"a b/*.py" x', "x", {"file": ("a b/*.py",)}, True),
    ("repo:api-* -repo:old q", "q", {"repo": ("api-*", "!old")}, True),
    ("kind:class,-x y", "y", {"kind": ("class", "-x")}, True),
    ("sym:Task.retry", "Task retry", {"sym": ("Task.retry",)}, False),
    ('how is "not found" said', 'how is "not found" said', {"exact": ("not found",)}, True),
    ('"not found"', '"not found"', {"exact": ("not found",)}, False),
    (r'"say \"hi\""', '"say \\"hi\\""', {"exact": ('say "hi"',)}, False),
    (r'"total: %d\n"', r'"total: %d\n"', {"exact": (r"total: %d\n",)}, False),
    (r'"C:\mail\" "a\\"b"', r'"C:\mail\" "a\\"b"', {"exact": ("C:\\mail\\", r'a\"b')}, False),
    (r"/def \w+_retry/", "def _retry", {"regex": ("def \\w+_retry",)}, False),
    (r"/a\/b/ c", "c", {"regex": ("a/b",)}, True),
    ("/about/", "about", {"regex": ("about",)}, False),
    (r"/^\s+$/", "", {"regex": ("^\\s+$",)}, False),
    ("kind:class", "", {"kind": ("class",)}, False),
]  # fmt: skip
PLAIN = [
    *("what does file:// mean", "KeyError: 'lang'", "std::vector kind of", "lang: python", "a / b / c"),
    *("/usr/local/bin is missing", "where is /api/users/ handled", "/about and /about/ reach the same handler"),
    *('print("hello")', 'File "x.py", line 3, in f', "profile:cpu", "a\nlang:py", f"{'long ' * 80}lang:py"),
]


def test_query_words_are_taken_out_of_a_query_and_what_only_looks_like_one_stays():
    for typed, text, values, by_meaning in FILTERED:
        words = query_words(typed)
        assert (words.text, words.values, words.by_meaning) == (text, values, by_meaning), typed
    assert [typed for typed in PLAIN if query_words(typed) != QueryWords(typed)] == []
    (flag, sound) = query_words('-file:"a b" "🎻 \\"y\\""').parts
    assert (flag.text, flag.key, flag.value, flag.is_out) == ('-file:"a b"', "file", "a b", True)
    assert (sound.text, sound.key, sound.value) == ('"🎻 \\"y\\""', "exact", '🎻 "y"')


TEXT = """
retry retries the request when the server is busy; timeout of the connection; parse arguments of the command line;
read the configuration file; receive a message; cache of responses; separator; authentication of the user; zorbat
"""
MISSPELT = {
    "recieve": "receive", "mesage": "message", "messagd": "message", "cachr": "cache", "configuraiton": "configuration",
    "tiemout": "timeout", "seperator": "separator", "authentification": "authentication", "requset": "request",
    "Recieve": "receive", "zorbta": "zorbat", "how to recieve a mesage": "how to receive a message",
    "recieve, then retry!": "receive, then retry!", "connectiontimeout": "connection timeout",
    "messagecache": "message cache",
}  # fmt: skip
LEFT_ALONE = (
    *("", "retry the request", "banana", "painting elephants"),  # words, though nobody wrote two of them here
    *("getMesage", "GetMesage", "MESAGE", "get_mesage", "mesage_2", "mesage2", "_mesage", "recieveé"),
    *("zorbat", "qwxzjkvbq", "teh", "m" * 41),  # written here, near to nothing, too short, too long
    "xylemm",  # what only the dead hold is no correction
)


def test_a_misspelt_word_is_corrected_and_anything_else_stays(snapshot_of):
    chunks = [Chunk("2", "parseArgs"), Chunk("3", "gone"), Chunk("4", "xylem")]
    speller = Speller(snapshot_of([Chunk("1", TEXT)], chunks, dead={"4"}), dictionary)
    assert {typed: speller.corrected(typed) for typed in MISSPELT} == MISSPELT
    assert [text for text in LEFT_ALONE if speller.corrected(text) != text] == []
    assert Speller(snapshot_of([]), dictionary).corrected("recieve teh mesage") == "recieve teh mesage"


def test_the_commoner_word_is_meant_and_many_edits_and_a_split_need_common_words(snapshot_of):
    for commoner, other in (("zorbat", "zorbal"), ("zorbal", "zorbat")):
        chunks = [Chunk("1", other), Chunk("2", commoner), Chunk("3", commoner)]
        assert Speller(snapshot_of(chunks), frozenset).corrected("zorbax") == commoner
    chunks = [Chunk(str(number), "retry the request") for number in range(999)] + [Chunk("rare", "wink; spl unk")]
    speller = Speller(snapshot_of(chunks), dictionary)
    assert speller.corrected("winq rwtry splunk retryrequest") == "winq retry splunk retry request"
