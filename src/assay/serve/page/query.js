// The query words in a question: `repo: file: lang: kind: sym:`, each with a value; found, added and taken out.

export const KEYS = {
  repo: "a repository, by name",
  file: "files, by a part of the path, or src/** or *.py",
  lang: "a language",
  kind: "a kind of unit: function, class, section",
  sym: "a name: retry, Task.retry, get_*",
  path: "the same as file",
};
const WORD = new RegExp(String.raw`(?<!\S)(-?)(${Object.keys(KEYS).join("|")}):("[^"\n]+"|(?!//)[^\s"]\S*)(?!\S)`, "g");

const valueOf = (text) => text.replace(/^"|"$/g, "");
export const wordOf = (key, value) => `${key}:${/\s/.test(value) ? `"${value}"` : value}`;

/** Return the query words of a question, each with its key, value and whether it leaves out. */
export const queryWords = (question) =>
  [...question.matchAll(WORD)].map(([text, sign, key, value]) => ({ text, out: sign === "-", key, value: valueOf(value) }));

export const hasWord = (question, key, value) =>
  queryWords(question).some((one) => !one.out && one.key === key && one.value === value);

/** Return what of a question is asked by meaning, and the names among its query words. */
export const withoutWords = (question) =>
  question.replace(WORD, (_, sign, key, value) => (key === "sym" && !sign ? valueOf(value) : " "));

const EXACT = /(?<!\S)"((?:[^"\\\n]|\\.)+)"(?!\S)/g;
const REGEX = /(?<!\S)\/((?:[^/\\\s]|\\.)(?:(?:[^/\\\n]|\\.)*(?:[^/\\\s]|\\.))?)\/(?!\S)/g;
const MEANING = /[\][\\^$.*+?(){}|]/;
const LETTER = /[\p{L}\p{N}_]/u;

/** Return the quoted texts and the expressions of a question, as the server reads them. */
export function literals(question) {
  const rest = question.replace(WORD, " ").replace(EXACT, " ");
  const alone = !LETTER.test(rest.replace(REGEX, " "));
  return {
    exact: [...question.matchAll(EXACT)].map((found) => ({ text: found[0], value: found[1].replace(/\\(.)/g, "$1") })),
    regex: [...rest.matchAll(REGEX)]
      .filter((found) => alone || MEANING.test(found[1]))
      .map((found) => ({ text: found[0], value: found[1].replaceAll("\\/", "/") })),
  };
}

/** Say whether something is asked by meaning beside query words, quoted texts and expressions. */
export function byMeaning(question) {
  const { exact, regex } = literals(question);
  return LETTER.test([...exact, ...regex].reduce((text, one) => text.replace(one.text, " "), question.replace(WORD, " ")));
}

const REPEATS = /[*+{]/g;

/**
 * Return what finds the quoted texts and expressions of a question in a line. Some of RE2 the browser does not read, and
 * in an expression that repeats twice, as in a link of a stranger, it could search a line for ever.
 */
export function literalFinders(question) {
  const { exact, regex } = literals(question);
  const texts = exact.map(({ value }) => [RegExp.escape?.(value) ?? value.replace(/[^\w\s]/g, "\\$&"), value === value.toLowerCase()]);
  const quick = regex.filter(({ value }) => (value.match(REPEATS)?.length ?? 0) < 2);
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
  const words = queryWords(question).map((one) => one.text);
  const { exact, regex } = literals(question);
  const own = { exact, regex }[kind].map((one) => one.value).join(" ");
  const text = own || [...exact, ...regex].reduce((rest, one) => rest.replace(one.text, one.value), question.replace(WORD, " "));
  const plain = text.replace(/\s+/g, " ").trim();
  const quoted = kind === "exact" ? `"${plain.replace(/["\\]/g, "\\$&")}"` : `/${plain.replaceAll("/", "\\/")}/`;
  return [own || !plain ? plain : quoted, ...words].join(" ").trim();
}

/** Take one part out of a question, as it is written there. */
export const without = (question, part) => question.replace(part, " ").replace(/\s+/g, " ").trim();

/** Add a query word to a question, or take it out where it is there. */
export function toggled(question, key, value) {
  if (!hasWord(question, key, value)) return `${question.trim()} ${wordOf(key, value)}`.trim();
  const kept = question.replace(WORD, (text, sign, of, is) => (!sign && of === key && valueOf(is) === value ? "" : text));
  return kept.replace(/\s+/g, " ").trim();
}
