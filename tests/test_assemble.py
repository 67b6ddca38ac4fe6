from __future__ import annotations

from pathlib import Path

import pytest

from assay.assemble import encoder_of, location_of, open_workspace, queries_of, root_of
from assay.encode.cached import CachedEncoder
from assay.errors import InputError
from assay.protocols import Searcher
from assay.settings import load
from assay.store.place import located


def test_a_workspace_is_ready_to_be_searched(project: Path):
    workspace = open_workspace(project, load())
    assert isinstance(workspace.searcher, Searcher)
    assert len(workspace.snapshot) == workspace.report.chunks > 0


def test_an_index_lies_where_the_settings_say(tmp_path: Path, cache: Path):
    def location(text: str) -> Path:
        return location_of(tmp_path, load(options={"index.location": text}))

    assert location("").is_relative_to(cache)
    assert location("kept/here") == tmp_path / "kept/here"
    assert location("/elsewhere") == Path("/elsewhere")
    assert location("~/there") == Path.home() / "there"


def test_a_place_in_lance_is_seen_from_its_folder_unless_it_is_a_uri(tmp_path: Path):
    assert located("lance:s3://bucket/x", tmp_path) == "lance:s3://bucket/x"
    assert located("lance:kept", tmp_path) == f"lance:{tmp_path / 'kept'}"
    assert located("kept", tmp_path) == str(tmp_path / "kept")


def test_each_root_has_an_index_of_its_own(tmp_path: Path):
    first, second = tmp_path / "a" / "same", tmp_path / "b" / "same"
    assert location_of(first, load()) != location_of(second, load())


def test_a_root_is_one_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert root_of(".") == root_of("link") == root_of(str(tmp_path)) == tmp_path.resolve()


def test_an_encoder_that_is_faster_than_a_cache_has_none():
    assert not isinstance(encoder_of(load()), CachedEncoder)
    assert not isinstance(encoder_of(load(options={"encoder.spec": "hash"})), CachedEncoder)


def test_queries_carry_checked_filters():
    (query,) = queries_of(["mail"], mode="code", languages=["PY", ".rs"], paths=["!a/*"], kinds=["Method"])
    assert (query.mode, query.languages, query.paths, query.kinds) == (
        "code",
        ("python", "rust"),
        ("!a/*",),
        ("method",),
    )


@pytest.mark.parametrize("text", ["", " ", "?!", "x" * 20_001])
def test_a_query_that_cannot_be_searched_is_an_error(text: str):
    with pytest.raises(InputError):
        queries_of([text])
