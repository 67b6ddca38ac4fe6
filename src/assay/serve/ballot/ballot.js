// What pages that ask about one item at a time share: asking the server, how far it is, going back, the end.

import { codeView } from "../page/code.js";
import { number, of, plain } from "../page/dom.js";

let page = null;
let state = null;
let began = 0;
let busy = false;
let over = false;

/** Begin: `show` gets an item and what is told of it, `end` what is told at the end, `keys` maps a key to what it does. */
export function begin(given) {
  page = given;
  of("back").addEventListener("click", back);
  of("finish").addEventListener("click", finish);
  document.addEventListener("keydown", pressed);
  ask("state");
}

/** Send an answer about the item that is shown. */
export function answer(given) {
  if (state?.item) ask("vote", { item: state.item.id, seconds: (performance.now() - began) / 1000, ...given });
}

/** Show a question as text, with characters that could deceive written out. */
export function showQuery(text) {
  of("query").replaceChildren(...plain(text));
}

/** Show a code, all of it, in a place of the page. */
export function showCode(place, code, name) {
  const { view, long, toggle } = codeView({ text: code.code, styled: code.styled, start_line: 1 }, []);
  if (long) toggle();
  view.tabIndex = 0;
  view.setAttribute("role", "region");
  view.setAttribute("aria-label", name);
  of(place).replaceChildren(view);
}

function pressed(event) {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  const inField = /^(TEXTAREA|INPUT)$/.test(event.target.tagName);
  const done = inField ? page.field?.(event) : act(event);
  if (done) event.preventDefault();
}

function act(event) {
  if (Object.hasOwn(page.keys, event.key)) page.keys[event.key]();
  else if (event.key === "Backspace") back();
  else if (event.key === "Enter" && !/^(BUTTON|SUMMARY)$/.test(event.target.tagName)) finish();
  else return false;
  return true;
}

async function ask(path, given) {
  if (busy || over) return;
  setBusy(true);
  try {
    const how = given === undefined ? {} : {
      method: "POST", body: JSON.stringify(given), headers: { "Content-Type": "application/json" },
    };
    const answered = await fetch(path, { ...how, cache: "no-store", signal: AbortSignal.timeout(10_000) });
    const told = await answered.json();
    if (!answered.ok) throw new Error(told.error);
    of("problem").hidden = true;
    if (path === "finish") end(told);
    else show(told);
  } catch (error) {
    of("problem").textContent = error instanceof TypeError || error.name === "TimeoutError"
      ? "Not saved: nothing answers. Is the command still running?" : `Not saved: ${error.message}`;
    of("problem").hidden = false;
  }
  setBusy(false);
}

function show(told) {
  state = told;
  const item = told.item;
  of("count").textContent = `${number(told.voted)} of ${number(told.total)}`;
  of("bar").max = Math.max(told.total, 1);
  of("bar").value = told.voted;
  for (const part of document.querySelectorAll(".asked")) part.hidden = !item;
  for (const part of document.querySelectorAll(".ended")) part.hidden = Boolean(item);
  of("back").hidden = told.at === 0;
  if (item) page.show(item, told);
  document.querySelector(item ? "#query" : "#end h1").focus({ preventScroll: true });
  scrollTo(0, 0);
  document.body.dataset.at = told.at;
  began = performance.now();
}

function end(told) {
  over = true;
  document.querySelector("#end h1").textContent = "Thank you.";
  document.querySelector("#end p").textContent = "You can close this page.";
  of("finish").hidden = of("back").hidden = true;
  page.end?.(told);
}

function setBusy(now) {
  busy = now;
  for (const button of document.querySelectorAll("button")) button.disabled = busy;
  document.body.dataset.busy = busy;
}

function back() {
  if (state && state.at > 0) ask(`state?at=${state.at - 1}`);
}

function finish() {
  if (state && !state.item) ask("finish", {});
}
