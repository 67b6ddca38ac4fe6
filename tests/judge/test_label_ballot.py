"""What people say on a page: labels of pairs and preferences between codes, one file a person."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

from assay.errors import InputError, StorageError
from assay.judge import label_ballots, labels
from assay.judge.label_ballots import LabelBallot, LabelSettings, decided, read_study, results
from assay.judge.pairs import Pair
from assay.judge.preferences import Item, PreferenceBallot, PreferenceItems, paired, preference, read_choices
from assay.judge.records import judgments, verdicts
from assay.runs.options import SampleDraw
from assay.values import Chunk, Query

PAIRS = [Pair(Query(f"q{at // 2}", f"how to {at // 2}"), Chunk(f"c{at}", f"def f{at}(): ...")) for at in range(6)]


def labelled(folder: Path, person: str, grades: dict[int, int | None], pairs: list[Pair] = PAIRS, **options) -> None:
    with LabelBallot(pairs, folder, LabelSettings(person=person, **options)) as ballot:
        for at, grade in grades.items():
            ballot.take({"item": PAIRS[at].digest, "grade": grade, "reason": f"{person} says so", "seconds": at})


def test_a_label_is_a_record_that_other_readers_read(tmp_path: Path):
    labelled(tmp_path, "ann", {0: 1, 1: 0, 2: None})
    (record, *_) = verdicts(tmp_path / "ann.jsonl")
    assert (record["grade"], record["judge"], record["path"]) == (1, "ann", "person")
    assert [(each.query_id, each.grade) for each in judgments(tmp_path / "ann.jsonl")] == [("q0", 1), ("q0", 0)]
    (annotator,) = labels.read_labels(tmp_path / "ann.jsonl").annotators
    assert annotator.grades == {("q0", "c0"): 1, ("q0", "c1"): 0, ("q1", "c2"): None}
    assert annotator.reasons["q0", "c0"] == "ann says so"


def test_a_changed_mind_counts_and_a_cut_line_is_forgotten(tmp_path: Path):
    labelled(tmp_path, "ann", {0: 1, 1: 0})
    labelled(tmp_path, "ann", {0: 0})
    with (tmp_path / "ann.jsonl").open("a") as file:
        file.write('{"kind": "verdict", "pai')
    with LabelBallot(PAIRS, tmp_path, LabelSettings(person="ann")) as ballot:
        assert ballot.left == 4
        ballot.take({"item": PAIRS[2].digest, "grade": 1, "reason": ""})
    assert {each["code_id"]: each["grade"] for each in verdicts(tmp_path / "ann.jsonl")} == {"c0": 0, "c1": 0, "c2": 1}


def test_codes_of_a_query_come_together_and_each_person_has_an_order(tmp_path: Path):
    def order(person: str) -> list[str]:
        with LabelBallot(PAIRS, tmp_path, LabelSettings(person=person)) as ballot:
            return [ballot.item_to_show(at)["item"]["query"] for at in range(6)]

    orders = [order(f"p{number}") for number in range(8)]
    assert all(each[::2] == each[1::2] for each in orders)
    assert len({tuple(each) for each in orders}) > 1
    assert orders[0] == order("p0")
    labelled(tmp_path, "ann", {0: 1})
    with LabelBallot(PAIRS, tmp_path, LabelSettings(person="ben")) as ballot:
        told = json.dumps([ballot.item_to_show(at) for at in range(6)])
    assert ("ann" in told, '"labelled": true' in told) == (False, False), "nothing of others is shown"


def test_finished_labels_stay_and_new_pairs_can_follow(tmp_path: Path):
    labelled(tmp_path, "ann", dict.fromkeys(range(4), 1), PAIRS[:4])
    with LabelBallot(PAIRS[:4], tmp_path, LabelSettings(person="ann"), results=lambda: {"alpha": 1}) as ballot:
        assert not ballot.finished
        assert ballot.finish() == {"alpha": 1}
        assert ballot.finished
        with pytest.raises(InputError, match="stay as they are"):
            ballot.take({"item": PAIRS[0].digest, "grade": 0, "reason": ""})
    with LabelBallot(PAIRS[:4], tmp_path, LabelSettings(person="ann")) as ballot:
        assert ballot.item_to_show(0) == {"voted": 4, "total": 4, "at": 0, "item": None, "graded": False}
        ballot.finish()
    with LabelBallot(PAIRS, tmp_path, LabelSettings(person="ann")) as ballot:
        assert (len(ballot), ballot.left) == (2, 2)
        with pytest.raises(InputError, match="without a label"):
            ballot.finish()


def test_what_is_no_label_is_refused_and_so_is_a_name_that_no_file_can_have(tmp_path: Path):
    good = {"item": PAIRS[0].digest, "grade": 1, "reason": ""}
    changes = ({"item": "none"}, {"grade": 2}, {"grade": True}, {"grade": "1"}, {"grade": [1]}, {"reason": "x" * 2001},
               {"reason": 3})  # fmt: skip
    with LabelBallot(PAIRS, tmp_path, LabelSettings(person="ann")) as ballot:
        for change in changes:
            with pytest.raises(InputError, match="wanted"):
                ballot.take({**good, **change})
        with pytest.raises(InputError, match="no pair"):
            ballot.take({})
        assert ballot.left == 6
    for name in ("", "majority", "../ann", "a/b", ".ann", "x" * 41, "ann\n", "änn"):
        with pytest.raises(InputError, match=r"invalid name|what people say together"):
            LabelBallot(PAIRS, tmp_path, LabelSettings(person=name))


def test_one_person_labels_in_one_place_and_a_full_disk_loses_nothing(tmp_path: Path):
    with LabelBallot(PAIRS, tmp_path, LabelSettings(person="ann")) as ballot:
        with pytest.raises(InputError, match="another run writes to"):
            LabelBallot(PAIRS, tmp_path, LabelSettings(person="ann")).__enter__()
        labelled(tmp_path, "ben", {0: 1})
        ballot.take({"item": PAIRS[0].digest, "grade": 1, "reason": ""})
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "ann.jsonl").stat().st_size + 20, before[1]))
        try:
            with pytest.raises(StorageError, match="cannot write"):
                ballot.take({"item": PAIRS[1].digest, "grade": 1, "reason": ""})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert ballot.left == 5
        ballot.take({"item": PAIRS[1].digest, "grade": 0, "reason": ""})
    assert [each["grade"] for each in verdicts(tmp_path / "ann.jsonl")] == [1, 0]


def test_what_is_decided_replaces_only_what_was_decided(tmp_path: Path, monkeypatch):
    folder = tmp_path / "labels"
    labelled(folder, "ann", {0: 1})
    assert label_ballots.write_decided(folder, read_study(folder)) == label_ballots.write_decided(
        folder, read_study(folder)
    )
    (tmp_path / "labels.jsonl").write_text('{"query": "mine"}\n')
    with pytest.raises(InputError, match=r"labels\.jsonl is there and holds no labels of people: give another --out"):
        label_ballots.write_decided(folder, read_study(folder))
    assert (tmp_path / "labels.jsonl").read_text() == '{"query": "mine"}\n'
    (tmp_path / "labels.jsonl").unlink()
    monkeypatch.chdir(folder)
    assert label_ballots.decided_file(Path()) == tmp_path / "labels.jsonl"


def test_alpha_is_told_once_two_have_labelled_and_more_than_half_decide(tmp_path: Path):
    folder = tmp_path / "labels"
    labelled(folder, "ann", {0: 1, 1: 0, 2: 1, 3: 0})
    told = results(read_study(folder))
    assert (told["alpha"], told["people"]) == (None, [{"name": "ann", "labels": 4, "seconds": 1.5}])
    labelled(folder, "ben", {0: 1, 1: 0, 2: 1, 3: 0})
    assert results(read_study(folder))["alpha"] == 1.0
    for grades, people, expected in (
        ([1], 1, 1), ([1], 2, None), ([1, 1], 2, 1), ([1, 0], 2, None), ([1, None], 2, None), ([1, 0, 1], 3, 1),
        ([1, 0, None], 3, None), ([None, None], 2, None), ([2, 1, 0], 3, None),
    ):  # fmt: skip
        assert decided([{"grade": grade} for grade in grades], people) == expected, (grades, people)


def test_of_some_pairs_nothing_of_others_is_told_and_ids_with_other_texts_are_refused(tmp_path: Path):
    labelled(tmp_path, "ann", {0: 1, 1: 1})
    labelled(tmp_path, "ben", {1: 0, 2: 0})
    labelled(tmp_path, "eve", {3: 0})
    study = read_study(tmp_path).of_pairs({PAIRS[0].digest, PAIRS[1].digest})
    assert {name: list(said) for name, said in study.labels.items()} == {
        "ann": [PAIRS[0].digest, PAIRS[1].digest],
        "ben": [PAIRS[1].digest],
    }
    other = Pair(PAIRS[0].query, Chunk(PAIRS[0].code.id, "def other(): ..."))
    with pytest.raises(InputError, match="other texts under the same ids: give another --out"):
        labelled(tmp_path, "ann", {}, [*PAIRS, other])
    labelled(tmp_path, "ann", {0: 1}, [*PAIRS, PAIRS[0]])
    with pytest.raises(InputError, match="query 'q0' with code 'c0' has other texts under the same ids"):
        labelled(tmp_path, "ann", {}, [other])
    labelled(tmp_path, "ben", {}, [other])


def test_people_of_one_folder_are_asked_in_one_way(tmp_path: Path):
    labelled(tmp_path, "ann", {0: 1})
    label_ballots.refuse_other_ways(tmp_path, LabelSettings(person="ben"))
    label_ballots.refuse_other_ways(
        tmp_path, LabelSettings(person="ann", graded=True)
    )  # her own file says so when it is opened
    with pytest.raises(InputError, match=r"ann\.jsonl holds labels of another run: graded, tests differ"):
        label_ballots.refuse_other_ways(tmp_path, LabelSettings(person="ben", graded=True, tests="shown"))
    with pytest.raises(InputError, match=r"graded \(False, now True\) differ"):
        labelled(tmp_path, "ann", {}, graded=True)


def test_the_tests_that_ran_last_are_shown(tmp_path: Path):
    file = tmp_path / "records.jsonl"
    digest = PAIRS[0].digest
    first = {"reading": "the sum", "setup": "", "helpers": "h", "cases": ["assert 1"]}
    fix = {"reason": "so", "action": "repair", "commands": [], "setup": "s", "helpers": "h", "cases": ["assert 2", " "]}
    gone = {"reason": "so", "action": "irreparable", "commands": [], "setup": "", "helpers": "", "cases": []}
    rows = [
        {"kind": "reply", "pair": digest, "part": "tests", "value": first},
        {"kind": "run", "pair": digest, "cases": [{"number": 1, "state": "error"}], "error": "case 1"},
        {"kind": "reply", "pair": digest, "part": "fix", "value": fix},
        {"kind": "run", "pair": digest, "cases": [{"number": 1, "state": "passed", "got": 3}], "error": ""},
        {"kind": "reply", "pair": digest, "part": "fix", "value": gone},
        {"kind": "reply", "pair": "other", "part": "tests", "value": first},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    case = {"script": "assert 2", "state": "passed", "detail": "", "got": "3", "expected": ""}
    expected = {"reading": "the sum", "setup": "s", "helpers": "h", "cases": [case], "error": ""}
    assert label_ballots.shown_tests(file, {digest, PAIRS[1].digest}) == {digest: expected}
    (tmp_path / "no.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="holds no records"):
        label_ballots.shown_tests(tmp_path / "no.jsonl", set())


ALL = SampleDraw()


def write(file: Path, *rows: tuple[str, str, str, int]) -> Path:
    """Write labels of query, code, its text, and grade."""
    names = ("query_id", "code_id", "code", "label")
    lines = ({**dict(zip(names, row, strict=True)), "query": f"how to {row[0]}"} for row in rows)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def items(count: int) -> list[Item]:
    return [Item(Query(f"q{at}", f"how to {at}"), Chunk(f"a{at}", f"a = {at}"), Chunk(f"b{at}", f"b = {at}"))
            for at in range(count)]  # fmt: skip


def chosen(by: PreferenceItems | list[Item], folder: Path, person: str, letter: str) -> None:
    """Choose the code of a set for every item, which only a test can know; `n` is neither."""
    every = by if isinstance(by, list) else by.items
    with PreferenceBallot(every, folder, person, sample=ALL) as ballot:
        while item := ballot.item_to_show()["item"]:
            sides = ("left", "right") if item["codes"][0]["code"].startswith(letter) else ("right", "left")
            ballot.take({"item": item["id"], "side": "neither" if letter == "n" else sides[0], "seconds": 4})


def test_right_codes_that_differ_are_asked_and_the_rest_is_counted(tmp_path: Path):
    ours = write(tmp_path / "a.jsonl", ("both", "a1", "x = 1", 1), ("both", "a0", "x = 0", 0), ("same", "a2", "y", 1),
                 ("mine", "a3", "z", 1))  # fmt: skip
    theirs = write(tmp_path / "b.jsonl", ("both", "b1", "x = 1", 1), ("both", "b2", "w = 3", 1),
                   ("same", "b2", "y\n", 1), ("wrong", "b4", "v", 0), ("yours", "b5", "u", 1))  # fmt: skip
    for seed in range(9):
        found = paired(ours, theirs, SampleDraw(seed=seed), print)
        assert [(each.a.id, each.b.id) for each in found.items] == [("a1", "b2")]
        assert found.left_out == ["1 only in A", "1 only in B", "1 with the same code in both"]
    other = write(tmp_path / "c.jsonl", ("none", "c", "x", 1))
    with pytest.raises(InputError, match=r"nothing to choose between: 3 only in A, 1 only in B; wanted the same"):
        paired(ours, other, ALL, print)
    with pytest.raises(InputError, match="--sample 2: there are only 1 query"):
        paired(ours, theirs, SampleDraw(size=2), print)


def test_each_set_stands_left_in_half_of_a_person_s_queries_in_an_order_of_their_own(tmp_path: Path):
    seen = []
    for person in ("ann", "ben", "ann"):
        with PreferenceBallot(items(41), tmp_path, person, sample=ALL) as ballot:
            shown = [ballot.item_to_show(at)["item"] for at in range(41)]
        assert shown[0].keys() == {"id", "query", "codes"}
        seen.append([(each["query"], each["codes"][0]["code"][0]) for each in shown])
        assert sum(left == "a" for _, left in seen[-1]) in {20, 21}
    assert seen[0] == seen[2] != seen[1]
    assert [query for query, _ in seen[0]] != [query for query, _ in seen[1]]
    assert {*dict(seen[0]).items()} != {*dict(seen[1]).items()}


def test_a_choice_is_on_disk_goes_on_and_the_last_one_counts(tmp_path: Path):
    with PreferenceBallot(items(3), tmp_path, "ann", sample=ALL) as ballot:
        first = ballot.item_to_show()["item"]
        ballot.take({"item": first["id"], "side": "left"})
    with PreferenceBallot(items(3), tmp_path, "ann", sample=ALL) as ballot:
        assert (ballot.left, ballot.item_to_show(0)["item"]["id"]) == (2, first["id"])
        ballot.take({"item": first["id"], "side": "neither"})
        for item, side in (("none", "left"), (first["id"], "middle")):
            with pytest.raises(InputError, match="expected a side of"):
                ballot.take({"item": item, "side": side})
    assert [each["choice"] for each in read_choices(tmp_path, items(3))["ann"].values()] == ["neither"]
    with (
        pytest.raises(InputError, match="of another run: codes differ"),
        PreferenceBallot(items(4), tmp_path, "ann", sample=ALL),
    ):
        pass


def test_a_query_is_one_unit_however_many_people_saw_it(tmp_path: Path):
    for person, letter in (("ann", "a"), ("ben", "a"), ("eve", "b")):
        chosen(items(4), tmp_path, person, letter)
    chosen(items(1), tmp_path / "other", "joe", "n")
    found = preference(read_choices(tmp_path, items(4)))
    assert (found.items, found.choices, found.people, found.a, found.b, found.draws) == (4, 12, 3, 4, 0, 0)
    assert (found.rate.value, found.left.value, found.seconds) == (1.0, 0.5, 4.0)
    assert found.p == pytest.approx(0.125)
    assert found.alpha
    none = preference(read_choices(tmp_path / "none", items(4)))
    assert (none.items, none.p, none.alpha) == (0, 1.0, None)
    neither = preference(read_choices(tmp_path / "other", items(1)))
    assert (neither.draws, neither.rate.value != neither.rate.value) == (1, True)
