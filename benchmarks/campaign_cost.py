"""Pairs to what a campaign of 412,080 like them sends and costs: by list price, with an endpoint's cache, by batch.

    python benchmarks/campaign_cost.py cosqa-dev.json --tokenize http://127.0.0.1:8080/tokenize

Prompts are those that would be sent; a llama.cpp server counts their tokens, with whatever model it has. How many pairs
are unclear and how many programs break is the paper's; how long programs, reports and answers are is assumed, and said.
"""

from __future__ import annotations

import argparse
import json
import urllib.request
from pathlib import Path
from statistics import mean

from assay.judge.accounts import CostForecast, priced
from assay.judge.pairs import Pair, read
from assay.judge.session import load
from assay.llm.endpoint import price_of
from assay.llm.prompts import fill
from assay.types import Prompt

PAIRS, UNCLEAR, BROKEN = 412_080, 0.33, 0.3
"""Of CoSQA+; of the unclear pairs, those whose program goes to the fixer once."""
PROGRAM, REPORT = "assert parse('a=1') == {'a': 1}\n" * 50, "case 1: passed, 3 asserts\n" * 15
"""Of 1,600 and 390 characters, for a program of four cases."""
ANSWERS = {"screen": 90, "tests": 450, "fix": 450, "arbitrate": 110}
"""Tokens of a reply, assumed."""
MODELS = (
    "deepseek:deepseek-chat",
    "openai:gpt-5-nano",
    "openai:gpt-4.1-nano",
    "openai:gpt-4o-mini",
    "openai:gpt-5-mini",
)


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--tokenize", required=True)
    parser.add_argument("--most", type=int, default=200)
    given = parser.parse_args()
    pairs = [pair for pair in read(given.pairs) if isinstance(pair, Pair)][: given.most]
    calls = {"screen": 1.0, "tests": UNCLEAR, "fix": UNCLEAR * BROKEN, "arbitrate": UNCLEAR}
    read_tokens = shared = 0.0
    for name, often in calls.items():
        whole, beginning = sizes(name, pairs, given.tokenize)
        print(f"{name:10} {whole:7.0f} tokens, {beginning:6.0f} at its beginning are shared")
        read_tokens += often * whole
        shared += often * beginning
    written = sum(often * ANSWERS[name] for name, often in calls.items())
    total = [round(PAIRS * each) for each in (sum(calls.values()), read_tokens, written, shared)]
    plan = CostForecast(PAIRS, total[0], total[1], total[2], total[3], 0, 0.0, 0.0, 0.0, 0.0, "")
    print(f"{total[0]:,} calls, {total[1] / 1e6:.0f} M tokens read, {shared / read_tokens:.0%} of them shareable, "
          f"{total[2] / 1e6:.0f} M written")  # fmt: skip
    for spec, price in priced(plan, {spec: price_of(spec) for spec in MODELS}).items():
        print(f"{spec:24} list ${price.listed:7.0f}  cached ${price.cached:7.0f}  batch ${price.batch:7.0f}")


def sizes(name: str, pairs: list[Pair], address: str) -> tuple[float, float]:
    """Return how many tokens a prompt has, and how many at its beginning are those of all pairs."""
    template = load(name)
    made = [fill(template, {"query": pair.query.text, "code": pair.code.text, **_MORE}) for pair in pairs]
    counts = [count(whole(prompt), address) for prompt in made]
    return mean(counts), count(whole(made[0])[: made[0].shared], address)


_MORE = {"program": PROGRAM, "report": REPORT, "notes": ""}


def whole(prompt: Prompt) -> str:
    """Return a prompt as it is read."""
    return prompt.system + prompt.text


def count(text: str, address: str) -> int:
    """Return the tokens of a text."""
    body = json.dumps({"content": text}).encode()
    question = urllib.request.Request(address, body, {"content-type": "application/json"})  # noqa: S310  # as named
    with urllib.request.urlopen(question) as answer:  # noqa: S310  # the same
        return len(json.loads(answer.read())["tokens"])


if __name__ == "__main__":
    main()
