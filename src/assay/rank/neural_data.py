"""Define the settings, the classes and the files of a neural ranker, and turn programs into its tokens.

The five tasks are those of Inala et al. 2022 (section 3.2). The first class of each is `correct`: its probability is
the score.

Tokenizers differ in what they make of a line break: byte-level ones have a token for it but merge it with the blanks
that follow, WordPiece drops it and the indentation with it. So a program is read line by line, and each line is closed
by one newline token: the tokenizer's own where a lone line break is one token, else an added `[NEWLINE]`; for those
that drop blanks, `[INDENT]` stands for each four columns of indentation. One more newline stands before the first line
(the program does not break) and one after the last (it breaks beyond what is seen), as in Inala et al. 2022, 3.3.
The prompt is kept and the code cut; only a prompt that leaves the code less than `code_least` tokens is cut as well.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault, binary, execution, intent, ternary
from assay.io import files
from assay.rank.datasets import Example
from assay.settings import above_zero, at_least, one_of

LINES = "E+L"
"""The task that also predicts the line that breaks."""

LABELS: Mapping[str, Callable[[Fault], str]] = {
    "B": binary,
    "T": ternary,
    "I": intent,
    "E": execution,
    LINES: execution,
}
"""What an outcome is called, by task."""

CLASSES: Mapping[str, tuple[str, ...]] = {
    task: tuple(dict.fromkeys(map(label, Fault))) for task, label in LABELS.items()
}
"""The classes of each task, `correct` first: 2, 3, 11, 12 and 12."""

_FAULTS = {str(fault): fault for fault in Fault}


def class_of(task: str, fault: Fault) -> int:
    """Return the number of an outcome's class."""
    return CLASSES[task].index(LABELS[task](fault))


def fault_of(name: str) -> Fault | None:
    """Return the fault of a class; None if the class stands for several."""
    return _FAULTS.get(name)


PRECISIONS = ("auto", "float32", "bfloat16")
LINE_HEADS = ("mapped", "vector")
_COUNTS = ("window", "code_least", "epochs", "batch", "micro")
_AMOUNTS = (
    *("layers", "steps", "warm", "warm_steps", "decay", "balance"),
    *("evaluate_every", "patience", "checkpoint_steps", "clip"),
)


@dataclass(frozen=True, slots=True)
class NeuralSettings:
    """Settings of a training; defaults are the paper's (section 4.1), and `PAPER` has its other choices."""

    base: str = "microsoft/codebert-base"
    """An encoder or decoder: a name on the hub, or a folder."""
    task: str = "T"
    """What is predicted: B, T, I, E or E+L."""
    window: int = 512
    """Tokens of prompt and code together at most."""
    code_least: int = 64
    """Tokens that are left to the code, however long the prompt; half of the window at most."""
    layers: int = 0
    """Keep only the lowest layers of the base model, to fit a small machine; 0 keeps all."""
    epochs: int = 30
    steps: int = 0
    """Stop after so many steps of the optimizer instead; 0 is what the epochs make."""
    batch: int = 512
    micro: int = 32
    """Programs that go through the model at once; a batch gathers the gradients of several."""
    rate: float = 1e-4
    warm: float = 0.1
    """The share of all steps in which the rate rises; then it falls to nothing."""
    warm_steps: int = 0
    """How many steps the rate rises instead; 0 leaves that to `warm`."""
    decay: float = 0.01
    clip: float = 1.0
    balance: float = 1.0
    """How far classes are weighed against their frequency: 0 not at all, 1 until each counts the same."""
    even_tasks: bool = True
    """Whether each programming task counts the same, however many programs it has."""
    line_head: str = "mapped"
    """How E+L tells the line: `vector` is the paper's one learned vector with a loss that weighs all alike."""
    evaluate_every: int = 0
    """Steps between looks at the validation set; 0 is once an epoch."""
    patience: int = 5
    """Looks without a better ranked pass@1 before it stops; 0 goes to the end."""
    checkpoint_steps: int = 200
    """Steps between checkpoints, beside the one at each look; 0 leaves it at these."""
    precision: str = "auto"
    """`auto` is bfloat16 on a GPU that has it."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse settings that cannot be run."""
        one_of("task", self.task, tuple(CLASSES))
        one_of("precision", self.precision, PRECISIONS)
        one_of("line_head", self.line_head, LINE_HEADS)
        at_least(self, {**dict.fromkeys(_COUNTS, 1), **dict.fromkeys(_AMOUNTS, 0)})
        above_zero(self, "rate")


