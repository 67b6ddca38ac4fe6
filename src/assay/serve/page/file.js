// One file, whole: its lines with one of them current, what stands in it, what lies beside it, and how it came to be.

import { address, ask } from "./api.js";
import { commitView, hideBlame, historyView, showBlame } from "./commits.js";
import { button, copy, el, intoView, number, of, plain, plural } from "./dom.js";
import { linkTo } from "./editor.js";
import { findBar } from "./find.js";
import { listing, windowAround } from "./listing.js";
import { markdownView } from "./markdown.js";
import { lookUp, nameAt, offerNames } from "./names.js";
import { folderOf } from "./served.js";
import { treeView } from "./tree.js";
import { wordsOf } from "./words.js";

const WEB = /^https?:\/\//;
const LINES = 2000;
const NOTHING = { key: "" };

let shown = NOTHING; // the file that stands there
let go = () => {};
let close = () => {};
let folders = null;
let asked = 0;

export const ready = (page) => ({ go, close } = page);
export const current = () => (shown.list ? shown : null);
const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);

/** Read `12` or `12-20`. */
export function linesIn(text) {
  const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(text);
  const start = found ? Math.max(1, Number(found[1])) : 0;
  return [start, found?.[2] ? Math.max(start, Number(found[2])) : start];
}

/** Show a file of a served root at the lines that the state says; what is there already is only scrolled. */
export async function show(state, { root, key, say, addressOf }) {
  const [line, end] = linesIn(state.line);
  const path = state.file;
  const same = `${root}\n${path}`;
  if (shown.key === same && shown.list) {
    asSource(shown, Boolean(line) || !shown.rendered?.checkVisibility());
    if (line) await shown.list.show(line, { end });
    outlined(shown);
    return shown;
  }
  const mine = (asked += 1);
  const whole = `${root}/${path}`;
  const load = (start, count) => ask("/api/file", { path: whole, line: start, count, styled: true });
  const at = line || 1;
  const start = windowAround(at);
  const told = await load(1, start > 1 ? 1 : LINES);
  if (mine !== asked) return null;
  const part = start > 1 && start <= told.lines ? await load(start, LINES) : told;
  if (mine !== asked) return null;
  const list = listing({ load, words: wordsOf(state.q), describe: (n, text) => `Line ${number(n)}: ${text.trim().slice(0, 200)}` });
  shown = { key: same, root, path, whole, told, list, repository: key, addressOf, say, state, blame: false, sought: null };
  shown.source = () => asSource(shown, true);
  shown.follow = (place, to) => go({ ...place, line: String(to) });
  draw(shown);
  list.put(part);
  if (line) await list.show(Math.min(line, told.lines), { end: Math.min(end, told.lines) });
  outlined(shown);
  say(`${nameOf(path)}, ${plural(told.lines, "line")}${line ? `, at line ${number(line)}` : ""}`);
  return shown;
}

export function clear() {
  asked += 1;
  shown = NOTHING;
  of("file").replaceChildren();
}

/** Return the address of the chosen lines at the code host, or nothing. */
export function permalink({ told: { links }, list }) {
  if (!WEB.test(links.file)) return "";
  const [start, end] = list.chosen;
  if (!start) return links.file;
  return links.file + (end > start ? links.lines : links.line).replace("{start}", start).replace("{end}", end);
}

function draw(file) {
  const { told, list } = file;
  const panel = panelOf(file);
  const body = told.binary
    ? el("p", { class: "lead" }, "A binary file: there are no lines to show. ", rawLink(file))
    : list.view;
  file.rendered = told.rendered?.length ? renderedView(file) : null;
  list.view.setAttribute("tabindex", "0");
  list.view.setAttribute("role", "region");
  list.view.setAttribute("aria-label", `Lines of ${nameOf(file.path)}`);
  list.view.addEventListener("click", (event) => choose(file, event));
  of("file").replaceChildren(headOf(file), el("div", { class: "file-body" }, panel, el("div", { class: "lines-of" }, notes(file), file.rendered, body)));
  asSource(file, Boolean(linesIn(file.state.line)[0]));
}

const renderedView = (file) =>
  markdownView(file.told.rendered, {
    path: file.path,
    hrefOf: (path) => file.addressOf({ ...file.state, file: path, line: "" }),
    open: (path) => go({ file: path, line: "" }),
  });

/** Show a file of Markdown by its lines, or rendered. */
function asSource(file, is) {
  if (!file.rendered) return;
  file.rendered.hidden = is;
  file.list.view.hidden = !is;
  file.turned.textContent = is ? "Rendered" : "Source";
}

function notes({ told }) {
  const said = [
    told.truncated ? `The file is large: its first ${number(told.lines)} lines are shown, the raw file has all.` : "",
    told.modified && told.links.file ? "It differs from the last commit: lines may be others at the code host." : "",
    told.reason ? `No search looks into it: ${told.reason}.` : "",
  ].filter(Boolean);
  return said.length ? el("p", { class: "note" }, plain(said.join(" "))) : null;
}

