// Reports of `assay bench`: a list of them, and the tables and plots of one.

import { ask } from "./api.js";
import { button, copy, el, of, plain } from "./dom.js";

const COMMAND = "assay bench assay-truth.jsonl --corpus .";
let asked = 0;

export async function bench(state, go) {
  const mine = (asked += 1);
  const { reports } = await ask("/api/bench");
  if (mine !== asked) return;
  if (!reports.length) {
    of("reports").replaceChildren(nothing());
    return;
  }
  const chosen =
    reports.find((report) => report.name === state.report) ?? reports.find((report) => !report.error) ?? reports[0];
  const report = chosen.error
    ? { tables: [], plots: [], note: chosen.error }
    : await ask(`/api/bench/${encodeURIComponent(chosen.name)}`);
  if (mine !== asked) return;
  of("reports").replaceChildren(
    el(
      "div",
      { class: "reports" },
      el(
        "nav",
        { "aria-label": "Reports" },
        el(
          "ul",
          {},
          reports.map((one) => entry(one, one === chosen, go)),
        ),
      ),
      view(report),
    ),
  );
}

function nothing() {
  const pressed = button("Copy", () => copy(COMMAND, pressed), { class: "quiet" });
  return el(
    "div",
    { class: "lead" },
    el("p", {}, "No report yet. Mark answers right or wrong, then measure with them:"),
    el("p", { class: "command" }, el("code", {}, COMMAND), pressed),
    el("p", {}, "A report that stands elsewhere is shown with --bench FOLDER."),
  );
}

function entry(report, current, go) {
  const when = report.written ? new Date(report.written) : null;
  const link = el(
    "button",
    { type: "button", "aria-current": current ? "true" : null, on: { click: () => go({ report: report.name }) } },
    el("strong", {}, el("bdi", {}, plain(report.name))),
    el(
      "span",
      {},
      when && !Number.isNaN(+when)
        ? el(
            "time",
            { datetime: report.written },
            when.toLocaleString("en", { dateStyle: "medium", timeStyle: "short" }),
          )
        : "",
    ),
    el(
      "span",
      {},
      plain([(report.systems ?? []).join(", "), (report.sets ?? []).join(", ")].filter(Boolean).join(" on ")),
    ),
    report.error ? el("span", {}, "cannot be read") : null,
  );
  return el("li", {}, link);
}

function view(report) {
  const verdict = [report.verdict ?? []].flat();
  return el(
    "div",
    { class: "report" },
    verdict.map((line, at) => el(at ? "p" : "h2", { class: at ? "lead" : null }, plain(line))),
    report.note ? el("p", { class: "note" }, plain(report.note)) : null,
    grouped(report.tables).map(([name, tables]) =>
      name ? group(name, tables) : [...tables.map(table), ...report.plots.map(plot)],
    ),
  );
}

/** A table of one set says so at the beginning of its title: `set [250 queries, by line]: …`. */
const prefixOf = ({ title }) => title.slice(0, title.lastIndexOf("]: ") + 1);

/** Return the tables that stand for all, then those of each set and unit. */
function grouped(tables) {
  const groups = new Map([["", []]]);
  for (const one of tables) {
    const name = prefixOf(one);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(name ? { ...one, title: one.title.slice(name.length + 2) } : one);
  }
  return [...groups];
}

const group = (name, tables) => el("details", { class: "group" }, el("summary", {}, plain(name)), tables.map(table));

function table({ title, columns, rows }) {
  const numeric = columns.map((_, at) => at > 0 && rows.some((row) => isNumber(row[at])));
  const head = headOf(columns, numeric);
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      row.map((value, at) =>
        at
          ? el("td", { class: numeric[at] ? "number" : null }, cell(value))
          : el("th", { scope: "row" }, plain(String(value))),
      ),
    ),
  );
  return el(
    "figure",
    { class: "table" },
    el("figcaption", {}, plain(title)),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
      el("table", {}, el("thead", {}, head), el("tbody", {}, body)),
    ),
  );
}

/** Return the rows of a head: one, or two where columns say of which set they are. */
function headOf(columns, numeric) {
  const names = columns.map(String);
  const sets = names.map((title) => prefixOf({ title }));
  const cells = names.map((name, at) =>
    el(
      "th",
      { scope: "col", class: numeric[at] ? "number" : null },
      plain(sets[at] ? name.slice(sets[at].length + 2) : name),
    ),
  );
  if (!sets.some(Boolean)) return el("tr", {}, cells);
  const spans = [];
  for (const set of sets) {
    if (spans.at(-1)?.set === set) spans.at(-1).count += 1;
    else spans.push({ set, count: 1 });
  }
  return [
    el(
      "tr",
      { class: "sets" },
      spans.map(({ set, count }) =>
        set
          ? el("th", { scope: "colgroup", colspan: count }, el("span", {}, plain(set)))
          : el("td", { colspan: count }),
      ),
    ),
    el("tr", {}, cells),
  ];
}

const isNumber = (value) => typeof value === "number" || /^[^\p{L}\d]{0,3}\d/u.test(String(value ?? ""));

/** A figure, with its interval smaller behind it. */
function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const found = /^(\S+)\s*(\[.*\]|\(.*\)|±.*)$/.exec(text);
  return found && isNumber(found[1]) ? [found[1], " ", el("small", {}, plain(found[2]))] : plain(text);
}

function plot({ title, alt, src }) {
  const own = new URL(src, location.href).origin === location.origin;
  return el(
    "figure",
    { class: "plot" },
    el("figcaption", {}, plain(title)),
    own
      ? el(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
          el("img", { src, alt: alt || title, loading: "lazy" }),
        )
      : null,
  );
}
