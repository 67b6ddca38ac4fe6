// The page: what the address says is asked and shown, and whatever the reader does changes the address.

import { placeOf } from "./answer.js";
import { bench } from "./bench.js";
import * as compare from "./compare.js";
import { button, copy, el, of, plain, plural } from "./dom.js";
import * as complete from "./complete.js";
import { EDITORS, choose, editor, onThisMachine } from "./editor.js";
import * as facets from "./facets.js";
import * as file from "./file.js";
import * as filters from "./filters.js";
import { help, listen } from "./keys.js";
import * as finder from "./finder.js";
import * as labels from "./labels.js";
import * as matches from "./matches.js";
import * as narrow from "./narrow.js";
import * as opening from "./opening.js";
import { byMeaning, understand } from "./query.js";
import * as results from "./results.js";
import { below, find, isQuestion, isStale, onOneLine, splitPlace, stop } from "./search.js";
import * as served from "./served.js";
import * as start from "./start.js";
import { CLOSED, addressOf, questionOf, read, write } from "./state.js";

const SLOW_MS = 250;

let state = read();
let cursor = "";
let slow = 0;
let shown = null; // the question whose answers stand there
let back = history.state?.top ?? null; // how far down the reader was, where the history leads back to that

const root = () => served.chosen(state)?.name ?? "";

/** Change what is asked, write it into the address, and answer. */
function go(patch, how = {}) {
  clearTimeout(remembering);
  if (!how.typing) history.replaceState({ ...history.state, top: scrollY }, "");
  back = null;
  state = Object.freeze({ ...state, ...patch });
  write(state, how);
  render(how.at ?? performance.now());
}

async function render(began = performance.now(), { again = false } = {}) {
  const searching = state.view === "search";
  const asking = searching && (state.near !== "" || isQuestion(state.q));
  controls();
  of("searching").hidden = !searching;
  of("bench").hidden = searching;
  of("start").hidden = !searching || asking;
  document.title = title(asking);
  opening.show(state, asking);
  if (opening.isOpen(state) && !opening.isBeside(state, asking)) {
    stop();
    return waiting(false);
  }
  if (!again && shown && asking && questionOf(shown) === questionOf(state)) return place(state);
  stop();
  if (!asking) {
    waiting(false);
    problem("");
    of("found").hidden = true;
    facets.hide();
    matches.hide();
    shown = back = null;
    if (!searching) await trying(bench);
    else if (served.isMissing(state)) problem(served.missing(state.root));
    else {
      facts();
    }
    return;
  }
  if (served.isMissing(state)) {
    waiting(false);
    problem(served.missing(state.root));
    return;
  }
  await answer({ began });
}

/** Have the start and the menus say what is indexed. */
function facts() {
  if (served.areSeveral() && !served.chosen(state))
    return start.several(served.all().length, () => (filters.offer(), filters.show(state)));
  start.facts(root(), (status) => (filters.offer(status), filters.show(state)));
}

function title(asking) {
  if (opening.isOpen(state)) return `${state.file} · Assay`;
  const what = state.view === "bench" ? "Bench" : asking ? state.near || state.q : "";
  return what ? `${what} · Assay` : "Assay";
}

async function answer({ began, further = false }) {
  waiting(true);
  const mine = state;
  await trying(async () => {
    const asked = find(mine, root(), { cursor: further ? cursor : "", told: progress });
    const [told] = await Promise.all([asked, understand(mine.q)]);
    if (mine !== state) return;
    await labelled(told);
    if (mine !== state) return;
    cursor = told.cursor;
    of("found").hidden = false;
    nearby(mine, told);
    results.show(told, mine, { further, does });
    filters.show(mine);
    if (!further) await beside(told, mine);
    if (mine !== state) return;
    facts();
    if (!further) place(mine);
    if (!further) facets.show(mine, root());
    painted(began);
  });
}

/** List every match below the answers, or say which filter leaves none. */
async function beside(told, mine) {
  matches.hide();
  if (told.matches > 0) {
    const listed = byMeaning(mine.q) ? () => {} : results.add;
    await matches.show(told, mine, root(), { found: listed, does: does(told) });
  } else if (!told.hits.length) narrow.explain(mine, root(), (patch) => mine === state && go(patch));
}

/** Scroll to where the reader was, where the history led back to that; to the top of what another answer is related to. */
function place(mine) {
  if (back !== null) scrollTo({ top: back, behavior: "instant" });
  else if (mine.near !== (shown?.near ?? "")) scrollTo({ top: 0, behavior: "instant" });
  back = null;
  shown = mine;
}

/** Try something, and say in a sentence why it did not succeed; what was given up is no failure. */
async function trying(work) {
  try {
    await work();
    problem("");
    waiting(false);
  } catch (error) {
    if (error.name === "AbortError") return;
    waiting(false);
    if (isStale(error)) return go({});
    if (complete.isWord()) return; // half a query word names nothing yet
    problem(error.message);
  }
}

