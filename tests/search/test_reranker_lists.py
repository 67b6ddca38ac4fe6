from __future__ import annotations

from pathlib import Path

import pytest

from assay.encode.reranker_settings import RerankerSettings
from assay.encode.training_pairs import TrainingPair
from assay.search.harvest import repository
from assay.search.ranking_examples import judged_queries
from assay.search.rerank import logit
from assay.search.reranker_lists import judged_lists, pair_lists, source_lists

SETTINGS = RerankerSettings(candidates=6, questions_a_source=10, left_out=("flask",))
VERBS, THINGS = "open close read write check".split(), "letter box price cart lion".split()


def write_package(folder: Path) -> None:
    folder.mkdir()
    (folder / "code.py").write_text(
        "\n\n".join(
            f'def {verb}_{thing}(value):\n    """{verb.title()} the {thing} of a person.\n\n    It may take long.\n'
            f'    """\n    return {verb}(value)\n'
            for verb in VERBS * 2
            for thing in THINGS
        )
    )


def test_a_sentence_asks_for_its_unit_which_has_lost_it(tmp_path: Path, encoder):
    for name in ("shop", "flask"):
        write_package(tmp_path / name)
    lines: list[str] = []
    sources = [repository(tmp_path / name) for name in ("shop", "flask")]
    lists = list(source_lists(sources, encoder, SETTINGS, lines.append))
    assert lines == ["shop: 10 lists"]
    assert {(one.source, one.kind) for one in lists} == {("shop", "doc")}
    for one in lists:
        (right,) = [text for text, target in zip(one.texts, one.targets, strict=True) if target]
        verb, _, thing, *_ = one.question.lower().split()
        assert f"{verb} {thing}" in right
        assert "it may take long" in right.lower()
        assert not any("of a person" in text.lower() for text in one.texts)
        assert SETTINGS.negatives < len(one.texts) == len(one.scores) <= SETTINGS.candidates + 2
        assert len(set(one.texts)) == len(one.texts) or one.texts.count(right) == 1


def test_pairs_of_one_source_are_mistaken_for_one_another(encoder):
    pairs = [
        TrainingPair(f"{verb} the {thing}", f"{verb} {thing} of person", source, "given")
        for source in ("a", "b")
        for verb in VERBS
        for thing in [*THINGS, "post", "zoo"]
    ]
    lists = list(pair_lists(pairs, encoder, SETTINGS))
    assert {one.source for one in lists} == {"a", "b"}
    one = lists[0]
    assert sum(one.targets) == 1
    verb, _, thing = one.question.split()
    assert f"{verb} {thing}" in one.texts[one.targets.index(1.0)]
    assert list(pair_lists(pairs[:20], encoder, SETTINGS)) == []


def test_judged_questions_have_the_first_hits_of_the_ranking(judged, encoder):
    truths, checkouts = judged
    lists = list(judged_lists(judged_queries(truths, checkouts), checkouts, encoder, frozenset, SETTINGS, print))
    assert {one.source for one in lists} == {"mail", "shop", "zoo"}
    (one,) = [one for one in lists if one.question == "send a letter again"]
    assert one.kind == "judged"
    assert one.targets[0] > 0
    assert list(one.scores) == sorted(one.scores, reverse=True)


@pytest.mark.parametrize(("probability", "wanted"), [(0.5, 0.0), (0.0, -13.8), (1.0, 13.8)])
def test_a_logit_is_bounded(probability: float, wanted: float):
    assert logit(probability) == pytest.approx(wanted, abs=0.1)
