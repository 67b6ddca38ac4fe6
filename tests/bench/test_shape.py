from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest

from assay.bench.report.bench_report import overview_of
from assay.bench.results import as_text, read_results
from assay.errors import InputError
from assay.report.plain_text import as_markdown, plain, verbatim

RESULTS: dict[str, Any] = {
    "format": 1,
    "manifest": {
        "measures": ["Hit@5"],
        "k": 20,
        "seed": 0,
        "versions": {"assay": "1"},
        "when": "2031-05-06T07:08:09Z",
        "command": "assay bench `a|b`\n# Owned",
    },
    "sets": {
        "mail": {
            "role": "",
            "truth": "a`b.csv",
            "commit": "",
            "queries": [
                {"id": "1", "text": "send", "tags": {"kind": "a|b"}, "expected": [["a.py:1-3", 2]]},
                {"id": "2", "text": "read", "tags": {}, "expected": []},
            ],
            "problems": ["a.csv:3: <img src=x onerror=alert(1)>\n# Owned"],
        }
    },
    "unusable": {},
    "systems": {"x|y": {"spec": "bm25", "base": "", "chosen_on": "", "settings": {}, "failed": {}}},
    "cells": [
        {
            "set": "mail",
            "system": "x|y",
            "figures": {"line": {"Hit@5": [0.5, 0.0, 1.0]}},
            "groups": {"kind": {"a|b\n`c`": {"queries": 1, "line": {"Hit@5": [1.0, 1.0, 1.0]}}}},
            "values": {"line": {"Hit@5": [1.0, 0.0]}},
            "answers": [["a.py:1-3"], []],
            "seconds": [0.1, None],
            "errors": {"2": "\x1b]0;owned\x07![x](http://example.org/x.png) \u202edliw"},
            "unjudged": 0.0,
            "timings": {
                "index_s": 1.0,
                "cold_ms": None,
                "warm_p50_ms": 1.0,
                "warm_p95_ms": 1.0,
                "peak_mb": 2.0,
                "index_bytes": None,
            },
        }
    ],
    "comparisons": [],
}


def test_results_that_are_some_pass():
    plain = json.loads(as_text(read_results(deepcopy(RESULTS), "r.json")))
    assert plain["cells"] == [{**cell, "key": ""} for cell in RESULTS["cells"]]
    assert plain["manifest"] == {**RESULTS["manifest"], "kind": "retrieval"}


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("format",), 2, "format 1"),
        (("manifest",), [], "manifest is not a table"),
        (("manifest", "k"), "20", r"manifest.k is '20', wanted a whole number"),
        (("manifest", "measures"), [], "measures is empty"),
        (("sets", "mail", "role"), "tset", "role of set 'mail'"),
        (("sets", "mail", "queries", 0, "expected"), [["a.py"]], "place, grade"),
        (("cells",), {}, "cells is not a list"),
        (("cells", 0), None, r"cells\[0\] is not a table"),
        (("cells", 0, "set"), "other", "is not there"),
        (("cells", 0, "unjudged"), float("nan"), "wanted a number"),
        (("cells", 0, "values", "line", "Hit@5"), [1.0], "for each of 2"),
        (("cells", 0, "values", "line", "Hit@5", 0), 10**400, "wanted a number"),
        (("cells", 0, "values"), {}, "no values"),
        (("cells", 0, "values"), {"page": {}}, "unknown unit"),
        (("cells", 0, "figures", "line", "Hit@5"), [1.0], "mean, low, high"),
        (("cells", 0, "groups", "kind"), {"a": 5}, "is not a table"),
        (("comparisons",), [{}], r"comparisons\[0\] has no"),
    ],
)
def test_results_that_are_none_say_where(place: tuple[Any, ...], value: object, said: str):
    held = deepcopy(RESULTS)
    table: Any = held
    for step in place[:-1]:
        table = table[step]
    table[place[-1]] = value
    with pytest.raises(InputError, match=said):
        read_results(held, "r.json")


@pytest.mark.parametrize("key", [key for key in RESULTS if key != "format"])
def test_results_without_a_part_say_which(key: str):
    with pytest.raises(InputError, match=f"it has no '{key}'"):
        read_results({name: value for name, value in RESULTS.items() if name != key}, "r.json")


@pytest.mark.parametrize("value", [None, [], "x", 5, json.loads("[" * 900 + "]" * 900)])
def test_what_is_no_table_is_refused(value: object):
    with pytest.raises(InputError, match=r"r\.json is not a results\.json"):
        read_results(value, "r.json")


def test_no_name_breaks_out_of_its_place_in_the_markdown():
    text = as_markdown(overview_of(read_results(RESULTS, "r.json")))
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


def test_text_and_code_of_strangers():
    assert plain("a\n|b`<c[d*") == "a \\|b\\`\\<c\\[d\\*"
    assert len(plain("x" * 10_000)) < 600
    assert verbatim("a``b") == "``` a``b ```"
    assert verbatim("plain") == "`plain`"
