"""Judge pairs of a query and code from Python: `assay.judge`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.judge.pairs import Pair
from assay.judge.verdicts import Together, Verdict
from assay.operations.open_judge import JudgeOptions, open_judge
from assay.runs.record import NoSteps
from assay.values import Chunk, Query


def judge(
    pairs: Iterable[Pair | tuple[str | Query, str | Chunk]],
    *,
    chat: str | Sequence[str] = (),
    config: str = "all",
    budget: str = "",
    allow_execution: bool = False,
) -> list[Verdict]:
    r"""Say of each pair whether the code answers the query; a pair may be two texts.

    Without a model the evidence of both texts decides, and with `allow_execution` what the code does on the examples
    that its query shows, in a sandbox. With `chat` (`openai:MODEL`, `ollama:MODEL`, …) agents decide; a second model
    has to agree, a third decides. A verdict without a grade is undecided, and says why. For campaigns that resume,
    with records of every step, use `assay judge run`.

    >>> import assay
    >>> code = "def send_mail(server, message):\n    '''Send a mail.'''\n    server.deliver(message)\n"
    >>> right, wrong = assay.judge([("send a mail", code), ("parse a date", code)])
    >>> right.chance > wrong.chance
    True
    """
    chats = (chat,) if isinstance(chat, str) else tuple(chat)
    kind = "agents" if chats else "signals"
    options = JudgeOptions(kind, chats, config, budget=budget, allowed=allow_execution)
    wanted = [_pair(str(number), pair) for number, pair in enumerate(pairs, 1)]
    with open_judge(options, Path()) as factory:
        judging = factory.judge_of(NoSteps())
        if isinstance(judging, Together):
            return judging.judge_all(wanted)
        return [judging.judge(pair) for pair in wanted]


def _pair(number: str, pair: Pair | tuple[str | Query, str | Chunk]) -> Pair:
    if isinstance(pair, Pair):
        return pair
    query, code = pair
    return Pair(
        Query(number, query) if isinstance(query, str) else query,
        Chunk(number, code, "python") if isinstance(code, str) else code,
    )
