"""Declare the parameters of an operation: each once, with its help, default, bounds and choices.

    class Mix(Request):
        files: tuple[Path, ...] = argument("DATA...", required=True)
        seed: int = option("--seed N", "Seed of the rows that are drawn.", default=0)

A request is a frozen value. The command line makes options of its parameters, the HTTP API their query parameters, MCP
the schema of a tool, and each refuses a bad value in the same words. What the annotation of a field says is not said
again: a tuple is repeatable, a path is read as one, and a field that is not required is empty by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from inspect import get_annotations
from typing import Any, ClassVar, TypeVar, dataclass_transform

from assay.errors import InputError, nearest

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_TRUTH = {"true": True, "false": False}
_MAX_VALUE_CHARS = 40
"""Characters of a refused value that are shown."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """The declaration of one field of a request."""

    help: str = ""
    flags: tuple[str, ...] = ()
    """Names on the command line; empty for an argument."""
    metavar: str = ""
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    is_open: bool = False
    """Whether the bounds themselves are excluded."""
    longest: int | None = None
    """The most characters of a text, of each if there are several."""
    entries: int | None = None
    """The most values of a repeatable parameter."""
    pattern: str = ""
    """A regular expression that texts match."""
    names: str = ""
    """What completes a value on the command line: `files`, `languages`, `kinds` or `agents`."""
    kind: str = ""
    """`file` or `folder` for a path that has to be one; `existing` for a folder that exists."""
    word: str = ""
    """A word that is allowed in place of a number."""
    is_required: bool = False
    is_flag: bool = False
    is_shown: bool | str = True
    """Whether help shows the default, or the text that it shows instead."""
    count: int = 1
    """How many values the option takes."""


@dataclass_transform(frozen_default=True)
class Request:
    """The input of an operation, or a part that several share; each subclass is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        for name, annotation in get_annotations(cls).items():
            one = cls.__dict__.get(name)
            if isinstance(one, Field):
                _complete(one, str(annotation))
        dataclass(init=False, repr=False, eq=False)(cls)  # what it would write for each takes a millisecond a class

    def __init__(self, *values: Any, **named: Any) -> None:
        every = fields(self)
        names, places = [each.name for each in every], [each.name for each in every if not each.kw_only]
        given = dict(zip(places, values, strict=False)) | named
        for each in every:
            if each.name in given:
                value = given[each.name]
            else:
                value = each.default if each.default_factory is MISSING else each.default_factory()
            object.__setattr__(self, each.name, value)
        lacking = [name for name, value in vars(self).items() if value is MISSING]
        if lacking or len(given) < len(values) + len(named) or not given.keys() <= {*names}:
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, not {values}, {named}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Options(Request):
    """Options of a command only."""


def _complete(one: Field[Any], annotation: str) -> None:
    """Complete a field from its annotation: an empty default if none is declared."""
    if shared_request := one.metadata.get("shared"):
        one.default_factory, one.kw_only = shared_request, True
        return
    one.kw_only = "is_argument" not in one.metadata
    if one.default is MISSING and not (one.metadata["parameter"].is_required and "None" not in annotation):
        empty: Mapping[str, Any] = {"tuple": (), "bool": False, "str": ""}
        one.default = None if "None" in annotation else empty.get(annotation.partition("[")[0])


def _declared(parameter: Parameter, default: Any, **metadata: Any) -> Any:
    more = {} if default is MISSING else {"default": default}
    return field(metadata={"parameter": parameter, **metadata}, **more)


def argument(metavar: str = "", text: str = "", *, required: bool | None = None, **declared: Any) -> Any:
    """Declare a positional argument; required unless it may be empty."""
    default = declared.pop("default", MISSING)
    needed = default is MISSING and not metavar.startswith("[") if required is None else required
    return _declared(Parameter(text, (), metavar, is_required=needed, **declared), default, is_argument=True)


