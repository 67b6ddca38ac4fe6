from __future__ import annotations

import copy
from pathlib import Path

import pytest

from assay.bench import gates, results
from assay.bench.markdown import markdown, warnings
from assay.errors import InputError

COST = {"index_s": 1.0, "cold_ms": 3.0, "warm_p50_ms": 1.0, "warm_p95_ms": 2.0, "peak_mb": 90.0, "index_bytes": None}


def cell(name: str, system: str, values: list[float], **more) -> dict:
    mean = sum(values) / len(values)
    return {
        "set": name,
        "system": system,
        "figures": {
            "line": {"nDCG@10": [mean, 0.0, 1.0], "Hit@5": [mean, 0.0, 1.0]},
            "file": {"Hit@5": [0.9, 0.8, 1.0]},
        },
        "groups": {},
        "values": {"line": {"nDCG@10": values, "Hit@5": values}},
        "answers": [[] for _ in values],
        "seconds": [0.1 for _ in values],
        "errors": {},
        "unjudged": 0.5,
        "timings": COST,
        **more,
    }


def held(cells: list[dict], *, roles: dict[str, str] | None = None, count: int = 40) -> results.Results:
    names = list(dict.fromkeys(each["set"] for each in cells))
    queries = [{"id": str(n), "text": f"question {n}", "tags": {}, "expected": []} for n in range(count)]
    told = {"truth": "a.csv", "qrels": "q", "corpus": "c", "commit": "", "queries": queries, "problems": []}
    systems = dict.fromkeys(each["system"] for each in cells)
    about = {
        "measures": ["nDCG@10", "Hit@5"],
        "seed": 0,
        "k": 20,
        "when": "",
        "command": "",
        "versions": {"assay": "0"},
    }
    made = {
        **results.empty(),
        "manifest": about,
        "sets": {name: {**told, "role": (roles or {}).get(name, "")} for name in names},
        "systems": {name: {"spec": "assay", "base": "", "chosen_on": ""} for name in systems},
        "cells": cells,
    }
    return results.joined(results.empty(), made)


GOOD, BAD = [1.0, 0.5] * 20, [0.5, 0.0] * 20


def test_results_accumulate_from_run_to_run(tmp_path: Path):
    first = held([cell("a", "x", GOOD), cell("b", "x", GOOD)])
    second = held([cell("a", "y", BAD)])
    both = results.joined(first, second)
    assert [(each["set"], each["system"]) for each in both["cells"]] == [("a", "x"), ("a", "y"), ("b", "x")]
    assert [(c["set"], c["a"], c["b"]) for c in both["comparisons"]] == [("a", "x", "y")]
    results.save(both, tmp_path / "results.json")
    assert results.load(tmp_path / "results.json") == both


def test_a_cell_is_replaced_by_its_successor_and_dropped_when_its_set_changed():
    first = held([cell("a", "x", GOOD), cell("a", "y", GOOD)])
    again = results.joined(first, held([cell("a", "x", BAD)]))
    assert [each["values"]["line"]["nDCG@10"] for each in again["cells"]] == [BAD, GOOD]
    changed = held([cell("a", "x", BAD)])
    changed["sets"]["a"]["qrels"] = "other"
    assert [each["system"] for each in results.joined(first, changed)["cells"]] == ["x"]


def test_sets_of_one_role_are_compared_together_too():
    cells = [cell(name, system, values) for name in "ab" for system, values in (("x", GOOD), ("y", BAD))]
    told = held(cells, roles={"a": "dev", "b": "dev"})["comparisons"]
    assert [(c["set"], c["queries"]) for c in told] == [("a", 40), ("b", 40), ("all dev", 80)]
    assert all(c["difference"] == pytest.approx(0.5) and c["holm"] < 0.01 for c in told)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99, "cells": []}'])
def test_what_is_no_results_file_is_told(tmp_path: Path, text: str):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError, match=r"is no results\.json"):
        results.load(tmp_path / "r.json")
    with pytest.raises(InputError, match="cannot read the results"):
        results.load(tmp_path / "none.json")


