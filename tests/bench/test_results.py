"""Results of a bench: read as they were written, compared, gated, warned of, and safe as Markdown."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from assay.bench import gates, results, results_file
from assay.bench.bench_report import caveats, overview_of, summary_of
from assay.bench.comparisons import comparisons
from assay.bench.results import rank_of
from assay.errors import InputError
from assay.report.plain_text import as_markdown, as_text, verbatim
from assay.report.plain_text import plain as text_of_strangers

COST = {"index_s": 1.0, "cold_ms": 3.0, "warm_p50_ms": 1.0, "warm_p95_ms": 2.0, "peak_mb": 90.0, "index_bytes": None}


def cell(name: str, system: str, values: list[float], /, **more) -> dict:
    mean = [sum(values) / len(values), 0.0, 1.0]
    figures = {"line": {"nDCG@10": mean, "Hit@5": mean}, "file": {"Hit@5": [0.9, 0.8, 1.0]}}
    held = {"figures": figures, "groups": {}, "values": {"line": {"nDCG@10": values, "Hit@5": values}}}
    told = {"answers": [[] for _ in values], "seconds": [0.1 for _ in values], "errors": {}, "unjudged": 0.5}
    return {"set": name, "system": system, **held, **told, "timings": COST, **more}


def plain(cells: list[dict], *, roles: dict[str, str] | None = None, count: int = 40) -> dict:
    names = list(dict.fromkeys(each["set"] for each in cells))
    queries = [{"id": str(n), "text": f"question {n}", "tags": {}, "expected": []} for n in range(count)]
    told = {"truth": "a.csv", "qrels": "q", "corpus": "c", "commit": "", "queries": queries, "problems": []}
    system = {"spec": "assay", "settings": {}, "how": "command", "base": "", "chosen_on": "", "failed": {}}
    about = {"measures": ["nDCG@10", "Hit@5"], "seed": 0, "k": 20, "when": "", "command": "", "versions": {"assay": ""}}
    return {
        "format": 1,
        "unusable": {},
        "comparisons": [],
        "manifest": about,
        "sets": {name: {**told, "role": (roles or {}).get(name, "")} for name in names},
        "systems": {each["system"]: dict(system) for each in cells},
        "cells": cells,
        "asked": [[each["set"], each["system"]] for each in cells],
    }


def read(made: dict) -> results.Results:
    return replace(results_file.read_results(copy.deepcopy(made), "made up"), comparisons=tuple(pairs_of(made)))


def held(cells: list[dict], **how) -> results.Results:
    return read(plain(cells, **how))


GOOD, BAD = [1.0, 0.5] * 20, [0.5, 0.0] * 20


def test_results_are_read_as_they_were_written_and_sets_of_one_role_compared_together(tmp_path: Path):
    made = held([cell("a", "x", GOOD), cell("a", "y", BAD), cell("b", "x", GOOD)])
    assert [(c.set, c.a, c.b) for c in made.comparisons] == [("a", "x", "y")]
    results_file.save(made, tmp_path / "results.json")
    assert results_file.load(tmp_path / "results.json") == made
    for text in ("", "[]", "{}", '{"format": 99, "cells": []}'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(InputError, match=r"is not a results\.json"):
            results_file.load(tmp_path / "r.json")
    with pytest.raises(InputError, match="cannot read the results"):
        results_file.load(tmp_path / "none.json")
    cells = [cell(name, system, values) for name in "ab" for system, values in (("x", GOOD), ("y", BAD))]
    told = held(cells, roles={"a": "dev", "b": "dev"}).comparisons
    assert [(c.set, c.queries) for c in told] == [("a", 40), ("b", 40), ("all dev", 80)]
    assert all(c.difference == pytest.approx(0.5) and c.holm < 0.01 for c in told)


def test_published_figures_stand_below_what_was_measured_with_the_unit_in_which_their_scripts_count():
    made = plain([cell("a", "x", GOOD), cell("b", "x", BAD)])
    made["sets"]["a"]["published"] = {"nDCG@10": {"other": 0.9, "third": 0.1}}
    made["sets"]["b"]["published"] = {"nDCG@10": {"other": 0.7}}
    together, first, second = as_markdown(overview_of(read(made))).split("\n## ")[1:4]
    assert "\n| other \N{MIDDLE DOT} published, not measured here | 0.800 | \N{EN DASH} |\n" in together
    assert ["third" in part for part in (together, first, second)] == [False, True, False]
    assert "other \N{MIDDLE DOT} published, not measured here  0.700" in as_text(summary_of(read(made)))
    one = cell("a", "x", BAD)
    for part in (one["figures"], one["values"]):
        part["line published"] = part["line"]
    made = plain([one])
    made["sets"]["a"]["published"] = {"nDCG@10": {"other": 0.9}}
    strict, published = as_markdown(overview_of(read(made))).split("Lines as the published script counts them")
    assert ("other" in strict, "other" in published) == (False, True)
    assert "by line published" in as_text(summary_of(read(made)))


def pairs_of(made: dict, *, all_pairs: bool = False) -> list[results.SetComparison]:
    found = results_file.read_results(copy.deepcopy(made), "made up")
    return list(comparisons(found, all_pairs=all_pairs))


def test_variants_are_compared_with_their_base_and_corrected_for_that_alone():
    """Each of twelve loses a little on the same ten questions."""
    made = plain([cell("a", "base", GOOD)])
    for number in range(12):
        made["systems"][f"v{number}"] = {**made["systems"]["base"], "base": "base"}
        made["cells"].append(cell("a", f"v{number}", [*(value - 0.1 for value in GOOD[:10]), *GOOD[10:]]))
    told = pairs_of(made)
    assert [(pair.a, pair.b) for pair in told] == [(f"v{number}", "base") for number in range(12)]
    assert all(pair.holm < 0.05 for pair in told)
    every = pairs_of(made, all_pairs=True)
    assert len(every) == 78
    assert not any(pair.holm < 0.05 for pair in every)
    made = plain([cell("a", name, values) for name, values in (("x", GOOD), ("y", BAD), ("of y", GOOD), ("gone", BAD))])
    made["systems"]["of y"]["base"] = "y"
    made["systems"]["gone"]["base"] = "not measured"
    told = [(pair.a, pair.b) for pair in pairs_of(made)]
    assert told == [("x", "y"), ("x", "gone"), ("y", "gone"), ("of y", "y")]


def test_the_rank_of_an_answer_is_that_of_the_first_that_shares_a_line():
    expected = ["a.py:7-8", "c.py:1-1"]
    for answers, rank in (
        (["a.py:1-3", "a.py:7-9"], 2),
        (["a.py:5-7"], 1),
        (["b.py:8-8", "a.py:9-9"], 0),
        ([], 0),
        (["b.py"], 0),
    ):
        assert rank_of(answers, expected) == rank


def test_a_floor_prints_as_it_is_read_and_a_wrong_one_is_told():
    for text in ("Hit@5=0.7", "file Hit@5=0.9", "y:Hit@5=0.25", "y:file Hit@5=0.5"):
        assert str(gates.floor(str(gates.floor(text)))) == str(gates.floor(text))
    made = gates.floor("dense:static:default:file Hit@5=0.7")
    assert (made.system, made.unit, made.measure) == ("dense:static:default", "file", "Hit@5")
    for text in ("", "Hit@5", "Hit@5=", "Hit@5=x", "Hit@5=7", "Hitt@5=0.7", "Hit@5=1.2.3", "=0.5"):
        with pytest.raises(InputError, match=r"--fail-under|measure"):
            gates.floor(text)
    with pytest.raises(InputError, match="less is better"):
        gates.floor("lines@5=1")


def test_floors_hold_for_each_set_that_this_run_asked_of_the_first_system():
    made = held([cell("a", "x", GOOD), cell("a", "y", BAD), cell("b", "x", BAD)])
    assert [*gates.fallen(made, [gates.floor("Hit@5=0.75")])] == ["b: x has Hit@5 0.250, below 0.75"]
    assert [*gates.fallen(made, [gates.floor("y:Hit@5=0.2"), gates.floor("file Hit@5=0.9")])] == []
    with pytest.raises(InputError, match="no system 'z'"):
        list(gates.fallen(made, [gates.floor("z:Hit@5=0.1")]))
    with pytest.raises(InputError, match="not measured; add it with --measure 'MAP'"):
        list(gates.fallen(made, [gates.floor("MAP=0.1")]))
    # The next system must not stand in for it.
    made = held([cell("a", "x", GOOD), cell("a", "y", GOOD)])
    broken = replace(made.systems["x"], failed={"a": "no answer within 30 s"})
    made = replace(made, systems={"broken": broken, **made.systems})
    assert [*gates.fallen(made, [gates.floor("Hit@5=0.5")])] == ["a: broken answered nothing, Hit@5=0.5 is wanted"]
    # An earlier run's system is not the first one, and its sets are not to be reached again.
    cells = [cell("a", "old", BAD), cell("b", "old", BAD), cell("a", "x", GOOD)]
    made = replace(held(cells), asked=(("a", "x"),))
    assert [*gates.fallen(made, [gates.floor("Hit@5=0.5")])] == []
    with pytest.raises(InputError, match="no system 'old' was asked"):
        list(gates.fallen(made, [gates.floor("old:Hit@5=0.1")]))
    assert [each.set for each in gates.changes(made, held([cell("a", "x", GOOD), cell("b", "old", GOOD)]))] == ["a"]


def test_only_like_is_compared_with_a_baseline():
    before, now = held([cell("a", "x", GOOD)]), held([cell("a", "x", BAD)])
    fewer = replace(now, manifest=replace(now.manifest, k=5))
    with pytest.raises(InputError, match="the baseline has 20 results of a query, this run 5"):
        gates.changes(fewer, before)
    gate = gates.Gates(baseline=before)
    gate.check([("a", "x"), ("b", "x")], 20)
    for cells, k, why in (([("b", "x")], 20, "has x on a, this run x on b"), ([("a", "x")], 5, "this run 5")):
        with pytest.raises(InputError, match=why):  # before anything is measured
            gate.check(cells, k)
    files = held([cell("a", "x", GOOD, values={"file": {"nDCG@10": GOOD}})])
    with pytest.raises(InputError, match="nothing can be compared"):
        gates.changes(files, before)


def test_a_significant_loss_or_more_to_read_is_worse():
    few, many = [20.0] * 40, [90.0] * 40
    made = [held([cell("a", "x", each, values={"line": {"lines@5": each}})]) for each in (few, many)]
    before, now = (replace(each, manifest=replace(each.manifest, measures=("lines@5",))) for each in made)
    assert [each.worse for each in gates.changes(now, before)] == [True]
    assert [each.worse for each in gates.changes(before, now)] == [False]
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
    before, now = plain([cell("a", "x", GOOD)]), held([cell("a", "x", BAD)])
    for query in before["sets"]["a"]["queries"][10:]:
        query["text"] += "?"
    assert gates.changes(now, read(before))[0].queries == 10
    alike = [plain([cell("a", "x", values)]) for values in (GOOD, BAD)]
    for query in (query for made in alike for query in made["sets"]["a"]["queries"]):
        query["text"] = "the same"
    change = gates.changes(read(alike[1]), read(alike[0]))[0]
    assert (change.queries, change.before, change.now) == (40, 0.75, 0.25), "equal questions are paired one by one"
    other = copy.deepcopy(before)
    for query in other["sets"]["a"]["queries"]:
        query["text"] = "another"
    other["sets"]["a"]["queries"][0]["text"] = "unlike"
    with pytest.raises(InputError, match="nothing can be compared"):
        gates.changes(held([cell("b", "x", BAD)]), read(other))


def test_readers_are_warned():
    cells = [cell("a", "x", GOOD, errors={"3": "no answer within 30 s"}), cell("a", "y", BAD)]
    made = plain(cells, roles={"a": "test"})
    made["systems"]["y"] |= {"base": "x", "chosen_on": "test", "failed": {}}
    made["sets"]["a"]["problems"] = ["a.csv:7: range 9-3 ends before it starts"]
    said = "\n".join(caveats(read(made)))
    assert "settings of y were chosen on test sets" in said
    assert "variants are compared on test sets only" in said
    assert "x had errors on 1 query of a; what it did answer counts (no answer within 30 s)" in said
    assert "1 row of a could not be used; the first: a.csv:7" in said
    assert [*caveats(held([cell("a", "x", GOOD)]))] == []
    made = plain([cell("a", "x", GOOD)])
    made["manifest"] |= {"measures": ["nDCG@10", "MRR", "MRR@5", "Hit@5", "success@2000tokens"], "k": 5}
    assert [*caveats(read(made))] == ["only 5 results of a query were asked for: nDCG@10, MRR would look at more (-k)"]
    made["manifest"]["k"] = 10
    assert [*caveats(read(made))] == []
    for query, told in zip(made["sets"]["a"]["queries"], [[["a.py", 0]], [], *[[["a.py", 1]]] * 38], strict=True):
        query["expected"] = told
    assert [*caveats(read(made))] == ["2 of 40 queries of a have no right answer: they count zero for all"]


def test_markdown_tells_tuned_and_unseen_apart_and_one_query_has_no_interval():
    cells = [cell("a", "x", GOOD), cell("b", "x", BAD), cell("a", "y", BAD)]
    text = as_markdown(overview_of(held(cells, roles={"a": "dev", "b": "test"})))
    assert "a, tuned on (dev) \\[40 queries, by line]: nDCG@10 |" in text
    assert "| x | **0.250 [0.00-1.00]** | **0.250 [0.00-1.00]** | **0.750 [0.00-1.00]** |" in text
    assert "| y · 0 of 1 sets | \N{EN DASH} | \N{EN DASH} | 0.250 [0.00-1.00] |" in text
    assert "| x | y | **+0.500 [+0.500, +0.500]** | < 0.001 | < 0.001 | < 0.001 |" in text
    told = {kind: {"queries": count, "line": {"nDCG@10": [1.0, 1.0, 1.0]}} for kind, count in (("one", 1), ("two", 2))}
    text = as_markdown(overview_of(held([cell("a", "x", GOOD, groups={"kind": told})])))
    assert "| one | 1 | **1.000** |" in text
    assert "| two | 2 | **1.000 [1.00-1.00]** |" in text


def strange() -> dict:
    """Return results in which strangers had a say."""
    groups = {"kind": {"a|b\n`c`": {"queries": 1, "line": {"Hit@5": [1.0, 1.0, 1.0]}}}}
    errors = {"1": "\x1b]0;owned\x07![x](http://example.org/x.png) \u202edliw"}
    more = {"groups": groups, "answers": [["a.py:1-3"], []], "seconds": [0.1, None], "errors": errors}
    made = plain([cell("mail", "x|y", [1.0, 0.0], **more)], count=2)
    made["manifest"] |= {"command": "assay bench `a|b`\n# Owned", "measures": ["Hit@5"]}
    made["sets"]["mail"] |= {"truth": "a`b.csv", "problems": ["a.csv:3: <img src=x onerror=alert(1)>\n# Owned"]}
    made["sets"]["mail"]["queries"][0] |= {"tags": {"kind": "a|b"}, "expected": [["a.py:1-3", 2]]}
    return made


def test_results_that_are_none_say_where():
    there = json.loads(results_file.as_text(results_file.read_results(strange(), "r.json")))
    assert there["cells"] == [{**each, "key": ""} for each in strange()["cells"]]
    assert there["manifest"] == {**strange()["manifest"], "kind": "retrieval"}
    for path, value, said in (
        ("format", 2, "format 1"),
        ("manifest", [], "manifest is not a table"),
        ("manifest k", "20", r"manifest.k is '20', wanted a whole number"),
        ("manifest measures", [], "measures is empty"),
        ("sets mail role", "tset", "role of set 'mail'"),
        ("sets mail queries 0 expected", [["a.py"]], "place, grade"),
        ("cells", {}, "cells is not a list"),
        ("cells 0", None, r"cells\[0\] is not a table"),
        ("cells 0 set", "other", "is not there"),
        ("cells 0 unjudged", float("nan"), "wanted a number"),
        ("cells 0 values line Hit@5", [1.0], "for each of 2"),
        ("cells 0 values line Hit@5 0", 10**400, "wanted a number"),
        ("cells 0 values", {}, "no values"),
        ("cells 0 values", {"page": {}}, "unknown unit"),
        ("cells 0 figures line Hit@5", [1.0], "mean, low, high"),
        ("cells 0 groups kind", {"a": 5}, "is not a table"),
        ("comparisons", [{}], r"comparisons\[0\] has no"),
    ):
        made = table = copy.deepcopy(strange())
        *steps, last = (int(step) if step.isdecimal() else step for step in path.split())
        for step in steps:
            table = table[step]
        table[last] = value
        with pytest.raises(InputError, match=said):
            results_file.read_results(made, "r.json")
    for key in ("manifest", "sets", "unusable", "systems", "cells", "comparisons"):
        with pytest.raises(InputError, match=f"it has no '{key}'"):
            results_file.read_results({name: value for name, value in strange().items() if name != key}, "r.json")
    for value in (None, [], "x", 5, json.loads("[" * 900 + "]" * 900)):
        with pytest.raises(InputError, match=r"r\.json is not a results\.json"):
            results_file.read_results(value, "r.json")


def test_no_name_breaks_out_of_its_place_in_the_markdown():
    text = as_markdown(overview_of(results_file.read_results(strange(), "r.json")))
    lines = text.split("\n")
    for above, row in pairwise(lines):
        if above.startswith("|") and row.startswith("|"):
            assert above.replace("\\|", "").count("|") == row.replace("\\|", "").count("|")
    assert sum("x\\|y" in line for line in lines) > 2
    assert "| a\\|b \\`c\\` | 1 |" in text
    assert text.count("\n# ") == 0
    assert "<img" not in text.replace("\\<img", "")
    assert "![" not in text
    assert not {"\x1b", "\x07", "\u202e"} & {*text}
    assert "`` assay bench `a|b` # Owned ``" in text
    assert text_of_strangers("a\n|b`<c[d*") == "a \\|b\\`\\<c\\[d\\*"
    assert len(text_of_strangers("x" * 10_000)) < 600
    assert (verbatim("a``b"), verbatim("plain")) == ("``` a``b ```", "`plain`")
