"""An index after any edits is equal to a fresh one, and reads and encodes only what differs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.corpus.walked_files import FileEntry, Walk, as_utf8
from assay.encode.vectors import HashedEncoder
from assay.errors import StorageError
from assay.search.folder_index import FolderIndex
from assay.search.hybrid import LearnedSearcher
from assay.search.index_changes import UNSURE_NS, Build, sift, unchanged
from assay.search.question import Speller
from assay.search.related import related_code
from assay.search.retrievers import KeywordSearcher, VectorSearcher
from assay.store.catalog import STAT, Catalog, FileRecord
from assay.store.index_location import MANIFEST
from assay.store.merge import MAX_DEAD_FRACTION, MAX_SEGMENTS
from assay.values import Query

ENCODER = HashedEncoder("32")

PATHS = st.sampled_from(["a.py", "b.py", "lib/a.py", "lib/b.py", "lib/deep/c.py", "notes.md", "data.txt", "z é.py"])
TEXTS = st.sampled_from(
    [
        "",
        "def parse_args(argv):\n    return argv\n",
        "def parse_args(argv):\n    return argv[1:]\n",
        "class Server:\n    def listen(self):\n        return 'HTTPServer'\n\n    def close(self):\n        pass\n",
        "# Guide\n\nHow to listen.\n\n## Retries\n\nThey are handled.\n",
        "x = 1\n" * 90,
        "naïve = 'ÄÖÜ'\n",
    ]
)
EDITS = st.one_of(
    st.tuples(st.just("write"), PATHS, TEXTS),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("delete"), PATHS),
    st.tuples(st.just("touch"), PATHS),
    st.tuples(st.just("branch"), st.dictionaries(PATHS, TEXTS, max_size=6)),
)


class Tree:
    """A folder whose files change at times that a test decides."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = 1_000_000_000

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        self.touch(path)

    def rename(self, old, new):
        if (self.root / old).is_file():
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).replace(self.root / new)

    def delete(self, path):
        (self.root / path).unlink(missing_ok=True)

    def touch(self, path):
        if (self.root / path).is_file():
            self.clock += 10
            os.utime(self.root / path, (self.clock, self.clock))

    def branch(self, files):
        shutil.rmtree(self.root)
        self.root.mkdir()
        for path, text in files.items():
            self.write(path, text)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    return Tree(root)


@pytest.fixture
def index(tree, tmp_path):
    return FolderIndex(tree.root, tmp_path / "index", ENCODER)


def content(snapshot):
    """Everything that search can see, without the numbers that chunks happen to have."""
    living = sorted(set(range(snapshot.size)) - set(snapshot.dead.tolist()))
    chunks = {snapshot.chunk(number).id: snapshot.chunk(number) for number in living}
    lengths = {snapshot.chunk(number).id: tuple(snapshot.lengths[number].tolist()) for number in living}
    return chunks, lengths, len(snapshot)


def similarities(snapshot, query):
    scores = snapshot.near(ENCODER.encode([query], "query")[0])
    dead = set(snapshot.dead.tolist())
    return {snapshot.chunk(n).id: scores[n] for n in range(snapshot.size) if n not in dead}


ASKED = ("listen to retries", "function of a retrun", "parse_args", "changed", "sevrer")


def found_in(snapshot, path):
    """What every search answers, to the last bit: places, scores and reasons in their order, also among equals."""
    speller = Speller(snapshot, lambda: frozenset({"return"}))
    queries = [Query("", "parse args", mode="code"), Query("", "guide", mode="docs"), Query("", "one", paths=("lib/",))]
    queries += [Query("", speller.corrected(text)) for text in ASKED]
    searchers = (LearnedSearcher(snapshot, ENCODER), VectorSearcher(snapshot, ENCODER), KeywordSearcher(snapshot))
    answers = [hits for each in searchers for k in (3, 8) for hits in each.search(queries, k)]
    related = related_code(snapshot, path, 1, 9) if path else None
    return [[(hit.chunk, hit.score, list(hit.why.items())) for hit in hits] for hits in answers], related


