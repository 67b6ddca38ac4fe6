"""What descriptions of units are worth: one query set with and without them, answered by the same ranking.

    python benchmarks/described.py CHECKOUT QUESTIONS.csv DESCRIPTIONS.tsv [--encoder SPEC]

The descriptions, lines of a unit's key, its name and the text, are replayed through an endpoint on this machine that
speaks OpenAI's protocol, so that all of `assay index --describe` is at work. Units that they leave out are declined.
Strict measures by line over the first 20 hits, as `assay bench` has them, with the interval of each difference.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from assay.assemble.describe_index import DescribeOptions, describe_indexes
from assay.assemble.workspace import Workspace, open_workspace
from assay.bench.scores import score
from assay.bench.system import SystemCorpus
from assay.measure.compare import compare
from assay.measure.line_spans import Span
from assay.measure.measures import parse
from assay.settings import load
from assay.truth.ground_truth import Qrels, qrels_of
from assay.truth.truth_formats import read

UNIT = re.compile(r"<(data-\w+) unit (\d+)>\n(.*?)\n</\1 unit \2>", re.DOTALL)
MEASURES = ("Hit@1", "Hit@5", "MRR", "nDCG@10")
DEPTH = 20


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("questions", type=Path)
    arguments.add_argument("descriptions", type=Path)
    arguments.add_argument("--encoder", default="static:default")
    arguments.add_argument("--mode", default="code", help="What is searched: code, docs or all.")
    given = arguments.parse_args()
    rows = (line.split("\t") for line in given.descriptions.read_text("utf-8").splitlines())
    texts = {key: text for key, _, text in rows}
    truth = qrels_of(read(given.questions).truth)
    truth = replace(truth, queries=tuple(replace(query, mode=given.mode) for query in truth.queries))
    with tempfile.TemporaryDirectory() as folder, endpoint(texts) as address:
        os.environ["XDG_CACHE_HOME"] = folder  # nothing that was described before
        settings = load(options={"index.location": f"{folder}/index", "encoder.spec": given.encoder})
        plain = open_workspace(given.checkout.resolve(), settings)
        values = {"without": values_of(plain, truth)}
        ((described, report),) = describe_indexes([plain], DescribeOptions(f"vllm:replayed@{address}"))
        print(f"{described.report.described} of {described.report.chunks} chunks, {len(report.refused)} units declined")
        values["with"] = values_of(described, truth)
    tell(values, truth)


@contextmanager
def endpoint(texts: dict[str, str]) -> Iterator[str]:
    """Serve descriptions as a language model would; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][1]["content"]
            known = {int(number): texts.get(key_of(text), "") for _, number, text in UNIT.findall(asked)}
            rows = [{"unit": number, "description": text} for number, text in known.items() if text]
            message = {"role": "assistant", "content": json.dumps({"descriptions": rows})}
            body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def key_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def values_of(workspace: Workspace, truth: Qrels) -> dict[str, np.ndarray]:
    """Return one value a query for each measure."""
    hits = workspace.searcher.search(truth.queries, DEPTH)
    spans = [[Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found] for found in hits]
    answers = dict(zip((query.id for query in truth.queries), spans, strict=True))
    corpus = SystemCorpus("described", workspace.index.root)
    return dict(score(truth, answers, corpus, [parse(each) for each in MEASURES]).values["line"])


def tell(values: dict[str, dict[str, np.ndarray]], truth: Qrels) -> None:
    kinds = [query.tags.get("kind", "") for query in truth.queries]
    for group in ("all", *sorted(set(kinds))):
        places = np.array([group in {"all", kind} for kind in kinds])
        print(f"{group}, {places.sum()} queries: {', '.join(row(values, name, places) for name in MEASURES)}")


def row(values: dict[str, dict[str, np.ndarray]], name: str, places: Sequence[bool]) -> str:
    chosen = {system: each[name][places] for system, each in values.items()}
    (difference,) = compare({"with": chosen["with"], "without": chosen["without"]})
    means = f"{chosen['without'].mean():.3f} -> {chosen['with'].mean():.3f}"
    return f"{name} {means} ({difference.difference:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}])"


if __name__ == "__main__":
    main()
