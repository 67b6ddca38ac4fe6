// Two or three picked answers side by side: what they share recedes, what differs stands out.

import { percent, placeOf, placeView, titleOf } from "./answer.js";
import { codeOf, linesOf, nodesOf, textOf } from "./code.js";
import { aligned, differences, namesOnlyIn } from "./diff.js";
import { button, el, of, plain, plural } from "./dom.js";
import { placeOfFile } from "./served.js";
import { addressOf, read } from "./state.js";

export const MOST = 3;
const NAMES = 8;
const MOST_LINES = 1500;
const SELF = new Set(["self", "cls", "this", "None", "null", "nil", "True", "False", "true", "false", "undefined"]);

const targetOf = (hit) => `${hit.root ?? ""}/${placeOf(hit)}-${hit.end_line}`;

let picked = [];
let refused = "";
let changed = () => {};

const hrefOf = (hit, root) => {
  const place = placeOfFile(hit.root || root, hit.path);
  return place && addressOf({ ...read(), ...place, line: String(hit.start_line) });
};
export const onChange = (call) => (changed = call);
export const isPicked = (hit) => picked.some((one) => targetOf(one.hit) === targetOf(hit));
export const clear = () => ((picked = []), (refused = ""), tray(), changed());

/** Pick a hit or put it back; one too many is refused. */
export function pick(hit, root, is = !isPicked(hit)) {
  const others = picked.filter((one) => targetOf(one.hit) !== targetOf(hit));
  refused = is && others.length === MOST ? `Only ${MOST} are compared at once: put one back first` : "";
  if (!refused) picked = is ? [...others, { hit, root }] : others;
  tray();
  changed();
}

/** Say whether another picked one has the same name. */
const alike = (hit) => picked.filter((one) => titleOf(one.hit) === titleOf(hit)).length > 1;

function tray() {
  const bar = of("tray");
  bar.hidden = picked.length === 0;
  document.body.classList.toggle("tray-open", !bar.hidden);
  const names = picked.map(({ hit }) =>
    el(
      "li",
      {},
      el("bdi", {}, plain(titleOf(hit))),
      alike(hit) ? el("bdi", { class: "hint" }, plain(` ${placeOf(hit)}`)) : null,
      button("×", () => pick(hit, "", false), { class: "quiet", "aria-label": `Put ${alike(hit) ? placeOf(hit) : titleOf(hit)} back` }),
    ),
  );
  const ready = picked.length > 1;
  bar.replaceChildren(
    el("ul", {}, names),
    el("span", { class: "hint", role: "status" }, refused || (ready ? "" : "Pick one or two more to compare")),
    button("Compare", open, { class: "primary", disabled: !ready }),
    button("Clear", clear, { class: "quiet" }),
  );
}

/** Show what is picked; nothing happens while that is fewer than two. */
export function open() {
  if (picked.length < 2) return;
  const dialog = of("compare");
  const columns = columnsOf(picked);
  const fold = el("input", {
    type: "checkbox",
    on: { change: () => columns.classList.toggle("folded", fold.checked) },
  });
  dialog.replaceChildren(
    el(
      "div",
      { class: "compare-head" },
      el("h2", { id: "compare-title" }, "Side by side"),
      el(
        "p",
        { class: "legend" },
        el("span", { class: "same" }, "in all"),
        el("span", { class: "like" }, "alike, ", el("mark", { class: "differs" }, "what differs")),
        el("span", { class: "only" }, "only there"),
      ),
      el("label", {}, fold, "Hide common lines"),
      button("Close", () => dialog.close(), { "aria-label": "Close the comparison" }),
    ),
    columns,
  );
  dialog.showModal();
  dialog.scrollTop = 0;
}

function columnsOf(answers) {
  const lines = answers.map(({ hit }) => linesOf(hit).slice(0, MOST_LINES));
  const texts = lines.map((each) => each.map(textOf));
  const rows = aligned(texts);
  const names = namesOnlyIn(lines.map((each) => each.map(codeOf).join("\n"))).map((own, at) =>
    own.filter((name) => name !== answers[at].hit.symbol && !SELF.has(name)),
  );
  const marked = rows.map((row) => sortedRow(row, texts));
  const columns = el("div", { class: "columns" });
  columns.dataset.count = answers.length;
  answers.forEach(({ hit, root }, at) => {
    const code = el(
      "code",
      {},
      rows.map((row, place) => cell(row[at], marked[place], at, lines[at], hit)),
    );
    columns.append(
      el(
        "article",
        { "aria-label": titleOf(hit) },
        headOf(hit, root, names[at]),
        el("pre", { class: "code", dir: "ltr", tabindex: "0", "aria-label": `Code of ${titleOf(hit)}` }, code),
      ),
    );
  });
  return columns;
}

function headOf(hit, root, names) {
  const facts = {
    chance: hit.score <= 1 ? percent(hit.score) : null,
    lines: plural(hit.end_line - hit.start_line + 1, "line"),
    size: plural(new TextEncoder().encode(hit.text).length, "byte"),
    sort: [hit.kind, hit.language].filter(Boolean).join(" · "),
  };
  const shown = names.slice(0, NAMES);
  return el(
    "div",
    { class: "column-head" },
    el("h3", {}, el("bdi", {}, plain(titleOf(hit)))),
    el("p", { class: "place" }, placeView(hit, hrefOf(hit, root))),
    el("p", { class: "sort" }, Object.values(facts).filter(Boolean).join(" · ")),
    shown.length
      ? el(
          "p",
          { class: "alone" },
          "Only here: ",
          shown.flatMap((name, at) => [at ? " " : "", el("code", {}, plain(name))]),
          names.length > NAMES ? ` and ${names.length - NAMES} more` : "",
        )
      : null,
  );
}

/** Return how the lines of a row that stand together do so, and the spans of each that differ. */
function sortedRow(row, texts) {
  const lines = row.map(({ line, alone }, at) => (line < 0 || alone ? null : texts[at][line]));
  const there = lines.filter((line) => line !== null);
  const same =
    there.length === lines.length && new Set(there.map((line) => line.trim().replace(/\s+/g, " "))).size === 1;
  return { sort: same ? "same" : "like", spans: same ? [] : differences(lines) };
}

function cell({ line, alone }, { sort, spans }, at, lines, hit) {
  if (line < 0) return el("span", { class: "line blank", "aria-hidden": "true" });
  const empty = !textOf(lines[line]).trim();
  const made = el(
    "span",
    { class: `line ${empty ? "empty" : alone ? "only" : sort}` },
    nodesOf(lines[line], (!alone && spans[at]) || [], "differs"),
  );
  made.dataset.n = hit.start_line + line;
  return made;
}
