from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.errors import InputError
from assay.judge.evidence import COLUMNS
from assay.judge.pairs import Pair
from assay.judge.signals import FAILED, PASSED, SignalsJudge
from assay.judge.train_signals import AGAINST, FREE, LabeledPair, apart, learn, read_labelled, thresholds
from assay.judge.trials import State, Trial
from assay.types import Chunk, Query

REVERSE = Chunk("right", 'def reverse_string(text):\n    """Return a string reversed."""\n    return text[::-1]')
SOCKET = Chunk("wrong", 'def close_socket(self):\n    """Close the connection."""\n    self.sock.close()')
ASKED = Query("q", "python reverse a string")


def trying(state: State, seen: list[str]):
    """Stand for a sandbox, and for queries that show examples where they ask to reverse."""

    def run(pairs: Sequence[Pair]) -> list[Trial]:
        seen.extend(pair.code.text for pair in pairs)
        shown = ["reverse" in pair.query.text for pair in pairs]
        return [Trial(state if shows else "not run", "so", 3, 3 if state == "passed" else 2) for shows in shown]

    return run


def test_what_answers_is_likelier_and_says_why():
    right, wrong = SignalsJudge().opinions([(ASKED, REVERSE), (ASKED, SOCKET)])
    assert right.chance > 0.5 > wrong.chance
    assert wrong.call == "no match"
    assert next(iter(right.why)) == "cosine_view"


def test_a_verdict_is_what_a_campaign_takes():
    verdict = SignalsJudge().judge(Pair(ASKED, REVERSE))
    assert (verdict.grade, verdict.path) == (1, "signals")
    json.dumps(verdict.told)


def test_a_prior_moves_each_chance_and_keeps_the_order():
    pairs = [(ASKED, REVERSE), (ASKED, SOCKET)]
    rare = [one.chance for one in SignalsJudge(prior=0.05).opinions(pairs)]
    even = [one.chance for one in SignalsJudge(prior=0.5).opinions(pairs)]
    assert rare[0] < even[0]
    assert rare[0] > rare[1]


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0])
def test_an_impossible_prior_is_refused(prior: float):
    with pytest.raises(InputError, match="prior"):
        SignalsJudge(prior=prior)


@pytest.mark.parametrize("query", ["wie dreht man eine Liste mit Python um", "文字列を逆にする", ""])
def test_a_query_in_unknown_words_stays_undecided(query: str):
    verdict = SignalsJudge().judge(Pair(Query("q", query), REVERSE))
    assert verdict.grade is None
    assert "English" in verdict.reason


def test_empty_code_answers_nothing():
    opinion = SignalsJudge().opinions([(ASKED, Chunk("c", " \n"))])[0]
    assert (opinion.call, opinion.chance, opinion.reason) == ("no match", 0.0, "the code is empty")


@pytest.mark.parametrize(
    "text", ["func Reverse(s string) string { return s }", "(" * 100_000, "x = 1\n" * 200_000, "\0"]
)
def test_any_code_has_an_opinion(text: str):
    assert 0 <= SignalsJudge().opinions([(ASKED, Chunk("c", text))])[0].chance <= 1


@pytest.mark.parametrize(
    ("state", "call", "chance", "reason"),
    [
        ("passed", "match", PASSED, "holds on 3 of 3 examples that the query shows"),
        ("failed", "no match", FAILED, "holds on 2 of 3 examples that the query shows: so"),
    ],
)
def test_what_examples_show_decides(state: State, call: str, chance: float, reason: str):
    seen: list[str] = []
    other = Query("other", "close a socket")
    judge = SignalsJudge(trials=trying(state, seen))
    tested, untested = judge.opinions([(ASKED, REVERSE), (other, SOCKET)])
    assert (tested.call, tested.chance, tested.path, tested.reason) == (call, chance, "tests", reason)
    assert untested.path == "signals"
    assert seen == [REVERSE.text, SOCKET.text]


def test_a_run_that_shows_nothing_leaves_the_evidence():
    with_run = SignalsJudge(trials=trying("not run", [])).judge(Pair(ASKED, REVERSE))
    without = SignalsJudge().judge(Pair(ASKED, REVERSE))
    assert (with_run.grade, with_run.chance, with_run.path) == (without.grade, without.chance, without.path)
    assert with_run.told["examples"]["state"] == "not run"
    assert "examples" not in without.told


def test_a_broken_sandbox_leaves_a_pair_undecided():
    verdict = SignalsJudge(trials=trying("broken", [])).judge(Pair(ASKED, REVERSE))
    assert (verdict.grade, verdict.problem, verdict.reason) == (None, "sandbox", "so")


def test_weights_of_ones_own(tmp_path: Path):
    codes = [
        f"def reverse_{name}(text):\n    return text[::-1]" for name in ("string", "text", "words", "line", "letters")
    ]
    pairs = [
        LabeledPair(f"{word} a string", code, int(word == "reverse")) for code in codes for word in ("reverse", "mail")
    ]
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(learn(pairs)), "utf-8")
    judge = SignalsJudge(str(file))
    right, wrong = judge.opinions([(ASKED, REVERSE), (Query("m", "mail a letter"), REVERSE)])
    assert judge.name == f"signals:{file}"
    assert right.chance > wrong.chance


def test_evidence_counts_only_for_what_it_is_evidence_of():
    rng = np.random.default_rng(0)
    codes = (REVERSE.text, SOCKET.text)
    pairs = [LabeledPair(f"reverse string {i}", codes[i % 2], int(rng.integers(2))) for i in range(60)]
    linear = learn(pairs)["linear"]
    assert all(linear[column] >= 0 for column in COLUMNS if column not in FREE | AGAINST)
    assert all(linear[column] <= 0 for column in AGAINST)


def test_labels_of_chance_give_no_threshold():
    labels = np.tile([0.0, 1.0], 500)
    assert thresholds(np.linspace(0, 1, 1000), labels) == (-1.0, 2.0)


def test_labels_that_agree_give_both_thresholds():
    chances = np.linspace(0, 1, 1000)
    low, high = thresholds(chances, (chances > 0.5).astype(float))
    assert 0.3 < high <= low < 0.7


def test_queries_to_report_on_are_not_learned_from():
    pairs = [LabeledPair('"Sum  a list"', "x", 1), LabeledPair("sort", "x", 0)]
    assert apart(pairs, [LabeledPair("sum a list", "y", 0)]) == pairs[1:]


@pytest.mark.parametrize(
    "text", ['[{"doc": "a", "code": "b", "label": 1}]', '{"query": "a", "code": "b", "label": 1}\n']
)
def test_both_forms_of_labels_are_read(tmp_path: Path, text: str):
    file = tmp_path / "labels"
    file.write_text(text, "utf-8")
    assert read_labelled(file) == [LabeledPair("a", "b", 1)]


@pytest.mark.parametrize("text", ['{"query": "a"}', "no json", "[1]"])
def test_labels_that_are_none_are_named(tmp_path: Path, text: str):
    file = tmp_path / "labels"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match="wanted objects with query, code and label"):
        read_labelled(file)


def test_one_label_alone_teaches_nothing():
    with pytest.raises(InputError, match="both labels"):
        learn([LabeledPair("a", "b", 1)])


def test_missing_weights_are_named(tmp_path: Path):
    with pytest.raises(InputError, match="no weights of a judge"):
        SignalsJudge(str(tmp_path / "none.json"))
