"""Write verdicts as a benchmark, with its statistics and its dataset card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from assay.errors import InputError, MissingExtra, counted
from assay.io import files
from assay.io.rows import parquet
from assay.judge.accounts import accounts
from assay.judge.candidates import codes_of
from assay.judge.records import is_records, verdicts
from assay.judge.requests import ExportRequest
from assay.protocols import Say
from assay.report.document import Bars
from assay.report.web_page import write_picture
from assay.terms import same_words
from assay.truth.formats.shared import fault_of_id
from assay.truth.ground_truth import Truth
from assay.truth.truth_formats import read, write
from assay.values import Chunk, Judgment, Problem, Query

SPLITS = ("train", "valid", "test")
SHARES = (8, 1, 1)
EXTERNAL_LABEL = "given"
"""The path of a label that somebody else made."""
_ANNOTATORS = {EXTERNAL_LABEL: "found", "person": "expert-generated"}
"""As the Hugging Face hub calls them, by the path of a label."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What is asked, what is searched and what is right; each query's split is its tag."""

    queries: tuple[Query, ...]
    codes: tuple[Chunk, ...]
    judgments: tuple[Judgment, ...]

    def part(self, split: str) -> Benchmark:
        """Return the queries of one split with their labels; all codes are searched."""
        queries = tuple(query for query in self.queries if query.tags["split"] == split)
        asked = {query.id for query in queries}
        return replace(self, queries=queries, judgments=tuple(one for one in self.judgments if one.query_id in asked))


def benchmark(records: Iterable[Mapping[str, Any]], *, seed: int = 0, more: Sequence[Chunk] = ()) -> Benchmark:
    """Return the benchmark of some verdicts; `more` are codes that nobody judged and that are searched all the same."""
    queries, codes, judgments = dict[str, Query](), dict[str, Chunk](), list[Judgment]()
    for each in records:
        name = each["code_id"]
        codes.setdefault(name, Chunk(name, each["code"], each["language"] or "python", path=name))
        if each["grade"] is not None:
            queries.setdefault(each["query_id"], Query(each["query_id"], each["query"]))
            judgments.append(Judgment(each["query_id"], name, each["grade"], each["judge"], each["reason"]))
    for code in more:
        codes.setdefault(code.id, replace(code, path=code.id))
    splits = split_of(list(queries.values()), seed=seed)
    in_split = tuple(replace(query, tags={"split": splits[query.id]}) for query in queries.values())
    return Benchmark(in_split, tuple(codes.values()), tuple(judgments))


def split_of(queries: Sequence[Query], *, seed: int = 0) -> dict[str, str]:
    """Return the split of each query, 8:1:1 as near as whole queries come; those of the same words share one."""
    alike: dict[str, list[str]] = {}
    for query in queries:
        alike.setdefault(same_words(query.text), []).append(query.id)
    groups = [alike[words] for words in sorted(alike)]
    Random(seed).shuffle(groups)  # noqa: S311  # a draw, not a secret
    wanted = {name: share * len(queries) / sum(SHARES) for name, share in zip(SPLITS, SHARES, strict=True)}
    held = dict.fromkeys(SPLITS, 0)
    splits: dict[str, str] = {}
    for group in groups:
        name = max(SPLITS, key=lambda name: wanted[name] - held[name])
        held[name] += len(group)
        splits.update(dict.fromkeys(group, name))
    return splits


