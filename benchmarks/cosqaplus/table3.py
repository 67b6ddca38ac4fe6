"""Table III of CoSQA+ (arXiv 2406.11589): base by what it was fine-tuned on by test set, the un-tuned base beside.

    python benchmarks/cosqaplus/table3.py \
        --train CoSQA=COSQA/train.json --train CoSQA+=pairs.jsonl --train yours=FILE \
        --test 'CSN Python=csn.jsonl' --test CSN99=csn99.jsonl --test CoSQA=test.jsonl --test CoSQA+=made/test.jsonl

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
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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


def parsed(arguments: list[str]) -> argparse.Namespace:
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


def main() -> None:
    """Train, measure and print."""
    given = parsed(sys.argv[1:])
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


if __name__ == "__main__":
    main()