def option(
    *texts: str, required: bool = False, default: Any = MISSING, show: bool | str = True, **declared: Any
) -> Any:
    """Declare a parameter with a name: names on the command line, the last with its metavar, and its help.

    `option("-k", "--limit N", "Most hits.", least=1)`; `declared` are fields of `Parameter`.
    """
    flags = [text for text in texts if text.startswith("-")]
    flags[-1], _, metavar = flags[-1].partition(" ")
    text = texts[-1] if len(flags) < len(texts) else str(declared.pop("help", ""))
    metavar = declared.pop("metavar", metavar)
    return _declared(Parameter(text, tuple(flags), metavar, is_required=required, is_shown=show, **declared), default)


def flag(*texts: str, **declared: Any) -> Any:
    """Declare an option without a value."""
    return option(*texts, is_flag=True, **declared)


def shared(request: type[Request], *, hidden: Sequence[str] = ()) -> Any:
    """Declare the parameters of another request, which several share; those that are hidden keep their defaults."""
    return field(metadata={"shared": request, "hidden": frozenset(hidden)})


def form(*forms: str) -> Any:
    """Declare the parameter that chooses between output formats; the first is the default."""
    return option("--format", "The format of the output.", choices=forms, default=forms[0])


def verbose(text: str = "Print more; show the traceback of an error.") -> Any:
    """Declare the option for more output."""
    return flag("-v", "--verbose", text)


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter with the name of its field and its type."""

    name: str
    annotation: str
    parameter: Parameter
    default: Any

    @property
    def is_required(self) -> bool:
        """Return whether it has no default."""
        return self.default is MISSING

    @property
    def is_repeatable(self) -> bool:
        """Return whether it takes any number of values."""
        return self.annotation.startswith("tuple[") and self.parameter.count == 1

    @property
    def type(self) -> str:
        """The type of one value: `int`, `float`, `bool`, `Path` or `str`."""
        words = re.findall(r"\w+", self.annotation)
        return next((one for one in ("int", "float", "bool", "Path") if one in words), "str")


def parameters_of(request: type[Request]) -> Iterator[Declared]:
    """Yield the parameters of a request, including shared ones."""
    for each in fields(request):
        if "shared" in each.metadata:
            inner = parameters_of(each.metadata["shared"])
            yield from (one for one in inner if one.name not in each.metadata["hidden"])
        elif "parameter" in each.metadata:
            yield _of_field(each)


def _of_field(each: Field[Any]) -> Declared:
    return Declared(each.name, str(each.type), each.metadata["parameter"], each.default)


R = TypeVar("R", bound=Request)


def build_request(request: type[R], values: Mapping[str, Any]) -> R:
    """Return a request with these values, by name; other fields keep their defaults."""
    made = {}
    for each in fields(request):
        if "shared" in each.metadata:
            made[each.name] = build_request(each.metadata["shared"], values)
        elif each.name in values:
            made[each.name] = values[each.name]
    return request(**made)


def checked(declared: Declared, value: Any) -> Any:
    """Return a value of the declared type, or raise InputError, which does not name the parameter."""
    if value is declared.default or (value is None and "None" in declared.annotation):
        return value
    if not declared.annotation.startswith("tuple["):
        return _checked(declared, value)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(f"expected a list, not {_quoted(value)}")
    parameter = declared.parameter
    if parameter.entries is not None and len(value) > parameter.entries:
        raise InputError(f"{len(value):,} values were given, at most {parameter.entries:,} are allowed")
    if declared.is_required and not value:
        raise InputError("is empty")
    return tuple(_checked(declared, one) for one in value)


def _checked(declared: Declared, value: Any) -> Any:
    parameter, kind = declared.parameter, declared.type
    if parameter.word and value == parameter.word:
        return value
    if kind in {"int", "float"}:
        return _number(parameter, value, whole=kind == "int")
    if kind == "bool":
        known = _TRUTH.get(value, value) if isinstance(value, str) else value
        if not isinstance(known, bool):
            raise InputError(f"expected true or false, not {_quoted(value)}")
        return known
    return _text(parameter, value) if kind == "str" else value


def _number(parameter: Parameter, value: Any, *, whole: bool) -> float:
    what = "a whole number" if whole else "a number"
    if isinstance(value, str):
        with suppress(ValueError):
            value = int(value) if _WHOLE.fullmatch(value) else value if whole else float(value)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value != value:  # noqa: PLR0124  NaN
        raise InputError(f"expected {what}, not {_quoted(value)}")
    if not _is_within(parameter, value):
        low, high = (f"{each:,}" if each is not None else "" for each in (parameter.least, parameter.most))
        bounds = f"{low} to {high}" if low and high else f"{low} or more" if low else f"at most {high}"
        raise InputError(f"expected {bounds}, not {value:,}")
    return value if whole else float(value)


def _is_within(parameter: Parameter, value: float) -> bool:
    low, high = parameter.least, parameter.most
    if parameter.is_open and value in {low, high}:
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def _text(parameter: Parameter, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"expected a text, not {_quoted(value)}")
    if parameter.choices and value not in parameter.choices:
        raise InputError(f"unknown value {_quoted(value)}; {nearest(value, list(filter(None, parameter.choices)))}")
    if parameter.longest is not None and len(value) > parameter.longest:
        raise InputError(f"has {len(value):,} characters, at most {parameter.longest:,} are allowed")
    if parameter.pattern and not re.search(parameter.pattern, value):
        raise InputError(f"expected {parameter.metavar or 'another text'}, not {_quoted(value)}")
    return value


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"'{text}'" if len(text) <= _MAX_VALUE_CHARS else f"'{text[:_MAX_VALUE_CHARS]}…'"


def read_request(
    kind: type[R], values: Mapping[str, Any], known: Sequence[Declared] = (), usual: Mapping[str, Any] = {}
) -> R:
    """Return the request of values by name; raise InputError for one that is unknown, missing or not allowed.

    `known` are the parameters that may be named, by default all of them; `usual` are values of what is not named.
    """
    declared = {each.name: each for each in known or parameters_of(kind)}
    for name in values:
        if name not in declared:
            raise InputError(f"{name[:_MAX_VALUE_CHARS]}: unknown parameter; {nearest(name, sorted(declared))}")
    for name, each in declared.items():
        if each.is_required and name not in values:
            raise InputError(f"{name}: missing")
    return build_request(kind, {**usual, **{name: _named(declared[name], value) for name, value in values.items()}})


def read_value(kind: type[Request], name: str, value: Any) -> Any:
    """Return the value of one parameter of a request, or raise InputError."""
    return _named(next(each for each in parameters_of(kind) if each.name == name), value)


def _named(declared: Declared, value: Any) -> Any:
    try:
        return checked(declared, value)
    except InputError as error:
        raise InputError(f"{declared.name}: {error}") from None


def schema_of(declared: Declared) -> dict[str, Any]:
    """Return the JSON schema of a parameter's value, without its description."""
    parameter = declared.parameter
    kinds = {"int": "integer", "float": "number", "bool": "boolean"}
    one: dict[str, Any] = {"type": kinds.get(declared.type, "string")}
    bounds = {"enum": list(parameter.choices), "minimum": parameter.least, "maximum": parameter.most}
    one |= {key: value for key, value in bounds.items() if value not in (None, [])}
    one |= {"maxLength": parameter.longest} if parameter.longest else {}
    one |= {"pattern": parameter.pattern} if parameter.pattern else {}
    if declared.annotation.startswith("tuple["):
        one = {"type": "array", "items": one} | ({"maxItems": parameter.entries} if parameter.entries else {})
        one |= {"minItems": 1} if declared.is_required else {}
    return one


def described(declared: Declared) -> str:
    """Return the help of a parameter for interfaces other than the command line."""
    return declared.parameter.help.partition("  [default")[0].removesuffix(" Repeatable.")
