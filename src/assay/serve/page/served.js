// The folders that are served, what the address calls them, and which one holds a file.

import { ask } from "./api.js";
import { below } from "./search.js";

let roots = [];
let names = { languages: [], kinds: [] };

export const all = () => roots;
export const areSeveral = () => roots.length > 1;
export const keyOf = ({ name, path }) => (roots.filter((one) => one.name === name).length > 1 ? path : name);
const called = (key) => roots.find((one) => keyOf(one) === key);

/** Every language or kind that a query word may name. */
export const named = (what) => names[what] ?? [];

/** Read which folders are served. */
export async function load() {
  const told = await ask("/api/roots");
  roots = told.roots;
  names = told;
  return told;
}

/** The repository that is asked; none where several are served and all are. */
export const chosen = (state) => (state.root || roots.length > 1 ? called(state.root) : roots[0]);
export const isMissing = (state) => roots.length > 0 && Boolean(state.root) && !chosen(state);
export const missing = (key) => `no folder named '${key}' is served here; served are ${roots.map(keyOf).join(", ")}`;

/** The repository whose file is open. */
export const ofFile = (state) => (state.repo ? called(state.repo) : (chosen(state) ?? roots[0]));

/** Return how the address names a file of a root that answered; nothing where that root is not served. */
export function placeOfFile(rootOfAnswer, path) {
  const around = roots.filter((one) => rootOfAnswer === one.path || rootOfAnswer.startsWith(`${one.path}/`));
  const best = around.sort((a, b) => b.path.length - a.path.length)[0];
  if (!best) return null;
  return { repo: areSeveral() ? keyOf(best) : "", file: below(best.path, rootOfAnswer, path) };
}
