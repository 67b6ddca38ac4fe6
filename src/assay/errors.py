"""Everything Assay raises on purpose, each with what was found, what was expected and the next step.

AssayError
├── InputError          the input cannot be used: a path, a query, a filter, a setting
│   ├── SandboxRefused  a kind of sandbox does not start on this machine
│   └── ModelUnavailable  a model is missing or does not answer; what can work without it continues with a note
├── MissingExtra        an optional part is not installed; says which extra brings it
├── StorageError        the index cannot be read or written
│   ├── DamagedIndex    what is stored is corrupt, or of another format version
│   └── UnwritableIndex nothing can be written where the index lies or would lie
├── WorkersLost         no worker of a cluster is left; finished work is written
├── HttpError           a service gave no usable answer; the caller says what to do
└── ChatError           a language model gave no answer, after all tries
    ├── NoAnswer        to this prompt: declined, cut, or not valid by the schema
    ├── EndpointFailed  busy or broken for longer than the time limit; it may work later
    ├── EndpointRefused to any prompt: the key, the account, the model or the address is wrong
    ├── Interrupted     Ctrl-C came first; the same command resumes
    └── BudgetSpent     the call might have exceeded the limit and was not made
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class AssayError(Exception):
    """The base class: a message for people, on one line.

    >>> import assay
    >>> try:
    ...     assay.search("where is mail sent", "nowhere")
    ... except assay.AssayError as error:
    ...     print(error)
    no such folder: 'nowhere'
    """


class InputError(AssayError):
    """The input cannot be used."""


class ModelUnavailable(InputError):
    """A model is missing: no such folder, no server at an address, or a server that refuses."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status of a refusal; 0 if there was none."""


class SandboxRefused(InputError):
    """A kind of sandbox does not start on this machine."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"the sandbox '{kind}' does not start here: {reason}; `assay doctor` tries each kind")
        self.reason = reason


class MissingExtra(AssayError):
    """An optional library is not installed."""

    def __init__(self, part: str, library: str, extra: str) -> None:
        from assay.extras import install_command

        super().__init__(f"{part} needs {library}: {install_command(extra, library)}")


class StorageError(AssayError):
    """The index cannot be read or written."""


class DamagedIndex(StorageError):
    """What is stored is corrupt or of another format version; a rebuild repairs it."""


class UnwritableIndex(StorageError):
    """Nothing can be written where the index lies, or would lie."""


class WorkersLost(AssayError):
    """No machine of a cluster works any more, and none joined within the time limit."""


class HttpError(AssayError):
    """A service gave no usable answer; the message contains no secret that was sent to it."""

    def __init__(  # noqa: PLR0913  each is one thing
        self,
        message: str,
        *,
        what: str,
        status: int = 0,
        text: str = "",
        may_pass: bool = False,
        is_first: bool = False,
    ) -> None:
        super().__init__(message)
        self.what = what
        """What came instead, on one line, without the service's name."""
        self.status, self.text = status, text
        """The HTTP status and the full text of a refusal."""
        self.may_pass = may_pass
        """Whether all retries were used, and a later request may succeed."""
        self.is_first = is_first
        """Whether no usable answer ever came from there: the address may be wrong."""


class ChatError(AssayError):
    """A language model gave no answer; temporary failures were retried before."""

    def __init__(
        self, message: str, *, raw: str = "", tokens_in: int = 0, tokens_out: int = 0, cost: float = 0.0
    ) -> None:
        super().__init__(message)
        self.raw = raw
        """The last text from the model or the endpoint, unchanged."""
        self.tokens_in, self.tokens_out, self.cost = tokens_in, tokens_out, cost
        """What it took nevertheless; a cost of nan is unknown."""
        self.wrong: tuple[str, ...] = ()
        """Unusable answers of the model before that."""


class NoAnswer(ChatError):
    """The model declined, was cut, or did not follow the schema; another prompt may succeed."""


class EndpointFailed(ChatError):
    """The endpoint stayed busy or broken; the same prompt may succeed later."""


class EndpointRefused(ChatError):
    """The key, the account, the model or the address is wrong; no prompt would succeed."""


class BudgetSpent(ChatError):
    """The next call might have passed the limit, and was not made."""


class Interrupted(ChatError):
    """Ctrl-C ended the work before there was an answer."""


class Notice(UserWarning):
    """News for a waiting user, such as that a request is repeated."""


class SettingsNotUsed(Notice):
    """A repository's own settings file has settings that only the user may decide, or cannot be read."""


def nearest(unknown: str, known: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(unknown, known, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun, in the plural unless it is one: `1 query`, `2 queries`, `3,000 sets`."""
    many = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}es" if thing.endswith("ch") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else many}"


def printable(text: str) -> str:
    """Return a text on one line, with escapes for what moves a cursor or changes the direction of text."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(text.split()))


def printable_name(name: str) -> str:
    """Return a name on one line, with escapes for what moves a cursor or changes the direction of text.

    Bytes that are no UTF-8 stay, so that a program finds the file.
    """
    return "".join(char if char.isprintable() or "\udc80" <= char <= "\udcff" else repr(char)[1:-1] for char in name)


def rate_text(rate: float) -> str:
    """Return a rate per second, minute or hour, whichever is easiest to read."""
    for factor, unit in ((1, "second"), (60, "minute")):
        if rate * factor >= 0.95:  # shown as 1.0
            return f"{rate * factor:,.1f} a {unit}"
    return f"{rate * 3600:,.1f} an hour"


def lasting(seconds: float) -> str:
    """Return a duration in the unit that is easiest to read."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.1f} days"


def some_of(names: Iterable[object], most: int = 10) -> str:
    """Return names in a row, at most the first few, and how many more there are."""
    every = list(map(str, names))
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
