"""Searches side by side: those that only compute wait for one another, the others for nobody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from dataclasses import replace
from pathlib import Path

import pytest

from assay.assemble.joint_search import joint_searches
from assay.assemble.workspace import open_workspace
from assay.serve import turns
from assay.serve.facets import facet_counts
from assay.serve.search_tools import Page, SearchFilter, search
from assay.serve.session import Session
from assay.settings import EncoderSettings, SearchSettings, Settings
from assay.types import Query

QUICK = Settings()
KEEP = SearchFilter()


def asked(project: Path, settings: Settings, text: str) -> list[str]:
    found = search(Session({project: settings}), [text], "", keep=KEEP, page=Page())
    return [hit.symbol for hit in found.hits]


def test_what_only_computes_waits_for_its_turn(project: Path):
    with ThreadPoolExecutor(2) as pool:
        with turns._turn:
            found = pool.submit(asked, project, QUICK, "where is mail sent")
            counted = pool.submit(facet_counts, Session({project: QUICK}), ["where is mail sent"], "", KEEP)
            for each in (found, counted):
                with pytest.raises(TooLong):
                    each.result(0.5)
        assert "send_mail" in found.result(20)
        assert counted.result(20).counted


@pytest.mark.parametrize("text", ['"send_mail"', "mail /send_[a-z]+/"])
def test_what_reads_every_text_waits_for_nobody(project: Path, text: str):
    with turns._turn, ThreadPoolExecutor(1) as pool:
        assert "send_mail" in pool.submit(asked, project, QUICK, text).result(20)


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        (replace(QUICK, encoder=EncoderSettings("sides:hash:128,static:default")), True),
        (replace(QUICK, encoder=EncoderSettings("sides:hash:128,hf:some/model")), False),
        (replace(QUICK, encoder=EncoderSettings("api:some-model")), False),
        (replace(QUICK, search=SearchSettings(reranker="rerank:some-model")), False),
    ],
)
def test_what_waits_for_others_takes_no_turn(project: Path, settings: Settings, *, waits: bool):
    workspace = replace(open_workspace(project, QUICK), settings=settings)
    given = turns.turn(joint_searches([workspace]), [Query("q", "where is mail sent")])
    assert (given is turns._turn) == waits
