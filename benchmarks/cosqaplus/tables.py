"""Each table and figure of CoSQA+ (arXiv 2406.11589) by one command, made of the commands of Assay, which are printed.

    python benchmarks/cosqaplus/tables.py table1  QUERIES CORPUS --encoder SPEC --encoder SPEC --encoder SPEC
    python benchmarks/cosqaplus/tables.py figure4 QUERIES CORPUS --chat SPEC [--encoder SPEC …] [--sample 2000]
    python benchmarks/cosqaplus/tables.py table2  RECORDS                  # figures 3 and 7 are on its page
    python benchmarks/cosqaplus/tables.py table4  PAIRS --gold FILE --chat SPEC --single SPEC --people NAME=FILE
    python benchmarks/cosqaplus/tables.py table5  TRUTH [--only GLOB …]
    python benchmarks/cosqaplus/tables.py table6  PAIRS --gold FILE --chat SPEC
    python benchmarks/cosqaplus/tables.py needs                            # what each takes at the paper's size

`--out FOLDER` says where pages, records and results go (default: cosqaplus); a command that was cut off goes on there.
`--dry-run` prints the commands and runs none. What stands behind `--` goes to `assay judge run` or `assay bench`:
`-- --budget 5usd --install`. Table III is `benchmarks/cosqaplus/table3.*`.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PAPER = ("CodeBERT", "UniXcoder", "CodeT5+ embedding")
ENCODERS = ("hf:microsoft/codebert-base", "hf:microsoft/unixcoder-base", "hf:Salesforce/codet5p-110m-embedding")
"""The three models whose mean cosine chooses candidates."""
CONFIGURATIONS = {
    "Single LLM": "single",
    "PS + FA": "ps+fa",
    "PS + TPG + FA": "ps+tpg+fa",
    "PS + TPG + TE + FA": "ps+tpg+te+fa",
    "PS + TPG + Simulated Executor + FA": "ps+tpg+sim+fa",
    "PS + TPG + TE + BF + FA": "all",
}
"""The rows of table VI and what Assay calls them."""
NEEDS = """\
what       at the paper's size
table1     20,604 queries, the testable ones of 1,156,085 functions, three models of 110-125 M parameters: encoding is
           about 20 minutes a model on an H100, or 3-5 days on two cores; vectors take 4.6 GB of disk, memory stays
           below 4 GB; searching is 1 hour on two cores.
figure4    2,000 queries with 100 candidates each: 200,000 pairs, $124 at the paper's $0.00062 a pair, 13 hours with
           100 pairs at a time.
table2     the records of 412,080 pairs: $255, 27 hours with 100 pairs at a time; the table itself takes a minute.
table4     400 pairs: $0.25 for agents, cents to $2 for each single model; people: 34 minutes a pair with a test
           program, 8 without, so 227 and 53 hours for each of three.
table5     132,952 functions, eight models (the largest has 570 M parameters): 1 hour on an H100, weeks on two cores;
           a folder of vectors is 0.4-0.55 GB a model, a system holds below 2 GB.
table6     400 pairs in six configurations, replies shared: about $0.60, 15 minutes with 50 pairs at a time.
"""


def table1(given: argparse.Namespace) -> Iterator[list[str]]:
    """Overlap of each encoder's candidates with those of the mean of all."""
    yield [*_candidates(given, given.out / "table1.jsonl"), "--page", str(given.out / "table1.html")]


def figure4(given: argparse.Namespace) -> Iterator[list[str]]:
    """How many candidates are right at each rank."""
    pairs, records = given.out / "figure4.jsonl", given.out / "figure4.records.jsonl"
    choose = [*_candidates(given, pairs), "--sample", str(given.sample), "--seed", str(given.seed)]
    yield choose
    yield _judge(given, pairs, given.chat, "all", records)
    yield [*choose, "--labels", str(records), "--page", str(given.out / "figure4.html")]


def table2(given: argparse.Namespace) -> Iterator[list[str]]:
    """Statistics, and how labels spread."""
    yield ["judge", "accounts", str(given.records), "--out", str(given.out / "table2.html")]


