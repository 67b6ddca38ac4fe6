"""Work that a crew does by name: encoding and indexing come to what they come to on one machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay import plugins
from assay.assemble.cluster import Repository, repository_work
from assay.encode.encoder_member import PoolEncoder, encoder_work
from assay.errors import AssayError, InputError
from assay.runs.worker_pool import NamedWork, PoolRunner, WorkerPool
from assay.search.folder_index import IndexReport
from assay.settings import IndexSettings, Settings
from scripted_pool import HiredHere

TEXTS = [f"def send_mail_{number}(server): return {number}" for number in range(100)]


def crew_of(work: NamedWork) -> WorkerPool:
    return WorkerPool(HiredHere(work), work)


def test_vectors_are_those_of_the_encoder_here():
    crew, here = crew_of(encoder_work("hash:64")), plugins.make("encoder", "hash:64")
    with PoolRunner("here", crew) as runner:
        there = PoolEncoder(runner, crew.assemble())
        assert (there.name, there.dimension) == (here.name, here.dimension)
        for texts in (TEXTS, TEXTS[:1], []):
            np.testing.assert_array_equal(there.encode(texts, "code"), here.encode(texts, "code"))


def test_a_model_that_is_not_there_is_named_with_the_machine_and_texts_that_no_machine_survives_are_an_error():
    crew = crew_of(encoder_work("onnx:nowhere"))
    with pytest.raises(InputError, match=r"no machine of the cluster can be used: here: .*nowhere|onnx"):
        crew.assemble()
    with pytest.raises(AssayError, match="1 texts cannot be encoded: its machine died 3 times"):
        encoder_work("hash").broken((("a",), "code"), "its machine died 3 times")


def test_repositories_are_indexed_where_their_settings_say(project: Path, tmp_path: Path):
    settings = Settings(index=IndexSettings(location=str(tmp_path / "index")))
    jobs = [Repository(str(project), settings), Repository(str(tmp_path / "nowhere"), settings)]
    with PoolRunner("here", crew_of(repository_work())) as runner:
        whole, missing = runner.run(jobs)
    assert isinstance(whole, IndexReport)
    assert (whole.files, (tmp_path / "index").is_dir()) == (4, True)
    assert str(missing).startswith("no such folder: ")
