// The parts of a score as bars: the weightiest first, each with what it means; docs/formats.md says it in full.

import { el, plain, plural } from "./dom.js";

const FIRST = 6;

const MEANINGS = {
  lexical: "the words asked for, counted (BM25)",
  lexical_share: "the same, as a share of the best here",
  lexical_place: "how near the top it is by words",
  dense: "nearness in meaning",
  dense_share: "nearness above what is usual here",
  dense_place: "how near the top it is by meaning",
  covered: "share of the words that it holds",
  covered_name: "share of the words in its name",
  covered_context: "share of the words in its parents or path",
  covered_doc: "share of the words in its documentation",
  covered_body: "share of the words in its body",
  name_precision: "share of its name that was asked for",
  name_whole: "its name is what was asked for, whole",
  body_whole: "a name that was asked for stands in it, whole",
  rare_missing: "the rarest word is not in it",
  doc_score: "the words, counted in its documentation",
  body_score: "the words, counted in its body",
  file_dense: "its file is near in meaning",
  file_lexical: "its file holds the words",
  has_doc: "it is documented",
  callable: "it can be called",
  type: "it is a type",
  block: "it is lines between units",
  prose: "it is prose",
  asked_kind: "it is of the kind that was named",
  test: "a test, and tests were not asked for",
  test_asked: "a test, and tests were asked for",
  example: "an example, and none was asked for",
  aside: "about the project, and that was not asked for",
  aside_asked: "about the project, and that was asked for",
  log_lines: "how long it is",
  code_like_name: "the question looks like a name, and this is it",
  words_known: "how well the words are known here",
  meaning_known: "how well the meaning is known here",
  question_length: "how long the question is",
  near_name: "words like those asked for, in its name",
  met_name: "share of the words with a like one in its name",
  near_doc: "words like those asked for, in its documentation",
  met_doc: "share of the words with a like one in its documentation",
  near_text: "words like those asked for, anywhere in it",
  met_text: "share of the words with a like one in it",
  together: "what the others add in combination",
  meaning: "nearness in meaning",
  "is called": "it is called there",
  calls: "it calls what is there",
};

/** Return the bars of a hit's `why`, and what their sum means where that is a chance. */
export function whyView(hit, chance) {
  const parts = Object.entries(hit.why).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 1e-9);
  const rows = parts.map(([name, value]) => row(name, value, most));
  const rest = rows.slice(FIRST);
  const sum = parts.reduce((so, [, value]) => so + value, 0);
  return el(
    "div",
    { class: "why" },
    el("ul", {}, rows.slice(0, FIRST)),
    rest.length ? el("details", {}, el("summary", {}, plural(rest.length, "smaller part")), el("ul", {}, rest)) : null,
    chance
      ? el(
          "p",
          { class: "meaning" },
          `Added up they make ${signed(sum)}. Of judged answers with that sum, ${chance} were right.`,
        )
      : null,
  );
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

function row(name, value, most) {
  const bar = el("span", { class: value < 0 ? "less" : "more" });
  bar.style.width = `${(50 * Math.abs(value)) / most}%`;
  return el(
    "li",
    {},
    el("span", { class: "part" }, plain(name.replaceAll("_", " "))),
    el("span", { class: "bars", "aria-hidden": "true" }, bar),
    el("span", { class: "value" }, signed(value)),
    el("span", { class: "meaning" }, MEANINGS[name] ?? ""),
  );
}
