from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.view import _IDENTIFIER, _identifiers, source, view
from assay.values import KINDS, Chunk

CHUNK = Chunk(
    id="1",
    text='''def openConnection(self, host, port):
    """Connect to a server."""
    # give up after three tries
    for attempt in range(3):
        socket = create_socket(host, port)
        if socket.connect_ex(host):
            log_failure(attempt, socket)
''',
    language="python",
    path="src/netlib/transport/tcp_client.py",
    symbol="openConnection",
    kind="method",
    parent="TcpClient",
    doc="Connect to a server.",
    signature="def openConnection(self, host, port)",
)


def test_a_view_says_names_then_words_by_how_often_they_are_used_and_no_syntax() -> None:
    assert view(CHUNK).startswith("method open connection open connection tcp client netlib transport")
    assert all(part in view(CHUNK) for part in ("Connect to a server.", "give up after three tries", "host port"))
    words = view(CHUNK).split()
    assert not {"self", "for", "def", "range("} & set(words)
    assert words.count("socket") == words.count("failure") == words.count("attempt") == 1
    assert words.index("socket") < words.index("failure")


def test_documentation_that_is_also_a_comment_is_said_once_and_addresses_are_no_comments() -> None:
    text = "/// Opens it.\nfn open() {} // now\n"
    rust = view(Chunk("1", text, "rust", "a.rs", symbol="open", kind="function", doc="Opens it."))
    assert (rust.count("Opens it"), "now" in rust) == (1, True)
    go = view(Chunk("1", 'get("http://x.org/never closed")', "go", "a.go", kind="function"))
    assert go.split(".")[1].split()[0] == "http"


def test_bodies_say_less_beside_much_prose() -> None:
    body = " ".join(f"word{chr(97 + i)}{chr(97 + j)}" for i in range(8) for j in range(8))
    bare = Chunk("1", body, kind="function")
    told = Chunk("1", body, kind="function", doc="This explains at length what happens. " * 6)
    assert len(view(bare).split()) == 40 + 2
    assert sum(word.startswith("word") for word in view(told).split()) < 30


def test_sections_keep_headings_and_text() -> None:
    section = Chunk("1", "Install it with pip.", "markdown", "docs/start.md", 1, 1, "Install", "section", "Guide")
    assert view(section) == "docs start Guide Install Install Install it with pip."


TEXTS = st.lists(st.text(max_size=300), min_size=5, max_size=5)


@given(TEXTS, st.sampled_from(KINDS), st.sampled_from("python go lua markdown".split()))
@settings(max_examples=40)
def test_any_chunk_has_a_short_view(fields: list[str], kind: str, language: str) -> None:
    text, path, symbol, parent, doc = fields
    chunk = Chunk("1", text * 50, language, path, 1, 1, symbol, kind, parent, doc * 20, text)
    assert len(view(chunk)) < 12_000


@given(st.text() | st.text(st.sampled_from("ab9_ é\n")))
def test_identifiers_are_counted_as_the_pattern_finds_them(text: str) -> None:
    counted = _identifiers(text)
    assert list(counted.items()) == list(Counter(_IDENTIFIER.findall(text)).items())


def test_a_path_of_numbers_alone_is_not_read():
    chunk = Chunk("1", "def paint(): ...", "python", "data/17.py", 1, 1, "paint", "function")
    assert source(replace(chunk, path="17.py")) == " paint\ndef paint(): ..."
    assert source(chunk).startswith("data/17.py  paint\n")
