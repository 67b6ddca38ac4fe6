"""Name the commands that make each table and figure of CoSQA+ (arXiv 2406.11589).

Table III: a training set is any file of judged pairs, a test set any ground truth with its code; every query and code
that a test set judges is left out of every training set. A command that was cut off goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.bench.requests import JudgeTablesRequest
from assay.errors import InputError, nearest
from assay.io import files
from assay.report import document as doc
from assay.report.plain_text import table_lines

BASES = {
    "CodeBERT": "hf:microsoft/codebert-base",
    "UniXcoder": "hf:microsoft/unixcoder-base",
    "CodeT5+ embedding": "hf:Salesforce/codet5p-110m-embedding",
}
"""The three models whose mean cosine chooses candidates, and which are fine-tuned."""
CONFIGURATIONS = {
    "Single LLM": "single",
    "PS + FA": "ps+fa",
    "PS + TPG + FA": "ps+tpg+fa",
    "PS + TPG + TE + FA": "ps+tpg+te+fa",
    "PS + TPG + Simulated Executor + FA": "ps+tpg+sim+fa",
    "PS + TPG + TE + BF + FA": "all",
}
"""The rows of table VI and what Assay calls them."""
MATRIX = Path(__file__).with_suffix(".toml")
"""The experiment of table V."""
MEASURES = ("MRR", "nDCG@10")
UNTUNED = "None"
CANDIDATES, DEPTH, SAMPLE = 20, 100, 2000
"""Candidates of a query, those of figure 4, and its queries."""
Words = Sequence[str]


def table1(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what shows the overlap of each encoder's candidates with those of the mean of all."""
    yield _candidates(request, request.out / "table1.jsonl", CANDIDATES)


