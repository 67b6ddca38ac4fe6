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
    """A question, with its filters of the corpus.

    >>> Query("1", "where is mail sent", languages=("python",)).mode
    'all'
    """

    id: str
    text: str
    mode: Mode = "all"
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs on the relative path; one that starts with `!` excludes, as with languages and kinds."""
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    """Globs on the name or the qualified name, `Task.retry`, in any letter case; `!` excludes."""
    exact: tuple[str, ...] = ()
    """Texts that a chunk has to contain exactly."""
    patterns: tuple[str, ...] = ()
    """Regular expressions (RE2), each of which has to match a line of a chunk."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Attributes in a ground truth: kind (standard, hard, …), language, split, date."""

    @property
    def filters(self) -> tuple[tuple[str, ...], ...]:
        """The values of each filter, in the order of `FILTER_FIELDS`."""
        return tuple(getattr(self, name) for name in FILTER_FIELDS)

    @property
    def reads_text(self) -> bool:
        """Return whether it filters chunks by their text."""
        return bool(self.exact or self.patterns)


FILTER_FIELDS = tuple(each.name for each in fields(Query) if str(each.type).startswith("tuple"))
"""The fields of a query that filter chunks."""


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
    """The description by a language model, if the index has one."""
    root: str = ""
    """Of several roots, the name of its own; empty if one root is searched."""

    @property
    def about(self) -> str:
        """Its documentation, then its description."""
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
    """The lines of a declaration in a file, with its full name."""

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
    """Other places that this one represents: overloads, other parts of one unit, copies of the file in other roots."""
    line: int = 0
    """The line in question, if there is one: of a trace, of a message, of a call."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """Ground truth: how well a target answers a query, by whose judgment.

    >>> Judgment("1", "mail/send.py::send_mail", 1, judge="me").grade
    1
    """

    query_id: str
    target: str
    """`path:start-end`, `path:line`, `path::Symbol.name`, or a whole file; a document's id is its path."""
    grade: int
    """0 is judged and wrong; a higher grade is a better answer."""
    judge: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """An input that could not be used, and its place."""

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
    """The absolute tolerance of a float; 0 means exactly equal."""


@dataclass(frozen=True, slots=True)
class Stdin:
    r"""The input of a whole program, and the output that it should print.

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
    """The function under test; empty if the tests run the whole program."""
    tests: tuple[Test, ...] = ()
    setup: str = ""
    """Code that runs before the tests."""
    reference: str = ""
    timeout_s: float = 0.0
    """Processor time for all tests of it; 0 means the limits' default."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LogProbability:
    """The log-probability of a text under a language model, in nats.

    >>> LogProbability(-6.0, 4).mean
    -1.5
    """

    total: float
    tokens: int
    """The number of tokens in the sum."""
    covers: str = "program"
    """`program`, or `answer` if the tokens of the program could not be separated from the rest of an answer."""

    @property
    def mean(self) -> float:
        """Return the mean of a token; 0 if there is none."""
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
    """Its log-probability under the model that wrote it, if known."""
    edits: tuple[str, ...] = ()
    """How the text of a model was changed to make it this program."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of running one program against its tests.

    >>> Outcome("add", "first", Fault.CORRECT).fault.value
    'correct'
    """

    task_id: str
    program_id: str
    fault: Fault | None
    """None is undecided: the sandbox failed, or the tests did and no program shows that they can be passed."""
    line: int = -1
    """A line of the program's own source, 1-based; -1 if no line is to blame."""
    detail: str = ""
    got: str = ""
    """The actual value in the first failing test, as Python writes it."""
    expected: str = ""
    stdout: str = ""
    seconds: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    tests_run: int = 0
    shared: bool = False
    """Whether the tests had to run in the program's own interpreter, where a program can cheat."""
    missing: str = ""
    sandbox: str = ""
    test: int = -1
    """The index of the first failing test among those of the task; -1 if there is none."""
    suspected: Fault | None = None
    """For an undecided outcome: the program's fault if the test can be passed, as it was then not the test's."""
    ran_all: bool | None = None
    """Whether it ran all tests without an execution error, as exec@k asks; None if tests ended at a wrong answer."""

    @property
    def runs(self) -> bool:
        """Return whether it ran without an execution error on all tests that were tried."""
        if self.ran_all is not None:
            return self.ran_all
        return self.fault is not None and not self.fault.is_execution


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranker's rating of one candidate program.

    >>> Ranked(Program("add", "def add(a, b): return a + b"), 0.9, Fault.CORRECT).score
    0.9
    """

    program: Program
    score: float
    """A higher score ranks earlier; comparable within a task only."""
    fault: Fault | None = None
    """Its most likely fault, or `correct`; None if the ranker does not predict one."""
    line: int = -1
    """The line that most likely breaks, 1-based; -1 if no line is to blame."""
    why: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Each part of the score."""
    probability: float | None = None
    """The probability that it is right by itself, in [0, 1]; None if the ranker gives none."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for a language model, and the required form of its answer.

    >>> Prompt("Answer briefly.", "Is 2 even?", {"type": "object"}).text
    'Is 2 even?'
    """

    system: str
    text: str
    schema: Mapping[str, Any] = field(hash=False)
    """JSON schema of the answer, an object; `assay.llm.schema` says which keywords are known."""
    name: str = ""
    """The name of the file that the prompt was built from."""
    version: str = ""
    """A hash of that file."""
    choices: tuple[str, ...] = ()
    """First words that an answer may have. If there are any, the reply is how likely each one is, and `mass` is how
    likely the model is to start with one of them: `{"Yes": 0.8, "No": 0.2, "mass": 0.97}`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of a language model, checked against the schema, and what it took.

    >>> Reply({"even": True}, "some-model").value["even"]
    True
    """

    value: Mapping[str, Any] = field(hash=False)
    model: str
    """The name of the model in the endpoint's words."""
    tokens_in: int = 0
    """0 in and out means that the endpoint does not count."""
    tokens_out: int = 0
    cost: float = 0.0
    """In USD, for all attempts at a valid answer together; nan is unknown."""
    seconds: float = 0.0
    cached: bool = False
    """Whether it was paid for before: the cost is 0, the tokens are those of then."""
    saved: float = 0.0
    """Its cost then, in USD; nan is unknown."""
    tokens_cached: int = 0
    """Tokens in that the endpoint had cached, and most sell for less."""
    attempts: int = 1
    """Answers until one fitted the schema."""
    wrong: tuple[str, ...] = ()
    """The texts of the answers before."""
