// The parts of a score as bars: the weightiest first, each with what it means; docs/formats.md says it in full.

import { el, plain, plural } from "./dom.js";

const FIRST = 6;

const MEANINGS = {
  lexical: "the words asked for, counted (BM25)",
  lexical_share: "the same, as a share of the best here",
  lexical_place: "how near the top it is by words",
  dense: "similarity of meaning",
  dense_share: "similarity above what is usual here",
  dense_place: "how near the top it is by meaning",
  covered: "fraction of the words that it holds",
  covered_name: "fraction of the words in its name",
  covered_body: "fraction of the words in its body",
  name_whole: "its name is what was asked for, whole",
  rare_missing: "the rarest word is not in it",
  file_dense: "its file is near in meaning",
  file_lexical: "its file holds the words",
  has_doc: "it is documented",
  callable: "it can be called",
  block: "it is lines between units",
  test: "a test, and tests were not asked for",
  example: "an example, and none was asked for",
  aside: "about the project, and that was not asked for",
  log_lines: "how long it is",
  meaning_known: "how well the meaning is known here",
  file_votes: "commits like the question changed its file",
  file_votes_share: "the same, as a share of the most here",
  file_message: "how much of the question one of their messages holds",
  unit_votes: "commits like the question changed it",
  unit_votes_share: "the same, as a share of the most here",
  unit_message: "how much of the question the message of one that changed it holds",
  owner_votes: "commits like the question changed what it is in",
  test_of_file: "a test that fits is named for its file",
  tested: "tests that fit call it",
  called: "code that fits calls it",
  near_name: "words like those asked for, in its name",
  near_doc: "words like those asked for, in its documentation",
  near_text: "words like those asked for, anywhere in it",
  alike_name: "how many words are like those asked for, in its name",
  alike_doc: "how many words are like those asked for, in its documentation",
  alike_text: "how many words are like those asked for, anywhere in it",
  asked_name: "how much of its name is asked for",
  asked_doc: "how much of its documentation is asked for",
  least_met: "the word that is met least",
  met: "how well all words are met",
  type: "a type",
  type_asked: "a type, as was asked for",
  kind_asked: "of the very sort that was asked for",
  constant: "a constant",
  constant_asked: "a constant, as was asked for",
  block_asked: "lines between units, where a value was asked for",
  type_not_callable: "a function, where a type was asked for",
  phrase: "words in a row that stand there alike",
  phrase_long: "the longest run of words that stands there alike",
  phrase_any: "five words in a row that stand there alike",
  message: "a message that this code writes",
  list: "names typed, its file, and whether its file is above already",
  name: "it declares the name that was asked for",
  answerable: "how likely this place answers the question at all",
  together: "what the others add in combination",
  meaning: "similarity of meaning",
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
    hit.changed_by ? el("p", { class: "meaning" }, `A commit like the question changed its file: ${hit.changed_by}.`) : null,
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
