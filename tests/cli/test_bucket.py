"""An index in a bucket answers as one in a folder, costs few requests, and says plainly why it cannot be reached."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.cli.options import SettingsOptions
from assay.operations.requests import Search, StatusOf
from assay.operations.search import search
from assay.operations.status import status
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import load
from assay.store.arrays import ArrayFile
from assay.store.copies import RANGE
from assay.values import Query
from s3_server import READER, SECRET

EMPTY = "an-empty-folder"


def hits(ran) -> list[tuple[str, int, float]]:
    return [(hit["path"], hit["start_line"], hit["score"]) for hit in json.loads(ran.out)["hits"]]


def copies(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.segment"))


@pytest.fixture
def indexed(assay, project: Path, shelf):
    ran = assay("index", project, "--index", shelf.place)
    assert ran.status == 0, ran.err
    return shelf


@pytest.fixture
def elsewhere(indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be on another machine after it was indexed: another cache, and no checkout."""
    assert indexed.place
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache" / "elsewhere"))
    (tmp_path / EMPTY).mkdir()
    monkeypatch.chdir(tmp_path / EMPTY)
    return tmp_path / EMPTY


def test_a_bucket_answers_as_a_folder_does(assay, project: Path, tmp_path: Path, indexed):
    answers = []
    for place in (indexed.place, str(tmp_path / "folder")):
        at = ("--index", place)
        search = assay("search", "send mail", project, *at, "--format", "json", "--mode", "all")
        every = assay("search", '"mail"', project, *at)
        related = assay("related", f"{project}/mail/send.py:6", project, *at)
        status = json.loads(assay("status", project, *at, "--format", "json").out)
        facts = {key: status[key] for key in ("files", "chunks", "encoder", "whole", "damage", "left_out", "notes")}
        answers.append((hits(search), every.out, related.out, facts))
    assert answers[0] == answers[1]
    assert answers[0][0][0][0] == "mail/send.py"


def test_readers_need_no_checkout_and_ask_little(assay, indexed, elsewhere: Path):
    at = f"{indexed.place}#postbox"
    indexed.proxy.traffic.clear()
    ran = assay("search", "send mail", at, "--format", "json")
    assert (ran.status, hits(ran)[0][0]) == (0, "mail/send.py")
    size = sum(file.stat().st_size for file in elsewhere.parent.joinpath("cache", "elsewhere").rglob("*.segment"))
    assert len(indexed.requests) <= 4 + size / RANGE
    indexed.proxy.traffic.clear()
    assert assay("search", "send mail", at).status == 0
    assert len(indexed.requests) <= 1
    assert indexed.proxy.traffic.bytes_down < 2000
    assert assay("related", "mail/send.py:6", at).status == 0
    ran = assay("status", at)
    assert (ran.status, "files     4" in ran.out, "of the bucket the sizes" in ran.out) == (0, True, True)
    assert assay("doctor", at).out.count("whole") == 1


def test_a_place_holds_many_repositories_of_different_names(assay, refuses, project: Path, indexed, tmp_path: Path):
    other, same, at = tmp_path / "parcels", tmp_path / "other" / "postbox", ("--index", indexed.place)
    for folder in (other, same):
        folder.mkdir(parents=True)
        (folder / "parcel.py").write_text("def weigh_parcel(parcel):\n    return parcel.weight\n")
    assert assay("index", other, project, *at).status == 0
    for question, found in (("weigh a parcel", "weigh_parcel"), ("send mail", "postbox")):
        assert found in assay("search", question, indexed.place, "--limit", "1").out
    status = json.loads(assay("status", indexed.place, "--format", "json").out)
    assert [each["root"] for each in status["roots"]] == ["parcels", "postbox"]
    refuses(((*command, same, *at), "#NAME") for command in (("index",), ("search", "mail"), ("status",)))
    assert assay("index", same, "--index", f"{indexed.place}#other").status == 0
    assert "4 files" in assay("index", project, *at).out
    refuses([
        (f"search mail {indexed.place}/none", "there is no index in"),
        (f"search mail {indexed.place}#nobody", "assay index PATH --index"),
        ("search mail s3://", "does not name a bucket"),
        (f"index {indexed.place}", ""),
        (f"watch {indexed.place}", ""),
    ])  # fmt: skip


