"""Keep the orders that rankers gave in files, so that a pool which was ranked before is not ranked again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.bench.experiment import file_name
from assay.errors import StorageError
from assay.faults import Fault
from assay.protocols import Ranker
from assay.rank.rankers import executes, parts_of
from assay.runs.record import Batches, code_stamp, hash_of, read_lines, sole_writer
from assay.values import Program, Ranked, Task


class RecordedRanker:
    """A ranker whose orders are kept in a file: a pool that it has ranked is not ranked again."""

    def __init__(self, ranker: Ranker, file: Path, importable: Sequence[str] = ()) -> None:
        """Take where the orders are kept, and for a ranker that runs programs what these can import."""
        self._ranker, self._file = ranker, file
        self._about = (_stamp(ranker.name), *importable) if importable else _stamp(ranker.name)
        self.spared_s = 0.0
        """Seconds that the orders took which were read and not made."""
        with ExitStack() as stack:
            stack.enter_context(sole_writer(file))
            self._orders = {record.get("key"): record for record in read_lines(file)}
            self._lines = stack.enter_context(Batches(file))
            self._open = stack.pop_all()

    @property
    def name(self) -> str:
        """The spec of the ranker."""
        return self._ranker.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker thinks of each program, or thought."""
        key = hash_of(repr((code_stamp(), self.name, self._about, task, list(programs))))
        if key in self._orders:
            return self._read(self._orders[key], programs)
        started = time.perf_counter()
        orders = self._ranker.rank(task, programs)
        seconds = time.perf_counter() - started
        told = [[each.score, str(each.fault) if each.fault else None, each.line] for each in orders]
        self._lines.add({"key": key, "task": task.id, "seconds": seconds, "orders": told})
        self._orders[key] = {"seconds": 0.0, "orders": told}
        return orders

    def _read(self, record: Mapping[str, Any], programs: Sequence[Program]) -> list[Ranked]:
        try:
            self.spared_s += float(record["seconds"])
            return [
                Ranked(program, float(score), Fault(fault) if fault else None, int(line))
                for program, (score, fault, line) in zip(programs, record["orders"], strict=True)
            ]
        except (KeyError, TypeError, ValueError) as error:
            about = json.dumps(record)[:80]
            raise StorageError(f"{self._file} holds what is not an order: {about}; remove it to rank again") from error


def _stamp(spec: str) -> list[tuple[str, int, int]]:
    """Return what tells the files and folders that a spec names from others that lay there before."""
    places = [place for part in parts_of(spec) for place in _places(part)]
    files = [file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]


def _places(part: str) -> Iterator[Path]:
    """Yield what may be a path in the spec of one ranker: what follows each of its colons, without options."""
    words = part.partition("?")[0].split(":")
    yield from (Path(path) for at in range(1, len(words)) if (path := ":".join(words[at:])))


@contextmanager
def recorded(
    rankers: Sequence[Ranker], names: Sequence[str], out: Path, importable: Sequence[str] = ()
) -> Iterator[list[RecordedRanker]]:
    """Give rankers whose orders are kept in files below a folder, each under its name."""
    with ExitStack() as stack:
        files = [out / "runs" / f"{file_name(name)}.jsonl" for name in names]
        yield [
            stack.enter_context(RecordedRanker(ranker, file, importable if executes(ranker.name) else ()))
            for ranker, file in zip(rankers, files, strict=True)
        ]
