"""Requests in, how many there were of each route and status and how long they took out, over all processes of a server.

Each process writes the figures of its own slot in the shared table and reads everybody's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf

from assay.serve.http.access import FIGURES, PROBES
from assay.serve.http.server_part import KEEPER, WORKER
from assay.serve.http.shared_table import NUMBERS, SharedTable

STATUSES = (200, 202, 303, 304, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 422, 429, 431, 500, 503)
BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
OTHER = "other"
_PROCESS, _STARTS, _ROLE, _SWEPT, _ASKED, _OPEN, _FIRST = 0, 1, 2, 3, 4, 5, 8
"""Where a slot has its process, how many it had, its role, its last look at files, questions, connections, routes."""
_ROLES = (WORKER, KEEPER)
_WIDTH = len(STATUSES) + 1 + len(BOUNDS_S) + 1 + 1
"""Numbers of a route: by status and of another one, by time and longer, and all seconds together."""
_TIMES = len(STATUSES) + 1
_SUM = _WIDTH - 1


class RequestFigures:
    """The figures of one process, beside those of the others."""

    def __init__(self, table: SharedTable, slot: int, routes: Sequence[str]) -> None:
        """Take a slot of the table, and the routes that are counted by themselves; all others are one."""
        assert _FIRST + (len(routes) + 1) * _WIDTH <= NUMBERS
        self._table, self._own = table, table.slot(slot)
        self._names = (*routes, OTHER)
        self._exact = {name: number for number, name in enumerate(routes) if "{" not in name}
        self._below = [(name.partition("{")[0], number) for number, name in enumerate(routes) if "{" in name]
        self._below.sort(key=lambda pair: -len(pair[0]))

    def route(self, path: str) -> str:
        """Return the route of a path."""
        return self._names[self._number(path)]

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        start = _FIRST + self._number(path) * _WIDTH
        by_status = STATUSES.index(status) if status in STATUSES else len(STATUSES)
        by_time = next((number for number, bound in enumerate(BOUNDS_S) if seconds <= bound), len(BOUNDS_S))
        for place, more in ((by_status, 1.0), (_TIMES + by_time, 1.0), (_SUM, seconds)):
            self._own[start + place] += more
        self._own[_ASKED] += path not in PROBES and path != FIGURES

    def lines(self) -> Iterator[str]:
        """Return the figures of all processes as Prometheus reads them."""
        sums = self._sums()
        yield "# HELP assay_requests_total Requests that were answered."
        yield "# TYPE assay_requests_total counter"
        for route, figures in zip(self._names, sums, strict=True):
            for status, count in zip((*STATUSES, OTHER), figures, strict=False):
                if count:
                    yield f'assay_requests_total{{route="{route}",status="{status}"}} {count:.0f}'
        yield "# HELP assay_request_seconds How long answers took."
        yield "# TYPE assay_request_seconds histogram"
        for route, figures in zip(self._names, sums, strict=True):
            if any(figures):
                yield from _histogram(route, figures)
        yield from self._processes()

    def _sums(self) -> list[list[float]]:
        slots = [self._table.slot(number) for number in range(self._table.slots)]
        used = [slot for slot in slots if slot[_STARTS]]
        starts = range(_FIRST, _FIRST + len(self._names) * _WIDTH, _WIDTH)
        return [[sum(slot[at] for slot in used) for at in range(start, start + _WIDTH)] for start in starts]

    def _processes(self) -> Iterator[str]:
        yield "# HELP assay_process_starts_total Processes of this server that were started."
        yield "# TYPE assay_process_starts_total counter"
        slots = [(number, self._table.slot(number)) for number in range(self._table.slots)]
        yield f"assay_process_starts_total {sum(slot[_STARTS] for _, slot in slots):.0f}"
        yield "# HELP assay_process_memory_bytes Memory of each process: its own, and with the index that it maps."
        yield "# TYPE assay_process_memory_bytes gauge"
        for number, slot in slots:
            for kind, size in _memory(int(slot[_PROCESS])).items():
                name = f"{_ROLES[int(slot[_ROLE])]}-{number}"
                yield f'assay_process_memory_bytes{{process="{name}",kind="{kind}"}} {size}'
        swept = max(slot[_SWEPT] for _, slot in slots)
        if swept:
            yield "# HELP assay_index_checked_seconds Seconds since the keeper last looked at all files."
            yield "# TYPE assay_index_checked_seconds gauge"
            yield f"assay_index_checked_seconds {max(0.0, time.time() - swept):.1f}"

    def _number(self, path: str) -> int:
        found = self._exact.get(path)
        if found is None:
            found = next((number for start, number in self._below if path.startswith(start)), len(self._names) - 1)
        return found


class OpenConnections:
    """How many connections each worker has open."""

    def __init__(self, table: SharedTable, slot: int) -> None:
        """Take the table, and the slot of this process."""
        self._own = table.slot(slot)
        self._others = [table.slot(number) for number in range(table.slots) if number != slot]

    def note_open(self, count: float) -> None:
        """Say how many this one has; infinitely many: it takes no more."""
        self._own[_OPEN] = count

    def least_open(self) -> float:
        """Return how many the one of the others has that has fewest."""
        return min((slot[_OPEN] for slot in self._others if slot[_PROCESS]), default=inf)


def begin(table: SharedTable, slot: int, role: str = WORKER) -> None:
    """Note that this process has a slot."""
    own = table.slot(slot)
    own[_OPEN] = inf  # it accepts none yet
    own[_PROCESS], own[_STARTS], own[_ROLE] = os.getpid(), own[_STARTS] + 1, _ROLES.index(role)


def end(table: SharedTable, slot: int) -> None:
    """Note that the process of a slot is gone."""
    table.slot(slot)[_PROCESS] = 0


def note_sweep(table: SharedTable, slot: int) -> None:
    """Note that all files were looked at just now."""
    table.slot(slot)[_SWEPT] = time.time()


def requests_so_far(table: SharedTable) -> float:
    """Return how many requests all processes have answered, but for those of operators."""
    return sum(table.slot(number)[_ASKED] for number in range(table.slots))


def _histogram(route: str, figures: Sequence[float]) -> Iterator[str]:
    counts = list(accumulate(figures[_TIMES:_SUM]))
    for bound, count in zip((*BOUNDS_S, "+Inf"), counts, strict=True):
        yield f'assay_request_seconds_bucket{{route="{route}",le="{bound}"}} {count:.0f}'
    yield f'assay_request_seconds_sum{{route="{route}"}} {figures[_SUM]:.6f}'
    yield f'assay_request_seconds_count{{route="{route}"}} {counts[-1]:.0f}'


def _memory(process: int) -> dict[str, int]:
    """Return what a process takes, in bytes; nothing where the system does not say."""
    wanted = {"RssAnon:": "own", "VmRSS:": "resident"}
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            fields = [line.split() for line in file] if process else []
    except OSError:
        return {}
    return {wanted[field[0]]: int(field[1]) * 1024 for field in fields if field and field[0] in wanted}
