"""Time `assay` against `semble`, whole processes in turn on one machine, and print Markdown tables.

    python benchmarks/speed.py REPOSITORY … --assay ASSAY --semble SEMBLE --model FOLDER [--rounds 5] [--markdown FILE]

ASSAY and SEMBLE are the installed commands, FOLDER is a Model2Vec model for semble, which is kept off the network and
may be left out.
A round gives each system, one after the other, an empty cache folder, its first search and then second searches from
fresh processes. Files are read once before, so the disk is in nobody's time. Processor time and the largest process
are what `wait4` tells of a process and its workers. Memory of all processes together is sampled from `/proc` (each
page counted once, `Pss`) in a run of its own. The last repository is also copied, `--files` of it, and one file of the
copy is changed before each search. Warm queries are timed inside a process that holds the index, with `--warm`.

semble indexes code unless told otherwise, assay code, documentation and configuration: semble is measured both ways.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

QUERIES = (
    "where are errors handled",
    "parse a path into its parts",
    "parse the arguments of a command",
    "how is a response sent to the client",
    "read configuration from a file",
    "close the connection when an error occurs",
    "convert a string to a date",
    "validate user input",
    "register a handler for an event",
    "cache a value until it expires",
    "write to the log",
    "compare two versions",
    "find the longest matching route",
    "escape special characters in html",
    "wait for a thread to finish",
    "default value of an option",
    "merge two maps",
    "get_parameter",
    "HttpRequest",
    "iterate over all entries",
    "create a temporary folder",
)
FIRST, SECOND = QUERIES[:2]
WARM_TURNS = 6
SAMPLE_S = 0.02


@dataclass(frozen=True, slots=True)
class System:
    """How a program is asked."""

    name: str
    command: tuple[str, ...]
    """Query and folder are put behind it."""
    content: str = ""
    """What semble indexes."""

    def ask(self, query: str, root: Path) -> list[str]:
        """Return the command line of one search."""
        options = ("--limit", "10") if self.name == "assay" else ("--top-k", "10", "--content", self.content)
        return [*self.command, "search", query, str(root), *options, "--format", "json"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process and its workers took."""

    wall_s: float
    processor_s: float
    largest_mb: float


class Bench:
    """Runs commands with caches of their own."""

    def __init__(self, scratch: Path, model: str) -> None:
        self.scratch = scratch
        self.model = model

    def environment(self, cache: str) -> dict[str, str]:
        """Return the variables of a run that keeps its index in one cache folder."""
        ours = {"XDG_CACHE_HOME": str(self.scratch / cache), "SEMBLE_MODEL_NAME": self.model, "HF_HUB_OFFLINE": "1"}
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return kept | ours

    def start(self, command: Sequence[str], cache: str) -> subprocess.Popen[bytes]:
        """Start a command whose output goes nowhere."""
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=self.environment(cache), stdin=quiet, stdout=quiet, stderr=quiet)

    def cost(self, command: Sequence[str], cache: str) -> Cost:
        """Run a command to its end."""
        started = time.perf_counter()
        process = self.start(command, cache)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        _require_success(process.returncode, command)
        return Cost(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)

    def memory_mb(self, command: Sequence[str], cache: str) -> float:
        """Return the most that a command and its workers held together."""
        process = self.start(command, cache)
        most = 0.0
        while process.poll() is None:
            most = max(most, sum(_held_mb(number) for number in _family(process.pid)))
            time.sleep(SAMPLE_S)
        _require_success(process.returncode, command)
        return most

    def forget(self, cache: str) -> None:
        """Remove a cache folder."""
        shutil.rmtree(self.scratch / cache, ignore_errors=True)


def _require_success(code: int, command: Sequence[str]) -> None:
    if code:
        raise SystemExit(f"{' '.join(command)} left with {code}; run it by hand to see why")


