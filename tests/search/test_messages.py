from __future__ import annotations

import pytest

from assay.search.messages import comes_from
from assay.search.question import understand

PYTHON = 'def load(path):\n    raise ValueError(f"cannot open file {path!r}: it is not a regular file")\n'


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("cannot open file '/etc/motd': it is not a regular file", PYTHON),
        ("2024-03-01 12:00:07 ERROR [worker-3] Cannot open file x: it is not a regular file.", PYTHON),
        ("ValueError: cannot open file a b c: it is not a regular file (in load)", PYTHON),
        ("listening on port 8080 of host ::1", 'log.Printf("listening on port %d of host %s", port, host)'),
        ("listening on port 8080 of host ::1", "log(`listening on port ${port} of host ${host}`)"),
        ("listening on port 8080 of host ::1", 'puts "listening on port #{port} of host #{host}"'),
        ("listening on port 8080 of host ::1", 'print("listening on port \\(port) of host \\(host)")'),
        ("listening on port 8080 of host ::1", 'println("listening on port $port of host $host")'),
        ("the worker has ended too early", "# The worker has ended, too early!\nstop()"),
        ('where is "the worker has ended too early" said', "# The worker has ended, too early!\nstop()"),
        ("can't read the key of user 7", "throw Error('can\\'t read the key of user ' + user)"),
    ],
)
def test_a_pasted_message_comes_from_the_text_that_makes_it(question, text):
    assert comes_from(understand(question), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("it is not a regular file: cannot open file x", PYTHON),
        ("cannot open file", 'raise OSError("cannot open file")'),
        ("where is a file opened that is not regular", PYTHON),
        ("what is in the list of the user", 'say("what is in the")'),
        ("", PYTHON),
        ("cannot open file x: it is not a regular file", ""),
    ],
)
def test_another_order_few_words_or_plain_ones_are_no_message(question, text):
    assert not comes_from(understand(question), text)


def test_a_text_of_quotes_alone_is_read_in_time():
    assert not comes_from(understand("cannot open file x: it is not a regular file"), "\"'`" * 30_000)
    assert not comes_from(understand("cannot open file x: it is not a regular file"), '"' + "\\" * 30_000)
    assert not comes_from(understand("cannot open file x: it is not a regular file"), '"' + "{" * 30_000 + '"')
