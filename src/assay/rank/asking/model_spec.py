"""What follows `chat:` in the spec of a ranker: which model is asked, about which programs, and how.

The options of the ranker stand beside those of the model, as in `openai:MODEL?temperature=0&way=pairwise&top=5`; what
is not the ranker's is left to the model. A value may be quoted as in any address: `%2B` is a `+`, `%3F` a `?`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Final
from urllib.parse import quote, unquote

from assay.errors import InputError, nearest

WAYS: Final = {"pointwise": 20, "pairwise": 5}
"""How a model may be asked, with how many programs of a task it is asked about where nothing else is said."""
_UNQUOTED: Final = ":/@,"


@dataclass(frozen=True, slots=True)
class ModelRankerOptions:
    """Which programs a model is asked about, and how."""

    way: str = "pointwise"
    """Each program by itself, or every two of them in both orders."""
    top: int = field(default=0, metadata={"least": 1})
    """Different texts of a task, the best of the first ranker; 0 is as many as suits the way."""
    votes: int = field(default=1, metadata={"least": 1})
    """How often the same is asked; opinions are means."""
    weight: float = field(default=1.0, metadata={"least": 0})
    """What the model's log-odds count beside the standardized score of the first ranker."""
    first: str = "consensus"
    """The spec of the ranker whose best programs the model is asked about."""

    @property
    def most(self) -> int:
        """The number of different texts that the model is asked about."""
        return self.top or WAYS[self.way]

    def __str__(self) -> str:
        """Return these options as a spec has them, without those that are as usual."""
        usual = ModelRankerOptions()
        named = ((each.name, getattr(self, each.name)) for each in fields(self))
        said = ((name, value) for name, value in named if value != getattr(usual, name))
        return "&".join(f"{name}={quote(str(value), safe=_UNQUOTED)}" for name, value in said)


def model_spec(argument: str) -> tuple[str, ModelRankerOptions]:
    """Return the spec of the model and the options of the ranker."""
    chat, _, query = argument.partition("?")
    if not chat:
        raise InputError("the ranker 'chat' names no model; write chat:PROVIDER:MODEL, as in chat:ollama:qwen3")
    known = {each.name: each for each in fields(ModelRankerOptions)}
    own, others = dict[str, Any](), []
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name in known:
            own[name] = _value(f"chat:{argument}", name, unquote(text))
        else:
            others.append(part)
    return f"{chat}?{'&'.join(others)}" if others else chat, ModelRankerOptions(**own)


def _value(spec: str, name: str, text: str) -> str | int | float:
    """Return the value of an option, checked."""
    usual = getattr(ModelRankerOptions(), name)
    least = {each.name: each.metadata.get("least", 0) for each in fields(ModelRankerOptions)}[name]
    if name == "way" and text not in WAYS:
        raise InputError(f"option 'way' in '{spec}': unknown way '{text}'; {nearest(text, list(WAYS))}")
    if isinstance(usual, str):
        return text
    try:
        value: int | float = type(usual)(text)
    except ValueError as error:
        raise InputError(f"option '{name}' in '{spec}' is '{text}'; wanted a number") from error
    if not (isfinite(value) and value >= least):
        raise InputError(f"option '{name}' in '{spec}' is {text}; wanted {least} or more")
    return value