def _family(process: int) -> set[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().rpartition(")")
        except OSError:  # it ended
            continue
        children.setdefault(int(rest.split()[1]), []).append(int(number.split()[0]))
    found, new = {process}, [process]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found.update(new)
    return found


def _held_mb(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e3


Row = tuple[str, dict[str, list[float]]]
"""What was measured, and the values of each system."""


def searches(bench: Bench, systems: Sequence[System], root: Path, rounds: int, again: int) -> dict[str, list[Row]]:
    """Time first and second searches in turn; return the rows of each table."""
    first: dict[str, list[Cost]] = {system.name: [] for system in systems}
    second: dict[str, list[Cost]] = {system.name: [] for system in systems}
    for _ in range(rounds):
        for system in systems:
            bench.forget(system.name)
            first[system.name].append(bench.cost(system.ask(FIRST, root), system.name))
        for _ in range(again):
            for system in systems:
                second[system.name].append(bench.cost(system.ask(SECOND, root), system.name))
    together: list[Row] = [("first search", {}), ("second search", {})]
    for system in systems:
        bench.forget(system.name)
        for (_, values), query in zip(together, (FIRST, SECOND), strict=True):
            values[system.name] = [bench.memory_mb(system.ask(query, root), system.name)]
    named = (("first search", first), ("second search", second))
    return {
        "Wall time, seconds": [(name, _values(costs, "wall_s")) for name, costs in named],
        "Processor time, seconds": [(name, _values(costs, "processor_s")) for name, costs in named],
        "Largest process, MB resident": [(name, _values(costs, "largest_mb")) for name, costs in named],
        "All processes together, MB (Pss, one run)": together,
    }


def _values(costs: dict[str, list[Cost]], key: str) -> dict[str, list[float]]:
    return {system: [getattr(cost, key) for cost in own] for system, own in costs.items()}


def warm(bench: Bench, systems: Sequence[System], root: Path) -> list[str]:
    """Time queries inside a process of each system, in turn, on the index that its searches left."""
    times: dict[str, list[float]] = {system.name: [] for system in systems}
    chunks: dict[str, int] = {}
    for _ in range(3):
        for system in systems:
            python = str(Path(system.command[0]).parent / "python")
            command = [python, __file__, str(root), "--warm", system.content or "assay"]
            environment = bench.environment(system.name)
            told = json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)
            times[system.name] += told["ms"]
            chunks[system.name] = told["chunks"]
    return [
        f"| {root.name} | {name} | {chunks[name]:,} | {_quantile(ms, 0.5):.2f} | {_quantile(ms, 0.95):.2f} |"
        for name, ms in times.items()
    ]


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def warm_here(root: Path, content: str) -> dict[str, object]:
    """Ask in this process; the first turn over the queries is not counted."""
    search, chunks = _assay(root) if content == "assay" else _semble(root, content)
    times = []
    for turn in range(1 + WARM_TURNS):
        for text in QUERIES:
            started = time.perf_counter()
            search(text)
            if turn:
                times.append((time.perf_counter() - started) * 1e3)
    return {"ms": times, "chunks": chunks}


def _assay(root: Path) -> tuple[Callable[[str], object], int]:
    from assay.operations.workspace import open_workspace
    from assay.search.query_filters import queries_of
    from assay.settings import Settings

    workspace = open_workspace(root, Settings())
    searcher = workspace.corpus_search
    return lambda text: searcher.search(queries_of([text]), 10), workspace.report.chunks


def _semble(root: Path, content: str) -> tuple[Callable[[str], object], int]:
    from semble.index import SembleIndex
    from semble.types import ContentType

    kinds = list(ContentType) if content == "all" else [ContentType(content)]
    index = SembleIndex.from_path(root, content=kinds)
    return lambda text: index.search(text, top_k=10), index.stats.total_chunks


def changes(bench: Bench, systems: Sequence[System], root: Path, files: int, count: int) -> tuple[str, list[Row]]:
    """Copy so many files, index the copy, then change one file before each timed run."""
    copy = bench.scratch / "copy" / root.name
    paths = _copied(root, copy, files)
    for system in systems:
        bench.forget(system.name)
        bench.cost(system.ask(FIRST, copy), system.name)
    suffix = Counter(path.suffix for path in paths).most_common(1)[0][0]
    target = next(path for path in paths[len(paths) // 2 :] if path.suffix == suffix)
    index = [*systems[0].command, "index", str(copy)]
    values: dict[str, list[float]] = {system.name: [] for system in systems}
    updates: list[float] = []
    for number in range(count):
        _change(target, 2 * number)
        updates.append(bench.cost(index, systems[0].name).wall_s)
        _change(target, 2 * number + 1)
        for system in systems:
            values[system.name].append(bench.cost(system.ask(SECOND, copy), system.name).wall_s)
    unchanged = {s.name: [bench.cost(s.ask(SECOND, copy), s.name).wall_s for _ in range(count)] for s in systems}
    rows = [
        ("`assay index` after one changed file", {systems[0].name: updates}),
        ("search after one changed file", values),
        ("search, nothing changed", unchanged),
    ]
    return f"{len(paths):,} files of {root.name}", rows


def _change(file: Path, number: int) -> None:
    with file.open("a", encoding="utf-8") as text:
        text.write(f"\n// changed {number}\n")


def _copied(root: Path, copy: Path, files: int) -> list[Path]:
    """Copy so many of the tracked files, drawn evenly, with their dates."""
    tracked = _tracked(root)
    step = max(len(tracked) / files, 1.0)
    chosen = [tracked[int(n * step)] for n in range(min(files, len(tracked)))]
    for path in chosen:
        target = copy / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    return [copy / path.relative_to(root) for path in chosen]


def _tracked(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
    paths = [root / os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def size(root: Path) -> str:
    """Read every tracked file, and say how much that is."""
    texts = [path.read_bytes() for path in _tracked(root)]
    return f"{root.name}: {len(texts):,} files, {sum(text.count(10) for text in texts):,} lines"


def table(title: str, rows: Sequence[Row], systems: Sequence[System]) -> list[str]:
    """Return a Markdown table of medians with their range, and assay's share of each other median."""
    names = [system.name for system in systems]
    heads = [*names, *(f"assay : {name}" for name in names[1:])]
    lines = [f"{title}: median (least-most)", "", f"| what | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for what, values in rows:
        cells = [_told(values[name]) if name in values else "" for name in names]
        own = statistics.median(values[names[0]])
        ratios = [f"{own / statistics.median(values[name]):.2f}" if name in values else "" for name in names[1:]]
        lines.append(f"| {what} | {' | '.join((*cells, *ratios))} |")
    return [*lines, ""]


def _told(values: Sequence[float]) -> str:
    places = 0 if max(values) >= 100 else 1 if max(values) >= 20 else 2
    middle = f"{statistics.median(values):.{places}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{places}f}-{max(values):.{places}f})"


def measured(bench: Bench, systems: Sequence[System], given: argparse.Namespace) -> list[str]:
    """Measure everything; return the lines of the report."""
    tables: dict[str, list[Row]] = {}
    queries = [
        "Warm queries, milliseconds",
        "",
        "| repository | system | chunks | p50 | p95 |",
        "|---|---|---|---|---|",
    ]
    lines = [f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; {given.rounds} rounds.", ""]
    for root in given.roots:
        lines.append(f"- {size(root)}")
        for title, rows in searches(bench, systems, root, given.rounds, given.again).items():
            tables.setdefault(title, []).extend((f"{root.name}, {what}", values) for what, values in rows)
        queries += warm(bench, systems, root)
        _say(f"{root.name} done, load {os.getloadavg()[0]:.1f}")
    lines.append("")
    for title, rows in tables.items():
        lines += table(title, rows, systems)
    lines += [*queries, ""]
    if given.changes:
        what, rows = changes(bench, systems, given.roots[-1], given.files, given.changes)
        lines += table(f"{what}, wall seconds", rows, systems)
    return lines


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, and keep what was printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--assay", type=Path)
    parser.add_argument("--semble", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--again", type=int, default=3, help="second searches a round")
    parser.add_argument("--changes", type=int, default=10)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--warm", help="what one process does: assay, or what semble indexes")
    given = parser.parse_args()
    if given.warm:
        print(json.dumps(warm_here(given.roots[0], given.warm)))
        return
    systems = [System("assay", (str(given.assay),))]
    if given.semble:
        systems += [System("semble", (str(given.semble),), "code"), System("semble all", (str(given.semble),), "all")]
    with tempfile.TemporaryDirectory() as folder:
        given.roots = [root.resolve() for root in given.roots]
        lines = measured(Bench(Path(folder), str(given.model)), systems, given)
    report = "\n".join(lines)
    print(report)
    if given.markdown:
        given.markdown.write_text(report + "\n", "utf-8")


if __name__ == "__main__":
    main()
