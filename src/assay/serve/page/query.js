// What a question holds, as the server says: query words, quoted texts, expressions, and what is asked beside them.

import { ask } from "./api.js";

const MOST = 200; // questions that are remembered
const known = new Map();
let keys = {};

/** Have the server take a question apart, and remember what it says; where it does not say, the question is plain. */
export async function understand(question) {
  if (known.has(question)) return;
  const told = await ask("/api/question", { query: question }).catch(() => null);
  if (!told) return;
  if (known.size >= MOST) known.clear();
  known.set(question, told);
  keys = told.keys;
}

/** Return what the server said of a question; one that it was not asked about is plain. */
export const partsOf = (question) => known.get(question) ?? { parts: [], asked: question, by_meaning: true, mode: "code" };

/** Return every query word with what its value says. */
export const keysOf = () => keys;

const isLiteral = ({ key }) => key === "exact" || key === "regex";
const taken = (question, parts, put = () => " ") => parts.reduce((text, part) => text.replace(part.text, () => put(part)), question);
const tidy = (text) => text.replace(/\s+/g, " ").trim();

export const wordOf = (key, value) => `${key}:${/\s/.test(value) ? `"${value}"` : value}`;
export const queryWords = (question) => partsOf(question).parts.filter((part) => !isLiteral(part));
export const literals = (question, kind) => partsOf(question).parts.filter(({ key }) => key === kind);
export const byMeaning = (question) => partsOf(question).by_meaning;

const isWord = (part, key, value) => !part.is_out && part.key === key && part.value === value;
export const hasWord = (question, key, value) => queryWords(question).some((part) => isWord(part, key, value));

/** Return what of a question is worth marking: what is asked by meaning, and the names among its query words. */
export const asked = (question) =>
  [partsOf(question).asked, ...queryWords(question).map(({ key, value, is_out }) => (key === "sym" && !is_out ? value : ""))].join(" ");

const REPEATS = /[*+{]/g;

/**
 * Return what finds the quoted texts and expressions of a question in a line. Some of RE2 the browser does not read, and
 * in an expression that repeats twice, as in a link of a stranger, it could search a line for ever.
 */
export function literalFinders(question) {
  const texts = literals(question, "exact").map(({ value }) => [
    RegExp.escape?.(value) ?? value.replace(/[^\w\s]/g, "\\$&"),
    value === value.toLowerCase(),
  ]);
  const quick = literals(question, "regex").filter(({ value }) => (value.match(REPEATS)?.length ?? 0) < 2);
  const expressions = quick.map(({ value }) => [value.replace(/^\(\?i\)/, ""), value.startsWith("(?i)")]);
  return [...texts, ...expressions].flatMap(([source, folded]) => {
    try {
      return [new RegExp(source, folded ? "gi" : "g")];
    } catch {
      return [];
    }
  });
}

/** Return a question as a quoted text or an expression, or without the quotes or slashes where it is one already. */
export function wrapped(question, kind) {
  const own = literals(question, kind).map(({ value }) => value).join(" ");
  const { parts } = partsOf(question);
  const plain = tidy(own || taken(question, parts, (part) => (isLiteral(part) ? part.value : " ")));
  const quoted = kind === "exact" ? `"${plain.replaceAll('"', '\\"')}"` : `/${plain.replaceAll("/", "\\/")}/`;
  return [own || !plain ? plain : quoted, ...queryWords(question).map(({ text }) => text)].join(" ").trim();
}

/** Take one part out of a question. */
export const without = (question, part) => tidy(taken(question, [part]));

/** Add a query word to a question, or take it out where it is there. */
export function toggled(question, key, value) {
  const there = queryWords(question).filter((part) => isWord(part, key, value));
  return there.length ? tidy(taken(question, there)) : `${question.trim()} ${wordOf(key, value)}`.trim();
}