def test_a_checkout_is_named_by_its_origin(assay, project: Path, shelf, tmp_path: Path):
    for command in (["init", "-q"], ["remote", "add", "origin", "https://me:password@host.org/a/b.git"]):
        subprocess.run(["git", "-C", str(project), *command], check=True)
    assert assay("index", project, "--index", shelf.place).status == 0
    manifest = next(path for _, path, _ in shelf.requests if path.endswith("manifest.json"))
    assert "/repos/host.org/a/b/manifest.json" in manifest
    clone = tmp_path / "clone-of-it"
    shutil.copytree(project, clone)
    assert assay("search", "send mail", clone, "--index", shelf.place).status == 0
    assert assay("search", "send mail", f"{shelf.place}#host.org/a/b").status == 0


NOT_ACCEPTED = "credentials were not accepted"
REFUSALS = [
    ({"AWS_ACCESS_KEY_ID": "nobody"}, None, NOT_ACCEPTED, 4),
    ({"AWS_SECRET_ACCESS_KEY": "another-secret"}, None, NOT_ACCEPTED, 4),
    ({"AWS_ALLOW_HTTP": ""}, None, "plain http", 4),
    ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, None, "cannot reach", 1),
    ({}, 403, "may not read or list here", 4),
    ({}, 301, "another region", 1),
    ({}, 500, "request failed (status 500)", 1),
]
"""Variables, the status of each answer, what is said, and how many commands say it: some ask again and again."""


