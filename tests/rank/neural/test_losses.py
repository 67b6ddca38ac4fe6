# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")

from assay.rank.neural.losses import class_loss, line_loss, ranking_loss


def test_a_class_counts_by_its_weight() -> None:
    logits, classes = torch.tensor([[2.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
    loss = class_loss(logits, classes, torch.tensor([0.0, 3.0]))
    assert loss.item() == pytest.approx(3 * 0.6931, abs=1e-3)


def test_only_newlines_can_be_the_line() -> None:
    logits = torch.tensor([[9.0, 0.0, 0.0]])
    newlines = torch.tensor([[False, True, True]])
    loss = line_loss(logits, newlines, torch.tensor([1]), torch.ones(1))
    assert loss.item() == pytest.approx(0.6931, abs=1e-3)


@pytest.mark.parametrize("kind", ["pairwise", "listwise"])
def test_programs_are_compared_within_their_task(kind: str) -> None:
    right, tasks = torch.tensor([True, False, False]), torch.tensor([0, 0, 1])
    good = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [9.0, 0.0]])
    bad = torch.tensor([[-2.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    assert ranking_loss(kind, good, right, tasks).item() == pytest.approx(0.0181, abs=1e-3)  # log(1 + e^-4)
    assert ranking_loss(kind, bad, right, tasks).item() == pytest.approx(4.0181, abs=1e-3)


@pytest.mark.parametrize("kind", ["pairwise", "listwise"])
def test_nothing_to_compare_costs_nothing(kind: str) -> None:
    logits = torch.tensor([[2.0, 0.0], [-2.0, 0.0]], requires_grad=True)
    loss = ranking_loss(kind, logits, torch.tensor([True, False]), torch.tensor([0, 1]))
    loss.backward()
    assert loss.item() == 0
    assert not logits.grad.any()
