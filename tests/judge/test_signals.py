"""The judge without a model: its features, its weights, and what examples show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.static import default_static
from assay.encode.vectors import HashedEncoder
from assay.errors import InputError
from assay.judge import signals
from assay.judge.pairs import Pair, Verdict
from assay.judge.signals import FEATURES, SignalsJudge, code_terms, features, query_terms, weights_file
from assay.judge.trials import State, Trial
from assay.values import Chunk, Query

REVERSE = Chunk("right", 'def reverse_string(text):\n    """Return a string reversed."""\n    return text[::-1]')
SOCKET = Chunk("wrong", 'def close_socket(self):\n    """Close the connection."""\n    self.sock.close()')
ASKED = Query("q", "python reverse a string")


def verdicts(pairs: Sequence[tuple[Query, Chunk]], **options) -> list[Verdict]:
    return SignalsJudge(**options).judge_all([Pair(*pair) for pair in pairs])


def trying(state: State, seen: list[str]):
    """Stand for a sandbox, and for queries that show examples where they ask to reverse."""

    def run(pairs: Sequence[Pair]) -> list[Trial]:
        seen.extend(pair.code.text for pair in pairs)
        shown = ["reverse" in pair.query.text for pair in pairs]
        return [Trial(state if shows else "not run", "so", 3, 3 if state == "passed" else 2) for shows in shown]

    return run


def test_what_answers_is_likelier_says_why_and_is_moved_by_the_prior():
    right, wrong = verdicts([(ASKED, REVERSE), (ASKED, SOCKET)])
    assert right.probability > 0.5 > wrong.probability
    assert (right.grade, right.path) == (1, "signals")
    assert wrong.details["call"] in {"no match", "unclear"}
    assert right.details["why"]["cosine"] > 0
    json.dumps(right.details)
    pairs = [(ASKED, REVERSE), (ASKED, SOCKET)]
    rare, even = ([one.probability for one in verdicts(pairs, prior=prior)] for prior in (0.05, 0.5))
    assert even[0] > rare[0] > rare[1]
    for prior in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="prior"):
            SignalsJudge(prior=prior)


def test_a_query_in_unknown_words_stays_undecided_and_any_code_has_a_verdict():
    for query in ("wie dreht man eine Liste mit Python um", "文字列を逆にする", ""):
        verdict = SignalsJudge().judge(Pair(Query("q", query), REVERSE))
        assert verdict.grade is None
        assert "English" in verdict.reason
    empty = SignalsJudge().judge(Pair(ASKED, Chunk("c", " \n")))
    assert (empty.details["call"], empty.probability, empty.reason) == ("no match", 0.0, "the code is empty")
    for text in ("func Reverse(s string) string { return s }", "(" * 100_000, "x = 1\n" * 50_000, "\0"):
        assert 0 <= SignalsJudge().judge(Pair(ASKED, Chunk("c", text))).probability <= 1


def test_what_examples_show_decides():
    for state, call, chance, reason in (
        ("passed", "match", signals.PASSED, "holds on 3 of 3 examples that the query shows"),
        ("failed", "no match", signals.FAILED, "holds on 2 of 3 examples that the query shows: so"),
    ):
        seen: list[str] = []
        other = (Query("other", "close a socket"), SOCKET)
        tested, untested = verdicts([(ASKED, REVERSE), other], trials=trying(state, seen))
        assert (tested.details["call"], tested.probability, tested.path, tested.reason) == (
            call,
            chance,
            "tests",
            reason,
        )
        assert untested.path == "signals"
        assert seen == [REVERSE.text, SOCKET.text]


def test_a_run_that_shows_nothing_leaves_the_verdict_of_the_features_and_a_broken_sandbox_none():
    with_run = SignalsJudge(trials=trying("not run", [])).judge(Pair(ASKED, REVERSE))
    without = SignalsJudge().judge(Pair(ASKED, REVERSE))
    assert (with_run.grade, with_run.probability, with_run.path) == (without.grade, without.probability, without.path)
    assert with_run.details["examples"]["state"] == "not run"
    assert "examples" not in without.details
    verdict = SignalsJudge(trials=trying("broken", [])).judge(Pair(ASKED, REVERSE))
    assert (verdict.grade, verdict.problem, verdict.reason) == (None, "sandbox", "so")


def test_weights_of_another_encoder_or_version_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no weights of a judge"):
        SignalsJudge(str(tmp_path / "none"))
    with pytest.raises(InputError, match="learn some with assay train judge --encoder"):
        SignalsJudge(encoder=HashedEncoder("16"))
    file = tmp_path / "signals.json"
    file.write_text(weights_file("").read_text("utf-8"), "utf-8")
    with pytest.raises(InputError, match="learned with no encoder"):
        SignalsJudge(str(tmp_path), encoder=HashedEncoder("384"))
    stored = json.loads(weights_file("").read_text("utf-8")) | {"linear": {"coverage": 1.0}}
    file.write_text(json.dumps(stored), "utf-8")
    with pytest.raises(InputError, match="of other features than this version has"):
        SignalsJudge(str(tmp_path))


def test_an_encoder_counts_only_for_weights_that_were_learned_with_it(tmp_path: Path):
    stored = json.loads(weights_file("").read_text("utf-8"))
    stored |= {"linear": {"cosine_encoder": 2.0}, "encoder": {"spec": "hash:64", "width": 64}}
    (tmp_path / "signals.json").write_text(json.dumps(stored), "utf-8")
    with pytest.raises(InputError, match="give that one with --encoder SPEC"):
        SignalsJudge(str(tmp_path))
    with pytest.raises(InputError, match=r"of an encoder of width 64, and .* has width 16"):
        SignalsJudge(str(tmp_path), encoder=HashedEncoder("16"))
    judge = SignalsJudge(str(tmp_path), encoder=HashedEncoder("64"))
    assert judge.name == f"signals:{tmp_path}+hash:64"
    assert judge.judge(Pair(ASKED, REVERSE)).details["why"]["cosine_encoder"] > 0


SUM = Chunk("sum", 'def sum_list(values):\n    """Return the sum of a list of numbers."""\n    return sum(values)')
OPEN_SOCKET = Chunk("socket", 'def open_socket(self, host):\n    """Connect to a host."""\n    self.sock.connect(host)')


def test_what_is_asked_for_has_higher_features_alone_and_among_others():
    pairs = [Pair(Query("q", "python sum a list of numbers"), code) for code in (SUM, OPEN_SOCKET)]
    right, wrong = (dict(zip(FEATURES, row, strict=True)) for row in features(pairs, default_static()).tolist())
    for name in ("cosine", "token_similarity", "name_similarity", "in_order"):
        assert right[name] > wrong[name]
    assert query_terms(Query("q", "how to sort a list using python")).telling == ("sort", "list")
    known = ("sort a list", "os.path.join")
    other = ("wie sortiere ich eine Liste", "comment trier une liste dans python", "如何在 python 中排序列表",
             "как отсортировать список", "", "???")  # fmt: skip
    assert [text for text in (*known, *other) if query_terms(Query("q", text)).known] == [*known]
    texts = enumerate(("sum of list", "open"))
    pairs = [Pair(Query(str(i), text), code) for i, text in texts for code in (SUM, OPEN_SOCKET)]
    together = features(pairs, default_static())
    alone = np.concatenate([features([pair], default_static()) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_python_is_read_by_its_parts_and_other_languages_by_their_words():
    terms = code_terms(SUM)
    assert (terms.name, terms.parameters) == (("sum", "list"), ("values",))
    assert (terms.lead[:3], terms.returned) == (("return", "the", "sum"), ("sum", "values"))
    for text in (
        "// Adds all numbers.\nfunction sumList(values) { return values.reduce((a, b) => a + b) }",
        "/** Adds all numbers. */\npublic static func sumList(values: [Int]) -> Int { return 0 }",
    ):
        terms = code_terms(Chunk("c", text, "other"))
        assert (terms.name, terms.lead[:3]) == (("sum", "list"), ("adds", "all", "numbers"))
        assert "values" in terms.parameters
    terms = code_terms(Chunk("c", "x = 1", symbol="load_table", doc="Load a table."))
    assert (terms.name, terms.lead[:2]) == (("load", "table"), ("load", "a")), "what the chunk knows is believed"
    start = "def first():\n" + "    x = 1\n" * (signals.MAX_CODE_CHARS // 10 + 10)
    assert code_terms(Chunk("c", start + "    unread = 1\n")) == code_terms(Chunk("c", start))


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=200), st.sampled_from(["", "python", "go"]))
def test_any_text_gives_bounded_numbers(query: str, code: str, language: str):
    rows = features([Pair(Query("q", query), Chunk("c", code, language))], default_static())
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 1.001
