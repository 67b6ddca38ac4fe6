"""Questions of models: which units they are about, and what of them is refused without asking anybody."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import StorageError
from assay.truth.ground_truth import Truth
from assay.truth.minable import Files
from assay.truth.written import (
    KINDS,
    SORTS,
    QuestionOrder,
    WrittenQuestion,
    choose_orders,
    fault_of_question,
    gather,
    order_of,
)

ORDER = QuestionOrder(
    "function", "standard", "mail/send.py", "Courier", "send_mail", "def send_mail(server, attempts=3)"
)
HARD = QuestionOrder("function", "hard", *(getattr(ORDER, name) for name in ("path", "parent", "symbol", "signature")))
WORDS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)


def test_what_a_question_may_not_say():
    for question, order, fault in (
        ("how is a letter delivered again after a failure", ORDER, ""),
        ("where are mails sent to a busy server", ORDER, ""),
        ("where are mails sent to a busy server", HARD, "shares words with the names of the unit: mails, server"),
        ("how is a letter delivered again after a failure", HARD, ""),
        ("which attempt counts as the last one", HARD, "shares words with the names of the unit: attempt"),
        ("what does send_mail do when nobody answers", ORDER, "it names 'send_mail'"),
        ("what does SEND_MAIL do when nobody answers", ORDER, "it names 'send_mail'"),
        ("what does `Courier` do when nobody answers", ORDER, "it holds markup, quoted code"),
        ("what is done in Send.py when nobody answers", ORDER, "it names a file or lines"),
        ("what happens on lines 3 to 9 of the module", ORDER, "it names a file or lines"),
        ("what happens at x:3-9 of the module then", ORDER, "it names a file or lines"),
        ("what is src/other/thing.rs good for at all", ORDER, "it names a file or lines"),
        ("who <b>delivers</b> a letter to whom", ORDER, "it holds markup"),
        ("see https://host/ for what delivers a letter", ORDER, "it holds markup"),
        ("who delivers a\u202e letter to whom", ORDER, "it holds markup"),
        ("why?", ORDER, "it has 1 words"),
        ("the purpose of the mark", ORDER, "it says too little"),
        ("so " * 61, ORDER, "it has 61 words"),
        ("x" * 600 + " a b c d", ORDER, "wanted 4 to 60"),
    ):
        told = fault_of_question(question, order)
        assert fault in told if fault else not told, question


@given(st.sampled_from(SORTS), st.sampled_from(KINDS), st.lists(WORDS, min_size=4, max_size=4))
def test_an_order_can_be_read_back_from_its_text(sort, kind, names: list[str]):
    plain = [" ".join(name.split()) for name in names]
    order = QuestionOrder(sort, kind, *plain)
    assert order_of(order.text) == order
    for text in ("", "sort: function", "how to send mail", ORDER.text.replace("standard", "easy")):
        with pytest.raises(StorageError, match="is no order for a question"):
            order_of(text)


def test_units_come_evenly_from_all_strata_and_files(tmp_path: Path):
    for at in range(6):
        functions = "".join(
            f"def work_{at}_{number}(a, b):\n    one = a + b\n    two = one * b\n    return two + one + a\n\n\n"
            for number in range(4)
        )
        table = (
            f"TABLE_{at} = dict(zip('abcdef', range({at}, 20)))  # what each of the letters is worth in the end\n\n\n"
        )
        kind = (
            f'class Kind{at}:\n    """Some kind of thing that people may want {at}."""\n\n    size = 3\n    name = ""\n'
        )
        (tmp_path / f"part{at}.py").write_text(table + functions + kind)
    (tmp_path / "test_part.py").write_text("def test_it():\n    a = 1\n    b = 2\n    assert a + b == 3\n")
    files = Files(tmp_path)
    chosen = choose_orders(files, 0, 18)
    assert chosen == choose_orders(Files(tmp_path), 0, 18)
    assert {order.symbol for order, _ in chosen} != {order.symbol for order, _ in choose_orders(files, 1, 18)}
    assert Counter(order.sort for order, _ in chosen) == {"function": 6, "type": 6, "constant": 6}
    assert set(Counter((order.sort, order.kind) for order, _ in chosen).values()) == {2}
    assert {unit.path for order, unit in chosen if order.sort == "function"} == {f"part{at}.py" for at in range(6)}
    assert all(unit.id == f"{unit.path}:{unit.start_line}-{unit.end_line}" for _, unit in chosen)
    assert len({unit.id for _, unit in chosen}) == 18
    only = choose_orders(files, 0, 9, ("function",), ("hard",))
    assert {(order.sort, order.kind) for order, _ in only} == {("function", "hard")}


def test_what_cannot_be_used_is_counted_by_its_reason():
    def one(question: str, grade: int | None, target: str = "a.py:1-2") -> WrittenQuestion:
        return WrittenQuestion(ORDER, target, question, grade, "me", "so")

    found = gather(
        Truth("t", (), ()),
        [
            one("how is a letter delivered", 2),
            one("How are letters delivered?", 2, "b.py:1-2"),
            one("what keeps the lights on", 1),
            one("who pays for lunch", 0),
            one("", 0),
            one("nobody answers this", None),
        ],
    )
    assert [query.text for query in found.truth.queries] == ["how is a letter delivered", "what keeps the lights on"]
    assert [judgment.grade for judgment in found.truth.judgments] == [2, 1]
    assert sorted(found.left_out.values()) == [1, 1, 1, 1]
