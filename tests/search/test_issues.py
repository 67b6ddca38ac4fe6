"""Issues and messages as people paste them: what is asked of them, how answers are pooled, what made a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.code_strings import joined_strings
from assay.search.hybrid import LearnedSearcher
from assay.search.issues import WEIGHTS, IssueSearcher, issue_of, pooled, telling_part
from assay.search.messages import key_at, message_in, without_log_prefix
from assay.search.question import understand
from assay.values import Chunk, Hit, Query

REPORT = """\
[Bug]: A letter is sent twice when the server is busy
<!-- Please search the existing reports first. -->

### Describe the bug

Delivery retries although the first attempt was accepted. I expected one letter in the mailbox.

```python
post = Mailbox(retries=3)
post.deliver(letter)
```

2024-05-01 10:11:12,123 INFO connecting to the relay
- [x] I have read the guidelines

### Environment

Darwin arm64, a laptop
Python 3.11.2

### More

- postbox: 1.22.333
numpy==1.26.4
It began with the last release.
----------
"""


def test_a_report_is_its_title_and_what_it_says():
    issue = issue_of(REPORT)
    assert issue.title == "A letter is sent twice when the server is busy"
    assert issue.text.split("\n") == [
        "[Bug]: A letter is sent twice when the server is busy",
        "Delivery retries although the first attempt was accepted. I expected one letter in the mailbox.",
        "It began with the last release.",
        "post = Mailbox(retries=3)",
        "post.deliver(letter)",
    ]
    fenced = issue_of("Crash\n```\n" + "# not a heading\nvalue = 1\n" * 30)  # a fence that never closes
    assert fenced.text.startswith("Crash\n# not a heading\nvalue = 1\n")
    assert len(issue_of("Crash\n" + "it says a word and another one\n" * 9999).text) == 2000


def test_a_question_and_nothing_but_a_form_are_no_issue():
    form = "### Environment\n" + "- OS: some system\n" * 30
    for text in ("", "where is mail sent", "a\nb", "one line " * 100, "short\n" * 20, "\n" * 999, form):
        assert issue_of(text) is None, text


TITLES = {
    "# Crash on start": "Crash on start", "Bug: crash on start": "crash on start",
    "[BUG] [v2] Crash on start.": "Crash on start.", "Crash in 3.4.0": "Crash in 3.4.0", "bug:": "",
    "## Describe the bug\nCrash on start": "", "**Describe the bug**\nCrash on start": "",
    'Traceback (most recent call last):\n  File "a/b.py", line 3, in f\n    g()\nKeyError: 3': "",
    "```\ncode()\n```": "", "Hello everybody!": "",
    "I found that it crashes when it is started for the second time on the same machine and disk.": "",
    "word " * 25: "",
}  # fmt: skip


def test_a_line_of_a_log_that_says_what_went_wrong_is_asked():
    line = "2024/05/05 10:11:12 http: panic serving 127.0.0.1:5555: the letter box is full"
    trace = "goroutine 1 [running]:\nexample.com/post.(*Box).Put(0xc0000b6000)\n\t/app/post/box.go:4 +0x3fb\n"
    assert issue_of(f"{line}\n{trace * 5}").title == line
    assert telling_part("GET /letters 200\n" * 2000 + f"{line}\n{trace}") == f"{line}\n{trace}"


def test_the_first_line_is_the_title_if_it_reads_like_one():
    assert {first: issue_of(f"{first}\n{'It says more below. ' * 20}").title for first in TITLES} == TITLES


@given(st.text(alphabet=st.sampled_from("ab1.:/-*#`_<>!\n\t \\[]()=v"), max_size=1500))
def test_any_text_can_be_taken_apart(text):
    issue = issue_of(text)
    assert issue is None or (issue.text and len(issue.title) <= 120 and len(issue.text) <= 2000)


def test_a_text_of_one_thing_over_and_over_is_taken_apart_too():
    for unit in ("1.", "a ", "a.b ", "<!-- ", "- ", "** ", "=1.1.1", "\\", "a/", 'File "', "at a.", "#"):
        text = "Title\n" + (unit * 9600)[:9600] + "\n" + (unit * 90)[:90] + " !"
        issue = issue_of(text)
        assert issue is None or len(issue.text) <= 2000, unit


CHUNKS = [
    Chunk(f"{path}:{n}", f"def {name}_{n}():\n    {body}\n", "python", path, n, n + 1, f"{name}_{n}", "function")
    for path, name, body in (
        ("src/post/send.py", "send_letter", "deliver the letter to the relay"),
        ("src/post/box.py", "open_box", "take a letter out"),
        ("src/post/relay.py", "connect", "busy relay"),
        ("tests/test_send.py", "test_send_letter", "deliver the letter twice"),
    )
    for n in range(1, 13, 2)
]
ISSUE = "The letter is delivered twice\n\n" + "The relay was busy and the letter went out again. " * 8


@pytest.fixture
def searchers(snapshot_of, encoder):
    snapshot = snapshot_of(CHUNKS)
    inner = LearnedSearcher(snapshot, encoder)
    return inner, IssueSearcher(inner, snapshot)


def test_questions_are_asked_as_they_stand(searchers):
    inner, issues = searchers
    queries = [Query("1", "send letter"), Query("2", "busy relay\nconnect")]
    assert issues.search(queries, 9) == inner.search(queries, 9)
    assert issues.search([queries[0], Query("3", ISSUE)], 9)[0] == inner.search(queries, 9)[0]


def test_a_file_that_is_named_comes_up_unless_it_is_a_test_and_filters_hold_for_it(searchers):
    def found(more: str = "", **filters) -> list[Hit]:
        return searchers[1].search([Query("1", ISSUE + more, **filters)], 20)[0]

    box = "src/post/box.py"
    without, named = found(), found('\n  File "/x/post/box.py", line 3, in open_box')
    places = [[one.chunk.path for one in hits].index(box) for hits in (without, named)]
    assert places[1] < places[0]
    assert next(one for one in named if one.chunk.path == box).why["file_named"] > 0
    paths = [one.chunk.path for one in without]
    assert max(paths.count(path) for path in paths) == 3, "no file has more than three places"
    assert len(set(paths)) == 4
    kept = {one.chunk.path for one in found("\nsee src/post/box.py and src/post/send.py", paths=("!box.py",))}
    assert kept == {chunk.path for chunk in CHUNKS} - {box}
    assert not any("file_named" in one.why for one in found("\ntests/test_send.py:3: AssertionError"))
    (untitled,) = searchers[1].search([Query("1", f"### What happens\n\n{ISSUE}\nsrc/post/box.py:3")], 20)
    assert {name for one in untitled for name in one.why} == {"text", "named", "file_text", "file_named"}


def hit(path, number, score):
    return Hit(Chunk(f"{path}:{number}", "", "python", path, number, number), score)


def test_a_score_is_half_its_own_and_half_its_file_s():
    answers = {"title": [hit("a", 1, 0.6), hit("a", 5, 0.3)], "text": [hit("b", 1, 0.4), hit("a", 5, 0.2)]}
    found = {one.chunk.id: one for one in pooled(answers, {})}
    assert WEIGHTS == {"title": 1.0, "text": 0.5, "named": 0.5}
    assert found["a:1"].score == pytest.approx((0.6 + 0.6 + 0.5 * 0.2) / 3)
    assert found["a:5"].score == pytest.approx((0.3 + 0.5 * 0.2 + 0.6 + 0.5 * 0.2) / 3)
    assert found["b:1"].score == pytest.approx((0.5 * 0.4 + 0.5 * 0.4) / 3)
    assert list(found) == ["a:1", "a:5", "b:1"]
    assert all(sum(one.why.values()) == pytest.approx(one.score) for one in found.values())
    named = pooled({"title": [hit("a", 1, 0.6)], "text": [], "named": [hit("c", 1, 0.2)]}, {"c": 0.5})
    scores = {one.chunk.id: one.score for one in named}
    assert scores == pytest.approx({"a:1": 1.2 / 4, "c:1": (0.5 * 0.2 + 0.5 * 0.5) / 4})
    (certain,) = pooled({"title": [hit("a", 1, 1.0)], "text": [hit("a", 1, 1.0)]}, {})
    assert certain.score == pytest.approx(1)


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
    "ERROR: cannot open file": "cannot open file", "where are errors handled": "where are errors handled",
    "ERROR constant": "ERROR constant", "2 errors in the file": "2 errors in the file",
}  # fmt: skip


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
