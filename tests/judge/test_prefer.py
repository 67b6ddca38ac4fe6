from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest

from assay.errors import InputError, StorageError
from assay.judge.pairs import Pair
from assay.judge.preferences import Ballot, PreferenceStudy, codes_of, paired, preference, read_votes
from assay.runs.options import SampleDraw
from assay.runs.record import among_writers
from assay.values import Chunk, Problem, Query


def pair(query: str, code: str, text: str = "") -> Pair:
    return Pair(Query(query, f"how to {query}"), Chunk(code, text or f"def {code}(): ..."))


def study(count: int = 40) -> PreferenceStudy:
    return paired([pair(f"q{at}", f"a{at}") for at in range(count)], [pair(f"q{at}", f"b{at}") for at in range(count)])


def vote_all(ballot: Ballot, side: str = "left") -> None:
    while item := ballot.item_to_show()["item"]:
        ballot.take({"item": item["id"], "side": side})


def test_only_queries_with_two_codes_that_differ_are_asked():
    ours = [pair("both", "a1"), pair("same", "a2", "x = 1"), pair("mine", "a3"), Problem("f:4", "odd")]
    theirs = [pair("both", "b1"), pair("same", "b2", "x = 1\n"), pair("yours", "b3"), pair("yours", "b4")]
    found = paired(ours, theirs)
    assert [(item.a.id, item.b.id) for item in found.items] == [("a1", "b1")]
    assert (found.only_a, found.only_b, found.same, len(found.problems)) == (1, 1, 1, 1)


def test_a_code_that_differs_is_found_where_there_is_one():
    one, several = [pair("q", "a", "x = 1")], [pair("q", "b", "x = 1"), pair("q", "c", "y = 2")]
    for seed in range(20):
        assert paired(one, several, SampleDraw(seed=seed)).items[0].b.id == "c"
        assert paired(several, one, SampleDraw(seed=seed)).items[0].a.id == "c"


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_files():
    ours = [pair(f"q{at}", f"a{at}{letter}") for at in range(30) for letter in "xyz"]
    theirs = [pair(f"q{at}", f"b{at}") for at in range(30)]
    items = paired(ours, theirs).items
    assert items == paired(ours[::-1], theirs[::-1]).items != paired(ours, theirs, SampleDraw(seed=1)).items


def test_a_query_of_another_text_is_a_problem_and_nothing_to_choose_between_is_refused():
    other = Pair(Query("q1", "something else"), Chunk("b1", "pass"))
    found = paired([pair("q1", "a1"), pair("q2", "a2")], [other, pair("q2", "b2")])
    assert [item.query.id for item in found.items] == ["q2"]
    assert [problem.where for problem in found.problems] == ["q1"]
    with pytest.raises(InputError, match="1 queries only in the first file, 0 only"):
        paired([pair("q", "a")], [])


def test_what_is_shown_does_not_say_whose_it_is(tmp_path: Path):
    ballot = Ballot(study(), tmp_path / "votes.jsonl")
    shown = ballot.item_to_show()
    assert shown["item"].keys() == {"id", "query", "left", "right"}
    assert (shown["voted"], shown["total"], shown["at"]) == (0, 40, 0)


def test_sides_and_order_are_drawn_for_each_voter_and_even_out(tmp_path: Path):
    seen = []
    for voter in ("ann", "bob", "ann"):
        ballot = Ballot(study(200), tmp_path / "none.jsonl", voter=voter)
        items = [ballot.item_to_show(at)["item"] for at in range(200)]
        seen.append([(item["query"], item["left"]) for item in items])
        lefts = sum(item["left"].startswith("def a") for item in items)
        assert 60 < lefts < 140
    assert seen[0] == seen[2]
    assert [query for query, _ in seen[0]] != [query for query, _ in seen[1]]
    assert dict(seen[0]) != dict(seen[1])
    assert {query for query, _ in seen[0]} == {query for query, _ in seen[1]}


