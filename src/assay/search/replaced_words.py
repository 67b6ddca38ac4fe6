"""A question and a lexicon in, the question with the words of that language replaced by English ones out.

Code, identifiers, what stands in quotes and what the lexicon does not know stay in their places as they were typed.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.search.asked_language import CODE, QUOTED, WORD
from assay.search.lexicon import UNSPACED, UNSPACED_LANGUAGES, Lexicon


def in_english(text: str, lexicon: Lexicon) -> str:
    """Replace the words of a language by English ones; lines stay lines, as an issue has them."""
    return "\n".join(" ".join(line.split()) for line in "".join(_replaced(text, lexicon)).splitlines()).strip()


def _replaced(text: str, lexicon: Lexicon) -> Iterator[str]:
    start = 0
    for quoted in QUOTED.finditer(text):
        yield _words_replaced(text[start : quoted.start()], lexicon)
        yield quoted.group()
        start = quoted.end()
    yield _words_replaced(text[start:], lexicon)


def _words_replaced(text: str, lexicon: Lexicon) -> str:
    if lexicon.language in UNSPACED_LANGUAGES:
        return UNSPACED.sub(lambda run: f" {_of_run(run.group(), lexicon)} ", text)
    return WORD.sub(lambda word: _of_word(word.group(), lexicon), text)


def _of_run(run: str, lexicon: Lexicon) -> str:
    found = (lexicon.entries.get(piece) for piece in lexicon.pieces(run))
    return " ".join(word for entry in found if entry for word in entry.english)


def _of_word(word: str, lexicon: Lexicon) -> str:
    if CODE.search(word):
        return word
    if "-" in word:
        return " ".join(_of_word(part, lexicon) for part in word.split("-"))
    english = lexicon.english(word)
    if english is None:
        return word if word.isascii() else ""
    return " ".join(english)
