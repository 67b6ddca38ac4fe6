"""Strings that pasted messages were made from: joined ones, short ones, those of resources; what a log puts before."""

import pytest

from assay.corpus.code_strings import joined_strings
from assay.search.hybrid import LearnedSearcher
from assay.search.messages import key_at, message_in, without_log_prefix
from assay.search.question import understand
from assay.values import Chunk, Query

SAID = {
    'throw Error("cannot open " + path + " of host " + host);': "cannot open /etc/motd of host localhost",
    'fail("the letter to %s " \n     "could not be sent")': "the letter to Jo could not be sent",
    'f"no such box {name!r}"': "no such box 'letters'",
    'puts "no box " << name << " is known here"': "no box letters is known here",
    'printf("%zu letters of %" PRIu64 " lost", a, b)': "12 letters of 40 lost",
    'msg := "opened %sbox at port %d"': "opened 42box at port 80",
    'raise Invalid, "unknown relay: #{relay}"': "unknown relay: mail-7",
    "const text = `box ${name} is full: ${n} letters`": "box in is full: 99 letters",
    'Err("permission denied")': "",
}
NOT_SAID = {
    'say("letter box")': "where is the letter box opened",
    'say("unknown relay")': "unknown relay handling in the pool of workers",
}


@pytest.mark.parametrize("code", SAID)
def test_a_message_with_values_comes_from_its_string(code: str):
    question = understand(SAID[code] or "Error: permission denied")
    assert message_in(question, Chunk("1", f"def f():\n    {code}\n"))


@pytest.mark.parametrize("code", NOT_SAID)
def test_short_texts_are_messages_only_where_they_look_like_one(code: str):
    assert message_in(understand(NOT_SAID[code]), Chunk("1", code)) is None


PREFIXES = {
    "2024-03-01 12:00:07 ERROR [worker-3] Cannot open file x": "Cannot open file x",
    "[2024-03-01T12:00:07.123Z] WARN  it is not here": "it is not here",
    "Mar  1 12:00:07 host app[123]: cannot open file x": "cannot open file x",
    "ERROR: cannot open file": "cannot open file",
    "where are errors handled": "where are errors handled",
    "ERROR constant": "ERROR constant",
    "2 errors in the file": "2 errors in the file",
}


def test_what_a_log_puts_before_a_message_is_left_out():
    assert {text: without_log_prefix(text) for text in PREFIXES} == PREFIXES


KEYS = [
    Chunk("1", "cart.limit=At most {0} items fit\n", "ini"),
    Chunk("2", "  late: The order was late\n", "yaml"),
    Chunk("3", '<data name="PayFailed">\n  <value>The payment was refused</value>\n</data>\n', "xml"),
    Chunk("4", '{"full": "The box is full"}\n', "json"),
    Chunk("5", 'msgid "The box is full"\n', "gettext"),
]


def test_keys_of_resources():
    assert [key_at(chunk, int(chunk.language == "xml")) for chunk in KEYS] == [
        "cart.limit",
        "late",
        "PayFailed",
        "full",
        "",
    ]


def test_a_message_of_a_resource_is_found_with_what_uses_its_key(snapshot_of, encoder):
    chunks = [
        Chunk("a:1", "cart.limit=You can put at most {0} items into the cart\n", "ini", "messages.properties", 1, 1),
        Chunk("b:1", 'void add() {\n  fail(text("cart.limit", n));\n}\n', "java", "Cart.java", 1, 3, "add", "method"),
        *(Chunk(f"c:{n}", f"void m{n}() {{ put(cart); }}\n", "java", "O.java", n, n, f"m{n}") for n in range(9)),
    ]  # fmt: skip
    query = Query("1", "You can put at most 20 items into the cart", "code")
    (hits,) = LearnedSearcher(snapshot_of(chunks), encoder).search([query], 3)
    assert [(hit.chunk.path, hit.line) for hit in hits[:2]] in (
        [("messages.properties", 1), ("Cart.java", 2)],
        [("Cart.java", 2), ("messages.properties", 1)],
    )


def test_strings_of_any_length_and_nesting_are_read():
    for text in ("\"'`" * 5000, '"' + "\\" * 9000, '"a" + ' * 3000, '"""' * 4000, '"{' * 4000):
        assert len(list(joined_strings(text))) >= 0