def assert_equal_to_fresh(index):
    with tempfile.TemporaryDirectory() as folder:
        fresh = FolderIndex(index.root, Path(folder), ENCODER, index.build)
        report = fresh.refresh()
        one, other = index.snapshot(), fresh.snapshot()
        assert content(one) == content(other)
        mine, theirs = similarities(one, "listen to retries"), similarities(other, "listen to retries")
        assert mine == theirs
        path = min(paths(one), default="")
        assert found_in(one, path) == found_in(other, path)
        status = index.status()
        assert (status.files, status.chunks, status.notes) == (report.files, report.chunks, report.notes)
        assert status.skipped == fresh.status().skipped


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(EDITS, min_size=1, max_size=4), min_size=1, max_size=12))
def test_any_edits_end_equal_to_a_fresh_index(scripts):
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder) / "root")
        tree.root.mkdir()
        index = FolderIndex(tree.root, Path(folder) / "index", ENCODER)
        for script in scripts:
            for name, *arguments in script:
                getattr(tree, name)(*arguments)
            index.refresh()
        assert_equal_to_fresh(index)


def test_nothing_is_written_when_nothing_changed(tmp_path):
    old_files = Path(json.__file__).parent  # nothing that a test writes is old enough to be trusted
    index = FolderIndex(old_files, tmp_path / "index", ENCODER)
    index.refresh()
    before = index.folder.catalog()
    assert not index.refresh().changed
    assert index.folder.catalog() == before


def test_counts_say_what_changed_and_a_touch_is_no_change(tree, index):
    tree.write("a.py", "one = 1\n")
    tree.write("b.py", "two = 2\n")
    assert len(index.refresh().changed.added) == 2
    segments, held = index.folder.open().manifest.segments, index.snapshot()
    tree.touch("a.py")
    assert index.refresh().changed.counts() == {"added": 0, "changed": 0, "removed": 0}
    assert index.folder.open().manifest.segments == segments
    tree.write("a.py", "one = 11\n")
    tree.write("c.py", "three = 3\n")
    tree.delete("b.py")
    assert index.refresh().changed.counts() == {"added": 1, "changed": 1, "removed": 1}
    assert [held.chunk(n).text for n in range(held.size)] == ["one = 1\n", "two = 2\n"], "a snapshot stays as it was"


def test_a_text_is_indexed_under_its_first_path_only(tree, index):
    text = "def same():\n" + "    work()\n" * 40
    tree.write("vendor/copy.py", text)
    tree.write("vendor/small.py", "one = 1\n")
    tree.write("lib/small.py", "one = 1\n")
    index.refresh()
    tree.write("lib/copy.py", text)
    report = index.refresh()
    assert (report.files, report.chunks) == (4, 3)
    assert [(s.path, s.reason) for s in report.skipped] == [("vendor/copy.py", "a copy of lib/copy.py")]
    tree.delete("lib/copy.py")
    assert index.refresh().skipped == ()
    assert_equal_to_fresh(index)


@pytest.mark.parametrize("quantisation", ["none", "int8"])
def test_segments_stay_few_and_mostly_alive(tree, tmp_path, quantisation):
    index = FolderIndex(tree.root, tmp_path / "index", ENCODER, Build(quantisation=quantisation))
    for number in range(30):
        tree.write(f"file{number}.py", f"def function{number}():\n    return {number}\n" * 3)
    index.refresh()
    for number in range(20):
        tree.write(f"file{number}.py", f"def changed{number}():\n    return {number}\n")
        index.refresh()
        parts = index.folder.open().parts
        assert len(parts) <= MAX_SEGMENTS
        assert all(len(part.segment) - part.living <= MAX_DEAD_FRACTION * len(part.segment) for part in parts)
    assert len(parts) > 1
    assert_equal_to_fresh(index)


def test_many_batches_on_several_cores_are_equal_to_one(tree, tmp_path):
    for number in range(60):
        tree.write(f"file{number}.py", f"def function{number}(argument):\n    return {number}\n\n\n" * 100)
    many = FolderIndex(tree.root, tmp_path / "many", ENCODER, Build(batch_bytes=20_000))
    calls = []
    many.refresh(lambda *call: calls.append(call))
    assert len(calls) > 1
    assert ("index", 60, 60) in calls
    assert_equal_to_fresh(many)


CHANGED = {"chunk_lines": 20, "section_lines": 9, "quantisation": "int8", "reads": "source", "encoding": "koi8-r"}


def whole(index):
    """Return every chunk's lines and its vector as stored."""
    ((segment, _),) = index.snapshot().parts
    return segment.ids.all(), segment.vectors.tobytes()


