// The query words in a question: `repo: file: lang: kind: sym:`, each with a value; found, added and taken out.

export const KEYS = {
  repo: "a repository, by name",
  file: "files, by path: src/** or *.py",
  lang: "a language",
  kind: "a kind of unit: function, class, section",
  sym: "a name: retry, Task.retry, get_*",
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

/** Add a query word to a question, or take it out where it is there. */
export function toggled(question, key, value) {
  if (!hasWord(question, key, value)) return `${question.trim()} ${wordOf(key, value)}`.trim();
  const kept = question.replace(WORD, (text, sign, of, is) => (!sign && of === key && valueOf(is) === value ? "" : text));
  return kept.replace(/\s+/g, " ").trim();
}
