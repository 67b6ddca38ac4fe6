// What is asked and shown, as the address says it: read from there, written there.

import { partsOf } from "./query.js";

export const MODES = { code: "Code", docs: "Docs", all: "Both" };
const USUAL = {
  view: "search",
  q: "",
  near: "",
  root: "",
  mode: "", // code, unless something else says what to look in
  lang: [],
  kind: [],
  path: [],
  repo: "", // of several, the one whose file is open
  file: "",
  line: "",
};
export const CLOSED = { repo: "", file: "", line: "" };

export function read(search = location.search) {
  const held = new URLSearchParams(search);
  const state = {};
  for (const [name, usual] of Object.entries(USUAL)) {
    state[name] = Array.isArray(usual) ? held.getAll(name).filter(Boolean) : (held.get(name) ?? usual);
  }
  if (!Object.hasOwn(MODES, state.mode)) state.mode = USUAL.mode;
  if (!state.root && !state.file) [state.root, state.repo] = [state.repo, USUAL.repo]; // either name says where to search
  if (state.view !== "bench") state.view = "search";
  return Object.freeze(state);
}

export function addressOf(state) {
  const pairs = Object.entries(state).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((one) => [name, one]);
    return value === USUAL[name] ? [] : [[name, value]];
  });
  return pairs.length ? `/?${new URLSearchParams(pairs)}` : "/";
}

const PAUSE_MS = 1500;
let written = 0;

/** Write what is so now into the address; while somebody types it is one entry of the history. */
export function write(state, { typing = false, replace = false } = {}) {
  const address = addressOf(state);
  if (address === location.pathname + location.search) return;
  const now = performance.now();
  if (replace) history.replaceState(history.state, "", address);
  else if (typing && now - written < PAUSE_MS) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  written = typing ? now : 0;
}

/** Return what is asked, without what is open beside the answers, as a text to compare. */
export const questionOf = ({ q, near, root, mode, lang, kind, path }) =>
  JSON.stringify([q, near, root, mode, lang, kind, path]);

/** Return what is searched: code, unless a filter says which files, languages or kinds, or the question asks for all. */
export function modeOf({ q, mode, lang, kind, path }) {
  if (mode) return mode;
  const wants = lang.length || kind.length || path.some((one) => !one.startsWith("!"));
  return wants ? "all" : partsOf(q).mode;
}

export const filtered = (state) =>
  Boolean(state.lang.length || state.kind.length || state.path.length) || state.mode !== USUAL.mode;
export const unfiltered = (state) => ({ ...state, mode: USUAL.mode, lang: [], kind: [], path: [] });
