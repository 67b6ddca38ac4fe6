// Completion in the box: the keys of query words, and their values, as a list below it that the arrows go through.

import { ask } from "./api.js";
import { el, of, plain } from "./dom.js";
import * as facets from "./facets.js";
import { known } from "./filters.js";
import { keysOf, queryWords, understand, wordOf } from "./query.js";
import * as results from "./results.js";
import * as served from "./served.js";

const MOST = 10;
const KEY = /(?:^|\s)-?([a-z]{2,4})$/;
const VALUE = /(?:^|\s)-?([a-z]{2,4}):(?:"([^"]*)|([^\s"]*))$/; // at the caret; whether its key is one the server says

let options = []; // { text, about, from }: what replaces the text from there to the caret
let at = -1;
let asked = 0;
let state = () => ({});

let inWord = false;

/** Say whether somebody is in the middle of a query word. */
export const isWord = () => isOpen() && inWord;
const isOpen = () => !of("completions").hidden;

export function ready(stateNow) {
  state = stateNow;
  understand(""); // for its keys
  const box = of("query");
  box.addEventListener("input", () => offer(box));
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (isOpen() && !event.isComposing && handled(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  });
}

/** Do what a key does while the list is open, and say whether it did something. */
function handled(key) {
  if (key === "ArrowDown" || key === "ArrowUp") choose((at + (key === "ArrowDown" ? 1 : -1) + options.length) % options.length);
  else if (key === "Escape") close();
  else if ((key === "Enter" || key === "Tab") && at >= 0) accept(options[at]);
  else return false;
  return true;
}

async function offer(box) {
  const mine = (asked += 1);
  at = -1;
  const before = box.value.slice(0, box.selectionStart);
  const typed = VALUE.exec(before);
  const found = typed && typed[1] in keysOf() ? typed : null;
  const keys = found ? [] : keysFor(before);
  const made = found ? await valuesFor(found[1], found[2] ?? found[3], before) : [...keys, ...(await namesFor(before))];
  if (mine !== asked || document.activeElement !== box) return;
  const chosen = options[at]?.text; // while this was asked
  options = made.slice(0, MOST);
  inWord = Boolean(found) || keys.length > 0;
  at = options.findIndex(({ text }) => text === chosen);
  draw();
}

const NAMES = 5;
const ALONE = /^[\p{L}_$][\p{L}\d_$]{2,}$/u; // one word, which may be the beginning of a name

/** Return the declared names that begin as the one word that is asked. */
async function namesFor(before) {
  if (!ALONE.test(before)) return [];
  const names = await namesLike(before);
  const begun = before.toLowerCase();
  const isPlain = /^[a-z]+$/.test(before); // a word may be all of a question: only what goes on with it is offered
  return names.filter((name) => name !== before && (!isPlain || name.toLowerCase().startsWith(begun))).slice(0, NAMES).map((name) => ({ text: name, from: 0 }));
}

const namesLike = (text) =>
  ask("/api/names", { query: text, path: served.chosen(state())?.name ?? "", limit: 20 }).then((told) => told.names, () => []);

function keysFor(before) {
  const typed = KEY.exec(before)?.[1];
  if (!typed) return [];
  const from = before.length - typed.length;
  return Object.entries(keysOf())
    .filter(([key]) => key.startsWith(typed))
    .map(([key, about]) => ({ text: `${key}:`, about, from }));
}

async function valuesFor(key, typed, before) {
  const from = before.lastIndexOf(`${key}:`);
  const every = await valuesOf(key, typed);
  const lower = typed.toLowerCase();
  const first = every.filter((one) => one.toLowerCase().startsWith(lower));
  const rest = every.filter((one) => !first.includes(one) && one.toLowerCase().includes(lower));
  return [...first, ...rest]
    .filter((one) => one !== typed)
    .map((one) => ({ text: `${wordOf(key, one)}${["file", "path"].includes(key) && one.endsWith("/") ? "" : " "}`, shown: one, from }));
}

const sorted = (values) => [...new Set(values)].filter(Boolean);

async function valuesOf(key, typed) {
  if (key === "repo") return sorted([...facets.valuesOf("repo"), ...served.all().map((one) => one.name)]);
  if (key === "lang") return sorted([...facets.valuesOf("lang"), ...known("lang"), ...served.named("languages")]);
  if (key === "kind") return sorted([...facets.valuesOf("kind"), ...known("kind"), ...served.named("kinds")]);
  if (key === "sym")
    return sorted([...results.all().map(({ actions }) => actions.hit.symbol), ...(typed ? await namesLike(typed) : [])]);
  return pathsFor(typed);
}

/** Return the paths in the folder that was typed so far, in the repository that is asked; of several those of answers. */
async function pathsFor(typed) {
  const named = queryWords(state().q).filter((one) => one.key === "repo" && !one.is_out);
  const root = named.length === 1 ? served.all().find((one) => one.name === named[0].value) : served.chosen(state());
  const shown = sorted(results.all().map(({ actions }) => actions.hit.path));
  if (!root || /[*?[]/.test(typed)) return shown;
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  try {
    const told = await ask("/api/tree", { path: `${root.name}/${folder}`, limit: 200 });
    return [...told.folders.map((name) => `${folder}${name}/`), ...told.files.map(({ name }) => `${folder}${name}`)];
  } catch {
    return shown; // no such folder
  }
}

function draw() {
  const box = of("query");
  of("completions").hidden = !options.length;
  of("completions").classList.toggle("names", !inWord);
  of("completions").replaceChildren(
    ...options.map((option, n) =>
      el(
        "li",
        {
          role: "option",
          id: `completion-${n}`,
          "aria-selected": String(n === at),
          on: { mousedown: (event) => (event.preventDefault(), accept(option)) },
        },
        el("bdi", {}, plain(option.shown ?? option.text)),
        option.about ? el("span", { class: "sort" }, option.about) : null,
      ),
    ),
  );
  box.setAttribute("aria-expanded", String(options.length > 0));
  if (at >= 0) box.setAttribute("aria-activedescendant", `completion-${at}`);
  else box.removeAttribute("aria-activedescendant");
}

function choose(next) {
  at = next;
  draw();
  of("completions").children[at]?.scrollIntoView({ block: "nearest" });
}

function close() {
  asked += 1;
  options = [];
  at = -1;
  draw();
}

function accept({ text, from }) {
  const box = of("query");
  const after = box.value.slice(box.selectionStart);
  const until = /\s$/.test(text) ? after.replace(/^\S*\s?/, "") : after;
  box.value = box.value.slice(0, from) + text + until;
  box.setSelectionRange(from + text.length, from + text.length);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}
