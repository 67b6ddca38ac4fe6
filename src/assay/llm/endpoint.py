"""Describe chat models behind HTTP: address, key, options and price, from a spec."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from assay.errors import EndpointRefused, InputError, nearest
from assay.io.endpoint_address import (
    BASE,
    KEY,
    OPENAI_BASE,
    OPENAI_KEY,
    OPENAI_URL,
    checked_base,
    first_set,
    key_in,
    split_address,
)


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens, read and written."""

    usd_in: float
    usd_out: float
    usd_cached: float = math.nan
    """Of those read, for what the endpoint had read before; nan is no other price."""

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Return the cost of tokens in USD; the cached ones are among those read."""
        cached = self.usd_in if math.isnan(self.usd_cached) else self.usd_cached
        fresh = tokens_in - tokens_cached
        return (self.usd_in * fresh + cached * tokens_cached + self.usd_out * tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens, read and written together, and their cost in USD."""

    tokens: int = 0
    usd: float = 0.0


UNKNOWN = Price(math.nan, math.nan)
FREE = Price(0.0, 0.0, 0.0)

# List prices, as in genai-prices 0.2.3, read on 2026-11-23.
_LIST_PRICES: Mapping[str, Price] = {
    "openai:gpt-4o": Price(2.50, 10.00, 1.25),
    "openai:gpt-4o-mini": Price(0.15, 0.60, 0.075),
    "openai:gpt-4.1": Price(2.00, 8.00, 0.5),
    "openai:gpt-4.1-mini": Price(0.40, 1.60, 0.1),
    "openai:gpt-4.1-nano": Price(0.10, 0.40, 0.025),
    "openai:gpt-5": Price(1.25, 10.00, 0.125),
    "openai:gpt-5-mini": Price(0.25, 2.00, 0.025),
    "openai:gpt-5-nano": Price(0.05, 0.40, 0.005),
    "openai:o4-mini": Price(1.10, 4.40, 0.275),
    "deepseek:deepseek-chat": Price(0.27, 1.10, 0.07),
    "deepseek:deepseek-reasoner": Price(0.55, 2.19, 0.14),
}
"""Of a model at its provider's own address; dated models may cost something else."""


FORMATS = ("schema", "object", "prompt")
"""The endpoint holds the model to the schema; to any JSON object; to nothing, and the prompt asks for it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A service with models, and its address."""

    url: str
    key: str
    """The environment variable that holds the key; empty where none is wanted."""
    format: str
    most_key: str = "max_tokens"
    """How a request says the length of an answer."""
    free: bool = False


PROVIDERS: Mapping[str, Provider] = {
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "object"),
    "ollama": Provider("http://127.0.0.1:11434/v1", "", "schema", free=True),
    "openai": Provider(OPENAI_URL, OPENAI_KEY, "schema", "max_completion_tokens"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "prompt"),
    "vllm": Provider("http://127.0.0.1:8000/v1", "VLLM_API_KEY", "schema", free=True),
}
_MIN_AMOUNTS = {"temperature": 0, "max_tokens": 1, "timeout_s": 0.001, "usd_in": 0, "usd_out": 0, "usd_cached": 0}
"""Options that are amounts, and the smallest that has sense."""
_AS = "as"
_CALLED = {"identity": _AS}
"""Options whose name is a word of Python."""
_NAME = re.compile(r"[\w.-]+")
_NAMED = ("identity", "temperature", "seed", "max_tokens", "format")
"""Options that change an answer: part of the chat's name."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options behind the `?` of a spec; those that change an answer are part of the chat's name."""

    temperature: float = math.nan
    """nan is what the model does by itself; some take no other."""
    seed: int = -1
    """-1 is none; votes of one model need one each, or they are one and the same cached reply."""
    max_tokens: int = 4096
    """Of one answer; one to a prompt whose schema bounds every text is given no more than that takes."""
    format: str = ""
    """One of `FORMATS`; empty is what suits the provider."""
    timeout_s: float = 120.0
    """Of one request, from the first byte to the last."""
    usd_in: float = math.nan
    """For a million tokens; nan is the listed price."""
    usd_out: float = math.nan
    usd_cached: float = math.nan
    """For a million tokens read that the endpoint had read before."""
    identity: str = ""
    """`as=NAME`: the name of the place in the chat's name, instead of its address. Replies from another port or host
    are then the same."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address, key, options and price of a model."""

    name: str
    url: str
    model: str
    options: ChatOptions
    price: Price
    most_key: str
    key_variable: str = ""
    """Where the key is, or would be; empty where none would be sent."""
    tells_cost: bool = False

    needs_key: bool = False
    """Whether nothing is answered there without one."""

    def key(self) -> str:
        """Return the key; empty without one."""
        try:
            return key_in(self.key_variable)
        except InputError as error:
            raise EndpointRefused(str(error)) from None


