// The folders that are served, what the address calls them, and which one holds a file.

import { ask } from "./api.js";
import { below } from "./search.js";

let roots = [];
let names = { languages: [], kinds: [] };

export const all = () => roots;
export const areSeveral = () => roots.length > 1;
const called = (key) => roots.find((one) => one.name === key);

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
export const missing = (key) => `no folder named '${key}' is served here; served are ${roots.map((one) => one.name).join(", ")}`;

/** The repository whose file is open. */
export const ofFile = (state) => (state.repo ? called(state.repo) : (chosen(state) ?? roots[0]));

/** The repository that a root of an answer is, or lies in. */
function around(rootOfAnswer) {
  const found = roots.filter((one) => `${rootOfAnswer}/`.startsWith(`${one.name}/`));
  return found.sort((a, b) => b.name.length - a.name.length)[0];
}

/** Return how the address names a file of a root that answered; nothing where that root is not served. */
export function placeOfFile(rootOfAnswer, path) {
  const best = around(rootOfAnswer);
  return best ? { repo: areSeveral() ? best.name : "", file: below(best.name, rootOfAnswer, path) } : null;
}

/** The same of a path that begins with the name of its repository. */
export function placeOfWhole(whole) {
  const best = around(whole);
  return best ? placeOfFile(best.name, whole.slice(best.name.length + 1)) : null;
}

/** Return where a root that answered lies on this machine; empty where an editor here cannot open it. */
export function folderOf(rootOfAnswer) {
  const best = around(rootOfAnswer);
  return best?.folder ? best.folder + rootOfAnswer.slice(best.name.length) : "";
}
