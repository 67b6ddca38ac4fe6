"""The values that everything passes around: frozen, slotted, a few lines each.

Lines are 1-based and inclusive everywhere; paths are relative to the searched root, with `/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from assay.faults import Fault

Mode = Literal["all", "code", "docs"]


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asks, with what to keep of the corpus.

    >>> Query("1", "where is mail sent", languages=("python",)).mode
    'all'
    """

    id: str
    text: str
    mode: Mode = "all"
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs on the relative path; one that starts with `!` leaves paths out, as with languages and kinds."""
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    """Globs on the name or the qualified name, `Task.retry`, in any letter case; `!` leaves out."""
    exact: tuple[str, ...] = ()
    """Texts that a chunk has to hold letter by letter."""
    patterns: tuple[str, ...] = ()
    """Regular expressions (RE2), each of which a line of a chunk has to match."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a ground truth says about it: its kind (standard, hard, …), language, split, date."""

    @property
    def filters(self) -> tuple[tuple[str, ...], ...]:
        """What each filter keeps, in the order of `FILTER_FIELDS`."""
        return tuple(getattr(self, name) for name in FILTER_FIELDS)

    @property
    def reads_text(self) -> bool:
        """Say whether it keeps chunks by what their text holds."""
        return bool(self.exact or self.patterns)


FILTER_FIELDS = tuple(each.name for each in fields(Query) if str(each.type).startswith("tuple"))
"""The fields of a query that keep chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Code or prose that can be found, judged and ranked; without a file it has no path.

    >>> Chunk("1", "def send_mail(): ...", "python", "mail/send.py", 6, 9, symbol="send_mail").symbol
    'send_mail'
    """

    id: str
    text: str
    language: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    """The unit's own name: `parse_args`, or the heading of a section of prose."""
    kind: str = ""
    """One of `KINDS`, or empty."""
    parent: str = ""
    """Enclosing names, outermost first, joined by `.`; for prose the headings above, by ` > `."""
    doc: str = ""
    """The docstring or leading comment, without its markers."""
    signature: str = ""
    description: str = ""
    """What a language model says of it, where an index was described."""
    root: str = ""
    """Which of several roots it lies in, by the name that this one was given; empty where one is searched."""

    @property
    def about(self) -> str:
        """What is said of it in words: its documentation, then its description."""
        return f"{self.doc}\n{self.description}".strip("\n") if self.description else self.doc


KINDS = (
    "",
    "function",
    "method",
    "constructor",
    "class",
    "interface",
    "struct",
    "enum",
    "trait",
    "impl",
    "type",
    "macro",
    "constant",
    "module",
    "test",
    "section",
    "block",
    "cell",
)
"""Every kind a chunk may have; the position of a kind is what an index stores."""
TYPE_KINDS = frozenset(("class", "interface", "struct", "enum", "trait", "type"))
CALLABLE_KINDS = frozenset(("function", "method", "constructor", "macro"))


class NamedSpan(NamedTuple):
    """The lines of what a file declares, under its full name."""

    first_line: int
    last_line: int
    name: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a ranked answer; `why` holds each part of its score.

    >>> Hit(Chunk("1", "def send_mail(): ..."), 0.5, {"dense": 0.5}).score
    0.5
    """

    chunk: Chunk
    score: float
    why: Mapping[str, float] = field(default_factory=dict)
    others: tuple[Chunk, ...] = ()
    """What this place stands for: overloads, other parts of one unit, copies of the file in other roots."""
    line: int = 0
    """The line that was asked for, where one was: of a trace, of a message, of a call."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """Ground truth: how well a target answers a query, and who says so.

    >>> Judgment("1", "mail/send.py::send_mail", 1, judge="me").grade
    1
    """

    query_id: str
    target: str
    """`path:start-end`, `path:line`, `path::Symbol.name`, or a whole file; a document's id is its path."""
    grade: int
    """0 for judged and wrong; the higher, the better."""
    judge: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be used, and where it stands."""

    where: str
    """`FILE:ROW`, or the id of a query or a task."""
    what: str

    def __str__(self) -> str:
        """Return one line for people."""
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Script:
    """Test code in Python: asserts, a `check(candidate)` that is called, or unittest cases.

    >>> Script("assert add(1, 2) == 3").source
    'assert add(1, 2) == 3'
    """

    source: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a task's entry point and what it should return.

    >>> Call((1, 2), expected=3).args
    (1, 2)
    """

    args: tuple[Any, ...]
    expected: Any
    atol: float = 0.0
    """How far a float may be off; 0 is not at all."""


@dataclass(frozen=True, slots=True)
class Stdin:
    r"""What a whole program reads, and what it should print.

    >>> Stdin("1 2\n", expected="3\n").expected
    '3\n'
    """

    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Pytest:
    r"""A test file that imports the program as the module `solution`.

    >>> Pytest("from solution import add\ndef test_add(): assert add(1, 2) == 3").source[:8]
    'from sol'
    """

    source: str