def endpoint(provider: str, argument: str, usual: ChatOptions | None = None) -> Endpoint:
    """Return the endpoint of a spec `PROVIDER:MODEL@URL?OPTIONS`, completed from the environment."""
    known = PROVIDERS[provider]
    place, _, query = argument.partition("?")
    model, address = split_address(place)
    if not model:
        raise InputError(f"'{provider}:{argument}' does not name a model; write {provider}:MODEL")
    options = _options(query, f"{provider}:{argument}", usual or ChatOptions())
    named = first_set((BASE, *([OPENAI_BASE] if provider == "openai" else [])))
    environment = checked_base(os.environ[named].strip(), f"the chat address in {named}") if named else ""
    url = checked_base(address, "the chat address") if address else environment or known.url
    own = url == known.url
    options = replace(options, format=options.format or known.format)
    return Endpoint(
        name=f"{provider}:{model}{'' if own or options.identity else '@' + url}{_options_text(options, known)}",
        url=url,
        model=model,
        options=options,
        price=_price(options, known, _LIST_PRICES.get(f"{provider}:{model}", UNKNOWN) if own else UNKNOWN),
        most_key=known.most_key if own else "max_tokens",
        key_variable=_key_variable(known, own=own, is_named=url == environment),
        tells_cost=own and provider == "openrouter",
        needs_key=own and not known.free,
    )


def price_of(spec: str) -> Price:
    """Return the price of a spec's model; unknown if it is not behind an endpoint."""
    provider, _, argument = spec.partition(":")
    return endpoint(provider, argument).price if provider in PROVIDERS else UNKNOWN


def keys() -> Iterator[tuple[str, str]]:
    """Yield the address in the environment and each provider that needs a key, and whether the key is set."""
    wanted = {name: provider.key for name, provider in sorted(PROVIDERS.items()) if provider.key and not provider.free}
    if named := first_set((BASE, OPENAI_BASE)):
        wanted = {named: first_set((KEY, OPENAI_KEY)) or KEY, **wanted}
    for name, variable in wanted.items():
        yield name, f"{variable} is {'set' if first_set((variable,)) else 'not set'}"


def _key_variable(provider: Provider, *, own: bool, is_named: bool) -> str:
    """Return the variable with the key for an address; an address that only a spec names gets no key."""
    if is_named and (variable := first_set((KEY,))):
        return variable
    return provider.key if own or is_named else ""


def _price(options: ChatOptions, provider: Provider, price: Price) -> Price:
    if provider.free:
        price = FREE
    usd_in = price.usd_in if math.isnan(options.usd_in) else options.usd_in
    usd_out = price.usd_out if math.isnan(options.usd_out) else options.usd_out
    usd_cached = options.usd_cached
    if math.isnan(usd_cached) and usd_in == price.usd_in:  # a price of one's own says nothing about the listed one
        usd_cached = price.usd_cached
    return Price(usd_in, usd_out, usd_cached)


def _options(query: str, spec: str, usual: ChatOptions) -> ChatOptions:
    """Read `temperature=0&seed=7`."""
    known: dict[str, Callable[[str], Any]] = {
        _CALLED.get(each.name, each.name): type(each.default) for each in fields(ChatOptions)
    }
    chosen: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        name, _, text = part.partition("=")
        if name not in known:
            raise InputError(f"unknown option '{name}' in '{spec}'; {nearest(name, sorted(known))}")
        try:
            chosen[name] = known[name](text)
        except ValueError as error:
            raise InputError(f"option '{name}' in '{spec}' is '{text}'; wanted a number") from error
    if _AS in chosen and not _NAME.fullmatch(chosen[_AS]):
        raise InputError(f"option '{_AS}' in '{spec}' is '{chosen[_AS]}'; wanted a name of letters, digits, - . _")
    options = replace(usual, **{"identity" if name == _AS else name: value for name, value in chosen.items()})
    if options.format not in {"", *FORMATS}:
        raise InputError(f"option 'format' in '{spec}' is '{options.format}'; wanted one of {', '.join(FORMATS)}")
    for name, least in _MIN_AMOUNTS.items():
        value = getattr(options, name)
        if name in chosen and not least <= value < math.inf:
            raise InputError(f"option '{name}' in '{spec}' is {value}; wanted {least} or more")
    return options


def _options_text(options: ChatOptions, provider: Provider) -> str:
    """Return the options that change an answer and differ from their defaults, as text."""
    usual, now = asdict(replace(ChatOptions(), format=provider.format)), asdict(options)
    differ = [f"{_CALLED.get(name, name)}={now[name]}" for name in _NAMED if repr(now[name]) != repr(usual[name])]
    return "?" + "&".join(differ) if differ else ""
