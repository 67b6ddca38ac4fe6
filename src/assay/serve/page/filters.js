// What to keep: mode, languages, kinds and paths; what there is to choose from the index says, and until then answers.

import { button, el, of, plain } from "./dom.js";
import { literals, understand, wrapped } from "./query.js";
import { MODES, filtered, modeOf, unfiltered } from "./state.js";

const none = () => ({ lang: new Set(), kind: new Set() });
const seen = { root: null, ...none() };
let indexed = none();
const WAYS = { exact: ['"…"', "Exact", "Find the text letter by letter"], regex: ["/…/", "Regex", "Find a regular expression (RE2)"] };
const MENUS = { lang: ["languages", "Language"], kind: ["kinds", "Kind"] };
let change = () => {};

export const globsOf = (text) => text.split(/[\s,]+/).filter(Boolean);

/** Make the controls; `changed` gets what somebody chose. */
export function ready(changed) {
  change = changed;
  for (const [mode, label] of Object.entries(MODES)) {
    const radio = el("input", { type: "radio", name: "mode", value: mode, on: { change: () => change({ mode }) } });
    of("modes").append(el("label", {}, radio, el("span", {}, label)));
  }
  for (const [way, [sign, name, title]] of Object.entries(WAYS)) {
    const wrap = async () => {
      const typed = of("query").value;
      await understand(typed);
      change({ q: wrapped(typed, way), near: "" });
    };
    const pressed = button(sign, wrap, { title, "aria-label": name });
    pressed.dataset.way = way;
    of("ways").append(pressed);
  }
  of("paths").addEventListener("input", () => change({ path: globsOf(of("paths").value) }, { typing: true }));
  of("unfilter").addEventListener("click", () => change(unfiltered({})));
  for (const menu of document.querySelectorAll(".menu")) {
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopPropagation();
    });
  }
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
}

/** Remember which languages and kinds answers had. */
export function learn(root, hits) {
  if (seen.root !== root) Object.assign(seen, { root, ...none() });
  for (const hit of hits) {
    if (hit.language) seen.lang.add(hit.language);
    if (hit.kind) seen.kind.add(hit.kind);
  }
}

/** Offer what a root's index holds; nothing while that is not known. */
export function offer({ languages = {}, kinds = {} } = {}) {
  indexed = { lang: new Set(Object.keys(languages)), kind: new Set(Object.keys(kinds)) };
}

/** Return the languages or kinds that the index is known to hold. */
export const known = (name) => [...new Set([...indexed[name], ...seen[name]])];

/** Show what is chosen. */
export function show(state) {
  for (const radio of document.querySelectorAll("#modes input")) radio.checked = radio.value === modeOf(state);
  for (const one of of("ways").children)
    one.setAttribute("aria-pressed", String(literals(state.q, one.dataset.way).length > 0));
  if (globsOf(of("paths").value).join(" ") !== state.path.join(" ")) of("paths").value = state.path.join(" ");
  of("unfilter").hidden = !filtered(state);
  for (const name of Object.keys(MENUS)) menu(name, state);
}

function menu(name, state) {
  const [id, title] = MENUS[name];
  const details = of(id);
  const options = [...new Set([...indexed[name], ...seen[name], ...state[name]])].sort();
  details.hidden = options.length === 0;
  const told = state[name].length > 1 ? `${title}: ${state[name].length}` : (state[name][0] ?? title);
  details.querySelector("summary").replaceChildren(...plain(told));
  details.classList.toggle("chosen", state[name].length > 0);
  const panel = details.querySelector("div");
  const shown = [...panel.querySelectorAll("input")].map((box) => box.value);
  if (shown.join() !== options.join()) panel.replaceChildren(...options.map((option) => choice(name, option)));
  for (const box of panel.querySelectorAll("input")) box.checked = state[name].includes(box.value);
}

function choice(name, option) {
  const panel = of(MENUS[name][0]);
  const box = el("input", {
    type: "checkbox",
    value: option,
    on: { change: () => change({ [name]: [...panel.querySelectorAll("input:checked")].map((one) => one.value) }) },
  });
  return el("label", {}, box, el("span", {}, plain(option)));
}

/** Return a button that takes all filters off. */
export const clearing = () => button("Search without filters", () => change(unfiltered({})));
