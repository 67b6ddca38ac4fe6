from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from assay.bench.markdown import markdown, plain, verbatim
from assay.bench.shape import checked
from assay.errors import InputError

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
    assert checked(deepcopy(RESULTS), "r.json") == RESULTS


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("format",), 2, "format 1"),
        (("manifest",), [], "manifest is no table"),
        (("manifest", "k"), "20", r"manifest.k is '20', wanted a whole number"),
        (("manifest", "measures"), [], "measures is empty"),
        (("sets", "mail", "role"), "tset", "role of set 'mail'"),
        (("sets", "mail", "queries", 0, "expected"), [["a.py"]], "expects"),
        (("cells",), {}, "cells is no list"),
        (("cells", 0), None, r"cells\[0\] is no table"),
        (("cells", 0, "set"), "other", "is not there"),
        (("cells", 0, "unjudged"), float("nan"), "wanted a number"),
        (("cells", 0, "values", "line", "Hit@5"), [1.0], "for each of 2"),
        (("cells", 0, "values", "line", "Hit@5", 0), 10**400, "wanted a number"),
        (("cells", 0, "values"), {}, "no values"),
        (("cells", 0, "values"), {"page": {}}, "unknown unit"),
        (("cells", 0, "figures", "line", "Hit@5"), [1.0], "mean, low and high"),
        (("cells", 0, "groups", "kind"), {"a": 5}, "is no table"),
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
        checked(held, "r.json")


@pytest.mark.parametrize("key", [key for key in RESULTS if key != "format"])
def test_results_without_a_part_say_which(key: str):
    with pytest.raises(InputError, match=f"it has no '{key}'"):
        checked({name: value for name, value in RESULTS.items() if name != key}, "r.json")


@pytest.mark.parametrize("value", [None, [], "x", 5, json.loads("[" * 900 + "]" * 900)])
def test_what_is_no_table_is_refused(value: object):
    with pytest.raises(InputError, match=r"r\.json is no results\.json"):
        checked(value, "r.json")


def test_no_name_breaks_out_of_its_place_in_the_markdown():
    text = markdown(RESULTS)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows if "x\\|y" in line} <= {5, 8, 4}
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
