r"""Make each table and figure of CoSQA+ (arXiv 2406.11589) by one command, made of the commands of Assay.

python benchmarks/cosqaplus/tables.py table1  QUERIES CORPUS --encoder SPEC --encoder SPEC --encoder SPEC
    python benchmarks/cosqaplus/tables.py figure4 QUERIES CORPUS --chat SPEC [--encoder SPEC …] [--sample 2000]
    python benchmarks/cosqaplus/tables.py table2  RECORDS                  # figure 3 in words; 7 in statistics.json
    python benchmarks/cosqaplus/tables.py table4  PAIRS --gold FILE --chat SPEC --single SPEC --people NAME=FILE
    python benchmarks/cosqaplus/tables.py table5  TRUTH [--only GLOB …]
    python benchmarks/cosqaplus/tables.py table6  PAIRS --gold FILE --chat SPEC  # and what each costs, as if alone
    python benchmarks/cosqaplus/tables.py needs                            # what each takes at the paper's size

`--out FOLDER` says where pages, records and results go (default: cosqaplus); a command that was cut off goes on there.
`--dry-run` prints the commands and runs none. What stands behind `--` goes to `assay judge run` or `assay bench`:
`-- --budget 5usd --install`. The commands are printed.

    python benchmarks/cosqaplus/tables.py table3 --train CoSQA=COSQA/train.json --train CoSQA+=pairs.jsonl \
        --train yours=FILE --test 'CSN Python=csn.jsonl' --test CSN99=csn99.jsonl --test CoSQA=test.jsonl \
        --test CoSQA+=made/test.jsonl

`--base NAME=SPEC` (repeatable; default: the paper's three), `--out FOLDER` (default: table3), `--dry-run` prints the
commands and runs none; what stands behind `--` goes to `assay train encoder`: `-- --set batch=512`. A training set is
any file of judged pairs, a test set any ground truth with its code. Every query and code that a test set judges is left
out of every training set. A command that was cut off goes on where it was; a cell that is there is not made again.

At the paper's size (412,080 and 19,604 pairs, three models of 110-125 M parameters, three epochs of 256 tokens in bf16,
batch 512) an H100 takes about 1.5 hours a model on CoSQA+ and 5 minutes on CoSQA, with 24 GB of its memory and 1 GB of
disk a model; encoding CoSQA+'s 132,952 functions takes 5 minutes a model, the other test sets less. These are estimates
from the operations that it takes, not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.judge.records import verdicts
from assay.llm.recorded import FAILED, REPLY
from assay.report.plain_text import rows_as_lines
from assay.runs.record import read_lines

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
    yield _candidates(given, given.out / "table1.jsonl")


def figure4(given: argparse.Namespace) -> Iterator[list[str]]:
    """How many candidates are right at each rank."""
    pairs, records = given.out / "figure4.jsonl", given.out / "figure4.records.jsonl"
    choose = [*_candidates(given, pairs), "--sample", str(given.sample), "--seed", str(given.seed)]
    yield choose
    yield _judge(given, pairs, given.chat, "all", records)
    yield [*choose, "--labels", str(records)]


def table2(given: argparse.Namespace) -> Iterator[list[str]]:
    """Statistics, and how labels spread."""
    yield ["judge", "export", str(given.records), "--to", str(given.out / "table2")]


def table4(given: argparse.Namespace) -> Iterator[list[str]]:
    """Agents, single models and people against people with tests."""
    yield _judge(given, given.pairs, given.chat, "all", given.out / "agents.jsonl")
    labels = [f"agents={given.out / 'agents.jsonl'}"]
    for number, chat in enumerate(given.single, 1):
        records = given.out / f"single{number}.jsonl"
        yield _judge(given, given.pairs, chat, "single", records)
        labels.append(f"{chat}={records}")
    yield _agreement(given, [*labels, *given.people])


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
    yield _agreement(given, labels)


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


def _agreement(given: argparse.Namespace, labels: list[str]) -> list[str]:
    gold = [word for file in given.gold for word in ("--gold", str(file))]
    return ["judge", "agreement", *labels, *gold, "--show", "0"]


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


def run_tables() -> None:
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
    if given.what == "table6" and not given.dry_run:
        print("\n".join(["", *costs_alone(given.out)]))


def costs_alone(folder: Path) -> Iterator[str]:
    """Yield what each configuration of table 6 costs, as if it had run alone.

    A reply that another configuration had asked for before came from the cache and was free: here it costs what it did
    then, by its key. One that a run before these paid for has no price here, and is counted.
    """
    files = [folder / f"{config}.jsonl" for config in CONFIGURATIONS.values()]
    made = [[row for row in read_lines(file) if row["kind"] in {REPLY, FAILED}] for file in files]
    prices = {row["key"]: row["cost"] for rows in made for row in rows if row["kind"] == REPLY and not row["cached"]}
    lines = []
    for name, file, rows in zip(CONFIGURATIONS, files, made, strict=True):
        costs = [row["cost"] if row["kind"] == FAILED else prices.get(row["key"]) for row in rows]
        pairs = max(1, sum(1 for _ in verdicts(file)))
        tokens = sum(row["tokens_in"] + row["tokens_out"] for row in rows)
        known = sum(cost for cost in costs if cost is not None)
        unknown = sum(cost is None for cost in costs)
        lines.append(
            (
                name,
                f"{len(rows) / pairs:.2f}",
                f"{tokens / pairs:,.0f}",
                f"{known / pairs:.6f}",
                f"{known:.4f}",
                unknown,
            )
        )
    heads = ("configuration", "calls a pair", "tokens a pair", "$ a pair", "$", "replies without a price")
    yield "Each configuration as if it had run alone: a reply from the cache costs what it did when it was asked for"
    yield from rows_as_lines(heads, lines)


BASES = {
    "CodeBERT": "hf:microsoft/codebert-base",
    "UniXcoder": "hf:microsoft/unixcoder-base",
    "CodeT5+ embedding": "hf:Salesforce/codet5p-110m-embedding",
}
MEASURES = ("MRR", "NDCG@10")
UNTUNED = "None"


def commands(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield the command of each training, and that of the measurement."""
    tests = [word for file in given.tests.values() for word in ("--leave-out", str(file))]
    for base, spec in given.bases.items():
        for trained, file in given.trains.items():
            folder = str(given.out / _name(base, trained))
            yield ["train", "encoder", "--base", spec, "--pairs", file, *tests, "--out", folder, *given.more]
    yield ["bench", str(given.out / "table3.toml"), "--out", str(given.out / "bench")]


