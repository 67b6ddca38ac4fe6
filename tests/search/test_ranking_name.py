from __future__ import annotations

import pytest

from assay.search.features import FEATURES
from assay.search.hybrid import LearnedSearcher
from assay.search.ranking import SHIPPED, load_ranking
from assay.search.ranking_name import ranking_name
from assay.types import Chunk, Query


def functions(count: int, files: int) -> list[Chunk]:
    """Return so many functions in so many files."""
    return [
        Chunk(
            str(at), f"def paint_{at}(): ...", "python", f"{at % files}.py", at + 1, at + 1, f"paint_{at}", "function"
        )
        for at in range(count)
    ]


def test_files_with_one_function_each_are_ranked_as_single_functions(snapshot_of):
    assert ranking_name(snapshot_of(functions(20, 20)), "code") == "functions"
    assert ranking_name(snapshot_of(functions(25, 20)), "code") == "code"  # a quarter of the files holds two


def test_documentation_is_ranked_as_such_in_every_corpus(snapshot_of):
    prose = [Chunk(f"p{at}", "how to paint", "markdown", f"{at}.md", 1, 1, kind="section") for at in range(50)]
    snapshot = snapshot_of([*functions(20, 20), *prose])
    assert ranking_name(snapshot, "docs") == "docs"
    assert ranking_name(snapshot, "code") == "functions"  # files without code say nothing about the code


def test_files_of_code_without_a_function_are_those_of_a_repository(snapshot_of):
    settings = [Chunk(f"s{at}", "color: red", "yaml", f"{at}.yaml", 1, 1, kind="block") for at in range(20)]
    assert ranking_name(snapshot_of([*functions(20, 20), *settings]), "code") == "code"


def test_a_few_functions_are_no_sort_of_corpus(snapshot_of):
    assert ranking_name(snapshot_of(functions(19, 19)), "code") == "code"
    assert ranking_name(snapshot_of([]), "code") == "code"


def test_a_folder_without_weights_for_functions_ranks_them_as_code(tmp_path):
    for name in ("code.json", "docs.json"):
        (tmp_path / name).write_text((SHIPPED / name).read_text())
    assert load_ranking("functions", "hash:64", tmp_path).scale == load_ranking("code", "hash:64").scale
    assert load_ranking("functions", "hash:64").scale != load_ranking("code", "hash:64").scale


def test_single_functions_are_ordered_by_their_own_weights(snapshot_of, encoder):
    (hits,) = LearnedSearcher(snapshot_of(functions(20, 20)), encoder).search([Query("1", "paint_3", mode="code")], 1)
    assert hits[0].chunk.id == "3"
    ranking = load_ranking("functions", encoder.name)
    linear = sum(value for part, value in hits[0].why.items() if part == "callable")
    assert linear == pytest.approx(float(ranking.second.linear[FEATURES.index("callable")]), abs=1e-4)