function headOf(file) {
  const { told, path } = file;
  const parts = path.split("/");
  const crumbs = parts.map((part, at) =>
    at === parts.length - 1
      ? el("h1", { id: "file-title" }, el("bdi", {}, plain(part)))
      : [button(plain(part), () => reveal(file, parts.slice(0, at + 1).join("/")), { class: "quiet" }), "/"],
  );
  const facts = [told.language, plural(told.lines, "line"), sizeOf(told.size)].filter(Boolean).join(" · ");
  return el(
    "div",
    { class: "file-head" },
    el("div", { class: "crumbs" }, file.repository ? [el("span", { class: "folder" }, plain(file.repository)), "/"] : null, crumbs),
    el("span", { class: "sort" }, facts),
    el("div", { class: "file-actions" }, toolsOf(file), findBar(file, () => shown === file)),
    button("×", () => close(), { class: "close quiet", "aria-label": "Close the file", title: "Close (Esc)" }),
  );
}

const sizeOf = (bytes) =>
  bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

function toolsOf(file) {
  const { told } = file;
  if (told.binary) return [rawLink(file)];
  file.turned = told.rendered?.length ? button("Source", () => asSource(file, file.list.view.hidden), { class: "quiet" }) : null;
  file.blamed = button("Blame", () => blame(file), { class: "quiet", "aria-pressed": "false", title: "Who wrote each line (b)" });
  file.copied = button(told.links.file ? "Copy link" : "Copy path", () => copyLink(file), { class: "quiet", title: "Copy (y)" });
  const host = WEB.test(told.links.file)
    ? el("a", { class: "tool", href: told.links.file, target: "_blank", rel: "noreferrer", title: "Open at the code host (g)" }, told.links.host)
    : null;
  host?.addEventListener("click", () => (host.href = permalink(file)));
  file.host = host;
  const folder = folderOf(file.root);
  const href = linkTo(folder, file.path, 1);
  const editor = href ? el("a", { class: "tool", href, title: "Open in the editor (o)" }, "Editor") : null;
  editor?.addEventListener("click", () => (editor.href = linkTo(folder, file.path, file.list.chosen[0] || 1)));
  file.editor = editor;
  return [
    file.turned,
    file.blamed,
    button("History", () => history(file), { class: "quiet", title: "How the lines here came to be (h)" }),
    file.copied,
    host,
    editor,
    rawLink(file),
  ];
}

const rawLink = (file) =>
  el("a", { class: "tool", href: address("/api/raw", { path: file.whole }), target: "_blank", rel: "noreferrer" }, "Raw");

export function copyLink(file) {
  const [line] = file.list.chosen;
  return copy(permalink(file) || (line ? `${file.path}:${line}` : file.path), file.copied);
}

/* the panel beside the lines */

const TABS = { outline: "Outline", files: "Files", history: "History", names: "Names" };

function panelOf(file) {
  file.panes = Object.fromEntries(
    Object.keys(TABS).map((name) => [name, el("div", { role: "tabpanel", id: `pane-${name}`, "aria-labelledby": `tab-${name}`, hidden: true })]),
  );
  file.tabs = Object.fromEntries(
    Object.entries(TABS).map(([name, title]) => [
      name,
      button(title, () => turn(file, name), { role: "tab", id: `tab-${name}`, "aria-controls": `pane-${name}`, class: "quiet" }),
    ]),
  );
  const names = Object.keys(TABS);
  const tabs = el("div", { role: "tablist", "aria-label": "Beside the file" }, Object.values(file.tabs));
  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const at = names.findIndex((name) => file.tabs[name] === document.activeElement);
    const next = names.filter((name) => !file.tabs[name].hidden);
    const to = next[(next.indexOf(names[at]) + by + next.length) % next.length];
    turn(file, to);
    file.tabs[to].focus();
    event.preventDefault();
  });
  file.panes.outline.append(outlineOf(file));
  file.tabs.history.hidden = file.tabs.names.hidden = true;
  const panel = el("div", { class: "panel" }, tabs, Object.values(file.panes));
  turn(file, file.told.outline.length ? "outline" : "files");
  return panel;
}

function turn(file, name) {
  for (const each of Object.keys(TABS)) {
    const is = each === name;
    file.panes[each].hidden = !is;
    file.tabs[each].setAttribute("aria-selected", String(is));
    file.tabs[each].tabIndex = is ? 0 : -1;
    if (is) file.tabs[each].hidden = false;
  }
  if (name === "files") files(file);
}

