// Questions to answers: each is asked at once, and an answer that nobody waits for any more is dropped.

import { Refused, patiently } from "./api.js";

const SIZE = { limit: 8, budget: 40000, styled: true };
const WORD = /[\p{L}\p{N}_]/u;

let flight = null;

export const isQuestion = (text) => WORD.test(text);
export const isStale = (error) => error instanceof Refused && error.status === 409;

export function stop() {
  flight?.abort();
  flight = null;
}

/** Return the answer to what is asked; `told` hears what the server says while it cannot answer yet. */
export function find(state, root, { cursor = "", told }) {
  stop();
  flight = new AbortController();
  const [path, parameters] = state.near ? related(state, root) : grouped(searched(state, root));
  return patiently(path, { ...parameters, ...SIZE, cursor }, { signal: flight.signal, told });
}

/** A pasted text as the one line of the search box, and as it was; of a very long one the ends. */
const MARK = "↵";
const LONGEST = 6000;
export function onOneLine(text) {
  const left = text.length - LONGEST;
  const kept = left > 0 ? `${text.slice(0, LONGEST / 2)}\n… ${left} characters left out …\n${text.slice(-LONGEST / 2)}` : text;
  return kept.trim().replace(/\s*\r?\n/g, ` ${MARK}`);
}
export const inLines = (text) => text.replace(/ ?↵/g, "\n");

export const searched = ({ q, mode, lang, kind, path }, root) => ["/api/search", { query: inLines(q), path: root, mode, lang, kind, file: path }];

const grouped = ([path, parameters]) => [path, { ...parameters, group: true, explain: true }];

function related({ near }, root) {
  const [path, line] = splitPlace(near);
  return ["/api/related", { path: root ? `${root.replace(/\/$/, "")}/${path}` : path, line }];
}

export function splitPlace(place) {
  const at = place.lastIndexOf(":");
  return [place.slice(0, at), place.slice(at + 1)];
}

/** Return a path of an answer as it is below a served root, which may lie above the answer's own root. */
export function below(served, answered, path) {
  const base = served.replace(/\/$/, "");
  return answered.startsWith(`${base}/`) ? `${answered.slice(base.length + 1)}/${path}` : path;
}
