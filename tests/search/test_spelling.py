from __future__ import annotations

import pytest

from assay.assemble.pipeline import dictionary
from assay.search.spelling import Speller
from assay.types import Chunk

TEXT = """
retry retries the request when the server is busy; timeout of the connection; parse arguments of the command line;
read the configuration file; receive a message; cache of responses; separator; authentication of the user; zorbat
"""


@pytest.fixture(scope="module")
def mended(snapshot_of):
    speller = Speller(
        snapshot_of([Chunk("1", TEXT)], [Chunk("2", "parseArgs"), Chunk("3", "gone"), Chunk("4", "xylem")], dead={"4"}),
        dictionary,
    )
    return speller.corrected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("recieve", "receive"),
        ("mesage", "message"),
        ("messagd", "message"),
        ("cachr", "cache"),
        ("configuraiton", "configuration"),
        ("tiemout", "timeout"),
        ("seperator", "separator"),
        ("authentification", "authentication"),
        ("requset", "request"),
        ("Recieve", "receive"),
        ("zorbta", "zorbat"),
        ("how to recieve a mesage", "how to receive a message"),
        ("recieve, then retry!", "receive, then retry!"),
        ("connectiontimeout", "connection timeout"),
        ("messagecache", "message cache"),
    ],
)
def test_a_misspelt_word_is_mended(mended, typed, meant):
    assert mended(typed) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "retry the request",
        "banana",  # a word, though nobody wrote it here
        "painting elephants",
        "zorbat",  # no word, but written here
        "getMesage",
        "GetMesage",
        "MESAGE",
        "get_mesage",
        "mesage_2",
        "mesage2",
        "_mesage",
        "recieveé",
        "qwxzjkvbq",  # nothing is near
        "teh",  # too short to tell
        "m" * 41,
    ],
)
def test_anything_else_stays(mended, text):
    assert mended(text) == text


def test_what_only_the_dead_hold_is_no_correction(mended):
    assert mended("xylemm") == "xylemm"


def test_of_two_as_near_the_commoner_is_meant(snapshot_of):
    chunks = [Chunk("1", "zorbal"), *[Chunk(str(n), "zorbat") for n in range(2, 5)]]
    assert Speller(snapshot_of(chunks), frozenset).corrected("zorbax") == "zorbat"
    assert Speller(snapshot_of([*chunks[:2], Chunk("9", "zorbal")]), frozenset).corrected("zorbax") == "zorbal"


def test_a_corpus_without_a_word_mends_nothing(snapshot_of):
    assert Speller(snapshot_of([]), dictionary).corrected("recieve teh mesage") == "recieve teh mesage"