def test_another_way_of_building_and_another_encoder_are_another_index(tree, tmp_path):
    tree.write("a.py", "def f():\n" + "    g()\n" * 90)
    tree.write("a.md", "# Top\n" + "text\n" * 90)
    (tree.root / "b.py").write_bytes("# отправить чек по почте\ndef h(): pass\n".encode("cp1251"))
    for name, value in CHANGED.items():
        usual = FolderIndex(tree.root, tmp_path / name, ENCODER)
        usual.refresh()
        before = whole(usual)
        changed = FolderIndex(tree.root, tmp_path / name, ENCODER, Build(**{name: value}))
        assert changed.refresh().rebuilt_because.endswith(f", {name} {value}")
        assert whole(changed) != before, name
        assert changed.refresh().rebuilt_because == ""
        back = FolderIndex(tree.root, tmp_path / name, ENCODER).refresh()
        assert f"{name} {value}, not with" in back.rebuilt_because
    more = FolderIndex(tree.root, tmp_path / "reads", ENCODER, Build(batch_bytes=9)).refresh()
    assert more.rebuilt_because == "", "memory while building is no part of an index"
    other = FolderIndex(tree.root, tmp_path / "reads", HashedEncoder("64")).refresh()
    assert ("hash:32" in other.rebuilt_because, len(other.changed.added)) == (True, 3)


def test_how_a_file_was_decoded_is_noted_again_with_each_change(tree, index):
    (tree.root / "a.c").write_bytes("/* отправить чек по почте */\n".encode("cp1251"))
    tree.touch("a.c")
    assert index.refresh().notes == {"a.c": "decoded by guess as cp1251"}
    tree.write("a.c", "/* отправить чек по почте */\n")  # the same text
    assert index.refresh().notes == {}
    (tree.root / "a.c").write_bytes("/* отправить чек по почте */\n".encode("koi8_r"))
    tree.touch("a.c")
    assert index.refresh().notes == {"a.c": "decoded by guess as koi8-r"}


def test_quantised_vectors_take_less_room_and_follow_changes(tree, tmp_path):
    sizes = {}
    for how in ("none", "int8"):
        for number in range(80):
            tree.write(f"f{number}.py", f"def name{number}():\n    return {number}\n")
        index = FolderIndex(tree.root, tmp_path / how, HashedEncoder("512"), Build(quantisation=how))
        index.refresh()
        sizes[how] = index.size_bytes()
        tree.write("f0.py", "def changed():\n    return how\n")
        assert len(index.refresh().changed.changed) == 1
        cosines = index.snapshot().near(index.encoder.encode(["changed return how"], "query")[0])
        assert index.snapshot().chunk(int(cosines.argmax())).symbol == "changed"
    assert sizes["none"] - sizes["int8"] == pytest.approx(80 * 512 * 3, rel=0.05)


def test_an_index_inside_a_root_is_no_part_of_any_index(tree):
    tree.write("a.py", "one = 1\n")
    index = FolderIndex(tree.root, tree.root / "kept" / "index", ENCODER)
    index.refresh()
    tree.write("b.py", "two = 2\n")
    assert index.refresh().files == 2
    before = index.folder.open().manifest.segments
    report = index.refresh()
    assert (report.files, report.skipped) == (2, ())
    assert index.folder.open().manifest.segments == before
    assert FolderIndex(tree.root, tree.root / "two", ENCODER).refresh().files == 2


def test_an_empty_folder_has_an_index_and_there_is_no_snapshot_before_one(index):
    with pytest.raises(StorageError, match="no index"):
        index.snapshot()
    assert index.status() is None
    report = index.refresh()
    assert (report.files, report.chunks) == (0, 0)
    assert len(index.snapshot()) == 0


def paths(snapshot):
    return {chunk.path for chunk in snapshot.living()}