Test = Script | Call | Stdin | Pytest


@dataclass(frozen=True, slots=True)
class Task:
    """A programming problem with its tests.

    >>> Task("add", "Add two numbers.", entry_point="add", tests=(Call((1, 2), 3),)).tests
    (Call(args=(1, 2), expected=3, atol=0.0),)
    """

    id: str
    prompt: str
    entry_point: str = ""
    """The function under test; empty where the whole program is."""
    tests: tuple[Test, ...] = ()
    setup: str = ""
    """Code that runs before the tests, where they run."""
    reference: str = ""
    timeout_s: float = 0.0
    """Processor time for all tests of it; 0 is what the limits say."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LogProbability:
    """How likely a language model finds a text, in nats.

    >>> LogProbability(-6.0, 4).mean
    -1.5
    """

    total: float
    tokens: int
    """How many it is the sum of."""
    covers: str = "program"
    """`program`, or `answer` where the tokens of the program could not be told from the rest of an answer."""

    @property
    def mean(self) -> float:
        """Return that of a token; 0 of none."""
        return self.total / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """One candidate program for a task, complete: prompts and completions are put together before.

    >>> Program("add", "def add(a, b): return a + b", id="first").task_id
    'add'
    """

    task_id: str
    source: str
    id: str = ""
    n: int = 1
    """How often it was sampled."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    logprob: LogProbability | None = None
    """How likely the model that wrote it found it, where that is known."""
    edits: tuple[str, ...] = ()
    """What was done to the text that a model wrote to make it this program."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running one program against its tests showed.

    >>> Outcome("add", "first", Fault.CORRECT).fault.value
    'correct'
    """

    task_id: str
    program_id: str
    fault: Fault | None
    """None is undecided: the machinery failed, or the tests did and no program shows that they can be passed."""
    line: int = -1
    """Of the program's own source, 1-based; -1 where no line is to blame."""
    detail: str = ""
    got: str = ""
    """What the first failing test saw, as Python writes it."""
    expected: str = ""
    stdout: str = ""
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    tests_run: int = 0
    shared: bool = False
    """The tests had to run in the program's own interpreter, where a program can lie."""
    missing: str = ""
    sandbox: str = ""
    test: int = -1
    """The place of the first test that did not hold, among those of the task; -1 where there is none."""
    suspected: Fault | None = None
    """Of an undecided outcome: the program's fault if the test can be passed, for then it was not the test's."""
    ran_all: bool | None = None
    """Whether it ran all tests without an execution error, as exec@k asks; None where tests ended at a wrong answer."""

    @property
    def runs(self) -> bool:
        """Whether it is one of those that run: without an execution error on all tests, as far as they were asked."""
        if self.ran_all is not None:
            return self.ran_all
        return self.fault is not None and not self.fault.is_execution


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a ranker thinks of one candidate program.

    >>> Ranked(Program("add", "def add(a, b): return a + b"), 0.9, Fault.CORRECT).score
    0.9
    """

    program: Program
    score: float
    """The higher, the earlier; comparable within a task only."""
    fault: Fault | None = None
    """How it most likely fails, or `correct`; None where the ranker has no opinion."""
    line: int = -1
    """Where it most likely breaks, 1-based; -1 where no line is to blame."""
    why: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Each part of the score."""
    probability: float | None = None
    """Of being right, each program by itself, in [0, 1]; None where the ranker gives none."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked, and what its answer has to look like.

    >>> Prompt("Answer briefly.", "Is 2 even?", {"type": "object"}).text
    'Is 2 even?'
    """

    system: str
    text: str
    schema: Mapping[str, Any] = field(hash=False)
    """JSON schema of the answer, an object; `assay.llm.schema` says which keywords are known."""
    name: str = ""
    """Of the file that the prompt was made from."""
    version: str = ""
    """A hash of that file."""
    choices: tuple[str, ...] = ()
    """First words that an answer may have. If there are any, the reply is how likely each one is, and `mass` is how
    likely the model is to start with one of them: `{"Yes": 0.8, "No": 0.2, "mass": 0.97}`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a language model answered, checked against the schema, and what it took.

    >>> Reply({"even": True}, "some-model").value["even"]
    True
    """

    value: Mapping[str, Any] = field(hash=False)
    model: str
    """As the endpoint calls what answered."""
    tokens_in: int = 0
    """0 in and out is an endpoint that does not count."""
    tokens_out: int = 0
    cost: float = 0.0
    """In USD, all attempts at a valid answer together; nan is unknown."""
    seconds: float = 0.0
    cached: bool = False
    """It was paid for before: the cost is 0, the tokens are those of then."""
    saved: float = 0.0
    """What it cost then, in USD; nan is unknown."""
    tokens_cached: int = 0
    """Of those in, what the endpoint says that it had read before, and most sell cheaper."""
    attempts: int = 1
    """Answers that it took until one fitted the schema."""
    wrong: tuple[str, ...] = ()
    """What those before it said."""