@pytest.mark.parametrize("text", ["Hit@5=0.7", "file Hit@5=0.9", "y:Hit@5=0.25", "y:file Hit@5=0.5"])
def test_a_floor_prints_as_it_is_read(text: str):
    assert str(gates.floor(str(gates.floor(text)))) == str(gates.floor(text))


@pytest.mark.parametrize("text", ["", "Hit@5", "Hit@5=", "Hit@5=x", "Hit@5=7", "Hitt@5=0.7", "Hit@5=1.2.3", "=0.5"])
def test_a_wrong_floor_is_told(text: str):
    with pytest.raises(InputError, match=r"--fail-under|measure"):
        gates.floor(text)


def test_floors_hold_for_each_set_and_for_the_first_system():
    made = held([cell("a", "x", GOOD), cell("a", "y", BAD), cell("b", "x", BAD)])
    assert [*gates.fallen(made, [gates.floor("Hit@5=0.75")])] == ["b: x has Hit@5 0.250, below 0.75"]
    assert [*gates.fallen(made, [gates.floor("y:Hit@5=0.2"), gates.floor("file Hit@5=0.9")])] == []
    with pytest.raises(InputError, match="no system 'z'"):
        list(gates.fallen(made, [gates.floor("z:Hit@5=0.1")]))
    with pytest.raises(InputError, match="not measured; add it with --measure 'MAP'"):
        list(gates.fallen(made, [gates.floor("MAP=0.1")]))


def test_only_a_significant_loss_is_worse():
    before = held([cell("a", "x", GOOD), cell("a", "y", GOOD)])
    nearly = [GOOD[0] - 0.5, *GOOD[1:]]
    now = held([cell("a", "x", BAD), cell("a", "y", nearly)])
    lost, noise = gates.changes(now, before)
    assert (lost.worse, noise.worse) == (True, False)
    assert noise.now < noise.before
    assert (lost.before, lost.now, lost.queries) == (0.75, 0.25, 40)
    gained = gates.changes(before, now)
    assert not any(change.worse for change in gained)


def test_a_baseline_is_compared_over_the_questions_that_both_have():
    before, now = held([cell("a", "x", GOOD)]), held([cell("a", "x", BAD)])
    for query in before["sets"]["a"]["queries"][10:]:
        query["text"] += "?"
    assert gates.changes(now, before)[0].queries == 10
    other = copy.deepcopy(before)
    for query in other["sets"]["a"]["queries"]:
        query["text"] = "another"
    other["sets"]["a"]["queries"][0]["text"] = "unlike"
    with pytest.raises(InputError, match="nothing can be compared"):
        gates.changes(held([cell("b", "x", BAD)]), other)


def test_readers_are_warned():
    cells = [cell("a", "x", GOOD, errors={"3": "no answer within 30 s"}), cell("a", "y", BAD)]
    made = held(cells, roles={"a": "test"})
    made["systems"]["y"] |= {"base": "x", "chosen_on": "test"}
    made["sets"]["a"]["problems"] = ["a.csv:7: range 9-3 ends before it starts"]
    said = "\n".join(warnings(made))
    assert "settings of y were chosen on test sets" in said
    assert "variants are compared on test sets only" in said
    assert "x had errors on 1 queries of a; a query without an answer counts zero (no answer within 30 s)" in said
    assert "1 rows of a could not be used; the first: a.csv:7" in said
    assert [*warnings(held([cell("a", "x", GOOD)]))] == []


def test_markdown_tells_tuned_and_unseen_apart():
    cells = [cell("a", "x", GOOD), cell("b", "x", BAD), cell("a", "y", BAD)]
    text = markdown(held(cells, roles={"a": "dev", "b": "test"}))
    assert "| x | 0.750 (40 queries) | 0.250 (40 queries) |" in text
    assert "| y | 0.250 (40 queries) | not measured |" in text
    assert "| x | 0.750 [0.000, 1.000] | 0.750 [0.000, 1.000] | 50% | 0 |" in text
    assert "| x - y | +0.500" in text
