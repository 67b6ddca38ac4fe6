"""Work that a pool does by name: encoding and indexing come to what they come to on one machine."""

from __future__ import annotations

from pathlib import Path

from assay.operations.cluster import Repository, repository_work
from assay.runs.worker_pool import NamedWork, PoolRunner, WorkerPool
from assay.search.folder_index import IndexReport
from assay.settings import IndexSettings, Settings
from scripted_pool import HiredHere


def pool_of(work: NamedWork) -> WorkerPool:
    return WorkerPool(HiredHere(work), work)


def test_repositories_are_indexed_where_their_settings_say(project: Path, tmp_path: Path):
    settings = Settings(index=IndexSettings(location=str(tmp_path / "index")))
    jobs = [Repository(str(project), settings), Repository(str(tmp_path / "nowhere"), settings)]
    with PoolRunner("here", pool_of(repository_work())) as runner:
        whole, missing = runner.run(jobs)
    assert isinstance(whole, IndexReport)
    assert (whole.files, (tmp_path / "index").is_dir()) == (4, True)
    assert str(missing).startswith("no such folder: ")
