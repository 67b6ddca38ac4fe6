// A file by parts of its name: a dialog over the page, gone through with the arrows.

import { ask } from "./api.js";
import { el, of, plain } from "./dom.js";
import * as served from "./served.js";

const MOST = 30;
const PAUSE_MS = 60;

let open_ = () => {};
let rootNow = () => "";
let files = [];
let at = 0;
let asked = 0;
let late = 0;

/** `chosen` gets the place of a file; `root` says which repository is asked, none for all. */
export function ready(chosen, root) {
  [open_, rootNow] = [chosen, root];
  document.addEventListener("keydown", (event) => {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open();
  });
}

export function open() {
  const dialog = of("finder");
  if (dialog.open || document.querySelector("dialog[open]")) return;
  const input = el("input", {
    type: "search",
    role: "combobox",
    "aria-label": "Find a file",
    "aria-controls": "found-files",
    "aria-expanded": "true",
    placeholder: "Find a file by parts of its path",
    maxlength: "200",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
  });
  const list = el("ul", { id: "found-files", role: "listbox", "aria-label": "Files" });
  input.addEventListener("input", () => (clearTimeout(late), (late = setTimeout(look, PAUSE_MS, input, list))));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && files.length) choose(input, list, (at + by + files.length) % files.length);
    else if (event.key === "Enter" && files[at]) pick(files[at]);
    else return;
    event.preventDefault();
  });
  dialog.replaceChildren(input, list);
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  dialog.showModal();
  look(input, list);
}

async function look(input, list) {
  const mine = (asked += 1);
  const told = await ask("/api/names", { query: input.value.trim(), path: rootNow(), limit: MOST }).catch((error) => error);
  if (mine !== asked) return;
  files = told.files ?? [];
  const rooted = served.areSeveral() && !rootNow();
  const items = files.map((whole, n) => {
    const place = served.placeOfWhole(whole);
    const text = rooted ? whole : (place?.file ?? whole);
    const name = text.lastIndexOf("/") + 1;
    const item = el("li", { role: "option", id: `found-file-${n}` }, el("bdi", {}, el("span", { class: "folder" }, plain(text.slice(0, name))), plain(text.slice(name))));
    item.addEventListener("click", () => pick(whole));
    return item;
  });
  list.replaceChildren(...(items.length ? items : [el("li", { class: "sort", role: "option", "aria-disabled": "true" }, plain(told.message ?? "No file is called so."))]));
  choose(input, list, 0);
}

function choose(input, list, next) {
  at = next;
  [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === at)));
  if (files.length) input.setAttribute("aria-activedescendant", `found-file-${at}`);
  else input.removeAttribute("aria-activedescendant");
  list.children[at]?.scrollIntoView({ block: "nearest" });
}

function pick(whole) {
  const place = served.placeOfWhole(whole);
  of("finder").close();
  if (place) open_(place);
}