def matrix(given: argparse.Namespace) -> str:
    """Return the experiment that measures every model on every test set."""
    lines = ["k = 100", 'measures = ["MRR", "nDCG@10"]', "threads = 2", "index_timeout_s = 1e6"]
    for test, file in given.tests.items():
        lines += [f"[sets.{json.dumps(_name(test))}]", f"truth = {json.dumps(str(Path(file).resolve()))}"]
    for base, spec in given.bases.items():
        specs = {UNTUNED: spec} | {each: f"hf:{(given.out / _name(base, each)).resolve()}" for each in given.trains}
        for trained, each in specs.items():
            lines += [f"[systems.{json.dumps(_name(base, trained))}]", f"spec = {json.dumps(f'dense:{each}')}"]
    return "\n".join(lines) + "\n"


def table(given: argparse.Namespace, results: Mapping[str, Any]) -> str:
    """Return the table of each test set in Markdown, laid out as in the paper."""
    means = {
        (cell["set"], cell["system"], measure): figure[0]
        for cell in results["cells"]
        for figures in cell["figures"].values()
        for measure, figure in figures.items()
    }
    columns = [UNTUNED, *given.trains]
    lines: list[str] = []
    for test in given.tests:
        lines += [
            f"Test set: {test}",
            "",
            f"| Model | Metric | {' | '.join(columns)} |",
            "|---" * (len(columns) + 2) + "|",
        ]
        for base in given.bases:
            for shown, measure in zip(MEASURES, ("MRR", "nDCG@10"), strict=True):
                cells = [means.get((_name(test), _name(base, column), measure)) for column in columns]
                numbers = " | ".join("" if cell is None else f"{cell:.3f}" for cell in cells)
                lines.append(f"| {base} | {shown} | {numbers} |")
        lines.append("")
    failed = {(name, why) for name, system in results["systems"].items() for why in system.get("failed", {}).values()}
    return "\n".join([*lines, *(f"{name} failed: {why}" for name, why in sorted(failed))])


def parse_table3(arguments: list[str]) -> argparse.Namespace:
    """Return what the command line says."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, required in (("base", False), ("train", True), ("test", True)):
        parser.add_argument(f"--{name}", action="append", default=[], required=required, metavar="NAME=WHAT")
    parser.add_argument("--out", type=Path, default=Path("table3"))
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args(arguments[:at], argparse.Namespace(more=arguments[at + 1 :]))
    given.bases = _named(given.base) or BASES
    given.trains, given.tests = _named(given.train), _named(given.test)
    return given


def _named(pairs: list[str]) -> dict[str, str]:
    return dict(each.split("=", 1) for each in pairs)


def _name(*parts: str) -> str:
    """Return what a model or a test set is called in folders and results."""
    return re.sub(r"[^\w+.-]+", "-", "-".join(parts).lower())


def run_table3() -> None:
    """Train, measure and print."""
    given = parse_table3(sys.argv[1:])
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "table3.toml").write_text(matrix(given), "utf-8")
    for words in commands(given):
        print("$ assay", shlex.join(words), flush=True)
        if given.dry_run:
            continue
        status = subprocess.run([sys.executable, "-m", "assay", *words], check=False).returncode
        if status:
            sys.exit(status)
    if not given.dry_run:
        text = table(given, json.loads((given.out / "bench/results.json").read_text("utf-8")))
        (given.out / "table3.md").write_text(text, "utf-8")
        print(text)


COMMANDS = {"table3": run_table3}

if __name__ == "__main__":
    named = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if named:
        sys.argv.pop(1)
    (named or run_tables)()
