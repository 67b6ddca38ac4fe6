// A file opened over the answers, or beside them where there is room, and closed again: the focus and the way back.

import { of, plain } from "./dom.js";
import * as file from "./file.js";
import * as results from "./results.js";
import * as served from "./served.js";
import { CLOSED, addressOf } from "./state.js";

export const wide = matchMedia("(min-width: 100rem)");

let page = { go: () => {}, state: () => ({}) };
let opener = null; // the answer whose file was opened
let loading = Promise.resolve();
let arrived = true; // with the address, where nobody has done anything yet

/** Know how the page changes what it shows; that is what closes a file, too. */
export function ready({ go, state }) {
  page = { go, state };
  file.ready({ go, close });
}

export const isOpen = (state) => state.view === "search" && state.file !== "";
export const isBeside = (state, asking) => isOpen(state) && asking && wide.matches;

/** Show the file of the state, or none. */
export function show(state, asking) {
  document.body.classList.toggle("file-open", isOpen(state));
  document.body.classList.toggle("beside", isBeside(state, asking));
  if (!isOpen(state)) {
    arrived = false;
    return closed();
  }
  of("file").hidden = false;
  loading = shown(state);
}

async function shown(state) {
  const root = served.ofFile(state);
  try {
    if (!root) throw new Error(served.missing(state.repo));
    const key = served.areSeveral() ? root.name : "";
    await file.show(state, { root: root.name, key, say: results.say, addressOf });
    const focused = document.activeElement;
    if (arrived && (focused === document.body || focused === of("query"))) focus();
    arrived = false;
  } catch (error) {
    const now = page.state();
    if (now.file !== state.file || now.repo !== state.repo) return;
    file.clear();
    const heading = document.createElement("h1");
    heading.append(...plain(state.file));
    of("file").replaceChildren(heading, failed(error));
  }
}

function failed(error) {
  const told = document.createElement("p");
  told.setAttribute("role", "alert");
  told.className = "failed";
  told.append(...plain(error.message));
  return told;
}

/** Open a file at a line, and go there unless the focus is to stay; the way back leads to the answer. */
export async function open(place, line, { stay = false } = {}) {
  const state = page.state();
  const under = addressOf({ ...state, ...CLOSED });
  const first = !state.file;
  opener = results.current()?.article ?? (first ? null : opener);
  page.go({ ...place, line: String(line) }, { replace: stay && !first });
  if (first) history.replaceState({ ...history.state, under }, "");
  await loading;
  if (!stay) focus();
}

const focus = () => file.current()?.list.view.focus({ preventScroll: true });

/** Close the file: by the history where it was opened from what stands under it. */
export function close() {
  if (!isOpen(page.state())) return false;
  if (history.state?.under === addressOf({ ...page.state(), ...CLOSED })) history.back();
  else page.go(CLOSED);
  return true;
}

/** Put the focus back where it was before a file was opened. */
function closed() {
  if (of("file").hidden) return;
  const focused = document.activeElement;
  const lost = of("file").contains(focused) || focused === document.body;
  of("file").hidden = true;
  file.clear();
  if (!lost) return;
  const target = opener?.isConnected ? opener : of("answers");
  requestAnimationFrame(() => target.focus({ preventScroll: true }));
}
