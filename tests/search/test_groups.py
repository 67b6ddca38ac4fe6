"""Groups of hits: what is shown as one place, and what is said of the others."""

from __future__ import annotations

from assay.search.display import grouped, others_text
from assay.values import Chunk, Hit


def hit(symbol: str, line: int, parent: str = "Store", kind: str = "method", path: str = "a.py", **more: object) -> Hit:
    text = f"def {symbol}():\n"
    return Hit(Chunk(f"{path}:{line}", text, "python", path, line, line + 1, symbol, kind, parent, **more), 1 / line)


def shown(*blocks: list[Hit]) -> list[tuple[str, list[str]]]:
    return [(one.chunk.symbol, list(others_text(one))) for one in grouped(*blocks)]


def test_three_hits_of_a_type_are_one_place_that_the_best_leads():
    members = [hit("get", 2), hit("run", 1, "", "function"), hit("put", 3), hit("Store", 1, "", "class")]
    assert shown(members) == [("get", ["+2 in Store: put:3, class:1"]), ("run", [])]
    assert [one for one, _ in shown(members[:3])] == ["get", "run", "put"], "two are no group"
    assert shown([*members, hit("pop", 9)])[0][1] == ["+3 in Store: put:3, class:1, pop:9"]
    many = [hit(f"m{number}", number) for number in range(1, 10)]
    assert shown(many) == [("m1", ["+8 in Store: m2:2, m3:3, m4:4, m5:5, m6:6, m7:7, …"])]


def test_types_of_other_files_functions_of_one_namespace_and_sections_stay_apart():
    assert len(grouped([hit("get", 1), hit("get", 2, path="b.py"), hit("get", 3, path="c.py")])) == 3
    assert len(grouped([hit(name, line, "std", "function") for line, name in enumerate("abc", 1)])) == 3
    prose = [
        Hit(Chunk(str(line), "x", "markdown", "a.md", line, line, "Use", "section", "Top"), 1.0) for line in (1, 2, 3)
    ]
    assert grouped(prose) == prose


def test_overloads_parts_and_copies_are_said():
    one, other = hit("get", 2), hit("get", 40)
    assert shown([one, other, hit("get", 61)]) == [("get", ["+2 more of get at lines 40, 61"])]
    copy = hit("get", 2, path="b/a.py", root="b").chunk
    rooted = Hit(hit("get", 2, path="a/a.py", root="a").chunk, 1.0, others=(copy,))
    assert shown([rooted]) == [("get", ["also in b/a.py"])]


def test_a_further_block_adds_to_groups_and_changes_no_order():
    first = [hit("get", 1), hit("put", 2), hit("pop", 3), hit("run", 4, "Task")]
    further = [hit("drop", 5), hit("stop", 6, "Task"), hit("wait", 7, "Task"), hit("go", 8, "Task")]
    assert [name for name, _ in shown(first, further)] == ["get", "run", "stop"]
    assert shown(first, further)[0][1] == ["+3 in Store: put:2, pop:3, drop:5"]
