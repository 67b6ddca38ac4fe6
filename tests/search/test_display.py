"""What is shown of hits: the lines that say most, in a window and a budget, and which are shown as one place."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.search.declared_names import declared
from assay.search.display import excerpt, fit, grouped, lines, others_text, places, telling, terms_to_mark
from assay.terms import tokens
from assay.values import Chunk, Hit

TEXTS = st.lists(st.sampled_from(["", "x = 1", "retry the request", "def send(self):", "    return retry"]), min_size=1)


def chunk(texts: list[str], symbol: str = "") -> Chunk:
    text = "".join(f"{line}\n" for line in texts)
    return Chunk("1", text, start_line=10, end_line=9 + len(texts), symbol=symbol)


def test_the_window_with_the_most_different_words_wins_below_the_line_that_names_the_unit():
    found = excerpt(chunk(["a", "retry retry", "b", "c", "retry", "request"]), terms_to_mark(["retry the request"]), 2)
    assert found == [(14, "retry"), (15, "request")]
    found = excerpt(chunk(["@once", "def send():", "a", "b", "c", "retry"], "send"), terms_to_mark(["retry"]), 2)
    assert found == [(11, "def send():"), (15, "retry")]
    found = excerpt(chunk(["def send():", "a", "retry", "request", "b"], "send"), terms_to_mark(["retry request"]), 3)
    assert [number for number, _ in found] == [10, 11, 12, 13], "one line between takes as much room as its gap"


def test_telling_lines_are_of_different_words_wherever_they_stand():
    every = chunk(["def check():", "retry", "retry the retry", "x", "y", "override", "z", "request retry"], "check")
    wanted = terms_to_mark(["retry an override of the request"])
    assert telling(every, wanted, (), 3) == [(10, "def check():"), (15, "override"), (17, "request retry")]
    assert telling(every, wanted, (), 9) == telling(every, wanted, (), 3)  # more says nothing new
    assert telling(every, frozenset(), (), 9) == [(10, "def check():")]
    assert telling(chunk(["a", "b", "c"]), wanted, (), 2) == [(10, "a"), (11, "b")]
    assert telling(every, wanted, (13, 14), 2) == [(10, "def check():"), (13, "x")]


def test_words_are_compared_as_search_compares_them():
    wanted = terms_to_mark(["where are retries handled"])
    assert places("def handleRetry(x):", wanted) == [(4, 15)]
    assert places("where are we", wanted) == []
    assert terms_to_mark(["where is it"])


def test_the_line_that_declares_the_unit_is_not_one_that_mentions_it():
    lines_of_it = ["// send() sends", "@once", "  def send( to,", "  ):"]
    commented = replace(chunk(lines_of_it, "send"), signature="def send( to, )")
    assert declared(commented) == 2
    assert declared(replace(commented, signature="")) == 0
    assert declared(replace(commented, symbol="receive")) is None
    assert declared(replace(commented, signature="def send(elsewhere)")) is None
    assert declared(replace(commented, symbol="one, send")) == 2


@settings(max_examples=50)
@given(texts=TEXTS, symbol=st.sampled_from(["", "send"]), count=st.integers(1, 12))
def test_an_excerpt_is_whole_lines_in_order_with_none_empty_at_an_edge(texts: list[str], symbol: str, count: int):
    whole = lines(chunk(texts, symbol))
    found = excerpt(chunk(texts, symbol), terms_to_mark(["retry request"]), count)
    assert whole == list(enumerate(texts, 10))
    assert 1 <= len(found) <= count + 1
    assert found == sorted(set(found))
    assert set(found) <= set(whole)
    assert (found[0][1].strip() and found[-1][1].strip()) or not any(text for _, text in found)


def test_of_the_hit_that_does_not_fit_its_best_lines_are_kept():
    hits = [Hit(chunk(["a", "retry", "b"]), 1.0), Hit(chunk(["c", "d", "retry"]), 0.5)]
    kept = fit(hits, terms_to_mark(["retry"]), 9, lambda hit: 2 * len(lines(hit.chunk)))
    assert [lines(hit.chunk) for hit in kept] == [[(10, "a"), (11, "retry"), (12, "b")], [(12, "retry")]]
    assert fit(hits, terms_to_mark(["retry"]), 7, lambda hit: 2 * len(lines(hit.chunk))) == hits[:1]


@settings(max_examples=50)
@given(st.lists(TEXTS, max_size=4), st.integers(0, 100))
def test_what_fits_is_whole_hits_then_one_of_whole_lines(texts: list[list[str]], budget: int):
    hits = [Hit(chunk(each), 1.0) for each in texts]

    def cost(hit: Hit) -> int:
        return 1 + tokens(hit.chunk.text)

    kept = fit(hits, terms_to_mark(["retry"]), budget, cost)
    assert sum(map(cost, kept)) <= budget
    assert kept[:-1] == hits[: len(kept[:-1])]
    if len(kept) < len(hits):
        assert sum(map(cost, hits[: len(kept) + 1])) > budget
    for part, hit in zip(kept, hits, strict=False):
        inside = dict(lines(hit.chunk))
        assert [inside[number] for number, _ in lines(part.chunk)] == [text for _, text in lines(part.chunk)]
        assert part.chunk.end_line - part.chunk.start_line + 1 == len(lines(part.chunk))


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
