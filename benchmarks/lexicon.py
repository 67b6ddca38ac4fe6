"""Sentences with their translations in, the lexicon of each language and a record out: words that stand for words.

pip install jieba fugashi unidic-lite
python benchmarks/catalogs.py FOLDER... --out pairs.jsonl
python benchmarks/lexicon.py pairs.jsonl zh de es ru ja fr pt it

Two models of which word produced which (IBM model 1: Brown et al., Computational Linguistics 19(2), 1993) are learned
at once, one in each direction; what both agree on is counted (Liang, Taskar and Klein, NAACL 2006), and each word
keeps the English words that it is counted with most. Text without spaces is cut by jieba and by MeCab with UniDic to
find its pieces, and then as the package cuts a question.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.search.translation import FOLDER, UNSPACED, UNSPACED_LANGUAGES, Lexicon, LexiconEntry, key_of
from assay.terms import STOP_WORDS, parts, stem

WORD = re.compile(r"[^\W\d_]+")
UNTOLD = "\0"
"""What English words come from that nothing in the translation stands for."""
FREQUENT, OWN = 500, 30
"""How many words of a language are looked at, and how much likelier one is there than in English to be its own."""
EMPTY = STOP_WORDS | frozenset("s t d no must may been being were had such via any also than".split())


@dataclass(frozen=True)
class Options:
    """How a lexicon is learned, as chosen on development questions."""

    rounds: int = 6
    """Of expectation and maximization."""
    met: int = 2
    """How often a word has to be met to be kept."""
    agreed: float = 0.7
    """On how many of its meetings both models have to agree, at least."""
    agreed_share: float = 0.1
    """And on which fraction of them."""
    share: float = 0.6
    """Of the best word's count, for another to be kept."""
    most: int = 2
    """English words for one word."""
    empty: int = 20
    """How often a word that stands for none has to be met, to be known as one that says nothing."""
    longest: int = 25
    """Words of a sentence."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pairs", type=Path)
    arguments.add_argument("languages", nargs="+")
    arguments.add_argument("--out", type=Path, default=FOLDER)
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in given.pairs.open(encoding="utf-8")]
    english = Counter(word.lower() for text in {row["english"] for row in rows} for word in WORD.findall(text))
    spaced = sorted({row["language"] for row in rows} - {"zh", "ja", "ko", "ru"})
    marks = marks_of({one: [row["foreign"] for row in rows if row["language"] == one] for one in spaced}, english)
    (given.out / "marks.json").write_text(json.dumps(marks, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    record = {}
    for language in given.languages:
        mine = [row for row in rows if row["language"] == language]
        lexicon = learn([(row["english"], row["foreign"]) for row in mine], language, Options())
        write(given.out / f"{language}.tsv", lexicon)
        sources = Counter(row["source"] for row in mine)
        record[language] = {"pairs": len(mine), "entries": len(lexicon.entries), "sources": dict(sources.most_common())}
        print(language, f"{len(mine):,} pairs, {len(lexicon.entries):,} words")
    (given.out / "record.json").write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def write(path: Path, lexicon: Lexicon) -> None:
    """Write a lexicon, a row a word."""
    rows = (f"{key}\t{entry.count}\t{' '.join(entry.english)}\n" for key, entry in sorted(lexicon.entries.items()))
    path.write_text("".join(rows), encoding="utf-8")


def learn(pairs: list[tuple[str, str]], language: str, options: Options) -> Lexicon:
    """Return the lexicon of a language."""
    cut = cutter([foreign for _, foreign in pairs], language)
    bags = [(english_words(english), list(dict.fromkeys(cut(foreign)))) for english, foreign in pairs]
    bags = [(left, right) for left, right in bags if 0 < len(left) <= options.longest and 0 < len(right) <= 40]
    met = Counter(word for _, right in bags for word in right)
    agreed, surface = align(bags, options), surfaces(english for english, _ in pairs)
    entries = {
        word: LexiconEntry(count, best_words(agreed.get(word, {}), count, surface, options))
        for word, count in met.items()
        if count >= options.met
    }
    kept = {word: entry for word, entry in entries.items() if entry.english or entry.count >= options.empty}
    return Lexicon(language, kept)


def cutter(texts: list[str], language: str) -> Callable[[str], list[str]]:
    """Return what cuts a text into the words that a lexicon is asked about."""
    if language not in UNSPACED_LANGUAGES:
        return lambda text: [key_of(word, language) for word in WORD.findall(text)]
    split = chinese() if language == "zh" else japanese()
    counts = Counter(word for text in texts for run in UNSPACED.findall(text) for word in split(run))
    known = Lexicon(
        language, {word: LexiconEntry(count) for word, count in counts.items() if count > 2 and len(word) <= 10}
    )

    def cut(text: str) -> list[str]:
        return [piece for run in UNSPACED.findall(text) for piece in known.pieces(run)]

    return cut


def chinese() -> Callable[[str], list[str]]:
    import jieba

    jieba.setLogLevel("ERROR")
    return lambda run: list(jieba.cut(run))


def japanese() -> Callable[[str], list[str]]:
    import fugashi

    tagger = fugashi.Tagger("-O wakati")
    return lambda run: tagger.parse(run).split()


def english_words(text: str) -> list[str]:
    """Return the distinct stems of a text, in order."""
    return list(dict.fromkeys(stem(part) for word in WORD.findall(text) for part in parts(word) if part.isascii()))


def surfaces(texts: Iterable[str]) -> dict[str, str]:
    """Return the commonest word of each stem."""
    words = Counter(part for text in texts for word in WORD.findall(text) for part in parts(word))
    return {stem(word): word for word, _ in reversed(words.most_common())}


def best_words(counts: dict[str, float], met: int, surface: dict[str, str], options: Options) -> tuple[str, ...]:
    """Return the English words of one word, best first: none where the best says nothing in a question."""
    best = sorted(((count, surface[word]) for word, count in counts.items()), reverse=True)[: options.most]
    if not best or best[0][0] < max(options.agreed, options.agreed_share * met) or best[0][1] in EMPTY:
        return ()
    return tuple(word for count, word in best if count >= options.share * best[0][0] and word not in EMPTY)


def marks_of(texts: dict[str, list[str]], english: Counter[str]) -> dict[str, dict[str, str]]:
    """Return the frequent words of languages that English lacks, and those that it has, each with its languages."""
    found: dict[str, dict[str, str]] = {"own": {}, "shared": {}}
    for language, said in texts.items():
        words = Counter(word.lower() for text in said for word in WORD.findall(text))
        usual = OWN * words.total() / english.total()
        for word, count in sorted(words.most_common(FREQUENT)):
            if count > 2 and len(word) > 1:
                kind = found["own" if count > usual * (english[word] + 0.5) else "shared"]
                kind[word] = f"{kind.get(word, '')} {language}".strip()
    return found


def align(bags: list[tuple[list[str], list[str]]], options: Options) -> dict[str, dict[str, float]]:
    """Return how often both models agree that a foreign word stands for an English one."""
    left_of, right_of = numbered(left for left, _ in bags), numbered(right for _, right in bags)
    left_of[UNTOLD], right_of[UNTOLD] = len(left_of), len(right_of)
    lefts, rights, from_left, from_right = [], [], [], []
    left_tokens = right_tokens = 0
    for left, right in bags:
        i = np.array([left_of[word] for word in (*left, UNTOLD)])
        j = np.array([right_of[word] for word in (*right, UNTOLD)])
        lefts.append(np.repeat(i, len(j)))
        rights.append(np.tile(j, len(i)))
        from_left.append(np.repeat(np.arange(len(i)) + left_tokens, len(j)))
        from_right.append(np.tile(np.arange(len(j)) + right_tokens, len(i)))
        left_tokens, right_tokens = left_tokens + len(i), right_tokens + len(j)
    cells = [np.concatenate(part).astype(np.int64) for part in (lefts, rights, from_left, from_right)]
    pairs, pair_of = np.unique(cells[0] * len(right_of) + cells[1], return_inverse=True)
    english, foreign = pairs // len(right_of), pairs % len(right_of)
    one = posteriors(pair_of, cells[2], cells[0] == left_of[UNTOLD], foreign, options.rounds)
    other = posteriors(pair_of, cells[3], cells[1] == right_of[UNTOLD], english, options.rounds)
    agreed = np.bincount(pair_of, one * other, len(pairs))
    names, words = list(left_of), list(right_of)
    found: dict[str, dict[str, float]] = {}
    for at in np.flatnonzero(agreed > 0.1).tolist():
        if names[english[at]] != UNTOLD and words[foreign[at]] != UNTOLD:
            found.setdefault(words[foreign[at]], {})[names[english[at]]] = float(agreed[at])
    return found


def posteriors(
    pair_of: np.ndarray, token: np.ndarray, unmade: np.ndarray, maker: np.ndarray, rounds: int
) -> np.ndarray:
    """Return for each cell how likely its maker made its token, after some rounds; what is `unmade` is no token."""
    probability = np.ones(len(maker))
    for _ in range(rounds):
        weights = np.where(unmade, 0.0, probability[pair_of])
        weights /= np.maximum(np.bincount(token, weights)[token], 1e-12)
        counts = np.bincount(pair_of, weights, len(maker))
        probability = counts / np.maximum(np.bincount(maker, counts)[maker], 1e-12)
    return weights


def numbered(bags: Iterable[list[str]]) -> dict[str, int]:
    """Return the distinct words of some bags with their numbers."""
    return {word: at for at, word in enumerate(dict.fromkeys(word for bag in bags for word in bag))}


if __name__ == "__main__":
    main()