RECIPES: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "paper": {
        "epochs": 30,
        "window": 512,
        "batch": 512,
        "micro": 16,
        "rate": 1e-4,
        "warm_steps": 1000,
        "decay": 0.01,
        "clip": 1.0,
        "balance": 1.0,
        "even_tasks": False,
        "line_head": "vector",
        "evaluate_every": 10,
        "patience": 0,
    },
}
"""Settings by name. What the paper leaves open is as its published code has it (microsoft/CodeRanker, finetune.sh)."""


Ints = NDArray[np.int64]
_LINE_END = re.compile(r"\r\n|\r|\n")
NEWLINE, INDENT = "[NEWLINE]", "[INDENT]"
COLUMNS = 4
"""How deep one indentation is."""
_MAX_INDENTS = 12


@dataclass(frozen=True, slots=True)
class TokenLayout:
    """The tokens around prompt and code; saved beside the model."""

    opening: tuple[int, ...]
    separator: int
    closing: int
    padding: int
    newline: int
    indent: int
    """-1 where the tokenizer keeps blanks."""
    window: int
    code_least: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One program as tokens."""

    ids: Sequence[int]
    code_start: int
    newlines: Sequence[int]
    """Where the newline tokens stand: no error, after line 1, after line 2, …, beyond the window."""

    def place_of(self, line: int) -> int:
        """Return the newline of a line; -1 for none."""
        return 0 if line < 1 else min(line, len(self.newlines) - 1)

    def line_of(self, place: int) -> int:
        """Return the line of a newline; -1 for no error and for one beyond the window."""
        return place if 0 < place < len(self.newlines) - 1 else -1


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Rows padded to one length."""

    ids: Ints
    mask: Ints
    segments: Ints
    """1 on the code."""
    newlines: NDArray[np.bool_]
    """True on the newline tokens."""


