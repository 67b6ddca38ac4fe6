"""All served folders in one question, over HTTP and over MCP."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.serve import search_tools
from assay.serve.engine import StillIndexing, Waits
from assay.serve.responses import FoundAnswer
from assay.serve.search_tools import Page, SearchFilter
from assay.serve.session import Session
from assay.settings import Settings

PATIENT = Waits(fresh_s=0.0, refresh_s=60.0, fraction=float("inf"))
LONG = "def long_one(mailbox):\n" + "".join(f"    step_{number} = mailbox + {number}\n" for number in range(90))


@pytest.fixture
def session(project: Path) -> Session:
    (project / "mail" / "long.py").write_text(LONG)
    return Session({project / "mail": Settings(), project / "web": Settings()}, waits=PATIENT)


def found(session: Session, *texts: str, path: str = "", repo: tuple[str, ...] = (), **page: object) -> FoundAnswer:
    keep = SearchFilter(repositories=repo)
    return search_tools.search(session, texts, path, keep=keep, page=Page(**page))  # type: ignore[arg-type]


def test_without_a_path_all_folders_are_searched(session: Session, project: Path):
    answer = found(session, "where is mail sent", "find the handler of a request")
    assert answer.root == ""
    assert answer.relevant
    places = {(hit.root, hit.path) for hit in answer.hits}
    assert {(f"{project}/mail", "send.py"), (f"{project}/web", "router.js")} <= places
    assert (answer.problems, answer.truncated) == ([], False)


def test_repositories_are_kept_by_name_or_path(session: Session, project: Path):
    assert {hit.root for hit in found(session, "mail", repo=("web",)).hits} == {f"{project}/web"}
    assert {hit.root for hit in found(session, "mail", repo=("!w*",)).hits} == {f"{project}/mail"}
    with pytest.raises(InputError, match=r"no served folder is called 'wep'; did you mean 'web'\?"):
        found(session, "mail", repo=("wep",))
    with pytest.raises(InputError, match="leave one of them out"):
        found(session, "mail", path="web", repo=("web",))


def test_a_long_unit_is_put_together_from_its_own_root(session: Session, project: Path):
    (project / "web" / "long.py").write_text("def other():\n    return 1\n")
    (hit,) = [hit for hit in found(session, "long_one", k=1).hits if hit.symbol == "long_one"]
    assert (hit.complete, hit.text) == (True, LONG)


def test_pages_follow_one_another_over_all_folders(session: Session):
    first = found(session, "mailbox", k=2)
    second = found(session, "mailbox", k=2, cursor=first.cursor)
    every = found(session, "mailbox", k=4)
    assert [*first.hits, *second.hits] == every.hits


def test_what_changes_is_found(session: Session, project: Path):
    assert "brand_new" not in {hit.symbol for hit in found(session, "brand_new").hits}
    (project / "web" / "new.py").write_text("def brand_new():\n    return 1\n")
    assert found(session, "brand_new").hits[0].symbol == "brand_new"
    assert found(session, "brand_new").hits[0].root == f"{project}/web"


def test_a_folder_that_is_gone_is_named_beside_the_hits(session: Session, project: Path):
    found(session, "mail")
    shutil.rmtree(project / "web")
    answer = found(session, "where is mail sent")
    assert answer.hits[0].path == "send.py"
    assert [problem.partition(":")[0] for problem in answer.problems] == [f"{project}/web"]


def test_folders_without_an_index_yet_are_named_or_waited_for(project: Path):
    hasty = Waits(fresh_s=0.0, refresh_s=0.0, first_s=0.0)
    session = Session({project / "mail": Settings(), project / "web": Settings()}, waits=hasty)
    with pytest.raises(StillIndexing, match="ask again"):
        found(session, "mail")
    session = Session({project / "mail": Settings(), project / "web": Settings()}, waits=PATIENT)
    assert not found(session, "mail").truncated


def test_the_same_corpus_is_kept_while_nothing_changes(session: Session):
    first = session.everything.view()
    assert session.everything.view() is first
    assert session.everything.view(["web"]) is not first
