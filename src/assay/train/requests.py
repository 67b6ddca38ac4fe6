"""Declare what the commands that train something may be asked."""

from __future__ import annotations

from pathlib import Path

from assay.judge.requests import signals_encoder
from assay.parameters import Request, argument, flag, option, verbose
from assay.runs import options

TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"
BEFORE = "static:default"


class EncoderRequest(Request):
    """Train a static encoder, or fine-tune a transformer."""

    out: Path = option("--out FOLDER", "Where the encoder goes.", required=True)
    from_environment: bool = flag("--from-environment", "Learn from installed packages and the standard library.")
    roots: tuple[str, ...] = option("--repository PATH", "Learn from a repository. Repeatable.")
    files: tuple[Path, ...] = option("--pairs FILE", "Learn from the pairs in FILE. Repeatable.")
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE", "Take out pairs with a query or code that FILE judges, to measure on it. Repeatable."
    )
    base: str = option("--base SPEC", "Fine-tune this transformer (hf:NAME or hf:FOLDER), not a table.")
    lora: int | None = option(
        "--lora RANK", "With --base: train LoRA matrices of this rank alone, and merge them.", least=1
    )
    onnx: bool = flag("--onnx", "With --base: also write FOLDER/onnx, which runs without torch, in 8 bits.")
    curve: Path | None = option(
        "--curve FILE", "With --base: draw loss and MRR over the steps (.svg or .png).", kind="file"
    )
    fresh: bool = flag("--fresh", "With --base: start again; what is in FOLDER is moved to FOLDER.old.")
    teacher: str = option("--teacher SPEC", "The encoder to distill first.", show=TEACHER)
    words: Path | None = option(
        "--join FILE", "Join word vectors of another model (.npz) to a table; distill nothing.", kind="file"
    )
    before: str = option("--from SPEC", "The table that --join starts from.", show=BEFORE)
    changes: tuple[str, ...] = options.changes()
    verbose: bool = verbose("Show the traceback of an error.")


class GeneratorRequest(Request):
    """Fine-tune a language model that writes programs."""

    data: tuple[Path, ...] = argument("DATA...", required=True)
    base: str = option("--base SPEC", "The causal language model to start from: hf:NAME or hf:FOLDER.", required=True)
    out: Path = option("--out FOLDER", "Where the generator goes.", required=True)
    tasks: Path | None = options.tasks()
    fresh: bool = flag("--fresh", "Start again; what is in FOLDER is moved to FOLDER.old.")
    changes: tuple[str, ...] = options.changes()
    verbose: bool = verbose("Show the traceback of an error.")


class SignalsRequest(Request):
    """Train the weights of the judge that asks no model."""

    sources: tuple[str, ...] = argument("SOURCE...", required=True)
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE",
        "Pairs to report on later: what shares a query or a code with them is not learned from. Repeatable.",
    )
    encoder: str = signals_encoder(
        "--encoder", "An encoder, such as onnx:FOLDER, whose cosine takes the place of all features."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    changes: tuple[str, ...] = options.changes("Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


class RankingRequest(Request):
    """Train the weights of the ranking."""

    truths: tuple[Path, ...] = argument("TRUTH...", required=True)
    checkouts: Path = option(
        "--checkouts FOLDER",
        "Where the repositories are: NAME.csv and NAME_docs.csv are about FOLDER/NAME.",
        required=True,
    )
    foreign: tuple[Path, ...] = option(
        "--foreign FILE", "Questions that no repository answers, in the columns query and writer. Repeatable."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    encoder: str = option("--encoder SPEC", "The encoder to search with.", default="static:default")
    changes: tuple[str, ...] = options.changes("Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")