async function labelled({ root: one, hits }) {
  try {
    await Promise.all([...new Set(hits.map((hit) => hit.root || one))].map(labels.load));
    tally();
  } catch (error) {
    of("labels").hidden = false;
    of("labels").replaceChildren(...plain(`Judgments cannot be read: ${error.message}`));
  }
}

function problem(text) {
  of("problem").hidden = !text;
  of("problem").replaceChildren(...plain(text));
  if (!text) return;
  of("found").hidden = true;
  facets.hide();
}

/** Show that an answer is on its way, once that takes long enough to be noticed. */
function waiting(is) {
  clearTimeout(slow);
  of("answers").setAttribute("aria-busy", String(is));
  if (is) slow = setTimeout(() => (of("wait").hidden = false), SLOW_MS);
  else {
    of("wait").hidden = true;
    of("wait").firstElementChild.textContent = "";
  }
}

/** Say what the server is at, but for its advice: the page asks again by itself. */
function progress(sentence) {
  of("wait").hidden = false;
  of("wait").firstElementChild.replaceChildren(...plain(`${sentence.split(";")[0]}; the answer follows`));
  of("found").hidden = true;
  results.say(sentence);
}

/** Note how long it took from the key to what is on the screen. */
function painted(began) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => performance.measure("answered", { start: began, end: performance.now() });
    port2.postMessage(null);
  });
}

const isLookedUp = ({ line, why = {} }) => line && ("place" in why || "operation" in why);
const linesOfHit = (hit) => (isLookedUp(hit) ? `${hit.line}` : hit.end_line > hit.start_line ? `${hit.start_line}-${hit.end_line}` : `${hit.start_line}`);

const does = (told) => ({
  href: (hit) => {
    const place = served.placeOfFile(hit.root || told.root, hit.path);
    return place && addressOf({ ...state, ...place, line: linesOfHit(hit) });
  },
  open: (hit, how) => {
    const place = served.placeOfFile(hit.root || told.root, hit.path);
    if (place) opening.open(place, linesOfHit(hit), how);
  },
  pick: (hit, is) => compare.pick(hit, hit.root || told.root, is),
  related: (hit) => {
    const from = addressOf(state);
    const path = root() ? below(root(), told.root, hit.path) : `${hit.root || told.root}/${hit.path}`;
    go({ near: placeOf({ ...hit, path }) });
    history.replaceState({ ...history.state, from }, "");
  },
  label: async (hit, grade) => {
    try {
      await labels.label(hit.root || told.root, state.q, hit, grade);
      for (const { actions } of results.all()) actions.graded?.();
      tally();
      marked(grade);
    } catch (error) {
      of("problem").hidden = false;
      of("problem").replaceChildren(...plain(`Not saved: ${error.message}`));
    }
  },
});

const SHOWN_MS = 4000;
let hiding = 0;

/** Say what a mark did, and how it is undone. */
function marked(grade) {
  const told = grade === null ? "taken back" : grade ? "marked right; r takes it back" : "marked wrong; w takes it back";
  of("said").hidden = false;
  of("said").replaceChildren(told);
  clearTimeout(hiding);
  hiding = setTimeout(() => (of("said").hidden = true), SHOWN_MS);
}

function tally() {
  const every = labels.counted();
  of("labels").hidden = every.length === 0;
  const shown = every.map(({ root: name, file, judgments, questions }) => {
    const command = `assay bench ${file} --corpus .`;
    const pressed = button("Copy", () => copy(command, pressed), { class: "quiet" });
    const where = served.areSeveral() ? name : "this repository";
    const told = `${plural(judgments, "judgment")} of ${plural(questions, "question")} in ${where}. Measure with them there: `;
    return el("span", {}, plain(told), el("code", {}, command), " ", pressed);
  });
  of("labels").replaceChildren(...shown);
}

/** Leave what is related: by the history where it was come to from the answers, which keeps where they were. */
function left(mine) {
  if (history.state?.from === addressOf({ ...mine, near: "" })) history.back();
  else go({ near: "" });
}

function nearby(mine, { root: one, subject }) {
  const { near, q } = mine;
  of("near").hidden = !near;
  if (!near) return;
  const [path, line] = splitPlace(near);
  const leave = q ? button(`Back to “${q}”`, () => left(mine), { class: "quiet" }) : null;
  of("near").replaceChildren(
    el(
      "p",
      {},
      "Related to ",
      subject?.symbol ? [el("bdi", {}, plain(subject.symbol)), " in "] : null,
      el("strong", {}, el("bdi", {}, plain(path)), `:${line}`),
      served.areSeveral() && root() ? plain(` of ${one}`) : null,
      subject?.among > 1 ? ` (one of ${subject.among} definitions of that name)` : null,
    ),
    ...(leave ? [leave] : []),
  );
}

