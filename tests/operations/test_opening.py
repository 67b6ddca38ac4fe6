from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError, ModelUnavailable
from assay.operations.indexes import index_key, location_of, root_of
from assay.operations.workspace import open_workspace
from assay.protocols import Searcher
from assay.search.issues import IssueSearcher
from assay.search.query_filters import queries_of
from assay.search.retrievers import FusedSearcher, KeywordSearcher, VectorSearcher
from assay.settings import load


def test_an_index_lies_where_the_settings_say(tmp_path: Path, cache: Path):
    def location(text: str) -> Path:
        return location_of(tmp_path, load(options={"index.location": text}))

    assert location("").is_relative_to(cache)
    assert location("kept/here") == tmp_path / "kept/here"
    assert location("/elsewhere") == Path("/elsewhere")
    assert location("~/there") == Path.home() / "there"


def test_each_root_has_an_index_of_its_own_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert location_of(tmp_path / "a" / "same", load()) != location_of(tmp_path / "b" / "same", load())
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert root_of(".") == root_of("link") == root_of(str(tmp_path)) == tmp_path.resolve()


def test_queries_carry_checked_filters_and_one_that_cannot_be_searched_is_an_error():
    (query,) = queries_of(["mail"], {"lang": ("PY", ".rs"), "file": ("!a/*",), "kind": ("Method",)}, mode="code")
    found = (query.mode, query.languages, query.paths, query.kinds)
    assert found == ("code", ("python", "rust"), ("!a/*",), ("method",))
    for text in ("", " ", "?!", "x" * 20_001):
        with pytest.raises(InputError):
            queries_of([text])
    assert queries_of(["x" * 20_000])


def test_a_ranking_is_a_setting(project: Path):
    rankings = {
        "learned": IssueSearcher,
        "vectors": VectorSearcher,
        "keywords": KeywordSearcher,
        "fused": FusedSearcher,
    }
    for ranking, wanted in rankings.items():
        workspace = open_workspace(project, load(changes=[f"search.ranking={ranking}"] if ranking != "learned" else []))
        assert isinstance(workspace.corpus_search, Searcher)
        assert isinstance(workspace.corpus_search.searcher, wanted)
        assert len(workspace.snapshot) == workspace.report.chunks > 0
        found = workspace.corpus_search.answer(queries_of(["mesages"]), 5)
        assert (found.hits[0].chunk.symbol, found.texts, found.relevant) == ("send_mail", ["messages"], True)
        assert not workspace.corpus_search.answer(queries_of(["mesages"], {"file": ("nowhere/",)}), 5).relevant


def test_weights_and_fusion_reach_the_pipeline(project: Path):
    def searcher(*changes: str) -> Searcher:
        return open_workspace(project, load(changes=["search.ranking=fused", *changes])).corpus_search.searcher

    fused = searcher("search.fusion=linear", "search.keyword_weight=2")
    weights = [(member.name, member.weight) for member in fused.members]
    assert (fused.fusion, weights) == ("linear", [("vectors", 0.7), ("keywords", 2.0)])
    with pytest.raises(InputError, match="are both 0"):
        searcher("search.vector_weight=0", "search.keyword_weight=0")


def test_a_reranker_is_named_by_its_spec(project: Path):
    with pytest.raises(InputError, match="unknown scorer 'crass'; did you mean 'cross'"):
        open_workspace(project, load(changes=["search.reranker=crass:model"]))
    assert not location_of(project, load()).exists()


def test_what_measures_a_reranker_does_not_measure_the_order_without_it(project: Path):
    pytest.importorskip("httpx", reason="the api extra is not installed")
    workspace = open_workspace(project, load(changes=["search.reranker=rerank:m@http://127.0.0.1:1/v1"]))
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:1/v1/rerank failed 2 times"):
        workspace.corpus_search.search(queries_of(["mail"]), 3)


def test_settings_that_count_when_an_index_is_made_are_told_apart_from_those_of_a_query():
    def key(*changes: str) -> str:
        return index_key(load(changes=changes))

    assert key() == key("search.ranking=fused", "search.rerank_depth=9", "search.limit=3", "index.location=x")
    made = ("index.chunk_lines=80", "index.section_lines=9", "index.quantisation=int8")
    keys = [key(change) for change in (*made, "encoder.reads=source", "encoder.spec=hash", "index.describe=none")]
    assert len({key(), *keys}) == 7
    assert key(*made, "index.describe=none") == "static:default, chunk_lines 80, section_lines 9, quantisation int8"
