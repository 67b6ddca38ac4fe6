// A text to its places in the open file: the lines that hold it, one after the other.

import { ask } from "./api.js";
import { el, number, plain, plural } from "./dom.js";

/** Return a field that seeks a text in a file, all of it, while that file is shown. */
export function findBar(file, isShown) {
  if (file.told.binary) return null;
  const input = el("input", {
    type: "search",
    class: "find",
    placeholder: "Find in file",
    "aria-label": "Find in file",
    title: "Find in file (f)",
    maxlength: "500",
    spellcheck: "false",
    autocapitalize: "off",
  });
  const count = el("span", { class: "sort", role: "status" });
  file.find = input;
  let late = 0;
  const look = () => find(file, input.value, count, isShown);
  input.addEventListener("input", () => {
    clearTimeout(late);
    late = setTimeout(look, 120);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      step(file, event.shiftKey ? -1 : 1, count);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (input.value) ((input.value = ""), look());
      else file.list.view.focus({ preventScroll: true });
    }
  });
  return el("span", { class: "finding" }, input, count);
}

async function find(file, text, count, isShown) {
  file.sought = null;
  if (!text) {
    count.textContent = "";
    file.list.mark("", [], 0);
    return;
  }
  try {
    const found = await ask("/api/find", { path: file.whole, text });
    if (file.find.value !== text || !isShown()) return;
    file.sought = { ...found, text, at: -1 };
    const [from] = file.list.chosen;
    const near = found.lines.findIndex((line) => line >= from);
    step(file, 1, count, Math.max(near, 0));
  } catch (error) {
    count.replaceChildren(...plain(error.message));
  }
}

async function step(file, by, count, to) {
  const { sought } = file;
  file.source();
  if (!sought) return;
  if (!sought.lines.length) {
    count.textContent = "not here";
    file.list.mark(sought.text, [], 0);
    return;
  }
  sought.at = to ?? (sought.at + by + sought.lines.length) % sought.lines.length;
  const line = sought.lines[sought.at];
  await file.list.show(line, { choose: false });
  file.list.mark(sought.text, sought.lines, line);
  count.textContent = `${number(sought.at + 1)} of ${plural(sought.total, "line")}`;
}
