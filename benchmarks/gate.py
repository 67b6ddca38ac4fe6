"""Count the changes that a gate of mined questions judges rightly: those that break search, and those that do not.

    python benchmarks/gate.py CHECKOUT... [--limit 100]

Of each checkout a copy is made; questions are mined from it (`assay truth mine --follow`), then each change is
committed alone and measured (`assay bench --baseline HEAD~ --fail-if-worse`). A change that matters has to exit 1 and
name questions, any other has to exit 0.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.corpus.languages import language_of
from assay.truth.ground_truth import Truth
from assay.truth.minable import Files, is_test
from assay.truth.mine_units import doc_lines
from assay.truth.target_places import Places
from assay.truth.truth_formats import read

MARK = {"python": "#", "ruby": "#"}
FEATURE = {
    "python": "def celsius_of({0}):\n    return ({0} - 32) * 5 / 9\n\n\n",
    "go": "func celsiusOf{0}({0} float64) float64 {{\n\treturn ({0} - 32) * 5 / 9\n}}\n\n",
    "rust": "pub fn celsius_of_{0}({0}: f64) -> f64 {{\n    ({0} - 32.0) * 5.0 / 9.0\n}}\n\n",
}
ELSE = "export function celsiusOf{0}({0}) {{\n  return (({0} - 32) * 5) / 9\n}}\n\n"


class Checkout:
    """A copy of a checkout, its questions, and the files that hold the answers."""

    def __init__(self, root: Path, truth: Truth) -> None:
        self.root = root
        self.targets = Counter(each.target for each in truth.judgments if "::" in each.target)
        self.places = Places(root, "")
        self.sources = sorted({target.partition("::")[0] for target in self.targets})

    def text(self, path: str) -> str:
        """Return what a file holds."""
        return (self.root / path).read_text("utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file, and the folders that it lies in."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def each(self, changed: Callable[[str, list[str]], list[str]]) -> None:
        """Change the lines of each file that holds an answer."""
        for path in self.sources:
            self.write(path, "\n".join(changed(path, self.text(path).split("\n"))))


def functions_renamed(here: Checkout) -> None:
    """Give the ten functions that most questions mean names that say nothing, wherever they are named."""
    names = {re.split(r"\.|::", target)[-1] for target, _ in here.targets.most_common(10)}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    numbers = {name: f"fn{at}" for at, name in enumerate(sorted(names))}
    here.each(lambda _, lines: [pattern.sub(lambda found: numbers[found[1]], line) for line in lines])


def documentation_stripped(here: Checkout) -> None:
    """Take the documentation off every unit of every file, and every comment line."""
    files = Files(here.root)

    def stripped(path: str, lines: list[str]) -> list[str]:
        gone = {line for unit in files.units(path) if (said := doc_lines(unit)) for line in range(said[0], said[1] + 1)}
        mark = MARK.get(language_of(path), "//")
        return [line for at, line in enumerate(lines, 1) if at not in gone and not line.strip().startswith(mark)]

    here.each(stripped)


def files_moved(here: Checkout) -> None:
    """Move each file with answers to a name that says nothing."""
    for at, path in enumerate(here.sources):
        target = here.root / "unsorted" / f"part{at}{Path(path).suffix}"
        target.parent.mkdir(exist_ok=True)
        (here.root / path).rename(target)


def module_split(here: Checkout) -> None:
    """Cut the file with most answers in pieces of sixty lines, wherever that is, each a file."""
    path = Counter(target.partition("::")[0] for target in here.targets).most_common(1)[0][0]
    lines = here.text(path).split("\n")
    for at in range(0, len(lines), 60):
        here.write(f"{path.rpartition('.')[0]}_{at // 60}.{path.rpartition('.')[2]}", "\n".join(lines[at : at + 60]))
    (here.root / path).unlink()


def code_deleted(here: Checkout) -> None:
    """Delete the three functions that most questions mean."""
    for target, _ in here.targets.most_common(3):
        span = Places(here.root, "").span(target)
        lines = here.text(span.path).split("\n")
        here.write(span.path, "\n".join(lines[: span.start - 1] + lines[span.end :]))


def formatted(here: Checkout) -> None:
    """Have ruff format Python for short lines; indent anything else by twice as much."""
    if any(language_of(path) == "python" for path in here.sources):
        ruff = Path(sys.executable).with_name("ruff")
        run(here.root, str(ruff), "format", "--isolated", "--line-length", "60", *here.sources)
    else:
        here.each(lambda _, lines: [re.match(r"[ \t]*", line)[0] + line for line in lines])  # type: ignore[index]


def comments_added(here: Checkout) -> None:
    """Put a comment that says nothing above every third unit that begins a line."""

    def commented(path: str, lines: list[str]) -> list[str]:
        mark, begins = MARK.get(language_of(path), "//"), re.compile(r"(def|class|func|fn|pub|export|function|async) ?")
        return [
            text
            for at, line in enumerate(lines)
            for text in ([f"{mark} Reviewed in May.", line] if at % 3 == 0 and begins.match(line) else [line])
        ]

    here.each(commented)


def feature_added(here: Checkout) -> None:
    """Add a file of twenty functions about something else."""
    path = here.sources[0]
    body = FEATURE.get(language_of(path), ELSE)
    header = "package temperature\n\n" if language_of(path) == "go" else ""
    names = [f"t{chr(97 + at)}" for at in range(20)]
    target = Path(path).with_name(f"temperature{Path(path).suffix}").as_posix()
    here.write(target, header + "".join(body.format(name) for name in names))


def tests_changed(here: Checkout) -> None:
    """Append a comment to every test."""
    for path in Files(here.root).sample(0):
        if is_test(path) and language_of(path):
            here.write(path, here.text(path) + f"\n{MARK.get(language_of(path), '//')} The end.\n")


def words_reworded(here: Checkout) -> None:
    """Write `is not` as `isn't`, and the like, in comments and documentation."""
    here.each(lambda _, lines: [re.sub(r"\b(do|does|is|are) not\b", r"\1n't", line) for line in lines])


MATTER = (functions_renamed, documentation_stripped, files_moved, module_split, code_deleted)
HARMLESS = (formatted, comments_added, feature_added, tests_changed, words_reworded)


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)


def tried(checkout: Path, limit: int, work: Path) -> list[bool]:
    """Print a line for each change of a copy of a checkout, and return whether the gate was right."""
    root, questions = work / checkout.name, work / f"{checkout.name}.jsonl"
    run(work, "git", "clone", "--quiet", str(checkout.resolve()), str(root))
    assay = (sys.executable, "-m", "assay")
    mined = run(root, *assay, "truth", "mine", ".", "--follow", "--limit", str(limit), "--out", str(questions))
    print(f"{checkout.name}: {mined.stdout.splitlines()[1]}")
    gate = ("--corpus", ".", "--system", "assay", "--baseline", "HEAD~", "--fail-if-worse")
    right = []
    for change in (*MATTER, *HARMLESS):
        run(root, "git", "reset", "--quiet", "--hard", "origin/HEAD")
        change(Checkout(root, read(questions, "").truth))
        run(root, "git", "add", "--all")
        commit = ("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "change")
        run(root, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", *commit)
        done = run(root, *assay, "bench", str(questions), *gate, "--out", str(work / f"{checkout.name}-bench"))
        said = [line.removeprefix("assay: ") for line in done.stderr.splitlines()]
        gone = sum(line.startswith("a right place") for line in said)
        figures = next((line for line in said if " -> " in line), said[-1])
        right.append(done.returncode == (1 if change in MATTER else 0))
        print(f"  {'ok ' if right[-1] else 'NOT'} {done.returncode} {change.__name__:<24} {gone:>3} gone; {figures}")
    return right


def main() -> int:
    """Try every change on every checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="questions of each source")
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="assay-gate-") as work:
        right = [each for checkout in asked.checkouts for each in tried(checkout, asked.limit, Path(work))]
    print(f"{sum(right)} of {len(right)} as it should be")
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
