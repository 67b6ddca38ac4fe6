// Reports of `assay bench`: a list of them; each is a page of its own.

import { ask } from "./api.js";
import { button, copy, el, of, plain } from "./dom.js";

const COMMAND = "assay bench assay-truth.jsonl --corpus .";
let asked = 0;

export async function bench() {
  const mine = (asked += 1);
  const { reports } = await ask("/api/bench");
  if (mine === asked) of("reports").replaceChildren(reports.length ? el("ul", {}, reports.map(entry)) : nothing());
}

function nothing() {
  const pressed = button("Copy", () => copy(COMMAND, pressed), { class: "quiet" });
  return el(
    "div",
    { class: "lead" },
    el("p", {}, "No report yet. Mark answers right or wrong, then measure with them:"),
    el("p", { class: "command" }, el("code", {}, COMMAND), pressed),
    el("p", {}, "A report in another folder is listed with --bench FOLDER."),
  );
}

function entry({ name, written, figures = [] }) {
  const when = new Date(written).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  const link = el("a", { href: `/api/bench/${encodeURIComponent(name)}` }, el("bdi", {}, plain(name)));
  const shown = figures.map((figure) => el("li", {}, plain(figure)));
  return el("li", {}, link, " ", el("time", { datetime: written }, when), shown.length ? el("ul", { class: "sort" }, shown) : null);
}