function outlineOf(file) {
  const { outline } = file.told;
  if (!outline.length) return el("p", { class: "empty" }, "Nothing is declared here, or its language is not read.");
  return el(
    "ul",
    { class: "outline" },
    outline.map((one) => {
      const link = el(
        "a",
        { href: file.addressOf({ ...file.state, line: String(one.line) }), title: one.kind },
        el("bdi", {}, plain(one.name)),
      );
      link.style.paddingLeft = `${0.5 + 0.9 * Math.min(one.depth, 8)}rem`;
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        const heading = [...(file.rendered?.querySelectorAll("[data-slug]") ?? [])].find((each) => each.textContent === one.name);
        if (heading?.checkVisibility()) return heading.scrollIntoView();
        go({ line: String(one.line) });
        file.list.view.focus({ preventScroll: true });
      });
      return el("li", {}, link);
    }),
  );
}

/** Mark the unit that the chosen line is in. */
function outlined(file) {
  const unit = unitAt(file, file.list.chosen[0]);
  const links = [...file.panes.outline.querySelectorAll("a")];
  links.forEach((link, at) => {
    if (unit && file.told.outline[at] === unit) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  intoView(links.find((link) => link.hasAttribute("aria-current")));
}

function files(file, folder = "") {
  if (folders?.root !== file.root)
    folders = treeView({
      root: file.root,
      open: (path) => go({ file: path, line: "" }),
      href: (path) => file.addressOf({ ...file.state, file: path, line: "" }),
    });
  file.panes.files.replaceChildren(folders.view);
  return folders.reveal(folder ? `${folder}/` : file.path);
}

async function reveal(file, folder) {
  turn(file, "files");
  await files(file, folder);
  file.tabs.files.focus();
}

/** Show the files beside the one that is open, and go there. */
export async function tree(file) {
  await reveal(file);
  file.panes.files.querySelector("a[aria-current]")?.focus();
}

/* who wrote it */

export async function blame(file) {
  asSource(file, true);
  file.blame = !file.blame;
  file.blamed.setAttribute("aria-pressed", String(file.blame));
  file.list.view.classList.toggle("blamed", file.blame);
  if (!file.blame) return hideBlame(file.list.lines);
  const [start, end] = file.list.range;
  try {
    file.say("Reading who wrote each line");
    const told = await ask("/api/blame", { path: file.whole, line: start, count: Math.min(LINES, end - start + 1) });
    if (shown !== file || !file.blame) return;
    showBlame(file.list.lines, told, (commit) => {
      file.panes.history.replaceChildren(el("div", { class: "commits" }, commitView(commit, told.links)));
      turn(file, "history");
    });
    file.say(`Written by ${plural(told.commits.length, "commit")}`);
  } catch (error) {
    file.blame = false;
    file.blamed.setAttribute("aria-pressed", "false");
    file.list.view.classList.remove("blamed");
    sayIn(file, "history", error.message);
  }
}

/** Return the innermost declaration around a line: its first and last line and its name. */
export function unitAt(file, line) {
  const around = file.told.outline.filter((one) => one.line <= line && line <= one.end_line);
  return around.at(-1) ?? null;
}

export async function history(file) {
  const [start, end] = file.list.chosen;
  const unit = start && end === start ? unitAt(file, start) : null;
  const [from, to] = unit ? [unit.line, unit.end_line] : [start, end];
  const what = unit ? unit.name : start ? `line ${number(start)}${end > start ? `–${number(end)}` : ""}` : nameOf(file.path);
  sayIn(file, "history", `Reading how ${what} came to be …`);
  try {
    const told = await ask("/api/history", { path: file.whole, line: from, end_line: to });
    if (shown !== file) return;
    file.panes.history.replaceChildren(historyView(told, what));
    file.say(plural(told.commits.length, "commit"));
  } catch (error) {
    sayIn(file, "history", error.message);
  }
}

function sayIn(file, pane, text) {
  file.panes[pane].replaceChildren(el("p", { class: "empty" }, plain(text)));
  turn(file, pane);
}

/* names */

const inNames = (file) => (view) => {
  if (shown !== file) return;
  file.panes.names.replaceChildren(view);
  turn(file, "names");
};

/** Offer the names of the current line, to see where each is defined and who calls it. */
export const names = (file) => offerNames(file, file.list.chosen[0] || file.list.range[0], inNames(file));

/* the current line */

function choose(file, event) {
  const line = event.target.closest(".line");
  if (!line || event.target.closest("button, a")) return;
  const n = Number(line.dataset.n);
  const body = line.querySelector(".text");
  if (event.target.closest(".text") || event.clientX > body.getBoundingClientRect().left) {
    const name = getSelection().isCollapsed ? nameAt(body, event.clientX, event.clientY) : "";
    if (name) lookUp(file, name, n, inNames(file));
    return;
  }
  const [start] = file.list.chosen;
  const [a, b] = event.shiftKey && start ? [Math.min(start, n), Math.max(start, n)] : [n, n];
  go({ line: b > a ? `${a}-${b}` : String(a) }, { still: true });
}

/** Go so many lines on. */
export function move(file, by) {
  const [start, end] = file.list.chosen;
  const [first] = file.list.range;
  const next = start ? (by > 0 ? end + by : start + by) : first;
  const line = Math.min(Math.max(1, next), file.told.lines);
  go({ line: String(line) }, { still: true, replace: true });
}
