"""Attack every sandbox that this machine offers and write what held: `docs/attacks.md` out.

    python benchmarks/attacks.py [--user 64321 --user-python /usr/bin/python3] [--markdown FILE]

The attacks are those of `tests/sandbox/attacks`. As root, `--user` is the number of an ordinary user to do it all
again as, with an interpreter that this user may run; the package and the attacks are copied to where both can read.
`weak` is no sandbox to rely on: what gets out of it shows that the attacks work where nothing is in their way. Of
those, the groups that take resources or act on other processes are left out there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]
KINDS = ("namespaces", "hybrid", "landlock", "container", "weak")
TAME = ("network", "reading", "writing", "privilege", "verdict")
"""Groups that harm nobody where nothing holds them."""
NEEDED = ("platformdirs",)
INTRODUCTION = """# What the sandboxes hold

Made by `python benchmarks/attacks.py`; do not edit. Each row is a program of
[`tests/sandbox/attacks`](../tests/sandbox/attacks) that tries to get out, to take too much, to stay, to leave something
for the next program, or to be called right when it is wrong. Whether it did is seen from outside: files, sockets,
signals and processes of the test itself, what comes out, and an honest program that runs after it. *Benign* rows
are honest programs that have to work. `tests/sandbox/test_attacks.py` runs all of it in the default sandbox of the
machine and fails where one row is not contained.
"""
REST = """
## What no sandbox here guarantees

- **Kernel exploits.** All kinds share the kernel of the machine with the programs. The filter of system calls leaves
  out what is attacked most, not what is unknown. Run programs whose author is hostile and able in a virtual machine.
- **Side channels.** A program can measure caches, time and load, and so learn about its neighbours.
- **Contention.** Processor time is bounded for each program, not shared fairly: programs slow their neighbours and the
  machine down, and so does their memory traffic. Verdicts go by processor time, with wall time as the backstop.
- **A program that lies about itself.** Tests run in another process than the program and see plain data only. Where
  tests need objects that cannot leave the program (instances, classes, callbacks), both share one interpreter and the
  outcome says `shared`: there a program that means to can find the tests and lie to them. Anywhere, a program may
  recognise the inputs of known tests and answer by heart; no sandbox can tell.
- **Denial by right answers.** A program may use all that its limits give it, each time.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One sandbox as one user."""

    title: str
    rows: dict[tuple[str, str], dict[str, str]]
    missing: str = ""
    """Why it is not offered."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--user", type=int)
    arguments.add_argument("--user-python", default=sys.executable)
    arguments.add_argument("--markdown", type=Path, default=HERE / "docs/attacks.md")
    given = arguments.parse_args()
    who = "root" if os.geteuid() == 0 else "ordinary user"
    columns = [] if who == "root" and given.user else [attacked("weak", who, sys.executable, None)]
    columns = [attacked(kind, who, sys.executable, None) for kind in KINDS if kind != "weak"] + columns
    if given.user:
        columns += [attacked(kind, "ordinary user", given.user_python, given.user) for kind in KINDS]
    given.markdown.write_text(page(columns), encoding="utf-8")


def attacked(kind: str, who: str, python: str, user: int | None) -> Column:
    """Run all attacks in one kind of sandbox."""
    title = f"{kind}, {who}"
    if kind == "weak" and user is None and os.geteuid() == 0:
        return Column(title, {}, "attacks of root without a sandbox are not run")
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="attacked-") as folder:
        done = run(kind, python, user, Path(folder))
        print(title, done.returncode, done.stderr[-300:], flush=True)
        out = Path(folder, "rows.json")
        if not out.exists():
            return Column(title, {}, done.stderr.strip().splitlines()[-1].rpartition("Error: ")[2])
        rows = json.loads(out.read_text(encoding="utf-8"))
    return Column(title, {(row["group"], row["attack"]): row for row in rows})


def run(kind: str, python: str, user: int | None, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the attacks as a process of this user or of another one, which gets copies that it can read."""
    path = [HERE / "src", HERE / "tests/sandbox"]
    if user is not None:
        for source in (
            *(Path(__import__(name).__file__ or "").parent for name in NEEDED),
            HERE / "src/assay",
            HERE / "tests/sandbox/attacks",
        ):
            shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        os.chown(folder, user, user)
        path = [folder]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, path)), "HOME": str(folder)}
    groups = [part for group in TAME for part in ("--group", group)] if kind == "weak" else []
    return subprocess.run(
        [python, "-B", "-m", "attacks", "--kind", kind, "--json", str(folder / "rows.json"), *groups],
        env=environment, cwd=folder, user=user, group=user, extra_groups=None if user is None else [],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip


def page(columns: list[Column]) -> str:
    """Return the page."""
    offered = [column for column in columns if column.rows]
    keys = list(dict.fromkeys(key for column in offered for key in column.rows))
    lines = [INTRODUCTION, f"Measured on Linux {platform.release()}, {platform.machine()}.\n"]
    lines += [f"- {column.title}: not offered there: {column.missing}" for column in columns if not column.rows]
    lines += [
        "",
        "## Summary",
        "",
        "| sandbox | contained | NOT CONTAINED | does not work | not applicable |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {column.title} | {' | '.join(str(count(column, word)) for word in WORDS)} |" for column in offered]
    for group in dict.fromkeys(group for group, _ in keys):
        lines += [
            "",
            f"## {group.capitalize()}",
            "",
            f"| attack | tries | {' | '.join(one.title for one in offered)} |",
        ]
        lines += ["|---|---|" + "---|" * len(offered)]
        lines += [line(key, offered) for key in keys if key[0] == group]
    lines += notes(offered)
    return "\n".join(lines) + "\n" + REST


WORDS = ("contained", "NOT CONTAINED", "does not work", "not applicable")


def count(column: Column, word: str) -> int:
    """Count the rows with a result."""
    return sum(row["result"] == word for row in column.rows.values())


def line(key: tuple[str, str], columns: list[Column]) -> str:
    """Return one row of a table."""
    first = next(column.rows[key] for column in columns if key in column.rows)
    cells = [shown(column.rows[key]) if key in column.rows else "not run" for column in columns]
    return f"| {key[1]} | {first['tries']} | {' | '.join(cells)} |".replace("\\", "\\\\")


def shown(row: dict[str, str]) -> str:
    """Return what a cell says: honest programs work, the others are contained."""
    result = "works" if row["group"] == "benign" and row["result"] == WORDS[0] else row["result"]
    return f"**{result}**" if result in WORDS[1:3] else result


def notes(columns: list[Column]) -> list[str]:
    """Say what got out, but for the sandbox that holds nothing."""
    found = [
        f"- {column.title}, {group}, {name}: {row['note'].splitlines()[0][:200] if row['note'] else ''}"
        for column in columns if not column.title.startswith("weak")
        for (group, name), row in column.rows.items() if row["result"] not in (WORDS[0], WORDS[-1])
    ]  # fmt: skip
    return ["", "## What got out", "", *found] if found else []


if __name__ == "__main__":
    main()
