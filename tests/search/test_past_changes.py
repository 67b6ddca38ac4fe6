"""What commits said of files and units finds these, as they are in a history however it came to be indexed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from assay.bench.system import corpus_of
from assay.bench.systems.assay_system import AssaySystem
from assay.corpus.changed_units import changed_units
from assay.corpus.git_history import commit_ids
from assay.operations.past_commits import PastCommits
from assay.search import past_changes
from assay.search.commit_index import CommitIndex
from assay.search.past_changes import VOTING_COMMITS, PastChanges
from assay.search.question import Question, understand
from assay.settings import IndexSettings, SearchSettings, Settings
from assay.store.arrays import Strings
from assay.store.postings import term_hashes
from assay.truth.ground_truth import Truth
from assay.values import Judgment, Query
from git_repositories import WHO, git, repository

TILL = "class Till:\n    def close(self):\n        return 1\n\n\ndef drawer():\n    return 2\n"
QUESTION = understand("money is lost when the shop closes at midnight")


def write(root: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    git(root, "add", "--all")
    git(root, *WHO, "commit", "--quiet", "-m", message)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = repository(tmp_path / "shop", {"till.py": TILL, "stock.py": "def count():\n    return 3\n"})
    write(root, "No money is lost at midnight\n\nThe shop closes late.", till=TILL.replace("return 1", "return 4"))
    write(root, "Count twice", stock="def count():\n    return 6\n")
    return root


def said(commits: CommitIndex | Path, *rows: str) -> list[list[float]]:
    snapshot = VOTING_COMMITS.in_memory(commits) if isinstance(commits, Path) else commits.snapshot()
    return votes(PastChanges({"": snapshot}), QUESTION, *rows)


def votes(past: PastChanges, question: Question, *rows: str) -> list[list[float]]:
    links = term_hashes(Strings.of(map(past_changes._link, rows)))
    return past._roots[""].voting(question).of(links).tolist()


def test_a_message_like_the_question_votes_for_the_files_and_the_units_that_its_commit_changed(shop: Path):
    (till, stock, unit, other) = said(shop, "till.py", "stock.py", "till.py\tTill", "stock.py\tTill")
    assert till[0] > 0.1
    assert till[1] > 0.5
    assert unit == till
    assert stock == other == [0.0, 0.0]


def test_the_units_of_a_commit_are_those_around_its_changes_and_those_that_it_declares(shop: Path):
    write(shop, "A drawer more", till=TILL.replace("return 2", "return 2\n\n\ndef second_drawer():\n    return 7"))
    (newest, *_) = changed_units(shop, commit_ids(shop, 1))
    assert set(newest.names["till.py"]) >= {"drawer", "second_drawer"}


def test_a_commit_of_many_files_a_merge_and_the_first_of_a_shallow_clone_vote_for_nothing(shop: Path, tmp_path: Path):
    many = {f"f{number}": f"def f{number}():\n    pass\n" for number in range(past_changes.MAX_FILES + 1)}
    write(shop, "Money lost when the shop closes at midnight", **many)
    assert said(shop, "f1.py") == [[0.0, 0.0]]
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth=2", f"file://{shop}", shallow], check=True)
    assert said(shallow, "till.py", "stock.py") == [[0.0, 0.0], [0.0, 0.0]]
    assert "a shallow clone" in PastCommits(shallow, Settings()).summary()


def test_what_says_nothing_is_read_once_and_a_folder_of_a_repository_has_the_history_of_its_files(
    shop: Path, tmp_path: Path, monkeypatch
):
    git(shop, "checkout", "--quiet", "-b", "side", "HEAD~1")
    (shop / "far").mkdir()
    write(shop, "Midnight money in the far shop", **{"far/till": TILL})
    git(shop, "checkout", "--quiet", "main")
    git(shop, *WHO, "merge", "--quiet", "--no-ff", "-m", "Merge side", "side")
    write(shop, "More of it", **{"far/till": TILL.replace("2", "9")})
    assert said(shop / "far", "till.py")[0][0] > 0
    followed, read = CommitIndex(shop, tmp_path / "followed", VOTING_COMMITS), []
    followed.snapshot()
    real = past_changes.named_commits
    monkeypatch.setattr(past_changes, "named_commits", lambda root, ids: [*map(read.append, ids)] and real(root, ids))
    write(shop, "Once more", stock="")
    followed.snapshot()
    assert len(read) == 1  # neither the merge nor anything else again


def test_an_index_that_followed_a_history_says_what_a_fresh_one_does(shop: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(past_changes, "_MAX_UNIT_COMMITS", 2)  # of a third commit units are read no more
    rows = ["till.py", "stock.py", "till.py\tTill", "till.py\tdrawer", "stock.py\tcount"]
    followed = CommitIndex(shop, tmp_path / "followed", VOTING_COMMITS)
    assert said(followed, *rows)[2][0] > 0
    for number in range(3):
        write(shop, f"Midnight, shop and money {number}", till=TILL.replace("return 2", f"return {number + 20}"))
        fresh = CommitIndex(shop, tmp_path / f"fresh{number}", VOTING_COMMITS)
        assert np.array_equal(said(followed, *rows), said(fresh, *rows))
    git(shop, "reset", "--quiet", "--hard", "HEAD~2")
    write(shop, "Another midnight", stock="def count():\n    return 9\n")
    assert np.array_equal(said(followed, *rows), said(CommitIndex(shop, tmp_path / "last", VOTING_COMMITS), *rows))


def test_what_cannot_be_had_of_a_history_is_said_and_the_files_alone_answer(shop: Path, tmp_path: Path):
    plain = tmp_path / "plain"
    plain.mkdir()
    for root, settings, why in (
        (plain, Settings(), "none: not in a git repository"),
        (shop, Settings(search=SearchSettings(ranking="keywords")), "none: not read where search.ranking is"),
        (shop, Settings(index=IndexSettings(location="s3://b/p")), "none: not read where the index is in a bucket"),
        (shop, Settings(), "none yet"),
    ):
        assert PastCommits(root, settings).summary().startswith(why)
    commits = PastCommits(shop, Settings())
    assert len(commits.snapshot) == 3
    assert commits.summary() == "3 commits with files"
    write(shop, "One more", stock="")
    assert not commits.is_current()
    shutil.rmtree(shop / ".git" / "objects")
    broken = PastCommits(shop, Settings())
    assert broken.snapshot is None
    assert broken.why_not


def test_units_are_left_out_where_a_clone_lacks_files_and_files_still_get_their_votes(shop: Path, tmp_path: Path):
    partial = tmp_path / "partial"
    git(shop, "config", "uploadpack.allowFilter", "true")
    command = ["git", "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{shop}", partial]
    subprocess.run(command, check=True)
    (file, unit) = said(partial, "till.py", "till.py\tTill")
    assert file[0] > 0
    assert unit == [0.0, 0.0]


def test_a_message_of_a_megabyte_and_one_in_another_encoding_are_read(shop: Path):
    (shop / "stock.py").write_text("")
    message = shop.parent / "message"
    message.write_text("Midnight money shop\n\n" + "lines of it\n" * 90_000)
    git(shop, *WHO, "commit", "--quiet", "--all", f"--file={message}")
    message.write_bytes("Geld f\u00fcr Mitternacht: closes midnight".encode("latin-1"))
    (shop / "till.py").write_text("")
    git(shop, *WHO, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "--all", f"--file={message}")
    stock, till = said(shop, "stock.py", "till.py")
    assert stock[0] > 0
    assert till[0] > 0


def test_an_explained_hit_names_the_commit_that_says_most_for_its_file(assay, shop: Path):
    asked = ("search", "money lost when the shop closes at midnight", shop, "--explain")
    shown = assay(*asked, "--format", "json").out
    changed = {hit["path"]: hit["changed_by"] for hit in json.loads(shown)["hits"]}
    assert changed["till.py"].startswith("No money is lost at midnight (20")
    assert "changed by: No money is lost at midnight (20" in assay(*asked).out


@pytest.mark.parametrize("kind", ["checkout", "bare"])
def test_a_bench_gives_a_copy_of_a_repository_the_history_that_it_had(kind: str, shop: Path, tmp_path: Path):
    judged, commit = Judgment("q", "till.py:1-3", 2), git(shop, "rev-parse", "HEAD~1").strip()
    folder = tmp_path / "bare" if kind == "bare" else shop
    if kind == "bare":
        git(shop, "clone", "--quiet", "--bare", ".", str(folder))
    truth = Truth("shop", (Query("q", "midnight"),), (judged,), repository=str(folder), commit=commit)
    corpus = corpus_of(truth, folder, tmp_path / "cache")
    assert corpus.history == folder.resolve()
    searcher = AssaySystem().prepare(corpus, {})
    assert votes(searcher.past, QUESTION, "till.py")[0][0] > 0
    assert votes(searcher.past, understand("count twice"), "stock.py") == [[0.0, 0.0]]