function controls() {
  if (of("query").value !== state.q) of("query").value = state.q;
  filters.show(state);
  for (const link of document.querySelectorAll("[data-view]")) {
    link.setAttribute("aria-current", link.dataset.view === state.view ? "page" : "false");
    link.href = addressOf({ ...state, view: link.dataset.view });
  }
  if (served.areSeveral()) of("root").value = state.root;
}

async function serving() {
  const { judge, local } = await served.load();
  const roots = served.all();
  labels.judgeIs(judge);
  onThisMachine(local);
  of("editor").parentElement.hidden = !local;
  of("root").hidden = roots.length < 2;
  of("root").replaceChildren(
    el("option", { value: "" }, "All repositories"),
    ...roots.map((one) => el("option", { value: one.name, title: one.folder || null }, plain(one.name))),
  );
  of("root-name").hidden = roots.length > 1;
  of("root-name").replaceChildren(...plain(roots[0]?.name ?? ""));
}

let remembering = 0;

/** Keep with the history how far down the reader is, for when it leads back here. */
function remember() {
  clearTimeout(remembering);
  if (back === null) remembering = setTimeout(() => history.replaceState({ ...history.state, top: scrollY }, ""), 150);
}

function wire() {
  const query = of("query");
  query.focus({ preventScroll: true });
  complete.ready(() => state);
  facets.ready((patch) => go({ ...patch, near: "" }));
  query.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!/\n/.test(text.trim())) return;
    event.preventDefault();
    query.setRangeText(onOneLine(text), query.selectionStart, query.selectionEnd, "end");
    query.dispatchEvent(new Event("input", { bubbles: true }));
  });
  query.addEventListener("input", () => {
    const kept = opening.wide.matches ? {} : CLOSED;
    go({ q: query.value, near: "", ...kept }, { typing: true, at: performance.now() });
  });
  opening.wide.addEventListener("change", () => render());
  new ResizeObserver(results.reachable).observe(of("hits"));
  of("form").addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("keydown", (event) => {
    if (["ArrowDown", "Enter"].includes(event.key) && !event.isComposing && results.step(1)) event.preventDefault();
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    if (query.value) go({ q: "", near: "" });
    else query.blur();
  });
  of("root").addEventListener("change", () => go({ root: of("root").value, lang: [], kind: [], near: "" }));
  of("editor").append(...Object.entries(EDITORS).map(([value, label]) => el("option", { value }, label)));
  of("editor").value = editor();
  of("editor").addEventListener("change", () => (choose(of("editor").value), render(performance.now(), { again: true })));
  of("more").addEventListener("click", () => answer({ began: performance.now(), further: true }));
  of("help").addEventListener("click", help);
  history.scrollRestoration = "manual";
  addEventListener("scroll", remember, { passive: true });
  addEventListener("popstate", (event) => {
    clearTimeout(remembering); // it would write where the page that was left stood
    back = event.state?.top ?? 0;
    state = read();
    render();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-view]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ view: link.dataset.view });
  });
}

const at =
  (action, ...given) =>
  () => {
    const call = results.current()?.actions[action];
    call?.(...given);
    return Boolean(call);
  };

/** Do something with the open file where the reader is in it, else with the answer that the reader is at. */
const inFile = (work) => {
  const open = of("file").contains(document.activeElement) || !results.current() ? file.current() : null;
  if (open) work(open);
  return Boolean(open);
};
const either = (work, other) => () => inFile(work) || other();
const step = (by) => either((open) => file.move(open, by), () => stepped(by));

/** Go to another answer; where a file stands beside them it follows. */
function stepped(by) {
  if (!results.step(by)) return false;
  const here = results.current();
  if (here && opening.isOpen(state)) here.actions.open({ stay: true });
  return true;
}

listen({
  "/": () => (of("query").focus(), of("query").select(), true),
  "?": () => (help(), true),
  j: step(1),
  k: step(-1),
  ArrowDown: () => (results.current() ? stepped(1) : false),
  ArrowUp: () => (results.current() ? stepped(-1) : false),
  Enter: at("open"),
  a: at("expand"),
  o: either((open) => open.editor?.click(), at("edit")),
  y: either(file.copyLink, at("copy")),
  f: () => inFile((open) => open.find?.focus()),
  b: () => inFile(file.blame),
  h: () => inFile(file.history),
  d: () => inFile(file.names),
  g: () => inFile((open) => open.host?.click()),
  t: () => (finder.open(), true),
  l: () => inFile(file.tree),
  Escape: () => opening.close(),
  e: at("why"),
  n: at("related"),
  m: at("more"),
  x: at("pick"),
  c: () => (compare.open(), true),
  r: at("grade", 1),
  w: at("grade", 0),
});
finder.ready((place) => opening.open(place, ""), root);
opening.ready({ go, state: () => state });
compare.onChange(results.mark);
filters.ready(go);
wire();
trying(serving).then(() => render());
