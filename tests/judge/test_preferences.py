"""Which of two codes people prefer: what is asked, blind and balanced, and what choices come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.preferences import Item, PreferenceBallot, PreferenceItems, paired, preference, read_choices
from assay.runs.options import SampleDraw
from assay.values import Chunk, Query

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
            with pytest.raises(InputError, match="wanted one of"):
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
