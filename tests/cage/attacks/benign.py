"""Programs that mean no harm and must work."""

from __future__ import annotations

from assay.values import Pytest
from attacks.model import UNITTEST, Attack, is_correct

GROUP = "benign"
SUITE = (
    Pytest(
        "import pytest\nfrom solution import add\n\n\n@pytest.mark.parametrize('a, b, c', [(1, 2, 3), (0, 0, 0)])\n"
        "def test_add(a, b, c):\n    assert add(a, b) == c\n\n\ndef test_raises():\n"
        "    with pytest.raises(TypeError):\n        add(1, None)\n"
    ),
)


ATTACKS = (
    Attack("unittest suite", GROUP, "is tested by unittest cases", "def add(a, b):\n    return a + b\n",
           tests=UNITTEST, entry_point="add", escaped=is_correct),
    Attack("pytest suite", GROUP, "is tested by a pytest file with parameters and raises",
           "def add(a, b):\n    return a + b\n", tests=SUITE, entry_point="add", escaped=is_correct,
           modules=("pytest",)),
    Attack("process pool", GROUP, "multiprocessing.Pool and a thread pool share work out", """
import concurrent.futures, multiprocessing

def square(n):
    return n * n

def attack():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(square, range(10)) == [n * n for n in range(10)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(square, range(10))) == 285
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=queue.put, args=("x",))
    child.start()
    assert queue.get(timeout=5) == "x"
    child.join()
""", escaped=is_correct),
    Attack("files, database, server", GROUP, "tempfile, sqlite3, an asyncio server on loopback, signals, gzip", """
import asyncio, gzip, pathlib, sqlite3, tempfile

async def talk():
    async def answer(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    writer.write(b"hello\\n")
    got = await reader.readline()
    writer.close()
    server.close()
    return got

def attack():
    with tempfile.TemporaryDirectory() as folder:
        base = sqlite3.connect(pathlib.Path(folder) / "base.db")
        base.execute("create table t (n integer)")
        base.executemany("insert into t values (?)", [(n,) for n in range(1000)])
        base.commit()
        assert base.execute("select sum(n) from t").fetchone() == (499500,)
        base.close()
        with gzip.open(f"{folder}/x.gz", "wt") as file:
            file.write("x" * 100_000)
        assert gzip.open(f"{folder}/x.gz", "rt").read() == "x" * 100_000
    assert asyncio.run(talk()) == b"HELLO\\n"
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.1)
    assert seen == [1]
""", escaped=is_correct),
)  # fmt: skip
