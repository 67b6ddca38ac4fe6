"""Measure questions in other languages beside English ones, and learn the lexicons from catalogs of translations.

python benchmarks/languages.py development --truths SETS --checkouts CHECKOUTS
    python benchmarks/languages.py unseen

Each file in benchmarks/truth/languages holds questions of ground truths with their translations, written by hand
before there was a lexicon: `development` those that the lexicons were tuned on, `unseen` others about twelve more
repositories, `more` some for the languages beyond the first five. SETS and CHECKOUTS are as for `assay train ranking`.

pip install jieba fugashi unidic-lite
python benchmarks/languages.py catalogs FOLDER... --out pairs.jsonl
python benchmarks/languages.py lexicon pairs.jsonl zh de es ru ja fr pt it

Two models of which word produced which (IBM model 1: Brown et al., Computational Linguistics 19(2), 1993) are learned
at once, one in each direction; what both agree on is counted (Liang, Taskar and Klein, NAACL 2006), and each word
keeps the English words that it is counted with most. Text without spaces is cut by jieba and by MeCab with UniDic to
find its pieces, and then as the package cuts a question.

python benchmarks/languages.py catalogs FOLDER... --out pairs.jsonl

Catalogs are what programs and manuals ship in other languages: `.po` of gettext, `.xlf` of XLIFF 1.2, the diagnostics
of the TypeScript compiler, and the language packs of Visual Studio Code, whose English stands in the program. Markup,
code, identifiers and placeholders are dropped from both sides; what is long is cut at the ends of its sentences,
if both sides have as many.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
from shared import mean_with_interval, run_command

from assay.measure.line_spans import Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.operations.corpus_search import translator
from assay.operations.indexes import root_of
from assay.operations.joint_answer import JointAnswer, joint_answer
from assay.operations.joint_search import joint_searches
from assay.operations.workspace import Workspace, open_workspace
from assay.search.translation import (
    FOLDER,
    NAMES,
    UNSPACED,
    UNSPACED_LANGUAGES,
    Lexicon,
    LexiconEntry,
    key_of,
    unread_note,
)
from assay.settings import Settings
from assay.terms import STOP_WORDS, parts, stem
from assay.train.ranking_examples import JudgedQuery, judged_queries

TRUTHS = Path(__file__).parent / "truth"
FOUND = 20


def run_languages() -> None:
    """Print a row a language, how often English is taken for another language, and what is refused."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("questions", choices=("development", "unseen", "more"))
    options.add_argument("--truths", type=Path, default=TRUTHS)
    options.add_argument("--checkouts", type=Path, required=True)
    given = options.parse_args()
    rows = rows_of(given.questions)
    names = list(dict.fromkeys(row["repository"] for row in rows))
    truth = judged_queries([given.truths / f"{name}.csv" for name in names], given.checkouts)
    judged = {(one.repository, one.query.text): one for one in truth}
    asked = [judged[row["repository"], row["query"]] for row in rows]
    opened = {name: open_workspace(root_of(str(given.checkouts / name)), Settings()) for name in names}
    print("language    Hit@5                  MRR                    read  relevant  ms")
    for column in [name for name in rows[0] if name != "repository"]:
        print(row_of(column, [row[column] for row in rows], asked, opened))
    everything = judged_queries(sorted(given.truths.glob("*.csv")), given.checkouts)
    foreign = [one.query.text for one in everything if translator().read(one.query.text).language]
    print(f"taken for another language: {len(foreign)} of {len(everything):,} questions in English", *foreign, sep="\n")
    refused = [(row, answer_to(row["query"], asked[0], opened)) for row in rows_of("unread")]
    right = sum(unread_note(row["language"]) in found.notes and not found.relevant for row, found in refused)
    print(f"refused by name: {right} of {len(refused)} questions in languages that are not read")


def row_of(column: str, texts: list[str], asked: list[JudgedQuery], opened: dict[str, Workspace]) -> str:
    """Return the figures of one language."""
    started = time.process_time()
    answers = [answer_to(text, one, opened) for text, one in zip(texts, asked, strict=True)]
    took = (time.process_time() - started) / len(texts) * 1000
    run = {str(at): list(spans(found)) for at, found in enumerate(answers)}
    matched = match(run, {str(at): one.entries for at, one in enumerate(asked)}, "line")
    cells = [mean_with_interval(parse(measure).of(matched)) for measure in ("Hit@5", "MRR")]
    name = NAMES.get(column, "English")
    read = np.mean([found.language == ("" if name == "English" else name) for found in answers])
    relevant = np.mean([found.relevant for found in answers])
    return f"{name:<11} {'   '.join(cells)}   {read:.2f}  {relevant:.2f}      {took:.1f}"


def answer_to(text: str, one: JudgedQuery, opened: dict[str, Workspace]) -> JointAnswer:
    """Return the answer to a question in other words, asked where the judged one is."""
    return joint_answer(joint_searches([opened[one.repository]]), [replace(one.query, text=text)], FOUND, rooted=False)


