// The keyboard: one table of keys, which the dialog shows and the listener obeys; none of them while somebody types.

import { button, el, of } from "./dom.js";

const SHOWN = [
  ["/", "Go to the search box"],
  ["Esc", "Clear the box; close what is open"],
  ["j k ↓ ↑", "Next and previous answer"],
  ["Enter", "Open the file of an answer"],
  ["a", "Show all lines of an answer, or fewer"],
  ["m", "Show what more an answer stands for, or hide it"],
  ["o", "Open in the editor, if the files are on this machine"],
  ["y", "Copy path and line; in a file, the permanent link"],
  ["e", "Explain the score"],
  ["n", "What is related"],
  ["x", "Pick to compare"],
  ["c", "Compare what is picked"],
  ["r w", "Mark right or wrong; again takes it back"],
  ["f", "In a file: find; Enter and Shift Enter go on"],
  ["b h", "In a file: who wrote each line; how the unit here came to be"],
  ["d", "In a file: the names of the line, where each is defined and who calls it; or click one"],
  ["l g", "In a file: the files beside it; the code host"],
  ["t", "Find a file by its name, anywhere; Ctrl P too"],
  ["?", "These keys"],
];

const typing = (target) =>
  target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const pressing = (target) => target.closest?.("button, a, summary, input, label");

/** Listen; `does` maps keys to what they do, and says with `true` that it did. */
export function listen(does) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]"))
      return;
    const target = event.target;
    if (typing(target)) return;
    if (event.key === "Enter" && pressing(target)) return;
    if (event.key.startsWith("Arrow") && target.closest?.("fieldset, .menu, .code, .scroll")) return;
    if (event.repeat && !["j", "k", "ArrowDown", "ArrowUp"].includes(event.key)) return;
    if (does[event.key]?.(event)) event.preventDefault();
  });
}

export function help() {
  const dialog = of("keys");
  if (!dialog.firstChild) {
    dialog.append(
      el("h2", { id: "keys-title" }, "Keys"),
      el(
        "dl",
        {},
        SHOWN.map(([keys, what]) =>
          el(
            "div",
            {},
            el(
              "dt",
              {},
              keys.split(" ").map((key) => el("kbd", {}, key)),
            ),
            el("dd", {}, what),
          ),
        ),
      ),
      button("Close", () => dialog.close()),
    );
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }
  dialog.showModal();
}