def test_what_is_too_large_or_hostile_is_indexed_or_named_with_its_reason(tree, index):
    texts = ["\ud800", "\x00", "\ufeffx = 1\n", "a\r\nb\rc\n", "\u2028" * 10, "\n" * 1000, "(" * 5000]
    for number, text in enumerate(texts):
        (tree.root / f"hostile{number}.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    with (tree.root / "large.py").open("wb") as file:
        file.truncate(2 << 30)
    (tree.root / "line.js").write_text("var a=1;" * 2_000_000)
    tree.write("small.py", "one = 1\n")
    report = index.refresh()
    assert {"large.py", "line.js"} <= {skipped.path for skipped in report.skipped if skipped.reason}
    assert report.files + len(report.skipped) == 3 + len(texts)
    assert "small.py" in paths(index.snapshot())


NAMES = [
    *(b"latin-\xe9\xff.py", "kyrillisch-привет.py".encode("cp1251"), "日本語.py".encode("shift_jis")),
    *("日本語.py".encode(), "e\u0301-decomposed.py".encode(), "emoji-🦀.py".encode(), b"line\nbreak.py"),
    *(b"tab\tand  spaces .py", b"-dash.py", b"quote\"and'and`.py", b"back\\slash.py", b"\x01\x1b[31mred.py"),
    b"x" * 252 + b".py",
]


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system allows UTF-8 names only")
def test_files_with_names_in_any_encoding_are_indexed_and_removed(tree, index):
    files = [Path(os.fsdecode(os.fsencode(tree.root) + b"/" + name)) for name in NAMES]
    for number, file in enumerate(files):
        file.write_bytes(b"def found_%d(): pass\n" % number)
    index.refresh()
    wanted = {as_utf8(os.fsdecode(name)) for name in NAMES}
    assert paths(index.snapshot()) == wanted
    assert not index.refresh().changed
    assert paths(FolderIndex(index.root, index.folder.location, ENCODER).snapshot()) == wanted
    for file in files:
        file.unlink()
    index.refresh()
    assert paths(index.snapshot()) == set()


CHECKED_NS = 10**18
OLD_NS = CHECKED_NS - 2 * UNSURE_NS
FILE = FileEntry("a.py", 5, OLD_NS, OLD_NS, 7)
RECORD = FileRecord("a.py", 5, OLD_NS, OLD_NS, 7, b"d" * 16)


def is_trusted(file: FileEntry, record: FileRecord) -> bool:
    """Say whether a file is not read again; both ways of comparing have to agree."""
    walk = Walk((file,), (), "")
    same = unchanged(walk, Catalog.of([record]), CHECKED_NS)
    assert same == (not sift(walk, {record.path: record}, CHECKED_NS).to_read)
    return same


def test_a_file_is_read_again_when_anything_differs_or_it_changed_as_it_was_recorded():
    assert is_trusted(FILE, RECORD)
    for name in STAT:
        assert not is_trusted(replace(FILE, **{name: getattr(FILE, name) + 1}), RECORD), name
    for name in ("mtime_ns", "ctime_ns"):
        late = {name: CHECKED_NS - UNSURE_NS}
        assert not is_trusted(replace(FILE, **late), replace(RECORD, **late)), name


@pytest.fixture
def old_index(tree, index):
    """Return an index of two files, which was written long after they were."""
    for name in ("a.py", "b.py"):
        (tree.root / name).write_text("def old(): pass\n")
    index.refresh()
    manifest = index.folder.open().manifest
    later = replace(manifest, checked_ns=manifest.checked_ns + 100 * UNSURE_NS)
    (index.folder.location / MANIFEST).write_bytes(later.data)
    return FolderIndex(tree.root, index.folder.location, ENCODER)


@pytest.mark.parametrize("in_place", [True, False])
def test_an_edit_of_the_same_size_and_time_is_seen(old_index, in_place):
    file = old_index.root / "a.py"
    before = file.stat()
    if in_place:
        file.write_text("def new(): pass\n")
    else:
        (old_index.root / "new").write_text("def new(): pass\n")
        (old_index.root / "new").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert old_index.standing().stale.changed == ("a.py",)
    assert old_index.refresh().changed.changed == ("a.py",)
    assert sorted(chunk.symbol for chunk in old_index.snapshot().living()) == ["new", "old"]


class NoEncoder(HashedEncoder):
    """Encodes nothing."""

    def encode(self, texts, role):
        raise AssertionError(f"{len(texts)} texts of role {role} are encoded")


def test_a_copy_of_a_tree_is_read_and_not_encoded(old_index, tmp_path):
    old_index.root.rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", old_index.root)  # other inodes, and other times of change
    segments = old_index.folder.open().manifest.segments
    assert not FolderIndex(old_index.root, old_index.folder.location, NoEncoder("32")).refresh().changed
    assert old_index.folder.open().manifest.segments == segments
