"""Sort out the pairs that are clear without tests (CoSQA+, IV-C a).

By default a model is asked how likely the code answers the query. Models differ in how sure they are and in which way
they lean: `asks?scale=…&bias=…` calibrates one, `match` and `non_match` are the bounds of what is clear, and `unclear`
finds these by the fraction that is to be unclear. An endpoint that gives no log-probabilities is asked in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from assay.errors import InputError, NoAnswer, counted, nearest
from assay.judge.pairs import Judge, Pair
from assay.judge.records import BOUNDS, SCREEN, PairSession, key_of
from assay.llm.yes_no import BIAS, SCALE, probability, read_numbers
from assay.protocols import Chat
from assay.runs.local import in_flight
from assay.runs.record import Record, Steps

MATCH, NON_MATCH = 0.61, 0.42
"""A pair is a match from the first probability up, and a non-match from the second down; between them it is unclear.

The terciles of the 604 pairs of CoSQA's dev part with Qwen2.5-Coder-1.5B-Instruct: a third is unclear, as in the paper.
Another model is surer, or leans another way."""
ASKS, THREE_WAY, SIGNALS = "asks", "three-way", "signals"
FIRST = 100
"""Pairs by which bounds are found."""
_MIN_UNCLEAR_PAIRS, _AT_ONCE = 10, 8
_OPTIONS = {
    "scale": (0.0, 100.0),
    "bias": (-100.0, 100.0),
    **dict.fromkeys(("match", "non_match", "unclear"), (0.0, 1.0)),
}
Screened = tuple[str, str]
"""`match`, `non-match` or `unclear`, and why."""


class Screener(Protocol):
    """What screens pairs; several threads may ask at once."""

    def __call__(self, session: PairSession) -> Screened:
        """Return the assessment of a pair."""


def screener_spec(spec: str, unclear: float | None) -> str:
    """Return the spec of a screener, checked, with the fraction that is to be unclear; empty for the one by default."""
    name, mark, _ = spec.partition("?")
    if (name not in {"", ASKS, THREE_WAY, SIGNALS} and not name.startswith("signals:")) or (mark and name != ASKS):
        known = nearest(name, [ASKS, THREE_WAY, SIGNALS])
        raise InputError(f"no screener '{spec}'; {known}; asks alone has options, as asks?match=0.7&non_match=0.3")
    if unclear is not None:
        if name not in {"", ASKS}:
            raise InputError(f"--unclear is for the screener asks, not for '{spec}'")
        spec = f"{spec or ASKS}{'&' if mark else '?'}unclear={unclear}"
    screener_options(spec)
    return "" if spec == ASKS else spec


def screener_options(spec: str) -> dict[str, float]:
    """Return the options of the screener `asks?…`."""
    given, others = read_numbers(spec, spec.partition("?")[2], _OPTIONS)
    if others:
        raise InputError(f"no option '{others[0]}' in '{spec}'; {nearest(others[0].partition('=')[0], list(_OPTIONS))}")
    if "unclear" in given and {"match", "non_match"} & given.keys():
        raise InputError(f"'{spec}' gives the bounds of what is clear and the fraction that finds them: leave one out")
    if given.get("match", MATCH) < given.get("non_match", NON_MATCH):
        raise InputError(f"'{spec}': match is below non_match, so that a pair would be both")
    return given


def three_way(session: PairSession) -> Screened:
    """Ask in words whether the pair matches, does not, or cannot be told by reading."""
    reply = session.ask(SCREEN)
    return reply["assessment"], reply["justification"]


def by_judge(judge: Judge) -> Screener:
    """Return the screener that asks no model: what the features show clearly is clear."""

    def screen(session: PairSession) -> Screened:
        verdict = judge.judge(session.pair)
        call = verdict.details.get("call", "unclear")
        return "non-match" if call == "no match" else call, verdict.reason

    return screen


@dataclass(frozen=True, slots=True)
class LikelihoodScreener:
    """Asks one yes/no question, and says what is clear by the probability of yes."""

    options: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[str, Mapping[str, Record]] = field(default_factory=dict)
    """What was asked to find the bounds, by the digest of the pair: nothing is paid twice."""

    def __call__(self, session: PairSession) -> Screened:
        """Return the assessment of a pair, with the probability."""
        session.know(self.known.get(session.pair.digest, {}))
        likely = self.likely(session)
        match, non_match = self.bounds
        call = "match" if likely >= match else "non-match" if likely <= non_match else "unclear"
        return call, f"{likely:.2f} likely that the code answers the query"

    @property
    def bounds(self) -> tuple[float, float]:
        """The probability from which on a pair is a match, and that up to which it is not."""
        return self.options.get("match", MATCH), self.options.get("non_match", NON_MATCH)

    def likely(self, session: PairSession) -> float:
        """Return the calibrated probability of yes."""
        try:
            log_odds = session.log_odds()
        except NoAnswer as error:
            if "log-probabilities" not in str(error):
                raise
            raise NoAnswer(f"{error}; --screener {THREE_WAY} asks in words", raw=error.raw) from None
        return probability(self.options.get("scale", SCALE) * log_odds + self.options.get("bias", BIAS))


def with_bounds(
    screener: LikelihoodScreener, first: Callable[[], Sequence[Pair]], chat: Chat, steps: Steps, prior: float
) -> LikelihoodScreener:
    """Return a screener to which the wanted fraction of some pairs is unclear; its bounds are recorded and found again.

    Of the others as many are a match as `prior` says.
    """
    options = dict(screener.options)
    key = key_of(BOUNDS, chat.name, str(sorted(options.items())), str(prior))
    clear = 1 - options.pop("unclear")
    known: dict[str, Mapping[str, Record]] = {}
    found = steps.get(key)
    if found is None:
        sessions = [PairSession(pair, chat, steps) for pair in first()]
        with closing(in_flight(partial(_likely, screener), sessions, _AT_ONCE)) as ends:
            said = [each.result() for each in ends]
        likely = sorted(each for each in said if isinstance(each, float))
        if len(likely) < _MIN_UNCLEAR_PAIRS:
            why = next((f"; {each}" for each in said if isinstance(each, str)), "")
            answers = f"{chat.name} gave {counted(len(likely), 'answer')} about {counted(len(sessions), 'pair')}"
            raise InputError(f"{answers}, and --unclear needs {_MIN_UNCLEAR_PAIRS}{why}")
        known = {session.pair.digest: session.known for session in sessions}
        shares = (1 - clear * prior, clear * (1 - prior))
        match, non_match = (likely[round(share * (len(likely) - 1))] for share in shares)
        found = {"kind": BOUNDS, "pair": "", "key": key, "match": match, "non_match": non_match, "pairs": len(likely)}
        steps.put(found)
    return LikelihoodScreener({**options, "match": found["match"], "non_match": found["non_match"]}, known)


def _likely(screener: LikelihoodScreener, session: PairSession) -> float | str:
    """Return the probability of a match, or why there is none."""
    try:
        return screener.likely(session)
    except NoAnswer as error:
        return str(error)
