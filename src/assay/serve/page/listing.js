// The lines of a file: shown a window at a time, one of them the current one, what was sought marked.

import { nodesOf, textOf } from "./code.js";
import { el, number } from "./dom.js";
import { spansOf } from "./words.js";

const WINDOW = 2000; // lines that are asked for at once
const BEFORE = 300; // lines above the one that is wanted

/** Return which lines to ask for first, so that a line is among them with what stands around it. */
export const windowAround = (line) => (line <= WINDOW - BEFORE ? 1 : line - BEFORE);

/** Return the spans of a text in a line, as [start, end]; capitals count only where the text has one. */
export function spansOfText(line, text) {
  const folded = text === text.toLowerCase();
  const within = folded ? line.toLowerCase() : line;
  if (!text || within.length !== line.length) return [];
  const spans = [];
  for (let at = within.indexOf(text); at >= 0; at = within.indexOf(text, at + text.length))
    spans.push([at, at + text.length]);
  return spans;
}

/** Make the view of a file's lines; `load` asks for a window of them. */
export function listing({ load, words, describe }) {
  const code = el("code");
  const earlier = el("button", { type: "button", class: "further", on: { click: () => grow(-1) } });
  const later = el("button", { type: "button", class: "further", on: { click: () => grow(1) } });
  const view = el("pre", { class: "code whole", dir: "ltr" }, earlier, code, later);
  const lines = new Map(); // number -> { element, pairs }
  let [first, last, total] = [1, 0, 0];
  let [from, to] = [0, 0]; // what is selected
  let sought = { text: "", lines: new Set(), at: 0 };

  const pieces = (pairs, at) => {
    if (sought.lines.has(at)) return nodesOf(pairs, spansOfText(textOf(pairs), sought.text), "sought");
    return nodesOf(pairs, spansOf(textOf(pairs), words));
  };

  function lineOf(pairs, at, missing) {
    const body = el("span", { class: "text" }, pieces(pairs, at));
    const element = el("span", { class: "line" }, body);
    if (missing) element.append(el("span", { class: "cut" }, ` … ${number(missing)} more characters`));
    element.dataset.n = at;
    lines.set(at, { element, body, pairs });
    return element;
  }

  const linesOf = (part) =>
    part.styled.map((pairs, n) => lineOf(pairs, part.start_line + n, part.cut[part.start_line + n]));

  function edges() {
    earlier.hidden = first <= 1;
    later.hidden = last >= total;
    earlier.textContent = `Show ${number(Math.min(WINDOW, first - 1))} earlier lines`;
    later.textContent = `Show ${number(Math.min(WINDOW, total - last))} more of ${number(total - last)} lines`;
  }

  /** Show a window, alone or beside what is there. */
  function put(part, where = 0) {
    if (!where) lines.clear();
    const added = linesOf(part);
    const end = part.start_line + part.styled.length - 1;
    total = part.lines;
    if (where < 0) {
      const kept = lines.get(first)?.element;
      const before = kept?.getBoundingClientRect().top ?? 0;
      code.prepend(...added);
      first = part.start_line;
      if (kept) scrollerOf(view).scrollBy(0, kept.getBoundingClientRect().top - before);
    } else if (where > 0) {
      code.append(...added);
      last = end;
    } else {
      code.replaceChildren(...added);
      [first, last] = [part.start_line, end];
    }
    edges();
    paint();
  }

  async function grow(way) {
    const start = way < 0 ? Math.max(1, first - WINDOW) : last + 1;
    const part = await load(start, way < 0 ? first - start : WINDOW);
    if (part && (way < 0 ? start + part.styled.length === first : start === last + 1)) put(part, way);
  }

  function paint() {
    for (const { element } of lines.values()) {
      const n = Number(element.dataset.n);
      element.classList.toggle("chosen", n >= from && n <= to);
      element.classList.toggle("at", n === sought.at);
    }
  }

  /** Bring a line into view, loading what is around it where that is not there. */
  async function show(line, { end = line, choose = true, smooth = false } = {}) {
    const wanted = Math.min(Math.max(1, line), Math.max(total, 1));
    if (wanted < first || wanted > last) {
      const part = await load(windowAround(wanted), WINDOW);
      if (!part) return;
      put(part);
    }
    if (choose) [from, to] = [wanted, Math.max(wanted, end)];
    paint();
    const element = lines.get(wanted)?.element;
    element?.scrollIntoView({ block: smooth ? "nearest" : "center" });
    if (element && choose) view.setAttribute("aria-description", describe(wanted, textOf(lines.get(wanted).pairs)));
  }

  function mark(text, found, at) {
    const before = sought.lines;
    sought = { text, lines: new Set(found), at };
    for (const n of new Set([...before, ...sought.lines])) {
      const line = lines.get(n);
      line?.body.replaceChildren(...pieces(line.pairs, n));
    }
    paint();
  }

  return {
    view,
    put,
    show,
    mark,
    lines,
    textAt: (line) => (lines.has(line) ? textOf(lines.get(line).pairs) : ""),
    get chosen() {
      return [from, to];
    },
    get range() {
      return [first, last];
    },
  };
}

/** Return what scrolls when an element is out of sight. */
export function scrollerOf(element) {
  for (let at = element.parentElement; at; at = at.parentElement)
    if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight && at !== document.body)
      return at === document.documentElement ? window : at;
  return window;
}
