"""The reranker `asks:PROVIDER:MODEL`: how likely a language model says that a chunk answers the query."""

from __future__ import annotations

from collections.abc import Sequence

from assay import plugins
from assay.errors import ChatError, ModelUnavailable
from assay.llm.yes_no import ask_about_each, chunk_prompts, probability, read_spec, spec_of, with_mean
from assay.protocols import Chat
from assay.values import Chunk, Query

_IN_FLIGHT = 8


class AsksReranker:
    """A language model as reranker; any number of threads may share it."""

    def __init__(self, argument: str = "") -> None:
        spec, self._options = read_spec(argument, "orders")
        self._chat: Chat = plugins.make("chat", spec)
        self.name = spec_of(self._chat.name, self._options)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return the probability of yes for each chunk; one without a usable answer has that of their mean."""
        asked = [
            chunk_prompts(query.text, each.text, each.path, each.language, self._options.orders) for each in chunks
        ]
        try:
            found = ask_about_each(self._chat, asked, _IN_FLIGHT)
        except ChatError as error:
            raise ModelUnavailable(str(error)) from error
        if chunks and not any(each is not None for each in found):
            raise ModelUnavailable(f"{self.name} gave no usable answer about any of {len(chunks)} chunks")
        return list(map(probability, with_mean(found)))