class Reader:
    """Converts programs to rows of tokens; each line is tokenized once."""

    def __init__(self, tokenizer: Any, layout: TokenLayout) -> None:
        self.tokenizer = tokenizer
        self.layout = layout
        self.tokenizer.encode_special_tokens = True  # what looks like a special token in a program is text
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self._lines: dict[str, list[int]] = {}

    def rows(self, prompt: str, sources: Sequence[str]) -> list[TokenRow]:
        """Return one row a program."""
        layout = self.layout
        around = len(layout.opening) + 4  # separator, first and last newline, closing
        asked = self._ids(prompt)[: max(layout.window - around - layout.code_least, 0)]
        before = [*layout.opening, *asked, layout.separator]
        room = layout.window - around - len(asked)
        lines = [lines_of(source) for source in sources]
        self._learn({line for each in lines for line in each[:room]})
        return [self._row(before, each[:room], room) for each in lines]

    def _row(self, before: list[int], lines: list[str], room: int) -> TokenRow:
        ids, newlines = [*before, self.layout.newline], [len(before)]
        end = len(ids) + room
        for line in lines:
            ids += [*self._lines[line], self.layout.newline]
            if len(ids) > end:
                break
            newlines.append(len(ids) - 1)
        ids = [*ids[:end], self.layout.newline, self.layout.closing]
        return TokenRow(ids, len(before), [*newlines, len(ids) - 2])

    def _learn(self, lines: set[str]) -> None:
        if len(self._lines) > 200_000:
            self._lines.clear()
        new = [line for line in lines if line not in self._lines]
        found = self.tokenizer.encode_batch(list(map(_encodable, new)), add_special_tokens=False)
        for line, encoded in zip(new, found, strict=True):
            self._lines[line] = [*self._indents(line), *encoded.ids]

    def _indents(self, line: str) -> list[int]:
        blanks = line[: len(line) - len(line.lstrip())].expandtabs(COLUMNS)
        return [self.layout.indent] * min(-(-len(blanks) // COLUMNS), _MAX_INDENTS) if self.layout.indent >= 0 else []

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(_encodable(text), add_special_tokens=False).ids
        return ids


def layout_of(tokenizer: Any, special: Mapping[str, str], *, window: int, code_least: int) -> TokenLayout:
    """Return the layout of rows for a tokenizer, adding the tokens it lacks; `special` gives a role its token."""

    def ids_of(*roles: str) -> list[int]:
        ids = (tokenizer.token_to_id(special[role]) for role in roles if special.get(role))
        return [place for place in ids if place is not None]

    newline, indent = _newline(tokenizer, special.get("unk_token", "")), _indent(tokenizer)
    closing = (ids_of("sep_token", "eos_token") or [newline])[0]
    padding = (ids_of("pad_token", "eos_token") or [0])[0]
    opening = tuple(ids_of("cls_token", "bos_token")[:1])
    return TokenLayout(opening, closing, closing, padding, newline, indent, window, min(code_least, window // 2))


def _newline(tokenizer: Any, unknown: str) -> int:
    """Return the token of a lone line break, an added one where there is none."""
    own: Any = tokenizer.encode("\n", add_special_tokens=False)
    return own.ids[0] if len(own.ids) == 1 and own.tokens[0] != unknown else _added(tokenizer, NEWLINE)


def _indent(tokenizer: Any) -> int:
    """Return the token of an indentation; -1 if the tokenizer keeps blanks."""
    flat, deep = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", " " * COLUMNS + "a"))
    return _added(tokenizer, INDENT) if flat == deep else -1


def _added(tokenizer: Any, token: str) -> int:
    from tokenizers import AddedToken

    tokenizer.add_special_tokens([AddedToken(token, special=True)])
    place = tokenizer.token_to_id(token)
    assert place is not None, "it was just added"
    return int(place)


def lines_of(source: str) -> list[str]:
    """Return the lines of a program as Python counts them, where a form feed does not end a line."""
    lines = _LINE_END.split(source)
    return lines[:-1] if lines[-1] == "" else lines


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


def padded(rows: Sequence[TokenRow], padding: int) -> TokenBatch:
    """Return rows as arrays of one width, padded on the right."""
    shape = (len(rows), max((len(row.ids) for row in rows), default=0))
    ids = np.full(shape, padding, dtype=np.int64)
    mask, segments = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    newlines = np.zeros(shape, dtype=np.bool_)
    for at, row in enumerate(rows):
        size = len(row.ids)
        ids[at, :size], mask[at, :size], segments[at, row.code_start : size] = row.ids, 1, 1
        newlines[at, row.newlines] = True
    return TokenBatch(ids, mask, segments, newlines)


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the positions of rows by similar length, at most `size` at a time, since padding costs as much as text."""
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for start in range(0, len(order), size):
        yield order[start : start + size]


FAULTS = tuple(Fault)
SPLITS = ("train", "valid")
_COLUMNS = ("task", "line", "place", "n", "fault", "ran_all")
_BLOCK = 1024


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Programs as tokens of four bytes, with columns for their labels."""

    rows: list[TokenRow]
    about: Mapping[str, Ints]
    """`task` is a number for each, `fault` a place in `FAULTS`, `place` the token of the newline for the line that
    breaks, and `ran_all` -1 where it is not known."""

    @property
    def lengths(self) -> Ints:
        """How many tokens each row has."""
        return np.array([len(row.ids) for row in self.rows], np.int64)


@dataclass(frozen=True, slots=True)
class LearningData:
    """The rows to train on, and those that select the best ranker."""

    train: LabeledRows
    valid: LabeledRows
    digest: str
    """A hash of what it was made from."""
    without_prompt: int
    """Programs whose task has no prompt."""


def learning_data(examples: Iterable[Example], reader: Reader) -> LearningData:
    """Tokenize programs, which are read in blocks."""
    rows: dict[str, list[TokenRow]] = {split: [] for split in SPLITS}
    about: dict[str, list[tuple[int, ...]]] = {split: [] for split in SPLITS}
    split_of, number_of = dict[str, str](), dict[str, int]()
    leaks = dict[str, None]()
    digest, count, without_prompt = blake2b(digest_size=16), 0, 0
    every = iter(examples)
    while block := list(islice(every, _BLOCK)):
        for example in block:
            digest.update(repr(example).encode("utf-8", "backslashreplace"))
            if split_of.setdefault(example.task_id, example.split) != example.split:
                leaks[example.task_id] = None
        count += len(block)
        used = [example for example in block if example.split in SPLITS]
        for example, row in zip(used, _rows_of(used, reader), strict=True):
            task = number_of.setdefault(example.task_id, len(number_of))
            line = example.line if example.fault.is_execution else -1
            ran_all = -1 if example.ran_all is None else int(example.ran_all)
            place = row.newlines[row.place_of(line)]
            without_prompt += not example.prompt.strip()
            rows[example.split].append(TokenRow(array("I", row.ids), row.code_start, array("I", row.newlines)))
            about[example.split].append((task, line, place, example.n, FAULTS.index(example.fault), ran_all))
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"no row of split '{split}' among {count:,}; 'assay rank data' splits them by task")
    if leaks:
        raise InputError(f"{len(leaks):,} tasks are in more than one split, {next(iter(leaks))!r} first; split by task")
    train, valid = (
        LabeledRows(rows[split], dict(zip(_COLUMNS, np.array(about[split], np.int64).T, strict=True)))
        for split in SPLITS
    )
    return LearningData(train, valid, digest.hexdigest(), without_prompt)


def _rows_of(block: Sequence[Example], reader: Reader) -> list[TokenRow]:
    """Return the rows of a block in its order; programs of one prompt are read together."""
    of: dict[str, list[int]] = {}
    for place, example in enumerate(block):
        of.setdefault(example.prompt, []).append(place)
    rows: dict[int, TokenRow] = {}
    for prompt, places in of.items():
        rows |= zip(places, reader.rows(prompt, [block[at].source for at in places]), strict=True)
    return [rows[place] for place in range(len(block))]


ABOUT, TOKENIZER, CONFIG, WEIGHTS = "ranker.json", "tokenizer.json", "config.json", "model.safetensors"
CHECKPOINT = "checkpoint.pt"
"""What a training that was cut off goes on from."""
FORMAT = 2


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Description of a trained ranker in its folder."""

    base: str
    """The name of the base model: on the hub, or the last part of its folder."""
    task: str
    reads: str
    """The token whose state gives the class: the `first`, or the `last` in a model that cannot look ahead."""
    layout: TokenLayout
    found: Mapping[str, float]
    """Its measures on the validation set."""
    classes: tuple[str, ...]
    """The classes that it predicts, `correct` first."""
    line_head: str
    """How the line is predicted; empty if it is not."""


def write_about(folder: Path, about: ModelCard) -> None:
    """Write `ranker.json`."""
    files.write_json(folder / ABOUT, {"format": FORMAT, **asdict(about)})


def read_about(folder: Path) -> ModelCard:
    """Read `ranker.json`; raise InputError with what is missing if a folder has no trained ranker."""
    file = folder / ABOUT
    if not file.is_file():
        there = f"{folder} has no {ABOUT}" if folder.is_dir() else f"no folder {folder}"
        raise InputError(f"{there}; train a ranker with 'assay rank train', and name the folder that it wrote")
    try:
        about: dict[str, Any] = json.loads(file.read_text("utf-8"))
        classes = tuple(about.pop("classes"))
        if about.pop("format") != FORMAT or classes != CLASSES[about["task"]]:
            raise InputError(f"{file} has another format or other classes than this version of assay; train again")
        layout = about.pop("layout")
        layout = TokenLayout(**{**layout, "opening": tuple(layout["opening"])})
        return ModelCard(layout=layout, classes=classes, **about)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} is damaged ({type(error).__name__}: {error}); train again") from error


def required_file(folder: Path, name: str) -> Path:
    """Return a required file of a folder."""
    if not (folder / name).is_file():
        raise InputError(f"no {name} in {folder}; copy the whole folder that 'assay rank train' wrote, or train again")
    return folder / name
