"""Measure an index in object storage, on a real S3-compatible server: seconds, requests and bytes.

    python benchmarks/bucket.py FOLDER [--part 1]   # needs the extras `bucket` and `dev`

FOLDER is indexed into a bucket, read by a machine whose cache is empty and asked again, at 0 and 20 ms a request. Then
two writers at once, writers killed at random moments, readers during updates, and what each refusal takes. A proxy
before the server counts the requests; its processor time is this machine's, too. `--part` is how much of all rounds.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from assay.encode.static import load_static
from assay.encode.vectors import HashedEncoder
from assay.protocols import Encoder
from assay.search.folder_index import FolderIndex
from assay.search.hybrid import LearnedSearcher
from assay.store.bucket import BucketBlobs
from assay.store.copies import LocalCopies, SharedPlace
from assay.store.folder import IndexFolder
from assay.store.index_location import bucket_place
from assay.values import Query
from s3_server import BUCKET, READER, Proxy, environment, s3_server

QUESTIONS = (
    "retry when the connection is lost",
    "where is the configuration read",
    "serialize an object",
    "schedule a task on a node",
    "what happens when a worker dies",
    "parse command line arguments",
    "limit the memory that is used",
    "write metrics to prometheus",
)
ROUNDS, KILLS, UPDATES, MANY = 20, 10, 20, 100
SMALL = HashedEncoder("64")


def machine(root: Path, cache: Path, place: str, encoder: Encoder) -> FolderIndex:
    """Return the index in a bucket as a machine with a cache of its own has it."""
    where = bucket_place(place)
    shared = SharedPlace(str(where), BucketBlobs(where), LocalCopies(cache, cache, 1 << 40))
    return FolderIndex(root, IndexFolder(cache, shared), encoder)


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def cost(proxy: Proxy) -> str:
    traffic = proxy.traffic
    methods = ("GET", "PUT", "POST", "DELETE")
    counts = ", ".join(f"{count} {method}" for method in methods if (count := traffic.count(method)))
    return f"{counts or 'none'}; {traffic.bytes_up / 1e6:.1f} MB up, {traffic.bytes_down / 1e6:.1f} MB down"


def timed(what: str, proxy: Proxy, work: object) -> object:
    proxy.traffic.clear()
    began = time.perf_counter()
    made = work()  # type: ignore[operator]
    row(what, f"{time.perf_counter() - began:.2f} s", cost(proxy))
    return made


def reading(root: Path, folder: Path, proxy: Proxy, delay_ms: int) -> None:
    proxy.delay_s = delay_ms / 1000
    encoder, place = load_static(), f"s3://{BUCKET}/d{delay_ms}#code"
    writer = machine(root, folder / f"writer{delay_ms}", place, encoder)
    report = timed(f"index, {delay_ms} ms", proxy, writer.refresh)
    print(f"{report.chunks:,} chunks, {writer.size_bytes() / 1e6:.0f} MB")  # type: ignore[attr-defined]

    def cold() -> LearnedSearcher:
        reader = machine(Path("nowhere"), folder / f"reader{delay_ms}", place, encoder)
        searcher = LearnedSearcher(reader.snapshot(), encoder)
        searcher.search([Query("1", QUESTIONS[0])], 10)
        return searcher

    searcher = timed(f"open and first answer, the cache empty, {delay_ms} ms", proxy, cold)
    timed(f"open and first answer, the cache filled, {delay_ms} ms", proxy, cold)
    proxy.traffic.clear()
    took = []
    for text in QUESTIONS * 3:
        began = time.perf_counter()
        searcher.search([Query("1", text)], 10)  # type: ignore[attr-defined]
        took.append((time.perf_counter() - began) * 1000)
    row(f"a question, {delay_ms} ms", f"p50 {statistics.median(took):.0f} ms, most {max(took):.0f} ms", cost(proxy))
    reader = machine(Path("nowhere"), folder / f"reader{delay_ms}", place, encoder)
    reader.snapshot()
    reader.folder._forget()  # noqa: SLF001  as after three seconds
    timed(f"whether there is a newer one, {delay_ms} ms", proxy, reader.folder.catalog)
    proxy.delay_s = 0.0


def many_repositories(folder: Path, proxy: Proxy, many: int) -> None:
    place, roots = f"s3://{BUCKET}/many", [write(folder / "many" / f"repo{n}", n, 2) for n in range(many)]
    run = [sys.executable, "-m", "assay"]
    subprocess.run([*run, "index", *map(str, roots), "--index", place], check=True, capture_output=True)
    proxy.delay_s = 0.02
    own = {**os.environ, "XDG_CACHE_HOME": str(folder / "many-reader")}
    for what in ("an empty cache", "a new process"):
        ask = [*run, "search", "part of version 0", place]
        found = timed(
            f"{many} repositories, first answer of {what}, 20 ms",
            proxy,
            lambda ask=ask: subprocess.run(ask, check=True, capture_output=True, env=own),
        )
        assert b"part_" in found.stdout  # type: ignore[attr-defined]
    proxy.delay_s = 0.0


def write(root: Path, version: object, files: int = 40) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        (root / f"part{number}.py").write_text(f"def part_{number}():\n    return 'version {version}'\n")
    return root


def state(place: str, cache: Path) -> tuple[str, set[str], int, int]:
    """Return what is damaged, the versions that are seen, how many chunks there are, and how many with an id twice."""
    reader = machine(Path("nowhere"), cache, place, SMALL)
    damage = reader.check()
    chunks = list(reader.folder.open().snapshot().living())  # type: ignore[union-attr]
    seen = {chunk.text.partition("version ")[2].partition("'")[0] for chunk in chunks}
    return damage, seen, len(chunks), len(chunks) - len({chunk.id for chunk in chunks})


def two_writers(folder: Path, proxy: Proxy, rounds: int) -> None:
    place = f"s3://{BUCKET}/two#shared"
    writers = [machine(write(folder / name, "0"), folder / f"{name}.cache", place, SMALL) for name in "ab"]
    bad = overtaken = 0
    for turn in range(rounds):
        for name, index in zip("ab", writers, strict=True):
            write(index.root, f"{turn}{name}")
        proxy.traffic.clear()
        barrier = threading.Barrier(2)

        def refresh(index: FolderIndex, barrier: threading.Barrier = barrier) -> int:
            barrier.wait()
            return index.refresh().chunks

        with ThreadPoolExecutor(2) as pool:
            assert set(pool.map(refresh, writers)) == {40}
        overtaken += sum(status == 412 for _, _, status in proxy.traffic.requests)
        damage, seen, chunks, twice = state(place, folder / f"seen{turn}")
        bad += bool(damage) or seen not in ({f"{turn}a"}, {f"{turn}b"}) or chunks != 40 or bool(twice)
    row("two writers at once", f"{rounds} rounds, {overtaken} overtaken", f"{bad} mixed, damaged or with an id twice")


def killed_writers(folder: Path, kills: int) -> None:
    place, root, chance = f"s3://{BUCKET}/killed#shared", folder / "killed", random.Random(7)  # noqa: S311  moments
    run = [sys.executable, "-m", "assay", "index", str(root), "--index", place, "--encoder", "hash:64"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    write(root, "first", 400)
    began = time.monotonic()
    subprocess.run(run, check=True, **quiet)
    took_s, bad, kept = time.monotonic() - began, 0, 0
    last = "first"
    for kill in range(kills):
        write(root, str(kill), 400)
        process = subprocess.Popen(run, **quiet)
        time.sleep(chance.uniform(0.5, 1.0) * took_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        damage, seen, chunks, twice = state(place, folder / f"after{kill}")
        kept += seen == {last}
        bad += bool(damage) or seen not in ({last}, {str(kill)}) or chunks != 400 or bool(twice)
        subprocess.run(run, check=True, **quiet)
        damage, seen, chunks, twice = state(place, folder / f"then{kill}")
        bad += bool(damage) or seen != {str(kill)} or chunks != 400 or bool(twice)
        last = str(kill)
    row("writers killed with -9", f"{kills}, {kept} before the manifest", f"{bad} not a whole version, or not gone on")


def readers_meanwhile(folder: Path, updates: int) -> None:
    place = f"s3://{BUCKET}/meanwhile#shared"
    writer = machine(write(folder / "meanwhile", "0"), folder / "meanwhile.cache", place, SMALL)
    writer.refresh()
    stopped, reads, bad = threading.Event(), [0, 0], [0, 0]

    def read(number: int) -> None:
        while not stopped.is_set():
            damage, seen, chunks, twice = state(place, folder / f"mean{number}")
            reads[number] += 1
            bad[number] += bool(damage) or len(seen) != 1 or chunks != 40 or bool(twice)

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read, number) for number in range(2)]
        for turn in range(1, updates + 1):
            write(writer.root, turn)
            writer.refresh()
        stopped.set()
        for reader in readers:
            reader.result()
    row("two readers during updates", f"{updates} updates, {sum(reads)} reads", f"{sum(bad)} mixed versions or damaged")


def refusals(root: Path, proxy: Proxy) -> None:
    cases = (
        ("403", {"AWS_ACCESS_KEY_ID": READER}, f"s3://{BUCKET}/new"),
        ("unknown key", {"AWS_ACCESS_KEY_ID": "nobody"}, f"s3://{BUCKET}/new"),
        ("404", {}, "s3://no-such-bucket/x"),
        ("plain http", {"AWS_ALLOW_HTTP": "false"}, f"s3://{BUCKET}/new"),
        ("no server", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, f"s3://{BUCKET}/new"),
        ("no answer", {}, f"s3://{BUCKET}/silent"),
    )
    for name, changed, place in cases:
        proxy.before = (lambda _method, _path: time.sleep(60)) if name == "no answer" else (lambda _method, _path: None)
        began = time.monotonic()
        run = [sys.executable, "-m", "assay", "index", str(root), "--index", place]
        ran = subprocess.run(run, env={**os.environ, **changed}, capture_output=True, text=True, check=False)
        row(name, f"{time.monotonic() - began:.1f} s, exit {ran.returncode}", ran.stderr.strip().splitlines()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--part", type=float, default=1.0)
    given = arguments.parse_args()
    root, folder = given.folder.resolve(), Path(tempfile.mkdtemp(prefix="assay-bucket-"))
    rounds, kills, updates, many = (math.ceil(count * given.part) for count in (ROUNDS, KILLS, UPDATES, MANY))
    try:
        with s3_server() as endpoint, Proxy(endpoint) as proxy:
            os.environ.update(environment(proxy.endpoint), XDG_CACHE_HOME=str(folder / "cache"))
            print(f"load {os.getloadavg()[0]:.1f}")
            for delay_ms in (0, 20):
                reading(root, folder, proxy, delay_ms)
            many_repositories(folder, proxy, many)
            two_writers(folder, proxy, rounds)
            killed_writers(folder, kills)
            readers_meanwhile(folder, updates)
            refusals(write(folder / "small", "1"), proxy)
            print(f"load {os.getloadavg()[0]:.1f}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