def figure4(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what shows how many candidates are right at each rank."""
    pairs, records = request.out / "figure4.jsonl", request.out / "figure4.records.jsonl"
    sample = ("--sample", str(request.sample or SAMPLE), "--seed", str(request.seed))
    choose = [*_candidates(request, pairs, DEPTH), *sample]
    yield choose
    yield _judge(request, pairs, request.chat, "all", records)
    yield [*choose, "--labels", str(records), "--figure", str(request.out / "figure4.svg")]


def table2(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what writes the statistics, and figures 3 and 7."""
    yield ["judge", "export", str(request.labels), "--to", str(request.out / "table2")]


def table3(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what fine-tunes each base on each set of pairs, and measures all on each test set."""
    tests = [word for file in named(request.tests).values() for word in ("--leave-out", file)]
    changes = [word for each in request.changes for word in ("--set", each)]
    for base, spec in (named(request.bases) or BASES).items():
        for trained, file in named(request.trains).items():
            folder = str(request.out / "table3" / _file_name(base, trained))
            yield ["train", "encoder", "--base", spec, "--pairs", file, *tests, "--out", folder, *changes]
    yield ["bench", str(request.out / "table3" / "matrix.toml"), "--out", str(request.out / "table3" / "bench")]


def table4(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what compares agents, single models and people with people who ran tests."""
    yield _judge(request, _path(request.pairs), request.chat, "all", request.out / "agents.jsonl")
    labels = [f"agents={request.out / 'agents.jsonl'}"]
    for number, chat in enumerate(request.singles, 1):
        records = request.out / f"single{number}.jsonl"
        yield _judge(request, _path(request.pairs), chat, "single", records)
        labels.append(f"{chat}={records}")
    yield _agreement(request, [*labels, *request.people])


def table5(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what measures eight methods and Assay on ground truth with its code."""
    only = [word for glob in request.only for word in ("--only", glob)]
    yield ["bench", str(MATRIX), *only, "--out", str(request.out / "table5")]


def table6(request: JudgeTablesRequest) -> Iterator[Words]:
    """Yield what compares six configurations of agents, which share the replies to questions they have in common."""
    labels = []
    for name, config in CONFIGURATIONS.items():
        records = request.out / f"{config}.jsonl"
        yield _judge(request, _path(request.pairs), request.chat, config, records)
        labels.append(f"{name}={records}")
    yield _agreement(request, labels)


Maker = Callable[[JudgeTablesRequest], Iterator[Words]]
TABLES: Mapping[str, tuple[Maker, str, tuple[str, ...], str]] = {
    "table1": (
        table1,
        "How far the candidates of several encoders overlap",
        ("queries", "corpus"),
        (
            "20,604 queries, 1,156,085 functions, three models: 20 minutes a model on an H100, or 3-5 days on two "
            "cores to encode; 4.6 GB of vectors; 1 hour on two cores to search."
        ),
    ),
    "table2": (
        table2,
        "Statistics of labels (table II, figures 3 and 7)",
        ("labels",),
        "The records of 412,080 pairs: $255, 27 hours with 100 pairs at a time; the table itself takes a minute.",
    ),
    "table3": (
        table3,
        "Fine-tuned on one set, measured on others",
        ("trains", "tests"),
        (
            "412,080 and 19,604 pairs, three models of 110-125 M parameters, three epochs: 1.5 hours a model on an "
            "H100 on CoSQA+, 5 minutes on CoSQA; estimated from the operations that it takes."
        ),
    ),
    "table4": (
        table4,
        "Agents, single models and people against people with tests",
        ("pairs", "gold", "chat"),
        (
            "400 pairs: $0.25 for agents, cents to $2 for each single model; people: 34 minutes a pair with a test "
            "program, 8 without, so 227 and 53 hours for each of three."
        ),
    ),
    "table5": (
        table5,
        "Eight methods and Assay",
        ("truth",),
        (
            "132,952 functions, eight models (the largest has 570 M parameters): 1 hour on an H100, weeks on two "
            "cores; 0.4-0.55 GB of vectors a model."
        ),
    ),
    "table6": (
        table6,
        "Six configurations of agents",
        ("pairs", "gold", "chat"),
        "400 pairs in six configurations, replies shared: about $0.60, 15 minutes with 50 pairs at a time.",
    ),
    "figure4": (
        figure4,
        "How many candidates are right at each rank",
        ("queries", "corpus", "chat"),
        (
            "2,000 queries with 100 candidates each: 200,000 pairs, $124 at the paper's $0.00062 a pair, 13 hours with "
            "100 pairs at a time."
        ),
    ),
}
"""Who makes each, what it shows, the options that it needs, and what it takes at the paper's size."""


def commands(name: str, request: JudgeTablesRequest) -> Iterator[Words]:
    """Return the words of the commands that make a table, one after the other; an option that it lacks is named."""
    if name not in TABLES:
        raise InputError(f"no table '{name}'; {nearest(name, [*TABLES])}")
    maker, _, needed, _ = TABLES[name]
    gold = map(Path, request.gold)
    given_files = (request.queries, request.corpus, request.pairs, request.labels, request.truth, *gold)
    if gone := next((file for file in given_files if file and not file.exists()), None):
        raise InputError(f"no such file: '{gone}'")
    options = {"trains": "--train", "tests": "--test"}
    if lacking := [options.get(each, f"--{each}") for each in needed if not getattr(request, each)]:
        raise InputError(f"{name} needs {' and '.join(lacking)}")
    if name == "table3":
        (request.out / "table3").mkdir(parents=True, exist_ok=True)
        (request.out / "table3" / "matrix.toml").write_text(_matrix(request), "utf-8")
    return maker(request)


def _path(pairs: Path | None) -> Path:
    assert pairs
    return pairs


def _candidates(request: JudgeTablesRequest, out: Path, k: int) -> list[str]:
    encoders = [word for spec in request.encoders or BASES.values() for word in ("--encoder", spec)]
    testable = [] if request.all_code else ["--testable"]
    files = [str(request.queries), str(request.corpus)]
    return ["candidates", *files, *encoders, *testable, "-k", str(request.k or k), "--out", str(out)]


def _judge(request: JudgeTablesRequest, pairs: Path, chat: str, config: str, out: Path) -> list[str]:
    more = [
        *(["--budget", request.models.budget] if request.models.budget else []),
        *(["--install"] if request.install else []),
    ]
    workers = ["--workers", str(request.models.workers)]
    if request.sample and pairs == request.pairs:
        more += ["--sample", str(request.sample), "--sample-by", "pair", "--seed", str(request.seed)]
    if request.unclear is not None and config != "single":
        more += ["--unclear", str(request.unclear)]
    return ["judge", "run", str(pairs), "--chat", chat, "--config", config, "--out", str(out), *workers, *more]


def _agreement(request: JudgeTablesRequest, labels: Sequence[str]) -> list[str]:
    gold = [word for file in request.gold for word in ("--gold", str(file))]
    return ["judge", "agreement", *labels, *gold, "--show", "0"]


def _matrix(request: JudgeTablesRequest) -> str:
    """Return the experiment that measures every model on every test set."""
    lines = ["k = 100", 'measures = ["MRR", "nDCG@10"]', "threads = 2", "index_timeout_s = 1e6"]
    for test, file in named(request.tests).items():
        lines += [f"[sets.{json.dumps(_file_name(test))}]", f"truth = {json.dumps(str(Path(file).resolve()))}"]
    for base, spec in (named(request.bases) or BASES).items():
        folders = {each: request.out / "table3" / _file_name(base, each) for each in named(request.trains)}
        specs = {UNTUNED: spec} | {each: f"hf:{folder.resolve()}" for each, folder in folders.items()}
        for trained, each in specs.items():
            lines += [f"[systems.{json.dumps(_file_name(base, trained))}]", f"spec = {json.dumps(f'dense:{each}')}"]
    return "\n".join(lines) + "\n"


def table_three(request: JudgeTablesRequest) -> str:
    """Return the table of each test set in text, laid out as in the paper, and write it beside its experiment."""
    folder, text = request.out / "table3", list[str]()
    results = json.loads((folder / "bench" / "results.json").read_text("utf-8"))
    means = {
        (cell["set"], cell["system"], measure): mean
        for cell in results["cells"]
        for figures in cell["figures"].values()
        for measure, mean in figures.items()
    }
    trained = [UNTUNED, *named(request.trains)]
    for test in named(request.tests):
        rows = [
            (base, of, *(_figure(means.get((_file_name(test), _file_name(base, each), of))) for each in trained))
            for base in named(request.bases) or BASES
            for of in MEASURES
        ]
        made = doc.table(
            f"Test set: {test}", (*doc.columns("model", "measure"), *trained), rows, "By what was learned."
        )
        text += ["", made.title, *table_lines(made, indent="")]
    failed = {(name, why) for name, system in results["systems"].items() for why in system.get("failed", {}).values()}
    text += [f"{name} failed: {why}" for name, why in sorted(failed)]
    files.write(folder / "table3.txt", "\n".join(text) + "\n")
    return "\n".join(text)


def _figure(mean: Sequence[float] | None) -> doc.Number:
    return doc.figure(doc.Mean(*mean) if mean else None)


def named(pairs: Sequence[str]) -> dict[str, str]:
    """Return `NAME=WHAT` by its name."""
    for each in pairs:
        if "=" not in each:
            raise InputError(f"'{each}' has no name; wanted NAME=WHAT")
    return dict(each.split("=", 1) for each in pairs)


def _file_name(*parts: str) -> str:
    """Return what a model or a test set is called in folders and results."""
    return re.sub(r"[^\w+.-]+", "-", "-".join(parts).lower())
