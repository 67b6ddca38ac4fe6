// What was found, counted by repository, language and kind: a press adds the query word that keeps to it.

import { ask } from "./api.js";
import { button, el, number, of, plain } from "./dom.js";
import { hasWord, queryWords, toggled } from "./query.js";
import { searched } from "./search.js";

const GROUPS = { repositories: ["repo", "Repository"], languages: ["lang", "Language"], kinds: ["kind", "Kind"] };
const FIRST = 8;
const PAUSE_MS = 200; // after the answers: counting is another search

let counts = { counted: 0, complete: false, repositories: {}, languages: {}, kinds: {} };
let counted = ""; // the question that the counts are of
let waiting = 0;
let flight = null;
let go = () => {};
const wide = matchMedia("(min-width: 64rem)");

export function ready(changed) {
  go = changed;
  const fit = () => (of("facets").open = wide.matches);
  wide.addEventListener("change", fit);
  fit();
}

/** Return the values of a key that answers had. */
export const valuesOf = (key) => {
  const group = Object.keys(GROUPS).find((name) => GROUPS[name][0] === key);
  return group ? Object.keys(counts[group]) : [];
};

export function hide() {
  clearTimeout(waiting);
  flight?.abort();
  counted = "";
  of("facets").hidden = true;
  document.body.classList.remove("faceted");
}

/** Count what a question finds, once nothing else is asked for a moment. */
export function show(state, root) {
  const [, parameters] = searched(state, root);
  const asked = JSON.stringify(parameters);
  if (state.near) return hide();
  document.body.classList.add("faceted"); // its place is kept while it is counted
  if (asked === counted) return draw(state);
  clearTimeout(waiting);
  flight?.abort();
  flight = new AbortController();
  const { signal } = flight;
  waiting = setTimeout(async () => {
    try {
      const told = await ask("/api/facets", parameters, { signal });
      if (signal.aborted) return;
      counts = told;
      counted = asked;
      draw(state);
    } catch (error) {
      if (error.name !== "AbortError") hide(); // the answers stand without it
    }
  }, PAUSE_MS);
}

function draw(state) {
  const groups = Object.entries(GROUPS)
    .map(([name, [key, title]]) => group(state, key, title, counts[name]))
    .filter(Boolean);
  of("facets").hidden = !groups.length || !counts.counted;
  of("facets").replaceChildren(
    el("summary", {}, "Narrow down"),
    el("div", {}, groups, el("p", { class: "sort" }, counts.complete ? `of all ${number(counts.counted)} places` : `of the best ${number(counts.counted)}`)),
  );
}

function group(state, key, title, values) {
  const chosen = queryWords(state.q).filter((one) => one.key === key && !one.is_out);
  const names = Object.keys(values);
  const all = [...names, ...chosen.map((one) => one.value).filter((one) => !names.includes(one))];
  if (all.length < 2 && !chosen.length) return null;
  const list = el("ul", {});
  const fill = (most) => {
    const left = all.length - most;
    const more = left > 0 ? el("li", {}, button(`${number(left)} more`, () => fill(all.length), { class: "quiet" })) : null;
    list.replaceChildren(...all.slice(0, most).map((value) => item(state, key, value, values[value])), ...(more ? [more] : []));
  };
  fill(all.length <= FIRST + 1 ? all.length : FIRST);
  const id = `facet-${key}`;
  list.setAttribute("aria-labelledby", id);
  return el("section", {}, el("h2", { id }, title), list);
}

function item(state, key, value, count) {
  const is = hasWord(state.q, key, value);
  const pressed = button("", () => go({ q: toggled(state.q, key, value) }), { class: "quiet", "aria-pressed": String(is) });
  pressed.append(el("bdi", {}, ...plain(value)), " ", el("span", { class: "n" }, count === undefined ? "" : number(count)));
  pressed.title = is ? "Taken out of the question" : `Adds ${key}:${value} to the question`;
  return el("li", {}, pressed);
}
