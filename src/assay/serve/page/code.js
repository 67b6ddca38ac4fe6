// Lines of code as elements: numbered, coloured, the question's words marked; long ones as their most telling lines.

import { el, plain, number } from "./dom.js";
import { spansOf } from "./words.js";

const LONG = 7; // lines; what has more is shown as a preview
const FEW = 5; // lines of a preview
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

function lineOf(pairs, at, words, asked) {
  const line = el("span", { class: at === asked ? "line asked" : "line" }, nodesOf(pairs, spansOf(textOf(pairs), words)));
  line.dataset.n = at;
  return line;
}

/** Say whether a line is code, rather than a comment or a text such as a docstring. */
const isCode = (pairs) => pairs.some(([name, text]) => text.trim() && !/comment|string/.test(sortOf(name)));

/** Return where a unit begins to say what it is: after what decorates it and the comments above it. */
function headOf(lines) {
  const at = lines.findIndex((pairs) => isCode(pairs) && !/^\s*(?:@|#\[|\[\w)/.test(textOf(pairs)));
  return at < 0 ? 0 : at;
}

/** Return what a line is worth where so many words are new: an example in a docstring is not the thing itself. */
function worth(line, summary, seen) {
  const fresh = [...line.met].filter((word) => !seen.has(word)).length;
  const weight = line.code ? 1 : line.at === summary ? 0.8 : 0.08;
  return weight * (fresh + 0.2 * line.met.size);
}

/** Return which lines to show of a long text, as spans in order: its head, and those that hold most of the words. */
export function telling(lines, words) {
  if (lines.length <= LONG) return [[0, lines.length]];
  const head = headOf(lines);
  const some = lines.slice(0, LOOKED_AT).map((pairs, at) => {
    const text = textOf(pairs);
    return { at, text, code: isCode(pairs), met: new Set(spansOf(text, words).map((span) => span[2])) };
  });
  const summary = some.find((line) => line.at > head && !line.code && /[\p{L}]{2}/u.test(line.text))?.at ?? -1;
  const chosen = new Set([head]);
  const seen = new Set(some[head]?.met);
  while (chosen.size < FEW) {
    const rest = some.filter((line) => line.met.size && !chosen.has(line.at) && line.at > head);
    const best = rest.sort((a, b) => worth(b, summary, seen) - worth(a, summary, seen) || a.at - b.at)[0];
    if (!best || worth(best, summary, seen) < 0.1) break;
    chosen.add(best.at);
    best.met.forEach((word) => seen.add(word));
  }
  if (summary > 0 && summary < head + 8 && chosen.size < FEW) chosen.add(summary);
  for (const line of some) {
    if (chosen.size >= FEW) break;
    if (line.at > head && line.code && line.text.trim().length > 2) chosen.add(line.at);
  }
  return spansFrom([...chosen].sort((a, b) => a - b));
}

/** Return which lines to show around one: those before and after it, and the head of its unit. */
function around(lines, asked) {
  const first = Math.max(0, Math.min(asked - Math.floor(FEW / 2), lines.length - FEW));
  const near = Array.from({ length: Math.min(FEW, lines.length) }, (_, at) => first + at);
  return spansFrom([...new Set([headOf(lines), ...near])].sort((a, b) => a - b));
}

function spansFrom(numbers) {
  const spans = [];
  for (const at of numbers) {
    if (spans.at(-1)?.[1] === at) spans.at(-1)[1] += 1;
    else spans.push([at, at + 1]);
  }
  return spans;
}

/** Show a hit's code; `toggle` turns between a preview and all of it. */
export function codeView(hit, words) {
  const lines = linesOf(hit);
  const code = el("code");
  const view = el("pre", { class: "code", dir: "ltr" }, code);
  const long = lines.length > LONG;
  let open = false;
  const add = (start, end) =>
    code.append(...lines.slice(start, end).map((pairs, at) => lineOf(pairs, hit.start_line + start + at, words, hit.line)));
  const gap = () => code.append(el("span", { class: "gap", "aria-hidden": "true" }));
  const preview = () => {
    const shown = hit.line ? around(lines, hit.line - hit.start_line) : telling(lines, words);
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
