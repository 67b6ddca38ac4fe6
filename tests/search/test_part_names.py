"""Names that are found by a part of them, and what a search for one says."""

from assay.search.part_names import NameFinder, names_like
from assay.values import Chunk, Query

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