def spans(found: JointAnswer) -> Iterator[Span]:
    """Yield the places of an answer."""
    return (Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in found.hits)


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of questions."""
    with (TRUTHS / "languages" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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


def run_lexicon() -> None:
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


_VARIANT = re.compile(
    r"(?<![a-z])(zh[-_](?:cn|hans)|pt[-_]br|(?:de|es|ru|ja|fr|it|ko|nl|pl|tr|cs|sv|da|fi|hu|ro|vi)(?:[-_][a-z]{2})?)(?![a-z])"
)
_OTHERS = ("es_", "es-", "fr_ca", "de_at", "de_ch")  # spoken elsewhere: what of them is wanted is named es_es
_LONGEST = 30  # words of a sentence; longer ones say little about a word

_MARKUP = re.compile(
    r"``[^`]*``|:[\w:+-]+:`[^`<]*`|`__?|<[^<>]*>|https?://\S+|%\(\w+\)[a-z]|%[-+ 0-9.*]*[a-zA-Z]\b|\{[^{}]*\}|"
    r"\$\w+|\|\w+\||&(?:\w+;)?|[`*|~^]|\\[a-z]|\[/?\w+[^\]]*\]|--?[a-z][\w-]*|\w*[_./\\@]\w[\w./\\]*"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。\uff01\uff1f])\s*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LOCALIZE = re.compile(r"localize2?\((\d+), (\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')")


def run_catalogs() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folders", type=Path, nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    given = arguments.parse_args()
    seen: set[tuple[str, str, str]] = set()
    with given.out.open("w", encoding="utf-8") as out:
        for folder in given.folders:
            for language, english, foreign in sentences(folder):
                if (language, english, foreign) not in seen:
                    seen.add((language, english, foreign))
                    row = {"source": folder.name, "language": language, "english": english, "foreign": foreign}
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    for language, count in Counter(language for language, _, _ in seen).most_common():
        print(f"{language} {count:,} pairs")


def sentences(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield language, English and translation of everything that a folder's catalogs hold."""
    for language, english, foreign in messages(folder):
        left, right = (_ENDS.split(_plain(text)) for text in (english, foreign))
        together = zip(left, right, strict=True) if len(left) == len(right) else [(" ".join(left), " ".join(right))]
        for one, other in together:
            if one and other and one != other and len(one.split()) <= _LONGEST and len(other) <= 12 * _LONGEST:
                yield language, one, other


def messages(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield language, English and translation of every message."""
    english = dict(_localized(folder))
    for path in sorted(folder.rglob("*")):
        language = _language(path.relative_to(folder.parent).as_posix().lower())
        if path.suffix == ".po" and language:
            yield from ((language, *pair) for pair in po(path))
        elif path.suffix == ".xlf" and language:
            yield from ((language, *pair) for pair in xlf(path))
        elif path.name == "diagnosticMessages.generated.json" and language:
            texts = json.loads(path.read_text(encoding="utf-8"))
            yield from ((language, re.sub(r"_\d*$", "", key).replace("_", " "), text) for key, text in texts.items())
        elif path.name == "main.i18n.json.js" and language:
            yield from ((language, english[at], text) for at, text in _pack(path) if at in english)


def po(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the translated messages of a gettext catalog; of plurals the first form, fuzzy ones are passed over."""
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line.startswith("#"):
                name = ""
                if ", fuzzy" in line:
                    break
                continue
            if line.startswith("msg"):
                name = line.split(maxsplit=1)[0]
            if name:
                fields[name] = fields.get(name, "") + "".join(map(_unescape, _STRING.findall(line)))
        else:
            foreign = fields.get("msgstr") or fields.get("msgstr[0]")
            if fields.get("msgid") and foreign:
                yield fields["msgid"], foreign


def xlf(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the translated units of an XLIFF file."""
    space = "{urn:oasis:names:tc:xliff:document:1.2}"
    for unit in ET.parse(path).iter(f"{space}trans-unit"):  # noqa: S314  whoever runs this chose the catalogs
        source, target = unit.find(f"{space}source"), unit.find(f"{space}target")
        if source is not None and target is not None and target.get("state") == "translated":
            yield "".join(source.itertext()), "".join(target.itertext())


def _localized(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield what the program of a language pack says in English, by its number."""
    for path in folder.rglob("*.js") if any(folder.rglob("main.i18n.json.js")) else ():
        for number, text in _LOCALIZE.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield int(number), ast.literal_eval(text)


def _pack(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    entries = json.loads(text[text.index("[") : text.rindex("]") + 1].replace("\tundefined", "\tnull"))
    return ((at, entry) for at, entry in enumerate(entries) if entry)


def _language(path: str) -> str:
    """Return the language that a path names last, empty where that is none of those wanted."""
    named = [one for one in _VARIANT.findall(path) if one.startswith(("es_es", "es-es")) or not one.startswith(_OTHERS)]
    return named[-1][:2] if named else ""


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": " ", "t": " "}.get(found[1], found[1]), text)


def _plain(text: str) -> str:
    text = re.sub(r"(?<=\w)[_&](?=\w)(?![\w]*_)|(?<!\w)[_&](?=\w)", "", text) if len(text) < 60 else text
    text = re.sub(r":[\w:+-]+:`([^`<]*)<[^`]*>`", r"\1", text)
    text = re.sub(r"`([^`<]+)<[^`]*>`_?_?", r"\1", text)
    return re.sub(r"\s+", " ", _MARKUP.sub(" ", text)).strip()


COMMANDS = {"lexicon": run_lexicon, "catalogs": run_catalogs}

if __name__ == "__main__":
    run_command(COMMANDS, run_languages)
