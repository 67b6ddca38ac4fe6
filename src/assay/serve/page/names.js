// A name in a file to where it is defined and who calls it: on a click, or from the list of names of a line.

import { ask } from "./api.js";
import { button, el, number, plain, plural } from "./dom.js";
import * as served from "./served.js";

const NAME = /[\p{L}_$][\p{L}\p{M}\d_$]*/gu;
const MOST = 40;

const namesIn = (text) => [...text.matchAll(NAME)].map((found) => ({ name: found[0], at: found.index }));

/** Return the name in a line's text that a point of the window is on, or nothing. */
export function nameAt(body, x, y) {
  const caret = document.caretPositionFromPoint?.(x, y);
  const range = caret ? null : document.caretRangeFromPoint?.(x, y);
  const [node, offset] = caret ? [caret.offsetNode, caret.offset] : [range?.startContainer, range?.startOffset];
  if (!node || !body.contains(node)) return "";
  const before = document.createRange();
  before.setStart(body, 0);
  before.setEnd(node, offset);
  const at = before.toString().length;
  return namesIn(body.textContent).find((one) => one.at <= at && at <= one.at + one.name.length)?.name ?? "";
}

/** Offer the names of a line; one alone is looked up at once. */
export function offerNames(file, line, show) {
  const names = [...new Set(namesIn(file.list.textAt(line)).map((one) => one.name))];
  if (names.length === 1) return lookUp(file, names[0], line, show);
  const list = names.map((name) => el("li", {}, button(plain(name), () => lookUp(file, name, line, show), { class: "quiet" })));
  show(
    names.length
      ? el("div", {}, el("p", { class: "empty" }, `Names on line ${number(line)}`), el("ul", { class: "names" }, list))
      : el("p", { class: "empty" }, "No name stands on this line."),
  );
  return null;
}

/** Show where a name on a line is defined, and who calls what is defined there. */
export async function lookUp(file, name, line, show) {
  show(el("p", { class: "empty" }, "Looking for ", el("code", {}, plain(name)), " …"));
  try {
    const defined = await ask("/api/definitions", { path: file.whole, line, name, limit: MOST });
    const first = defined.hits[0];
    const called = first ? await ask("/api/references", { path: `${defined.root}/${first.path}`, line: first.start_line, limit: MOST }) : null;
    show(
      el(
        "div",
        { class: "names" },
        el("h2", {}, el("bdi", {}, plain(name))),
        places(file, defined, "Defined", "No definition of it is in this repository."),
        called ? places(file, called, "Called", "Nothing here calls it.") : null,
      ),
    );
    file.say(`${plural(defined.total, "definition")}, ${plural(called?.total ?? 0, "call")}`);
  } catch (error) {
    show(el("p", { class: "empty" }, plain(error.message)));
  }
}

function places(file, { root, hits, total }, title, none) {
  if (!hits.length) return el("p", { class: "empty" }, none);
  return el(
    "section",
    {},
    el("h3", {}, `${title} `, el("span", { class: "sort" }, number(total))),
    el("ul", {}, hits.map((hit) => el("li", {}, placeLink(file, root, hit)))),
  );
}

function placeLink(file, root, { path, start_line: line, symbol, text, among }) {
  const place = served.placeOfFile(root, path);
  const told = [
    el("span", { class: "where" }, el("bdi", {}, plain(path)), `:${number(line)}`),
    symbol ? [" ", el("strong", {}, el("bdi", {}, plain(symbol)))] : null,
    among > 1 ? el("span", { class: "sort" }, ` one of ${number(among)}`) : null,
    el("code", {}, plain(text.trim().slice(0, 200))),
  ];
  if (!place) return el("span", {}, told);
  const link = el("a", { href: file.addressOf({ ...file.state, ...place, line: String(line) }) }, told);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    file.follow(place, line);
  });
  return link;
}