def test_a_refusal_is_not_reported_as_damage(assay, project: Path, indexed, monkeypatch: pytest.MonkeyPatch):
    def refused(place: str, said: str, commands: int = 4) -> None:
        every = [("search", "mail", project, "--index", place), ("status", project, "--index", place)]
        every += [("index", project, "--index", place), ("search", "mail", f"{place}#postbox")]
        for command in every[:commands]:
            ran = assay(*command)
            assert (ran.status, said in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err
            wrong = (SECRET, "another-secret", "remove", "rebuild", "corrupt", "delete")
            assert [word for word in wrong if word in ran.err] == []

    refused("s3://no-such-bucket/x", "there is no bucket 'no-such-bucket'")
    for variables, code, said, commands in REFUSALS:
        indexed.proxy.before = lambda _method, _path, code=code: code
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            refused(indexed.place, said, commands)


def test_a_reader_without_write_access_gets_answers_and_a_note(assay, project: Path, indexed, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", READER)
    (project / "parcel.py").write_text("def weigh_parcel(parcel):\n    return parcel.weight\n")
    ran = assay("search", "send mail", project, "--index", indexed.place)
    assert (ran.status, "send_mail" in ran.out, "may not write here" in ran.err) == (0, True, True)
    ran = assay("index", project, "--index", indexed.place)
    assert (ran.status, "may not write here" in ran.err) == (2, True)


def test_a_manifest_of_a_newer_format_is_left_alone(refuses, project: Path, indexed):
    def newer(path: str, data: bytes) -> bytes:
        return data.replace(b'"format": ', b'"format": 9') if path.endswith("manifest.json") else data

    indexed.proxy.garble = newer
    indexed.proxy.traffic.clear()
    at = (project, "--index", indexed.place)
    refuses(((*command, *at), "use a later assay") for command in (("index",), ("search", "mail"), ("status",)))
    assert not indexed.proxy.traffic.count("PUT")


@pytest.mark.usefixtures("elsewhere")
def test_corrupt_and_missing_files_in_a_bucket_are_noticed(assay, indexed):
    def flipped(path: str, data: bytes) -> bytes:
        return data[:-200] + bytes([data[-200] ^ 1]) + data[-199:] if path.endswith(".segment") else data

    at = f"{indexed.place}#postbox"
    indexed.proxy.before = lambda _method, path: 404 if path.endswith(".segment") else None
    ran = assay("search", "send mail", at)
    assert (ran.status, ".segment is missing" in ran.err) == (2, True)
    indexed.proxy.before = lambda _method, _path: None
    indexed.proxy.garble = flipped
    ran = assay("search", "send mail", at)
    assert (ran.status, ran.out, "corrupt" in ran.err) == (2, "", True)
    assert assay("status", at).status == 2
    indexed.proxy.garble = lambda _path, data: data
    assert assay("search", "send mail", at).status == 0


def test_a_corrupt_local_copy_is_fetched_again(assay, project: Path, indexed, tmp_path: Path):
    (copy,) = copies(tmp_path)
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    assert assay("status", project, "--index", indexed.place).status == 0
    (project / "many.py").write_text("".join(f"def unit_{n}():\n    return {n}\n\n\n" * 20 for n in range(90)))
    assert assay("index", project, "--index", indexed.place).status == 0
    copy = max(copies(tmp_path), key=lambda path: path.stat().st_size)
    data = bytearray(copy.read_bytes())
    data[ArrayFile(copy).names["vectors"][2] + (1 << 16)] ^= 1  # in a block that only a search reads
    copy.write_bytes(data)
    ran = assay("search", "send mail", f"{indexed.place}#postbox")
    assert (ran.status, ran.out, "fetched again" in ran.err, "rebuild" in ran.err) == (2, "", True, False)
    assert assay("search", "send mail", f"{indexed.place}#postbox").status == 0
    copy.write_bytes(data[:100])
    assert assay("search", "send mail", project, "--index", indexed.place).status == 0


def test_servers_answer_from_a_place(assay, project: Path, indexed, elsewhere: Path):
    roots = SettingsOptions().served([f"{indexed.place}#postbox"])
    assert [root.name for root in roots] == ["postbox"]
    session = Session(roots)
    assert session.place().reader.view().report.files == 4
    assert search(Search("send mail"), session).hits[0].path == "mail/send.py"
    assert status(StatusOf(), session).location == f"{indexed.place}#postbox"
    (project / "parcel.py").write_text("def weigh_parcel(parcel):\n    return parcel.weight\n")
    assay("index", project, "--index", indexed.place)
    Session(roots).place().reader.view()
    assert not list(elsewhere.iterdir())


def test_an_index_that_is_not_to_be_refreshed_is_read_as_it_is(assay, refuses, project: Path, tmp_path: Path):
    pytest.importorskip("watchfiles")
    at = ("--index", tmp_path / "index", "--set", "index.refresh=false")
    assert assay("index", project, "--index", tmp_path / "index").status == 0
    (project / "parcel.py").write_text("def weigh_parcel(parcel):\n    return parcel.weight\n")
    assert assay("search", "weigh a parcel", project, *at).status == 1
    assert "stale     not known" in assay("status", project, *at).out
    assert json.loads(assay("status", project, *at, "--format", "json").out)["compared"] is False
    refuses([(("index", project, *at), "index.refresh is false")])
    refuses([(("watch", project, *at), "is read-only here")], lines=2)


def test_a_search_does_not_rebuild_a_shared_index(assay, project: Path, indexed):
    at = (project, "--index", indexed.place, "--encoder", "hash:64")
    indexed.proxy.traffic.clear()
    ran = assay("search", "send mail", *at)
    assert (ran.status, ran.err.count("\n"), "rebuilds it for all who read it" in ran.err) == (2, 1, True), ran.err
    assert not indexed.proxy.traffic.count("PUT")
    assert "rebuilt" in assay("index", *at).err
    assert assay("search", "send mail", *at).status == 0
    ran = assay("search", "send mail", f"{indexed.place}#postbox")
    assert (ran.status, "give --encoder" in ran.err) == (2, True)


@pytest.mark.parametrize("reads", ["files", "as it is"])
def test_a_server_answers_while_its_bucket_is_out_of_reach(project: Path, indexed, reads: str):
    refresh, place = reads == "files", f"{indexed.place}#postbox"
    settings = load(options={"index.location": place, "index.refresh": refresh})
    engine = Session({project: settings}, waits=Waits(fresh_s=0, refresh_s=30)).place().reader
    assert engine.view().report.unwritten == ""
    indexed.proxy.before = lambda _method, _path: 403
    index = engine.view().workspace.index
    index.folder._forget()  # as after three seconds
    view = engine.view()
    assert "may not read or list here" in view.report.unwritten
    assert view.workspace.corpus_search.search([Query("1", "send mail")], 1)[0][0].chunk.path == "mail/send.py"
    indexed.proxy.before = lambda _method, _path: None
    assert engine.view().report.unwritten == ""
