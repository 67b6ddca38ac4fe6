// The words of a question that are worth marking in code, and where they stand in a text.

import { asked, literalFinders } from "./query.js";

const STOP = new Set(
  (
    "a an and are as at be but by can could do does for from get has have how i if in into is it its me my not of on " +
    "or our should so that the their them then there these this those to us was we were what when where which while " +
    "who why will with would you your"
  ).split(" "),
);
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+|[\p{L}\p{M}]+/gu;

/** Cut a word to what its forms share; rough, as it only decides what is underlined. */
export function stem(word) {
  const lower = word.toLowerCase();
  const cut = lower.replace(/(?:ations?|ators?|ating|ated|ings?|ers?|ies|ied|ed|es|ly|s|e|y)$/, "");
  return cut.length >= 3 ? cut : lower;
}

export function wordsOf(question) {
  const parts = asked(question).match(PART) ?? [];
  const words = new Set(
    parts.filter((part) => !STOP.has(part.toLowerCase()) && (part.length > 1 || part > "\u02ff")).map(stem),
  );
  words.finders = literalFinders(question);
  return words;
}

/** Return the spans of a text that are what the question quotes, else its words, as [start, end, what]. */
export function spansOf(text, words) {
  if (words.finders?.length) return literalSpans(text, words.finders);
  if (!words.size) return [];
  const spans = [];
  for (const found of text.matchAll(PART)) {
    if (words.has(stem(found[0]))) spans.push([found.index, found.index + found[0].length, stem(found[0])]);
  }
  return spans;
}

function literalSpans(text, finders) {
  const every = finders.flatMap((one) => [...text.matchAll(one)].filter((found) => found[0]));
  const spans = [];
  for (const { index, 0: match } of every.sort((a, b) => a.index - b.index))
    if (index >= (spans.at(-1)?.[1] ?? 0)) spans.push([index, index + match.length, match]);
  return spans;
}
