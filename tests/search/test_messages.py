"""Strings that pasted messages were made from: joined ones, short ones, those of resources; what a log puts before."""

from assay.corpus.code_strings import joined_strings
from assay.search.hybrid import LearnedSearcher
from assay.search.messages import key_at, message_in, without_log_prefix
from assay.search.question import understand
from assay.values import Chunk, Query

PYTHON = 'def load(path):\n    raise ValueError(f"cannot open file {path!r}: it is not a regular file")\n'
LISTENING = "listening on port 8080 of host ::1"
ENDED = "# The worker has ended, too early!\nstop()"
MADE = [
    ("cannot open file '/etc/motd': it is not a regular file", PYTHON),
    ("2024-03-01 12:00:07 ERROR [worker-3] Cannot open file x: it is not a regular file.", PYTHON),
    ("ValueError: cannot open file a b c: it is not a regular file (in load)", PYTHON),
    ("cannot open file", 'raise OSError("cannot open file")'),
    (LISTENING, 'log.Printf("listening on port %d of host %s", port, host)'),
    (LISTENING, "log(`listening on port ${port} of host ${host}`)"),
    (LISTENING, 'puts "listening on port #{port} of host #{host}"'),
    (LISTENING, 'print("listening on port \\(port) of host \\(host)")'),
    (LISTENING, 'println("listening on port $port of host $host")'), ("the worker has ended too early", ENDED),
    ('where is "the worker has ended too early" said', ENDED),
    ("can't read the key of user 7", "throw Error('can\\'t read the key of user ' + user)"),
    ("cannot open /etc/motd of host localhost", 'throw Error("cannot open " + path + " of host " + host);'),
    ("the letter to Jo could not be sent", 'fail("the letter to %s " \n     "could not be sent")'),
    ("no such box 'letters'", 'f"no such box {name!r}"'),
    ("no box letters is known here", 'puts "no box " << name << " is known here"'),
    ("12 letters of 40 lost", 'printf("%zu letters of %" PRIu64 " lost", a, b)'),
    ("opened 42box at port 80", 'msg := "opened %sbox at port %d"'),
    ("unknown relay: mail-7", 'raise Invalid, "unknown relay: #{relay}"'),
    ("box in is full: 99 letters", "const text = `box ${name} is full: ${n} letters`"),
    ("Error: permission denied", 'Err("permission denied")'),
]  # fmt: skip
NOT_MADE = [
    ("it is not a regular file: cannot open file x", PYTHON), ("cannot open", 'raise OSError("cannot open")'),
    ("where is a file opened that is not regular", PYTHON), ("", PYTHON),
    ("what is in the list of the user", 'say("what is in the")'),
    ("where is the letter box opened", 'say("letter box")'),
    ("unknown relay handling in the pool of workers", 'say("unknown relay")'),
    *(("cannot open file x: it is not a regular file", text) for text in ("", "\"'`" * 9_000, '"' + "\\" * 9_000)),
    ("cannot open file x: it is not a regular file", '"' + "{" * 9_000 + '"'),
]  # fmt: skip


def test_a_pasted_message_comes_from_the_text_that_makes_it_and_another_order_few_words_or_plain_ones_are_none():
    assert [case for case in MADE if not message_in(understand(case[0]), Chunk("1", case[1]))] == []
    assert [case for case in NOT_MADE if message_in(understand(case[0]), Chunk("1", case[1]))] == []


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
    found = [key_at(chunk, int(chunk.language == "xml")) for chunk in KEYS]
    assert found == ["cart.limit", "late", "PayFailed", "full", ""]


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
