// Lines of code as elements: numbered, coloured, the question's words marked; long ones as their most telling lines.

import { el, plain, number } from "./dom.js";
import { spansOf } from "./words.js";

const LONG = 20; // lines; what has more is shown as a preview
const HEAD = 3;
const BEST = 9;
const LOOKED_AT = 600;
const STEP = 2000; // lines that are added at once
const LONGEST_LINE = 2000; // characters

const SORTS = {
  c: "comment",
  s: "string",
  m: "number",
  k: "keyword",
  kt: "builtin",
  nb: "builtin",
  na: "builtin",
  nf: "name",
  nc: "name",
  nd: "name",
  nt: "name",
  gh: "name",
  gd: "string",
  gi: "number",
  ge: "comment",
  gs: "name",
};

/** Return how a class that the server gives a piece is coloured. */
const sortOf = (name) => (Object.hasOwn(SORTS, name) ? SORTS[name] : "");

/** Return the lines of a hit, each a list of [class, text], without the indent that all of them have. */
export function linesOf(hit) {
  const lines = hit.styled?.length
    ? hit.styled
    : hit.text
        .replace(/\r?\n$/, "")
        .split(/\r?\n/)
        .map((line) => [["", line]]);
  const indents = lines
    .map(textOf)
    .filter((line) => line.trim())
    .map((line) => /^[ \t]*/.exec(line)[0]);
  const common = indents.reduce(
    (least, indent) => (least.startsWith(indent) ? indent : indent.startsWith(least) ? least : ""),
    indents[0] ?? "",
  );
  return common ? lines.map((pairs) => dedented(pairs, common.length)) : lines;
}

function dedented(pairs, most) {
  let left = most;
  return pairs.map(([name, text]) => {
    const cut = Math.min(left, /^[ \t]*/.exec(text)[0].length);
    left = cut === text.length ? left - cut : 0;
    return [name, text.slice(cut)];
  });
}

export const textOf = (pairs) =>
  pairs
    .map(([, text]) => text)
    .join("")
    .replace(/\r?\n$/, "");

/** Return what of a line is neither comment nor string. */
export const codeOf = (pairs) =>
  pairs.map(([name, text]) => (/comment|string|keyword/.test(sortOf(name)) ? " " : text)).join("");

/** Return one line as nodes; spans of it, [start, end] in order, are put into marks. */
export function nodesOf(pairs, spans, marked = "") {
  const nodes = [];
  let at = 0;
  let next = 0;
  for (const [name, whole] of pairs) {
    const text = at + whole.length > LONGEST_LINE ? whole.slice(0, Math.max(0, LONGEST_LINE - at)) : whole;
    const inside = [];
    let done = 0;
    while (next < spans.length && spans[next][0] < at + text.length) {
      const [start, end] = [Math.max(spans[next][0] - at, done), Math.min(spans[next][1] - at, text.length)];
      inside.push(
        ...plain(text.slice(done, start)),
        el("mark", { class: marked || null }, plain(text.slice(start, end))),
      );
      done = end;
      if (spans[next][1] > at + text.length) break;
      next += 1;
    }
    inside.push(...plain(text.slice(done)));
    const sort = sortOf(name);
    if (sort) nodes.push(el("span", { class: sort }, inside));
    else nodes.push(...inside);
    at += whole.length;
  }
  if (at > LONGEST_LINE) nodes.push(el("span", { class: "cut" }, ` … ${number(at - LONGEST_LINE)} more characters`));
  return nodes;
}

function lineOf(pairs, at, words) {
  const line = el("span", { class: "line" }, nodesOf(pairs, spansOf(textOf(pairs), words)));
  line.dataset.n = at;
  return line;
}

/** Return which lines to show of a long text: its first ones, or its head and where more of the words stand. */
export function telling(lines, words) {
  if (lines.length <= LONG) return [[0, lines.length]];
  const met = lines.slice(0, LOOKED_AT).map((pairs) => spansOf(textOf(pairs), words).map((span) => span[2]));
  const distinct = (start, end) => new Set(met.slice(start, end).flat());
  const head = distinct(0, HEAD);
  let [best, most] = [0, distinct(0, HEAD + BEST).size];
  for (let start = HEAD + 1; start + BEST <= met.length; start += 1) {
    if (!met[start].length) continue;
    const count = new Set([...head, ...distinct(start, start + BEST)]).size;
    if (count > most) [best, most] = [start, count];
  }
  const start = Math.max(0, best - 1);
  return start <= HEAD
    ? [[0, HEAD + BEST]]
    : [
        [0, HEAD],
        [start, start + BEST],
      ];
}

/** Show a hit's code; `toggle` turns between a preview and all of it. */
export function codeView(hit, words) {
  const lines = linesOf(hit);
  const code = el("code");
  const view = el("pre", { class: "code", dir: "ltr" }, code);
  const long = lines.length > LONG;
  let open = false;
  const add = (start, end) =>
    code.append(...lines.slice(start, end).map((pairs, at) => lineOf(pairs, hit.start_line + start + at, words)));
  const gap = () => code.append(el("span", { class: "line gap", "aria-hidden": "true" }, "⋯"));
  const preview = () => {
    const shown = telling(lines, words);
    shown.forEach(([start, end], at) => {
      if (at) gap();
      add(start, end);
    });
  };
  const steps = (from) => {
    add(from, from + STEP);
    if (from + STEP >= lines.length) return;
    const left = lines.length - from - STEP;
    const further = el("button", {
      type: "button",
      class: "further",
      on: { click: () => (further.remove(), steps(from + STEP)) },
    });
    further.textContent = `Show ${number(Math.min(left, STEP))} more of ${number(left)} lines`;
    view.append(further);
  };
  const toggle = () => {
    open = !open;
    view.querySelector(".further")?.remove();
    code.replaceChildren();
    if (open) steps(0);
    else preview();
    return open;
  };
  if (long) preview();
  else add(0, lines.length);
  return { view, long, count: lines.length, toggle };
}