def table4(given: argparse.Namespace) -> Iterator[list[str]]:
    """Agents, single models and people against people with tests."""
    yield _judge(given, given.pairs, given.chat, "all", given.out / "agents.jsonl")
    labels = [f"agents={given.out / 'agents.jsonl'}"]
    for number, chat in enumerate(given.single, 1):
        records = given.out / f"single{number}.jsonl"
        yield _judge(given, given.pairs, chat, "single", records)
        labels.append(f"{chat}={records}")
    yield _agreement(given, [*labels, *given.people], "table4")


def table5(given: argparse.Namespace) -> Iterator[list[str]]:
    """Eight methods and Assay on ground truth with its code."""
    only = [word for glob in given.only for word in ("--only", glob)]
    yield ["bench", str(HERE / "table5.toml"), *only, "--out", str(given.out / "table5"), *given.more]


def table6(given: argparse.Namespace) -> Iterator[list[str]]:
    """Six configurations of agents, which share the replies to questions that they have in common."""
    labels = []
    for name, config in CONFIGURATIONS.items():
        records = given.out / f"{config}.jsonl"
        yield _judge(given, given.pairs, given.chat, config, records)
        labels.append(f"{name}={records}")
    yield _agreement(given, labels, "table6")


def _candidates(given: argparse.Namespace, out: Path) -> list[str]:
    encoders = [word for spec in given.encoder or ENCODERS for word in ("--encoder", spec)]
    testable = ["--testable"] if given.testable else []
    return [
        "candidates",
        str(given.queries),
        str(given.corpus),
        *encoders,
        *testable,
        "-k",
        str(given.k),
        "--out",
        str(out),
    ]


def _judge(given: argparse.Namespace, pairs: Path, chat: str, config: str, out: Path) -> list[str]:
    return ["judge", "run", str(pairs), "--chat", chat, "--config", config, "--out", str(out), *given.more]


def _agreement(given: argparse.Namespace, labels: list[str], name: str) -> list[str]:
    gold = [word for file in given.gold for word in ("--gold", str(file))]
    page = ["--out", str(given.out / f"{name}.html"), "--results", str(given.out / name)]
    return ["judge", "agreement", *labels, *gold, "--show", "0", *page]


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return what the command line says."""
    words, more = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        words, more = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="what")
    commands.add_parser("needs")
    made = {step.__name__: commands.add_parser(step.__name__, help=step.__doc__) for step in STEPS}
    for each in made.values():
        each.add_argument("--out", type=Path, default=Path("cosqaplus"))
        each.add_argument("--dry-run", action="store_true")
    for name in ("table1", "figure4"):
        made[name].add_argument("queries", type=Path)
        made[name].add_argument("corpus", type=Path)
        made[name].add_argument("--encoder", action="append", help=f"[default: those of {', '.join(PAPER)}]")
        made[name].add_argument("--all-code", dest="testable", action="store_false", help="also what no test can call")
        made[name].add_argument("-k", type=int, default={"table1": 20, "figure4": 100}[name])
    made["figure4"].add_argument("--sample", type=int, default=2000)
    made["figure4"].add_argument("--seed", type=int, default=0)
    made["table2"].add_argument("records", type=Path)
    made["table5"].add_argument("truth", type=Path)
    made["table5"].add_argument("--only", action="append", default=[])
    for name in ("table4", "table6"):
        made[name].add_argument("pairs", type=Path)
        made[name].add_argument("--gold", action="append", required=True)
    for name in ("figure4", "table4", "table6"):
        made[name].add_argument("--chat", required=True)
    made["table4"].add_argument("--single", action="append", default=[], metavar="SPEC")
    made["table4"].add_argument("--people", action="append", default=[], metavar="NAME=FILE")
    return parser.parse_args(words, argparse.Namespace(more=more))


STEPS = (table1, figure4, table2, table4, table5, table6)


def main() -> None:
    """Run the commands of one table, each after the one before it."""
    given = parsed(sys.argv[1:])
    if given.what == "needs":
        print(NEEDS, end="")
        return
    if given.what == "table5":
        os.environ["TRUTH"] = str(given.truth.resolve())
    given.out.mkdir(parents=True, exist_ok=True)
    for words in globals()[given.what](given):
        print("$ assay", shlex.join(words), flush=True)
        if not given.dry_run:
            status = subprocess.run([sys.executable, "-m", "assay", *words], check=False).returncode
            if status:
                sys.exit(status)


if __name__ == "__main__":
    main()
