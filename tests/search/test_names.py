"""Names as somebody types them: what declares them comes first; where nothing does, names like them are found."""

from __future__ import annotations

import numpy as np

from assay.search.declared_names import declarations, typed_names
from assay.search.hybrid import LearnedSearcher
from assay.search.part_names import NameFinder, names_like
from assay.values import Chunk, Query


def unit(symbol, kind="function", path="lib/a.py", parent="", start=1, text="", signature=""):  # noqa: PLR0917
    place = ("python", path, start, start + 9, symbol, kind, parent)
    return Chunk(f"{path}:{start}", text or f"{symbol} body", *place, signature=signature)


DAYS = ((1, "/** @name addDays: addDays(date) adds days */"), (11, "function addDays(date) {"))
LIBRARY = [
    unit("APIRouter", "class", "lib/routing.py", start=21),
    unit("APIRouter", "class", "lib/routing.py", start=31, text="APIRouter the rest of the class"),
    unit("__init__", "constructor", "lib/routing.py", "APIRouter", 1, "APIRouter APIRouter prefix"),
    *(
        unit(f"route_{n}", "method", "lib/routing.py", "APIRouter", 100 + 10 * n, "APIRouter APIRouter")
        for n in range(9)
    ),
    *(unit(f"use_{n}", path="lib/uses.py", start=1 + 10 * n, text="router = APIRouter() APIRouter") for n in range(9)),
    unit("get", "method", "lib/client.py", "Client", 1),
    unit("get", "method", "lib/session.py", "Session", 1),
    unit("get", "function", "tests/test_get.py", start=1),
    unit("Request", "class", "lib/request.py", start=1),
    unit("request", "method", "lib/client.py", "Client", 11),
    unit("parse_args", path="lib/arguments.py"),
    unit("größe_lesen", path="lib/größe.py"),
    unit("empty?", "method", "lib/box.rb", "Box", 1),
    *(unit("addDays", path="lib/days.ts", start=n, text=text, signature="function addDays(date)") for n, text in DAYS),
]


FIRST = {
    "APIRouter": "lib/routing.py:21", "where is APIRouter defined?": "lib/routing.py:21",
    "class APIRouter": "lib/routing.py:21", "APIRouter constructor": "lib/routing.py:1",
    "apirouter": "lib/routing.py:21", "Session.get": "lib/session.py:1", "client::get": "lib/client.py:1",
    "Request": "lib/request.py:1", "request": "lib/client.py:11", "function get": "lib/client.py:1",
    "`parse_args`": "lib/arguments.py:1", "parseargs": "lib/arguments.py:1", "ParseArgs()": None,
    "größe_lesen": "lib/größe.py:1", "where is empty? defined": "lib/box.rb:1", "addDays": "lib/days.ts:11",
}  # fmt: skip
ODD = ("x", "*", "a" * 500, "get*", "имя", "名前", "::", "a/b.c", "." * 500, "a." * 400)


def test_the_declaration_of_a_name_comes_first_and_odd_names_have_an_answer(snapshot_of, encoder):
    searcher = LearnedSearcher(snapshot_of(LIBRARY), encoder)
    for asked, first in FIRST.items():
        (hits,) = searcher.search([Query("1", asked, "code")], 5)
        declared = bool(hits[0].why.get("name"))
        assert (hits[0].chunk.id if declared else None) == first, (asked, hits)
        assert not declared or hits[0].score > 0.95
    for hits in searcher.search([Query("1", odd, "code") for odd in ODD], 5):
        assert all(0 <= hit.score <= 1 for hit in hits)


def test_a_name_in_a_sentence_is_looked_up_and_words_are_not():
    names = typed_names("how does APIRouter hand requests to Session.get")
    assert names.target is None
    assert [(name.owner, name.name) for name in names.distinct] == [("", "APIRouter"), ("Session", "get")]
    assert typed_names("where are requests retried").distinct == ()


def test_of_a_name_that_thousands_of_files_declare_few_are_read(snapshot_of, encoder):
    many = [unit("run", path=f"lib/{n}.py", signature=f"run({n})") for n in range(3000)]
    snapshot = snapshot_of([*many, *(unit(f"run_{n}", path=f"lib/other_{n}.py") for n in range(3000))])
    found = declarations(snapshot, typed_names("run"), None)
    assert 0 < len(found) < 100
    assert {snapshot.symbol(number) for number in found.tolist()} == {"run"}
    overloads = [unit("run", path="lib/a.py", start=1 + 3 * n, signature=f"run({n})") for n in range(3000)]
    (hits,) = LearnedSearcher(snapshot_of(overloads), encoder).search([Query("1", "run", "code")], 10)
    assert len(hits) == 1
    assert hits[0].others
    assert not len(declarations(snapshot, typed_names("run"), np.zeros(snapshot.size, dtype=bool))), "a filter holds"


NAMES = (
    *("LoadBalancer", "ReloadBalancer", "load_balance_all", "parse_args", "parse_arguments", "HTTPServer", "Utf8Bytes"),
    *("getCommitByName", "send_mail", "resend", "_private"),
)
LIKE = {
    "parse_arg": ("begin", "parse_args parse_arguments"), "parsearg": ("begin", "parse_args parse_arguments"),
    "Load": ("begin", "LoadBalancer load_balance_all"), "priv": ("begin", "_private"), "xqzv": None,
    "balance": ("hold", "LoadBalancer ReloadBalancer load_balance_all"), "gcbn": ("letters", "getCommitByName"),
    "LdBl": ("letters", "LoadBalancer load_balance_all"), "HtpSrv": ("letters", "HTTPServer"),
    "sned_mail": ("spelt", "send_mail"), "LoadBalnacer": ("spelt", "LoadBalancer"),
}  # fmt: skip


def test_a_name_is_found_by_its_beginning_a_part_some_letters_or_a_misspelling_in_this_order():
    found = {typed: NameFinder(NAMES).like(typed, 3) for typed in LIKE}
    assert {typed: one and (one.how, " ".join(one.names)) for typed, one in found.items()} == LIKE


def _chunks() -> list[Chunk]:
    places = [("src/mail.py", "send_mail"), ("src/mail.py", "send_messages"), ("tests/test_mail.py", "send_m")]
    return [
        Chunk(
            f"{path}:{at}", f"def {name}(): ...\n", "python", path, at, at, name, "function", signature=f"def {name}()"
        )
        for at, (path, name) in enumerate(places, 1)
    ]


NOT_LIKE = ("send_mail", "where is send_mail defined", "how is mail sent", "se", "x" * 500, "qqqq_zz")
"""A declared name, questions, two letters and nonsense."""


def test_what_nothing_declares_is_answered_by_names_like_it_programs_first(snapshot_of):
    snapshot = snapshot_of(_chunks())
    found = names_like(snapshot, Query("1", "send_"))
    assert [hit.chunk.symbol for hit in found.hits] == ["send_mail", "send_messages", "send_m"]
    assert found.notes == ("nothing declares 'send_'; names that begin so: send_mail, send_messages, send_m",)
    assert sorted((hit.score for hit in found.hits), reverse=True) == [hit.score for hit in found.hits]
    assert [text for text in NOT_LIKE if names_like(snapshot, Query("1", text)).hits] == []