def test_votes_are_written_as_what_was_chosen(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    ballot = Ballot(study(3), file, voter="ann", seed=5)
    for side in ("left", "right", "neither"):
        item = ballot.item_to_show()["item"]
        ballot.take({"item": item["id"], "side": side, "seconds": 2.34})
        last = read_votes(file)[1][-1]
        assert last["seconds"] == 2.3
        assert (last["voter"], last["query_id"]) == ("ann", item["query"].removeprefix("how to "))
        chosen = last["a"] if last["choice"] == "a" else last["b"]
        assert last["choice"] == "neither" if side == "neither" else item[side] == f"def {chosen}(): ..."
    assert ballot.item_to_show()["item"] is None
    assert read_votes(file)[0]["items"] == 3


def test_a_study_goes_on_where_it_stopped_and_the_last_vote_counts(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    first = Ballot(study(3), file)
    item = first.item_to_show()["item"]
    first.take({"item": item["id"], "side": "left"})
    again = Ballot(study(3), file)
    assert again.voted == 1
    assert again.item_to_show()["item"]["id"] != item["id"]
    assert again.item_to_show(0)["item"] == item
    again.take({"item": item["id"], "side": "neither"})
    assert [vote["choice"] for vote in read_votes(file)[1]] == ["neither"]
    assert len(file.read_text().splitlines()) == 3
    assert Ballot(study(3), file, voter="bob").voted == 0


def test_a_vote_that_was_cut_off_is_cast_again(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    vote_all(Ballot(study(3), file))
    whole = file.read_bytes()
    for cut in range(0, len(whole), 41):
        file.write_bytes(whole[:cut])
        ballot = Ballot(study(3), file)
        vote_all(ballot)
        assert ballot.voted == len(read_votes(file)[1]) == 3


def test_votes_of_others_and_on_nothing_are_refused(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    ballot = Ballot(study(2), file)
    for item, side in (("none", "left"), (ballot.item_to_show()["item"]["id"], "middle")):
        with pytest.raises(InputError, match="wanted left, right, neither"):
            ballot.take({"item": item, "side": side})
    assert not file.exists()
    vote_all(ballot)
    for other, seed, what in ((study(4), 0, "the codes"), (study(2), 1, "seed")):
        with pytest.raises(InputError, match=rf"of another run: {what} differ; give another --votes"):
            Ballot(other, file, seed=seed)
    file.write_text(file.read_text() + '{"choice": "c"}\n')
    with pytest.raises(StorageError, match=r"votes.jsonl:4: no vote"):
        read_votes(file)
    file.write_text('{"kind": "reply"}\n')
    with pytest.raises(InputError, match="holds no votes"):
        Ballot(study(2), file)


def test_several_voters_at_once_lose_nothing(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    threads = [Thread(target=vote_all, args=(Ballot(study(10), file, voter=name),)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    of, votes = read_votes(file)
    assert of["items"] == 10
    assert len(votes) == 40


def test_a_vote_waits_while_another_program_writes(tmp_path: Path):
    file = tmp_path / "votes.jsonl"
    ballot = Ballot(study(1), file)
    with among_writers(file):
        voting = Thread(target=vote_all, args=(ballot,))
        voting.start()
        voting.join(0.1)  # what does not wait has written by then, on most days
        assert not file.exists()
    voting.join(60)
    assert len(read_votes(file)[1]) == 1


def test_matches_alone_are_taken_of_files_with_labels(tmp_path: Path):
    labelled = tmp_path / "labelled.jsonl"
    rows = [{"query_id": "q", "query": "ask", "code_id": f"c{at}", "code": "pass", "label": at} for at in (0, 1)]
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [one.code.id for one in codes_of(labelled)] == ["c1"]
    plain = tmp_path / "plain.jsonl"
    plain.write_text("".join(json.dumps({**row, "label": None}).replace(', "label": null', "") + "\n" for row in rows))
    assert [one.code.id for one in codes_of(plain)] == ["c0", "c1"]
    judged = tmp_path / "records.jsonl"
    verdicts = ({**row, "kind": "verdict", "pair": row["code_id"], "grade": row["label"]} for row in rows)
    judged.write_text("".join(json.dumps(row) + "\n" for row in verdicts))
    assert [one.code.id for one in codes_of(judged)] == ["c1"]


def votes(*given: tuple[str, str, str]) -> list[dict[str, object]]:
    return [{"item": i, "voter": v, "choice": c, "left": "a", "seconds": 4.0} for i, v, c in given]


def test_an_item_is_one_unit_however_many_vote():
    given = votes(
        ("1", "x", "a"), ("1", "y", "a"), ("1", "z", "b"), ("2", "x", "b"), ("2", "y", "neither"), ("3", "x", "a"),
        ("3", "y", "b"), ("4", "x", "neither"),
    )  # fmt: skip
    found = preference(given)
    assert (found.items, found.votes, found.voters) == (4, 8, 3)
    assert (found.a, found.b, found.draws) == (1, 1, 2)
    assert found.rate.value == 0.5
    assert found.p == 1
    assert found.left.value == 0.5
    assert found.alpha


def test_a_clear_winner_and_no_votes_at_all():
    found = preference(votes(*((str(at), "x", "a" if at < 18 else "b") for at in range(20))))
    assert (found.rate.value, found.alpha) == (0.9, None)
    assert found.rate.low == pytest.approx(0.699, abs=1e-3)
    assert found.p == pytest.approx(0.000402, abs=1e-6)
    none = preference([])
    assert (none.items, none.p) == (0, 1.0)
    assert none.rate.value != none.rate.value
