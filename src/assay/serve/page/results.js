// Answers as a list: which one the reader is at, what stands above it, and the pages after it.

import { answerView, percent } from "./answer.js";
import * as beside from "./beside.js";
import * as matching from "./matches.js";
import * as compare from "./compare.js";
import { el, of, plain, plural } from "./dom.js";
import { clearing, learn } from "./filters.js";
import { filtered } from "./state.js";
import { byMeaning } from "./query.js";
import { wordsOf } from "./words.js";

const SAY_AFTER_MS = 700;
const SURE = 0.3; // a best answer below this is doubtful, and that is said

let views = [];
let saying = 0;

export const all = () => views;
export const current = () => views.find(({ article }) => article.contains(document.activeElement)) ?? null;

/** Show an answer, after those that are there where it is a further page. */
export function show(answer, state, { further = false, does }) {
  learn(answer.root, answer.hits);
  const isList = answer.matches > 0 && !byMeaning(state.q); // then its lines are the answer
  if (isList) answer = { ...answer, hits: [], cursor: "" };
  if (!further) views = [];
  const words = wordsOf(state.near ? "" : state.q);
  const made = answer.hits.map((hit, at) =>
    answerView(hit, {
      at: views.length + at,
      root: hit.root || answer.root,
      words,
      question: state.near ? "" : state.q,
      near: Boolean(state.near),
      does: does(answer),
    }),
  );
  views = [...views, ...made];
  const items = made.map(({ article }) => el("li", {}, article));
  if (further) of("hits").append(...items);
  else of("hits").replaceChildren(...items);
  of("hits").classList.toggle("nearest", answer.relevant === false);
  of("more").hidden = !answer.cursor;
  if (!further) beside.show(isList ? {} : answer, does(answer));
  mark();
  verdict(answer, state, isList);
  if (further) made[0]?.article.focus();
  reachable();
}

/** Take a further view into what the keyboard goes through. */
export const add = (view) => views.push(view);

/** Let the keyboard scroll code that is wider than its place, and only that. */
export function reachable() {
  for (const { article } of views) {
    const code = article.querySelector(".code");
    if (code?.scrollWidth > code?.clientWidth) code.tabIndex = 0;
    else code?.removeAttribute("tabindex");
  }
}

/** Show which answers are picked. */
export function mark() {
  for (const { actions } of views) actions.picked(compare.isPicked(actions.hit));
}

function verdict(answer, state, isList) {
  const [title, text] = isList ? [matching.titleOf(answer), freshness(answer)] : judged(answer, state);
  of("count").textContent = title;
  of("count").className = title && answer.relevant !== false && views.length ? "quiet" : "";
  const rest = views.length === 0 && filtered(state) ? clearing() : null;
  of("verdict").replaceChildren(...(text ? [el("p", {}, text)] : []), ...(rest ? [rest] : []));
  of("verdict").hidden = !text && !rest;
  say(`${title} ${text}`);
}

function freshness({ note = "", stale, corrected = [], notes = [], problems = [], language = "" }) {
  const meant = corrected.length ? ` ${language ? `Read as ${language}` : "Spelling corrected"}: ${corrected.join("; ")}.` : "";
  const missing = notes.map((note) => ` ${note[0].toUpperCase()}${note.slice(1)}.`).join("");
  const unasked = problems.length ? ` Not searched: ${problems.join("; ")}.` : "";
  return ((note ? ` ${note}.` : "") + meant + missing + unasked + (stale ? " Files changed and are being read; ask again for what is in them." : "")).trim();
}

function judged(answer, state) {
  const { relevant = true, hits, cursor, matches = -1 } = answer;
  const fresh = ` ${freshness(answer)}`;
  if (!views.length) {
    const why = filtered(state) || matches === 0 ? "The filters leave nothing that fits." : "No code here has anything to do with that.";
    return [matches === 0 ? "No match" : "Nothing found", why + fresh];
  }
  const literal = matches > 0 ? `, ${matching.titleOf(answer)} below` : "";
  const count = literal ? plural(views.length, "answer") + literal : cursor && hits.length ? `The first ${views.length} answers` : plural(views.length, "answer");
  const best = Math.max(...views.map(({ actions }) => actions.hit.score));
  const unsure = !state.near && best < SURE ? ` None is sure: the best is right in ${percent(best)} of such cases.` : "";
  if (relevant) return [count, (unsure + fresh).trim()];
  const nearest = "None of these is likely to be what you ask for; they are only the nearest.";
  return ["Nothing relevant here", nearest + fresh];
}

/** Tell a screen reader, when nothing else has come for a moment. */
export function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => of("live").replaceChildren(...plain(text)), SAY_AFTER_MS);
}

/** Go to the answer so many further on; above the first is the search box. */
export function step(by) {
  if (!views.length) return false;
  const here = views.indexOf(current());
  const next = here < 0 ? (by > 0 ? nearest() : -1) : here + by;
  if (next < 0) {
    of("query").focus();
    scrollTo({ top: 0 });
  } else go(Math.min(next, views.length - 1));
  return true;
}

/** Return the first answer whose head is in view, or the first of all. */
function nearest() {
  const top = of("searching").getBoundingClientRect().bottom;
  const seen = views.findIndex(({ article }) => article.getBoundingClientRect().top >= top - 8);
  return seen < 0 ? 0 : seen;
}

function go(at) {
  const { article } = views[at];
  article.focus({ preventScroll: true });
  article.scrollIntoView({ block: "nearest" });
  if (at === views.length - 1 && !of("more").hidden) of("more").scrollIntoView({ block: "nearest" });
}