def statistics(made: Benchmark, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of table II, of each split, and of how labels spread (figures 3 and 7)."""
    costs = accounts(records)
    answers = Counter(each.query_id for each in made.judgments if each.grade > 0)
    asked = Counter(each.target for each in made.judgments if each.grade > 0)
    length = sum(len(code.text) for code in made.codes) / max(len(made.codes), 1)
    return {
        "pairs": len(made.judgments),
        "queries": len(made.queries),
        "codes": len(made.codes),
        "code_length": round(length, 3),
        "cases_a_program": costs.share("cases", "programs"),
        "executable_share": costs.share("executable", "ran"),
        "undecided": costs.pairs - len(made.judgments),
        "splits": {split: _split_figures(made, split) for split in SPLITS},
        "shared_codes": len(_right(made, "train") & _right(made, "test")),
        "matches_a_query": _spread(answers[query.id] for query in made.queries),
        "queries_a_code": _spread(asked.values()),
        "codes_of_several_queries": round(sum(count > 1 for count in asked.values()) / max(len(asked), 1), 4),
        "annotators": sorted({_ANNOTATORS.get(path, "machine-generated") for path in costs.paths}),
        "judges": sorted({each.judge for each in made.judgments}),
    }


def _spread(counts: Iterable[int]) -> dict[str, int]:
    """Return how often each count occurs."""
    return {str(count): often for count, often in sorted(Counter(counts).items())}


def _split_figures(made: Benchmark, split: str) -> dict[str, Any]:
    part = made.part(split)
    answered = [each.query_id for each in part.judgments if each.grade > 0]
    return {
        "queries": len(part.queries),
        "pairs": len(part.judgments),
        "matches": len(answered),
        "unanswered": len(part.queries) - len(set(answered)),
    }


def _right(made: Benchmark, split: str) -> set[str]:
    """Return the codes that are right in a split: no split by query keeps those of two apart."""
    return {each.target for each in made.part(split).judgments if each.grade > 0}


def table(figures: Mapping[str, Any]) -> str:
    """Return table II in Markdown, with the splits below it."""
    cases, share = figures["cases_a_program"], figures["executable_share"]
    tested = ("none run" if cases is None else f"{cases:.2f}", "none run" if share is None else f"{share:.2%}")
    counts = (f"{figures['pairs']:,}", f"{figures['codes']:,}", f"{figures['code_length']:.3f}")
    rows = [
        "| # of pairs | # of code | Code avg. len. | Avg. test cases | Exec. rate |",
        "|---|---|---|---|---|",
        f"| {' | '.join((*counts, *tested))} |",
        "",
        "| split | queries | pairs | matches | queries without a match |",
        "|---|---|---|---|---|",
    ]
    rows += [
        f"| {name} | {each['queries']:,} | {each['pairs']:,} | {each['matches']:,} | {each['unanswered']:,} |"
        for name, each in figures["splits"].items()
    ]
    spread = ", ".join(f"{often:,} with {count}" for count, often in figures["matches_a_query"].items())
    rows += [
        "",
        f"Labelled by {', '.join(figures['judges'])}; undecided pairs, left out: {figures['undecided']:,}.",
        f"Queries by matching codes: {spread}.",
        f"Of the codes that answer a query, {figures['codes_of_several_queries']:.1%} answer two or more.",
        f"Codes that are right in train and in test: {figures['shared_codes']:,}.",
    ]
    return "\n".join(rows) + "\n"


def pictures(figures: Mapping[str, Any]) -> dict[str, Bars]:
    """Return how labels spread, as figures 3 and 7 draw it, by the name of their file."""

    def bars(title: str, counts: Mapping[str, int], x: str, y: str, caption: str = "") -> Bars:
        return Bars(title, caption, tuple(counts), tuple(counts.values()), x, y)

    shared = f"{figures['codes_of_several_queries']:.1%} of the codes that answer a query answer two or more."
    matches, asked = figures["matches_a_query"], figures["queries_a_code"]
    return {
        "queries-by-matches": bars("Queries by matching codes", matches, "matching codes of a query", "queries"),
        "codes-by-queries": bars("Codes by queries", asked, "queries that a code answers", "codes", shared),
    }


Labels = Callable[[], Iterable[Mapping[str, Any]]]


def labels_of(file: Path, say: Say) -> tuple[Labels, list[Chunk]]:
    """Return what reads the verdicts of records, or the labels of a ground truth, and all code of the latter."""
    if (file.is_file() and not file.stat().st_size) or is_records(file):
        return partial(verdicts, file), []
    reading = read(file)
    truth = reading.truth
    codes, queries = {code.id: code for code in truth.documents}, {query.id: query.text for query in truth.queries}
    if not codes:
        raise InputError(f"{file} holds labels without code; wanted records of `assay judge run`, or labels with code")
    held = [each for each in truth.judgments if each.target in codes]
    if problems := reading.problems:
        say(f"{counted(len(problems), 'row')} of {file} left out; the first: {problems[0]}")
    if gone := len(truth.judgments) - len(held):
        say(f"{counted(gone, 'label')} of {file} left out: their code is not there")

    def row(each: Judgment) -> Mapping[str, Any]:
        code = codes[each.target]
        ids = {"query_id": each.query_id, "code_id": code.id, "query": queries[each.query_id]}
        about = {"judge": each.judge or truth.name, "path": EXTERNAL_LABEL, "reason": each.reason}
        return {**ids, **about, "code": code.text, "language": code.language, "grade": each.grade}

    return lambda: map(row, held), list(codes.values())


PAIRS: Mapping[str, Mapping[str, str]] = {"pairs": {"pairs": "pairs.jsonl"}}
_CARD = (
    "Queries of code search with code snippets that were judged one by one: {pairs} pairs of {queries} queries, among "
    "{codes} code snippets. `pairs` holds each label (1 if the code answers the query, else 0) with both texts, "
    "who judged, why, and the split; `statistics.json` the figures. The other files are ground truth with its code, "
    "which `assay bench` reads. Labels are those of the judges named below, not of people, unless a judge is a person; "
    "code comes from where the queries were asked, under the licenses of its sources."
)
_HUB_NAMES = {"valid": "validation"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def dataset_card(
    name: str,
    figures: Mapping[str, Any],
    *,
    license_id: str = "",
    languages: Sequence[str] = (),
    configs: Mapping[str, Mapping[str, str]] = PAIRS,
) -> str:
    """Return the card of a benchmark, with a license as SPDX names it; its `configs` name splits and their files."""
    head = "\n".join([*_head(name, figures, license_id, languages), *_configs(configs)])
    text = _CARD.format(**{key: f"{figures[key]:,}" for key in ("pairs", "queries", "codes")})
    return f"---\n{head}\n---\n\n# {name}\n\n{text}\n\n{table(figures)}"


def _head(name: str, figures: Mapping[str, Any], license_id: str, languages: Sequence[str]) -> Iterator[str]:
    values = {
        "pretty_name": name,
        "license": license_id or "unknown",
        "language": ["en", "code"],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "tags": ["code-search", *languages],
        "size_categories": [next((name for most, name in SIZES if figures["pairs"] < most), "1M<n<10M")],
        "annotations_creators": figures["annotators"],
    }
    yield from (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())


def _configs(configs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield what the hub loads, the first by default."""
    yield "configs:"
    for number, (name, parts) in enumerate(configs.items()):
        yield f"- config_name: {name}"
        if number == 0:
            yield "  default: true"
        yield "  data_files:"
        yield from (f"  - split: {split}\n    path: {file}" for split, file in parts.items())


def write_benchmark(request: ExportRequest, say: Say) -> str:
    """Write records as a benchmark; return its table."""
    problems: list[Problem] = []
    more = codes_of(request.corpus, problems) if request.corpus else []
    if problems:
        say(f"{len(problems):,} codes of {request.corpus} cannot be used; the first: {problems[0]}")
    labels, codes = labels_of(request.records, say)
    whole = benchmark(labels(), seed=request.seed, more=[*codes, *more])
    if not whole.judgments:
        raise InputError(f"no label in {request.records}: `assay judge run` writes some")
    figures = statistics(whole, labels())
    name = request.folder.resolve().name
    languages = tuple(sorted({code.language or "python" for code in whole.codes}))
    with files.replacing_folder(request.folder) as beside:
        configs = _write_parquet(whole, beside) if request.form == "parquet" else {}
        if not configs:
            _write(_as_documents(whole), beside, name)
        pairs = _write_pairs(whole, beside, request.form)
        configs = {**configs, "pairs": {"pairs": pairs}}
        card = dataset_card(name, figures, license_id=request.license, languages=languages, configs=configs)
        files.write_json(beside / "statistics.json", figures)
        files.write(beside / "README.md", card)
        _draw(figures, beside, say)
    return table(figures)


def _draw(figures: Mapping[str, Any], folder: Path, say: Say) -> None:
    """Draw how labels spread; without what draws, that is said."""
    try:
        for name, picture in pictures(figures).items():
            for ending in ("svg", "png"):
                write_picture(picture, folder / f"{name}.{ending}")
    except MissingExtra as missing:
        say(str(missing))


def _write(whole: Benchmark, folder: Path, name: str) -> None:
    """Write the ground truth of all queries, and of each split."""
    for split in ("all", *SPLITS):
        part = whole if split == "all" else whole.part(split)
        if part.queries:
            truth = Truth(f"{name}-{split}", part.queries, part.judgments, part.codes)
            write(truth, folder / f"{split}.jsonl", "jsonl")


def _write_parquet(whole: Benchmark, folder: Path) -> dict[str, dict[str, str]]:
    """Write a folder as CoIR lays it out, and return what the hub is to load of it."""

    def written(name: str, records: Iterable[Mapping[str, Any]]) -> str:
        file = folder / f"{name}.parquet"
        parquet(file).write(file, list(records))
        return file.name

    splits = {}
    for split in SPLITS:
        if judgments := whole.part(split).judgments:
            rows = ({"query-id": each.query_id, "corpus-id": each.target, "score": each.grade} for each in judgments)
            splits[_HUB_NAMES.get(split, split)] = written(split, rows)
    corpus = ({"_id": code.id, "text": code.text, "language": code.language or "python"} for code in whole.codes)
    queries = ({"_id": query.id, "text": query.text, "split": query.tags["split"]} for query in whole.queries)
    return {
        "default": splits,
        "corpus": {"corpus": written("corpus", corpus)},
        "queries": {"queries": written("queries", queries)},
    }


def _as_documents(whole: Benchmark) -> Benchmark:
    """Return the benchmark with `a.py#1-9` for `a.py:1-9`: what reads as a place in a checkout names no document."""
    names = {code.id: code.id for code in whole.codes}
    taken = set(names)
    for number, known in enumerate(names):
        if fault_of_id(known):
            name = known.replace(":", "#")
            names[known] = f"{name}~{number}" if name in taken else name
            taken.add(names[known])
    return replace(
        whole,
        codes=tuple(replace(code, id=names[code.id], path=names[code.id]) for code in whole.codes),
        judgments=tuple(replace(each, target=names[each.target]) for each in whole.judgments),
    )


def _write_pairs(whole: Benchmark, folder: Path, form: str) -> str:
    """Write the pairs with all that is known of them, and return the name of the file."""
    queries = {query.id: query for query in whole.queries}
    codes = {code.id: code for code in whole.codes}
    rows = (
        {
            "query_id": each.query_id,
            "query": queries[each.query_id].text,
            "code_id": each.target,
            "code": codes[each.target].text,
            "language": codes[each.target].language,
            "label": each.grade,
            "judge": each.judge,
            "reason": each.reason,
            "split": queries[each.query_id].tags["split"],
        }
        for each in whole.judgments
    )
    if form == "parquet":  # the hub reads a folder by one reader
        file = folder / "pairs.parquet"
        parquet(file).write(file, list(rows))
        return file.name
    files.write_rows(folder / "pairs.jsonl", rows)
    return "pairs.jsonl"
